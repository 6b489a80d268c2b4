// What is traced on its own: roots, and modules that are looked through for what they set up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/ir/ir.h"
#include "analyzer/trace/event.h"
#include "analyzer/trace/trace.h"

namespace fullgraph::trace {

class Interpreter;

struct ModuleRoot {
  const ir::Module* module;
  ir::ClassId cls;
  const ir::Function* forward;
};

// Syntactic facts about one module that decide what is looked at.
struct ModuleFacts {
  bool compiles = false;               // mentions torch.compile
  std::vector<ModuleRoot> roots;       // classes with a forward of their own
  std::vector<ir::FunctionId> graphs;  // forwards without a class, as `gm.code` has them; kernels
  std::vector<std::pair<ir::ClassId, const ir::Function*>> heirs;  // methods of classes that may inherit one
  std::unordered_set<ir::Symbol> called;                           // names that are called somewhere
  std::vector<ir::FunctionId> sets_up;  // functions that register hooks, checkpoint or compile
};

ModuleFacts facts_of(const ir::Module& module);

// Are the forwards of modules roots? `compiling`, `defining`: how many modules compile something, or define a module.
bool roots_are_modules(std::size_t compiling, std::size_t defining, Roots choice);

struct Unit {
  enum class Kind : std::uint8_t { Class, Graph, Scan } kind = Kind::Class;
  const ir::Module* module = nullptr;
  std::uint32_t id = 0;                      // of the class or function
  bool script = false;                       // a scan: what the module itself compiles, first
  std::vector<ir::FunctionId> scanned = {};  // a scan: these
  friend bool operator==(const Unit&, const Unit&) = default;
};

// What came out of one.
struct Trail {
  std::vector<Event> events;
  std::vector<const ir::Function*> reached;  // functions that a traced frame has run
};

Trail run_unit(Interpreter& interpreter, const Unit& unit);

}  // namespace fullgraph::trace
