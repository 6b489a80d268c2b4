// Distributes the roots over threads. Each thread has an interpreter of its own; the program is shared and read-only.
#include "analyzer/trace/trace.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/requires_grad_flag.h"

namespace fullgraph::trace {

namespace {

struct ModuleRoot {
  const ir::Module* module;
  ir::ClassId cls;
  const ir::Function* forward;
};

// Abstract calls nest deeply; the interpreter recurses with them.
constexpr std::size_t kStackBytes = 256u << 20;

void run_on_large_stacks(unsigned count, const std::function<void(unsigned)>& body) {
  struct Job {
    const std::function<void(unsigned)>* body;
    unsigned index;
  };
  std::vector<pthread_t> threads(count);
  std::vector<Job> jobs(count);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  std::vector<bool> started(count, false);
  for (unsigned i = 0; i < count; ++i) {
    jobs[i] = {&body, i};
    started[i] = pthread_create(
                     &threads[i], &attributes,
                     [](void* raw) -> void* {
                       auto* job = static_cast<Job*>(raw);
                       (*job->body)(job->index);
                       return nullptr;
                     },
                     &jobs[i]) == 0;
    if (!started[i]) body(i);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (started[i]) pthread_join(threads[i], nullptr);
  }
  pthread_attr_destroy(&attributes);
}

// Syntactic facts about one module that decide what is looked at.
struct ModuleFacts {
  bool compiles = false;                                           // mentions torch.compile
  std::vector<ModuleRoot> roots;                                   // classes with a forward of their own
  std::vector<ir::FunctionId> graphs;                              // forwards without a class, as `gm.code` has them
  std::vector<std::pair<ir::ClassId, const ir::Function*>> heirs;  // methods of classes that may inherit one
  std::unordered_set<ir::Symbol> called;                           // names that are called somewhere
  std::vector<ir::FunctionId> sets_up;  // functions that register hooks, checkpoint or compile
};

ModuleFacts facts_of(const ir::Module& module) {
  static const std::unordered_set<ir::Symbol> interesting = [] {
    std::unordered_set<ir::Symbol> names;
    for (const char* name : {"register_full_backward_hook", "register_backward_hook", "register_full_backward_pre_hook",
                             "register_module_full_backward_hook", "checkpoint", "checkpoint_sequential",
                             "gradient_checkpointing_enable", "register_post_accumulate_grad_hook"})
      names.insert(ir::Symbol::intern(name));
    return names;
  }();
  static const ir::Symbol torch = ir::Symbol::intern("torch"), compile = ir::Symbol::intern("compile");
  ModuleFacts result;
  std::vector<ir::Span> places;
  for (const ir::Expr& expr : module.exprs) {
    if (expr.kind == ir::ExprKind::Call) {
      const ir::Expr& callee = module.expr(expr.a);
      if (callee.kind == ir::ExprKind::Name || callee.kind == ir::ExprKind::Attribute)
        result.called.insert(callee.name);
    }
    if (expr.kind == ir::ExprKind::Attribute && expr.name == compile) {
      const ir::Expr& object = module.expr(expr.a);
      if (object.kind == ir::ExprKind::Name && object.name == torch) {
        result.compiles = true;
        places.push_back(expr.span);
      }
    }
    if ((expr.kind == ir::ExprKind::Attribute || expr.kind == ir::ExprKind::Name) && interesting.contains(expr.name))
      places.push_back(expr.span);
  }
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    if (function.parent || function.lambda_body) continue;
    bool within = std::any_of(places.begin(), places.end(), [&](ir::Span place) {
      return place.begin >= function.span.begin && place.end <= function.span.end;
    });
    if (within) result.sets_up.push_back({static_cast<std::uint32_t>(i)});
  }
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    if (function.name == names::forward && function.owner && !function.parent)
      result.roots.push_back({&module, function.owner, &function});
    if (function.name == names::forward && !function.owner && module.recording == ir::Recording::Graph)
      result.graphs.push_back({static_cast<std::uint32_t>(i)});
  }
  auto has_forward = [&](ir::ClassId cls) {
    return std::ranges::any_of(result.roots, [&](const ModuleRoot& root) { return root.cls == cls; });
  };
  for (const ir::Function& function : module.functions) {
    if (!function.owner || function.parent || function.name.text().starts_with("__")) continue;
    const ir::Class& cls = module.cls(function.owner);
    if (cls.arguments.count > 0 && !cls.parent && !cls.owner && !has_forward(function.owner))
      result.heirs.emplace_back(function.owner, &function);
  }
  return result;
}

// A project that compiles things itself decides what is a root; a model library, where that is the exception, does not.
bool roots_are_modules(const std::vector<ModuleFacts>& facts, Roots choice) {
  if (choice != Roots::Auto) return choice == Roots::Modules;
  std::size_t compiling = 0, defining = 0;
  for (const auto& one : facts) {
    compiling += one.compiles;
    defining += !one.roots.empty();
  }
  constexpr std::size_t library = 20;
  return compiling == 0 || defining > library * compiling;
}

}  // namespace

bool may_start(std::string_view text) {
  constexpr std::string_view words[] = {"def forward",         "torch.compile",     "_hook",
                                        "utils.checkpoint",    "import checkpoint", "checkpoint_sequential",
                                        "checkpointing_enable"};
  return std::ranges::any_of(words, [&](std::string_view word) {
    return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
  });
}

Outcome trace(python::Program& program, const profile::Profile& profile, const Options& options) {
  Outcome outcome;
  if (!options.entries.empty()) {
    run_on_large_stacks(1, [&](unsigned) {
      Interpreter interpreter(program, profile, options);
      for (const std::string& entry : options.entries) {
        if (auto done = interpreter.trace_entry(entry); !done) outcome.errors.push_back(done.error());
        ++outcome.roots;
      }
      outcome.events = std::move(interpreter.events());
    });
    return outcome;
  }

  std::vector<const ir::Module*> modules;
  for (const auto& file : program.files()) {
    if (file.module) modules.push_back(file.module.get());
  }
  std::sort(modules.begin(), modules.end(),
            [](const ir::Module* a, const ir::Module* b) { return a->source->path() < b->source->path(); });
  std::vector<ModuleFacts> facts(modules.size());
  const unsigned jobs = std::clamp(options.jobs, 1u, 16u);
  std::atomic<std::size_t> next_module = 0;
  run_on_large_stacks(jobs, [&](unsigned) {
    for (std::size_t i; (i = next_module.fetch_add(1)) < modules.size();) facts[i] = facts_of(*modules[i]);
  });
  bool by_module = roots_are_modules(facts, options.roots);

  // Modules that nobody builds come first: what they reach is seen with its real surroundings. Then what is left.
  std::unordered_set<ir::Symbol> called;
  for (const auto& one : facts) called.insert(one.called.begin(), one.called.end());
  std::vector<ModuleRoot> outer, inner;
  if (by_module) {
    for (const auto& one : facts) {
      for (const ModuleRoot& root : one.roots)
        (called.contains(root.module->cls(root.cls).name) ? inner : outer).push_back(root);
    }
  }
  std::vector<std::unique_ptr<Interpreter>> interpreters(jobs);
  std::vector<std::pair<std::uint64_t, std::vector<Event>>> found;
  std::mutex lock;
  std::atomic<std::size_t> done = 0;
  std::unordered_set<const ir::Function*> reached;

  auto pass = [&](std::size_t count, std::uint64_t order, std::size_t total,
                  const std::function<void(Interpreter&, std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    run_on_large_stacks(jobs, [&](unsigned index) {
      if (!interpreters[index]) interpreters[index] = std::make_unique<Interpreter>(program, profile, options);
      Interpreter& interpreter = *interpreters[index];
      for (std::size_t i; (i = next.fetch_add(1)) < count;) {
        work(interpreter, i);
        std::vector<Event> events = std::exchange(interpreter.events(), {});
        std::size_t finished = done.fetch_add(1) + 1;
        if (options.progress) options.progress(finished, total);
        if (events.empty()) continue;
        std::scoped_lock guard(lock);
        found.emplace_back(order + i, std::move(events));
      }
    });
    for (auto& interpreter : interpreters) {
      if (!interpreter) continue;
      reached.insert(interpreter->traced_functions().begin(), interpreter->traced_functions().end());
    }
  };

  std::size_t total = outer.size() + inner.size() + modules.size();
  pass(outer.size(), 0, total,
       [&](Interpreter& interpreter, std::size_t i) { interpreter.trace_module_root(*outer[i].module, outer[i].cls); });
  std::erase_if(inner, [&](const ModuleRoot& root) { return reached.contains(root.forward); });
  pass(inner.size(), 1ull << 32, total,
       [&](Interpreter& interpreter, std::size_t i) { interpreter.trace_module_root(*inner[i].module, inner[i].cls); });

  // Python:  class Loss(nn.Module):          def forward(self, x): return self.compute(x)
  //          class Margin(Loss):             def compute(self, x): …
  // A class that inherits its forward and fills in what that calls is a root as well, where no other root reached it.
  std::vector<ModuleRoot> heirs;
  if (by_module) {
    for (std::size_t i = 0; i < modules.size(); ++i) {
      for (auto [cls, method] : facts[i].heirs) {
        if (!called.contains(method->name) || reached.contains(method)) continue;
        if (heirs.empty() || heirs.back().module != modules[i] || heirs.back().cls != cls)
          heirs.push_back({modules[i], cls, method});
      }
    }
  }
  total += heirs.size();
  pass(heirs.size(), 3ull << 32, total,
       [&](Interpreter& interpreter, std::size_t i) { interpreter.trace_module_root(*heirs[i].module, heirs[i].cls); });
  outcome.roots = outer.size() + inner.size() + heirs.size();

  std::vector<std::pair<std::size_t, ir::FunctionId>> graphs;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    for (const ir::FunctionId graph : facts[i].graphs) graphs.emplace_back(i, graph);
  }
  pass(graphs.size(), 4ull << 32, total, [&](Interpreter& interpreter, std::size_t i) {
    interpreter.trace_function_root(*modules[graphs[i].first], graphs[i].second);
  });
  outcome.roots += graphs.size();

  // Code that is not traced but sets things up.
  std::vector<std::size_t> scanned;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (!facts[i].sets_up.empty() || (!by_module && facts[i].compiles)) scanned.push_back(i);
  }
  const std::unordered_set<const ir::Function*> before = reached;
  pass(scanned.size(), 2ull << 32, total, [&](Interpreter& interpreter, std::size_t at) {
    std::size_t i = scanned[at];
    if (!by_module) interpreter.run_script(*modules[i]);
    std::vector<ir::FunctionId> functions = facts[i].sets_up;
    if (!by_module) {  // a script: what it compiles may be called from any of its functions
      functions.clear();
      for (std::size_t f = 0; f < modules[i]->functions.size(); ++f) {
        if (!modules[i]->functions[f].parent && !modules[i]->functions[f].lambda_body)
          functions.push_back({static_cast<std::uint32_t>(f)});
      }
    }
    for (ir::FunctionId function : functions) {
      if (!before.contains(&modules[i]->function(function))) interpreter.scan_function(*modules[i], function);
    }
  });

  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [order, events] : found)
    outcome.events.insert(outcome.events.end(), std::make_move_iterator(events.begin()),
                          std::make_move_iterator(events.end()));
  look_for_other_users(outcome.events, modules);
  return outcome;
}

}  // namespace fullgraph::trace
