// Plans what is traced, distributes it over threads, and keeps what came out of it. Each thread has an interpreter of
// its own; the program is shared and read-only.
#include "analyzer/trace/session.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/trace/copies.h"
#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/requires_grad_flag.h"
#include "analyzer/trace/stacks.h"
#include "analyzer/trace/units.h"

namespace fullgraph::trace {

namespace {

// In the order of their events. The order of tracing is another one: what is scanned comes last.
enum Pass : std::uint8_t { kOuter, kInner, kScan, kHeirs, kGraphs, kPasses };

using ModulePointer = std::shared_ptr<const ir::Module>;
using Functions = std::vector<const ir::Function*>;

struct Key {
  Unit::Kind kind;
  const ir::Module* module;
  std::uint32_t id;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    return std::hash<const void*>{}(key.module) * 31 + key.id * 4 + static_cast<std::size_t>(key.kind);
  }
};

// What came out of a unit, and where that counts.
struct Record {
  Unit unit;
  Trail trail;
  std::vector<const ir::Module*> modules;  // of its events and their paths; each once
  std::uint64_t round = 0;                 // the last that used it
  Pass pass = kPasses;                     // … in this pass
  std::optional<Pass> counted;             // its functions are among the reached ones of this pass
};

// Goes on while the visitor says yes; did it always?
template <class Visit>
bool each_module(const Event& event, const Visit& visit) {
  if (event.where.module != nullptr && !visit(event.where.module)) return false;
  return std::ranges::all_of(
      event.path, [&](const Call& call) { return call.where.module == nullptr || visit(call.where.module); });
}

// Who depends on whom, by file, so that it outlives what is edited.
class Dependencies {
 public:
  using Nodes = std::unordered_set<std::uint32_t>;

  void add(const ir::Module* user, const ir::Module* used) {
    const std::uint32_t by = node(user), of = node(used);  // makes room first
    if (users_[of].insert(by).second) used_[by].push_back(of);
  }

  void replace(const ir::Module* before, const ir::Module* after) {
    const auto known = nodes_.find(before);
    if (known == nodes_.end()) return;
    const std::uint32_t at = known->second;
    nodes_.erase(known);
    nodes_[after] = at;
    modules_[at] = after;
  }

  // The modules themselves and all that depend on them.
  Nodes affected_by(const Nodes& nodes) const { return closure(nodes, users_); }
  // … and all that they depend on.
  Nodes needed_by(const Nodes& nodes) const { return closure(nodes, used_); }

  [[nodiscard]] const ir::Module* module(std::uint32_t at) const { return modules_[at]; }

  std::uint32_t node(const ir::Module* module) {
    const auto [place, added] = nodes_.try_emplace(module, static_cast<std::uint32_t>(users_.size()));
    if (added) {
      users_.emplace_back();
      used_.emplace_back();
      modules_.push_back(module);
    }
    return place->second;
  }

 private:
  template <class Edges>
  static Nodes closure(const Nodes& from, const Edges& edges) {
    Nodes out;
    std::vector<std::uint32_t> open(from.begin(), from.end());
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      if (out.insert(at).second) open.insert(open.end(), edges[at].begin(), edges[at].end());
    }
    return out;
  }

  std::unordered_map<const ir::Module*, std::uint32_t> nodes_;
  std::vector<Nodes> users_;                      // by node
  std::vector<std::vector<std::uint32_t>> used_;  // the other way round
  std::vector<const ir::Module*> modules_;
};

}  // namespace

struct Session::Impl {
  // ---- kept
  std::unordered_map<std::string, ModulePointer> modules;  // those that matter on their own, by shown path
  std::unordered_map<std::string, ModulePointer> others;   // that start nothing
  std::vector<const ir::Module*> sorted;                   // by shown path
  std::unordered_map<const ir::Module*, ModuleFacts> facts;
  std::unordered_map<ir::Symbol, std::size_t> called;  // in how many modules
  std::unordered_map<Key, Record, KeyHash> records;
  std::array<std::unordered_map<const ir::Function*, std::size_t>, kPasses> reached;  // by how many records
  Dependencies dependencies;
  std::uint64_t round = 0;
  bool keep = true;
  Dependencies::Nodes edited;         // in the last edit
  Options base_options;               // which the base refers to
  std::unique_ptr<Interpreter> base;  // has run what the edited modules need, but neither them nor what needs them
  std::vector<const ir::Module*> base_modules;

  // ---- of the present call
  python::Program* program = nullptr;
  const profile::Profile* profile = nullptr;
  const Options* options = nullptr;
  unsigned jobs = 1;
  Endings endings;
  std::optional<Copies> copies;  // of the base
  std::size_t failed = 0;        // units that made a copy fail
  std::vector<std::unique_ptr<Interpreter>> interpreters;
  std::size_t done = 0, total = 0;
  std::size_t anew = 0;
  std::array<std::vector<Record*>, kPasses> used;

  Outcome trace();
  void take_modules();
  void take_facts(const std::vector<const ir::Module*>& of);
  void forget_module(const ir::Module* module);
  void forget_affected(const std::vector<std::pair<ModulePointer, ModulePointer>>& replaced);
  [[nodiscard]] bool is_cancelled() const { return options->cancelled && options->cancelled(); }
  bool pass(Pass pass, const std::vector<Unit>& units);
  void run(const std::vector<Record*>& records);
  std::vector<Record*> run_on_copies(const std::vector<Record*>& records);
  void run_on_threads(const std::vector<Record*>& records);
  void make_base(const std::vector<Record*>& records);
  void note_uses(const Interpreter& interpreter);
  void done_with(Record& record, Trail trail);
  void count(Record& record, std::optional<Pass> as);
  void recount(Pass pass);
  [[nodiscard]] bool is_reached(const ir::Function* function, std::initializer_list<Pass> by) const;
  bool all_passes(Outcome& outcome);
  [[nodiscard]] std::vector<Unit> heirs(bool by_module) const;
  [[nodiscard]] std::vector<Unit> scans(bool by_module);
  void finish(Outcome& outcome);
};

// ---------------------------------------------------------------------------------------------------- what is edited

// Files that nothing needed when the program was read matter once their text may start something.
void Session::Impl::take_modules() {
  std::vector<std::pair<ModulePointer, ModulePointer>> replaced;
  std::vector<const ir::Module*> fresh;
  for (const python::Program::File& file : program->files()) {
    if (file.module == nullptr) continue;
    const auto known = modules.find(file.shown);
    if (known == modules.end()) {
      if (round > 1) {
        ModulePointer& other = others[file.shown];
        if (other == file.module) continue;
        other = file.module;
        if (!may_start(file.module->source->text())) continue;
        others.erase(file.shown);
      }
      modules.emplace(file.shown, file.module);
      fresh.push_back(file.module.get());
    } else if (known->second != file.module) {
      replaced.emplace_back(std::exchange(known->second, file.module), file.module);
      fresh.push_back(file.module.get());
    }
  }
  if (fresh.empty()) return;
  forget_affected(replaced);
  take_facts(fresh);
  sorted.clear();
  for (const auto& [path, module] : modules) sorted.push_back(module.get());
  std::ranges::sort(sorted, {}, [](const ir::Module* module) -> const std::string& { return module->source->path(); });
}

void Session::Impl::take_facts(const std::vector<const ir::Module*>& of) {
  std::vector<ModuleFacts> found(of.size());
  std::atomic<std::size_t> next = 0;
  run_on_large_stacks(std::min<unsigned>(jobs, static_cast<unsigned>(of.size())), [&](unsigned) {
    for (std::size_t i; (i = next.fetch_add(1)) < of.size();) found[i] = facts_of(*of[i]);
  });
  for (std::size_t i = 0; i < of.size(); ++i) {
    for (const ir::Symbol name : found[i].called) ++called[name];
    facts.emplace(of[i], std::move(found[i]));
  }
}

void Session::Impl::forget_module(const ir::Module* module) {
  const auto known = facts.find(module);
  if (known == facts.end()) return;
  for (const ir::Symbol name : known->second.called) {
    const auto at = called.find(name);
    if (--at->second == 0) called.erase(at);
  }
  facts.erase(known);
}

void Session::Impl::forget_affected(const std::vector<std::pair<ModulePointer, ModulePointer>>& replaced) {
  if (replaced.empty()) return;
  edited.clear();
  for (const auto& [old, now] : replaced) edited.insert(dependencies.node(old.get()));
  const auto affected = dependencies.affected_by(edited);
  if (std::ranges::any_of(base_modules,
                          [&](const ir::Module* module) { return affected.contains(dependencies.node(module)); })) {
    base.reset();
    base_modules.clear();
  }
  for (auto it = records.begin(); it != records.end();) {
    if (affected.contains(dependencies.node(it->second.unit.module))) {
      count(it->second, std::nullopt);
      it = records.erase(it);
    } else {
      ++it;
    }
  }
  for (const auto& [old, now] : replaced) {
    forget_module(old.get());
    dependencies.replace(old.get(), now.get());
  }
}

// ---------------------------------------------------------------------------------------------------- one pass

void Session::Impl::count(Record& record, std::optional<Pass> as) {
  if (record.counted == as) return;
  if (record.counted) {
    auto& counts = reached[*record.counted];
    for (const ir::Function* function : record.trail.reached) {
      const auto at = counts.find(function);
      if (--at->second == 0) counts.erase(at);
    }
  }
  if (as) {
    for (const ir::Function* function : record.trail.reached) ++reached[*as][function];
  }
  record.counted = as;
}

// What was part of the pass in an earlier round and is not now does not count any more.
void Session::Impl::recount(Pass pass) {
  for (auto& [key, record] : records) {
    if (record.round == round && record.pass == pass) {
      count(record, pass);
    } else if (record.counted == pass) {
      count(record, std::nullopt);
    }
  }
}

bool Session::Impl::is_reached(const ir::Function* function, std::initializer_list<Pass> by) const {
  return std::ranges::any_of(by, [&](Pass pass) { return reached[pass].contains(function); });
}

// Uses what is known of the units and traces the others. False: cancelled.
bool Session::Impl::pass(Pass pass, const std::vector<Unit>& units) {
  std::vector<Record*> open;
  used[pass].clear();
  for (const Unit& unit : units) {
    const auto [place, added] = records.try_emplace(Key{unit.kind, unit.module, unit.id});
    Record& record = place->second;
    if (!added && record.round != 0 && record.unit == unit) {
      ++done;
    } else {
      count(record, std::nullopt);
      record.unit = unit;
      record.trail = {};
      record.round = 0;
      open.push_back(&record);
    }
    record.pass = pass;
    used[pass].push_back(&record);
  }
  run(open);
  if (is_cancelled()) return false;
  for (Record* record : used[pass]) record->round = round;
  recount(pass);
  return true;
}

void Session::Impl::done_with(Record& record, Trail trail) {
  record.trail = std::move(trail);
  record.modules.clear();
  for (const Event& event : record.trail.events) {
    each_module(event, [&](const ir::Module* module) {
      if (std::ranges::find(record.modules, module) == record.modules.end()) record.modules.push_back(module);
      return true;
    });
  }
  record.round = round;
  ++done;
  ++anew;
  if (options->progress) options->progress(done, total);
}

void Session::Impl::note_uses(const Interpreter& interpreter) {
  for (const auto& [user, all] : interpreter.module_uses()) {
    for (const ir::Module* used_by_it : all) dependencies.add(user, used_by_it);
  }
}

// After an edit of something that everything needs there is as much to do as at first.
void Session::Impl::run(const std::vector<Record*>& open) {
  constexpr std::size_t few = 400;
  if (!keep || edited.empty() || open.empty() || open.size() > few) return run_on_threads(open);
  run_on_threads(run_on_copies(open));
}

void Session::Impl::run_on_threads(const std::vector<Record*>& open) {
  std::atomic<std::size_t> next = 0;
  std::mutex lock;
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(open.size(), jobs));
  run_on_large_stacks(threads, [&](unsigned index) {
    if (!interpreters[index]) interpreters[index] = std::make_unique<Interpreter>(*program, *profile, *options);
    for (std::size_t i; !is_cancelled() && (i = next.fetch_add(1)) < open.size();) {
      Trail trail = run_unit(*interpreters[index], open[i]->unit);
      const std::scoped_lock guard(lock);
      done_with(*open[i], std::move(trail));
    }
  });
  for (const auto& interpreter : interpreters) {
    if (interpreter) note_uses(*interpreter);
  }
}

// What could not be traced in a copy, if anything, is left.
std::vector<Record*> Session::Impl::run_on_copies(const std::vector<Record*>& open) {
  if (base == nullptr) make_base(open);
  if (!copies) copies.emplace(*program, *base, endings);
  std::vector<const Unit*> units;
  for (const Record* record : open) units.push_back(&record->unit);
  const bool all =
      copies->run(units, jobs, options->cancelled, [&](std::size_t unit, std::optional<Copies::Result> result) {
        if (!result) {
          ++failed;
          return done_with(*open[unit], {});
        }
        for (const auto& [user, used_by_it] : result->uses) dependencies.add(user, used_by_it);
        done_with(*open[unit], std::move(result->trail));
      });
  if (all || is_cancelled()) return {};
  std::vector<Record*> left;
  std::ranges::copy_if(open, std::back_inserter(left), [](const Record* record) { return record->round == 0; });
  return left;
}

// The modules that the units need, without those that the next keystroke changes again.
void Session::Impl::make_base(const std::vector<Record*>& open) {
  Dependencies::Nodes from;
  for (const Record* record : open) from.insert(dependencies.node(record->unit.module));
  const auto affected = dependencies.affected_by(edited);
  base_modules.clear();
  for (const std::uint32_t node : dependencies.needed_by(from)) {
    if (!affected.contains(node)) base_modules.push_back(dependencies.module(node));
  }
  std::ranges::sort(base_modules, {},
                    [](const ir::Module* module) -> const std::string& { return module->source->path(); });
  base_options = {};
  base_options.mode = options->mode;
  base_options.fullgraph = options->fullgraph;
  base_options.native = options->native;
  run_on_large_stacks(1, [&](unsigned) {
    base = std::make_unique<Interpreter>(*program, *profile, base_options);
    for (const ir::Module* module : base_modules) base->load(*module);
  });
  note_uses(*base);
  base->forget_uses();
}

// ---------------------------------------------------------------------------------------------------- all of them

// Python:  class Loss(nn.Module):          def forward(self, x): return self.compute(x)
//          class Margin(Loss):             def compute(self, x): …
// A class that inherits its forward and fills in what that calls is a root as well, where no other root reached it.
std::vector<Unit> Session::Impl::heirs(bool by_module) const {
  std::vector<Unit> out;
  if (!by_module) return out;
  for (const ir::Module* module : sorted) {
    for (const auto& [cls, method] : facts.at(module).heirs) {
      if (!called.contains(method->name) || is_reached(method, {kOuter, kInner})) continue;
      if (out.empty() || out.back().module != module || out.back().id != cls.index)
        out.push_back({Unit::Kind::Class, module, cls.index});
    }
  }
  return out;
}

// Code that is not traced but sets things up.
std::vector<Unit> Session::Impl::scans(bool by_module) {
  std::vector<Unit> out;
  for (const ir::Module* module : sorted) {
    const ModuleFacts& own = facts.at(module);
    if (own.sets_up.empty() && (by_module || !own.compiles)) continue;
    Unit unit{Unit::Kind::Scan, module, 0, !by_module};
    std::vector<ir::FunctionId> functions = own.sets_up;
    if (!by_module) {  // a script: what it compiles may be called from any of its functions
      functions.clear();
      for (std::size_t f = 0; f < module->functions.size(); ++f) {
        if (!module->functions[f].parent && !module->functions[f].lambda_body)
          functions.push_back({static_cast<std::uint32_t>(f)});
      }
    }
    std::ranges::copy_if(functions, std::back_inserter(unit.scanned), [&](ir::FunctionId function) {
      return !is_reached(&module->function(function), {kOuter, kInner, kHeirs, kGraphs});
    });
    out.push_back(std::move(unit));
  }
  return out;
}

bool Session::Impl::all_passes(Outcome& outcome) {
  std::size_t compiling = 0, defining = 0;
  for (const auto& [module, own] : facts) {
    compiling += own.compiles;
    defining += !own.roots.empty();
  }
  const bool by_module = roots_are_modules(compiling, defining, options->roots);

  // Modules that nobody builds come first: what they reach is seen with its real surroundings. Then what is left.
  std::vector<Unit> outer, graphs;
  std::vector<ModuleRoot> inner;
  for (const ir::Module* module : sorted) {
    const ModuleFacts& own = facts.at(module);
    for (const ModuleRoot& root : own.roots) {
      if (!by_module) break;
      if (called.contains(module->cls(root.cls).name)) {
        inner.push_back(root);
      } else {
        outer.push_back({Unit::Kind::Class, module, root.cls.index});
      }
    }
    for (const ir::FunctionId graph : own.graphs) graphs.push_back({Unit::Kind::Graph, module, graph.index});
  }
  total = outer.size() + inner.size() + graphs.size() + sorted.size();
  if (!pass(kOuter, outer)) return false;

  std::vector<Unit> left;
  for (const ModuleRoot& root : inner) {
    if (!is_reached(root.forward, {kOuter})) left.push_back({Unit::Kind::Class, root.module, root.cls.index});
  }
  if (!pass(kInner, left)) return false;

  const std::vector<Unit> inherited = heirs(by_module);
  if (!pass(kHeirs, inherited) || !pass(kGraphs, graphs)) return false;
  outcome.roots = outer.size() + left.size() + inherited.size() + graphs.size();
  return pass(kScan, scans(by_module));
}

void Session::Impl::finish(Outcome& outcome) {
  std::unordered_map<const ir::Module*, bool> known;
  const auto is_wanted = [&](const ir::Module* module) {
    const auto [place, added] = known.try_emplace(module);
    if (added) place->second = options->wanted(*module);
    return place->second;
  };
  const auto is_other = [&](const ir::Module* module) { return !is_wanted(module); };
  for (const auto& records_of_pass : used) {
    for (Record* record : records_of_pass) {
      if (options->wanted && std::ranges::none_of(record->modules, is_wanted)) continue;
      for (Event& event : record->trail.events) {
        if (options->wanted && each_module(event, is_other)) continue;
        if (keep) {
          outcome.events.push_back(event);
        } else {
          outcome.events.push_back(std::move(event));
        }
      }
    }
  }
  std::erase_if(records, [&](const auto& entry) { return entry.second.round != round; });
  if (failed != 0)
    outcome.errors.push_back(
        {ErrorKind::Internal, std::to_string(failed) + " roots could not be traced", std::nullopt});
  look_for_other_users(outcome.events, sorted);
}

Outcome Session::Impl::trace() {
  Outcome outcome;
  ++round;
  jobs = std::clamp(options->jobs, 1u, 16u);
  done = total = anew = 0;
  interpreters = std::vector<std::unique_ptr<Interpreter>>(jobs);
  take_modules();
  failed = 0;
  outcome.cancelled = !all_passes(outcome);
  copies.reset();
  interpreters.clear();
  if (!outcome.cancelled) finish(outcome);
  return outcome;
}

Session::Session(bool keep) : impl_(std::make_unique<Impl>()) {
  impl_->keep = keep;
}
Session::~Session() = default;

Outcome Session::trace(python::Program& program, const profile::Profile& profile, const Options& options) {
  if (!options.entries.empty()) return trace_entries(program, profile, options);
  impl_->program = &program;
  impl_->profile = &profile;
  impl_->options = &options;
  return impl_->trace();
}

void Session::forget() {
  const bool keep = impl_->keep;
  impl_ = std::make_unique<Impl>();
  impl_->keep = keep;
}

std::size_t Session::traced_anew() const {
  return impl_->anew;
}

}  // namespace fullgraph::trace
