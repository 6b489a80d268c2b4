// Statements: control flow, binding, definitions, imports.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Stmt;
using ir::StmtId;
using ir::StmtKind;

namespace {
constexpr std::size_t kMostRounds = 48;       // rounds of a loop that are followed one by one
constexpr std::size_t kMostEagerRounds = 12;  // of what sets a library's modules up: walks over all of them, mostly
constexpr std::size_t kMostWhileRounds = 200;
}  // namespace

Flows Interpreter::run_block(ir::Block block) {
  Flows all = 0;
  for (StmtId id : frame_->module->block(block)) {
    Flows flows = run_statement(id);
    all = static_cast<Flows>(all | (flows & ~kNormal));
    if (!(flows & kNormal)) return all;
  }
  return static_cast<Flows>(all | kNormal);
}

Flows Interpreter::run_statement(StmtId id) {
  if (++steps_ > step_limit_) return kReturn;  // give the root up; what was found stays
  const Stmt& stmt = frame_->module->stmt(id);
  if (frame_->holds_nested) report_nested(stmt);
  Flows flows = kNormal;
  switch (stmt.kind) {
    case StmtKind::Error:
    case StmtKind::Pass:
    case StmtKind::Global:
    case StmtKind::Nonlocal:
      break;
    case StmtKind::Expression:
      eval(stmt.a);
      break;
    case StmtKind::Assign: {
      std::uint32_t before = heap_.serial();
      Value value = eval(stmt.a);
      if (raised_) return kRaise;
      if (value->kind == Kind::Tensor && as<TensorObject>(value)->strided_nested && value->serial > before)
        frame_->holds_nested = traced();
      for (ExprId target : frame_->module->list(stmt.items)) assign(target, value);
      break;
    }
    case StmtKind::AnnAssign:
      if (stmt.a) {
        Value value = eval(stmt.a);
        if (!raised_) assign(frame_->module->list(stmt.items)[0], value);
      } else if (frame_->class_body) {
        // A bare annotation declares a field; dataclasses read it from the class body.
      }
      break;
    case StmtKind::AugAssign: {
      ExprId target = frame_->module->list(stmt.items)[0];
      Value left = eval(target);
      Value right = eval(stmt.a);
      if (raised_) return kRaise;
      auto op = static_cast<ir::BinaryOp>(stmt.op);
      if (left->kind == Kind::List && op == ir::BinaryOp::Add) {
        Arguments arguments;
        arguments.positional.push_back(right);
        arguments.span = stmt.span;
        arguments.module = frame_->module;
        sequence_method(as<SequenceObject>(left), "extend", arguments);
      } else {
        assign(target, binary(op, left, right, stmt.span));
      }
      break;
    }
    case StmtKind::Return: {
      Value value = stmt.a ? eval(stmt.a) : heap_.none;
      if (raised_) return kRaise;
      report_escape(value, stmt.span);
      frame_->result = frame_->result ? heap_.join(frame_->result, value) : value;
      return kReturn;
    }
    case StmtKind::Raise:
      return run_raise(stmt);
    case StmtKind::Assert:
      return run_assert(stmt);
    case StmtKind::Delete:
      for (ExprId target : frame_->module->list(stmt.items)) run_delete(target);
      break;
    case StmtKind::Break:
      return kBreak;
    case StmtKind::Continue:
      return kContinue;
    case StmtKind::If:
      flows = run_if(stmt);
      break;
    case StmtKind::While:
      flows = run_while(stmt);
      break;
    case StmtKind::For:
      flows = run_for(stmt);
      break;
    case StmtKind::With:
      flows = run_with(stmt, 0);
      break;
    case StmtKind::Try:
      flows = run_try(stmt);
      break;
    case StmtKind::Match:
      flows = run_match(stmt);
      break;
    case StmtKind::Import:
      run_import(stmt);
      break;
    case StmtKind::ImportFrom:
      run_import_from(stmt);
      break;
    case StmtKind::FunctionDef: {
      const ir::Function& function = frame_->module->function(stmt.function);
      Value value = make_function(stmt.function);
      if (frame_->env->function) {
        auto& locals = frame_->env->function->locals;
        auto slot = std::find(locals.begin(), locals.end(), function.name);
        if (slot != locals.end()) {
          heap_.set_slot(frame_->env, static_cast<std::size_t>(slot - locals.begin()), value);
        } else {
          heap_.set_name(frame_->env->globals, function.name, value);
        }
      } else {
        heap_.set_name(frame_->env, function.name, value);
      }
      break;
    }
    case StmtKind::ClassDef: {
      const ir::Class& cls = frame_->module->cls(stmt.cls);
      if (traced()) graph_break(EventKind::Unsupported, cls.name_span, "GB8977", cls.name.text());
      Value value = make_class(stmt.cls);
      if (frame_->env->function) {
        auto& locals = frame_->env->function->locals;
        auto slot = std::find(locals.begin(), locals.end(), cls.name);
        if (slot != locals.end()) heap_.set_slot(frame_->env, static_cast<std::size_t>(slot - locals.begin()), value);
      } else {
        heap_.set_name(frame_->env, cls.name, value);
      }
      break;
    }
  }
  if (raised_) return kRaise;
  return flows;
}

// ------------------------------------------------------------------------------------------------ branches

// Remembers under which terms a variable holds a tensor, where it holds something else otherwise.
void Interpreter::note_conditional_tensors(const Condition& condition, const Heap::Changes& first,
                                           const Heap::Changes& second) {
  auto note = [&](const Heap::Changes& mine, const Heap::Changes& theirs, bool truth) {
    for (const auto& change : mine.list) {
      Value after = change.after.value;
      if (!after || after->kind != Kind::Tensor) continue;
      const auto* other = theirs.find(change.place);
      Value otherwise = other ? other->after.value : change.before.value;
      if (!otherwise || otherwise->kind == Kind::Tensor || otherwise->kind == Kind::Unknown) continue;
      std::size_t height = conditions_.size();
      assume(condition, truth, false);
      since_[after].insert(since_[after].begin(), conditions_.begin() + static_cast<std::ptrdiff_t>(height),
                           conditions_.end());
      conditions_.resize(height);
    }
  };
  note(first, second, true);
  note(second, first, false);
}

// Python:  if self.training: x = a()        x is a()'s value or what it was; inside, "training" holds
//          else: return b
Flows Interpreter::branch(const Condition& condition, const std::function<Flows()>& when_true,
                          const std::function<Flows()>& when_false) {
  if (condition.is_true()) return when_true();
  if (condition.is_false()) return when_false();

  struct Side {
    Flows flows = 0;
    Heap::Changes changes;
    std::vector<Value> narrowed;
    Value raised = nullptr;
    std::size_t yields = 0;
  };
  auto run = [&](bool truth, const std::function<Flows()>& body) {
    Side side;
    std::size_t height = conditions_.size();
    auto mark = heap_.mark();
    std::size_t yields = frame_->yields.size();
    assume(condition, truth);
    std::vector<const Condition*> todo = {&condition};
    while (!todo.empty()) {
      const Condition* one = todo.back();
      todo.pop_back();
      for (const auto& narrowing : one->narrowings)
        side.narrowed.push_back(truth ? narrowing.when_true : narrowing.when_false);
      for (const auto& part : one->parts) todo.push_back(&part);
    }
    side.flows = body();
    side.raised = raised_;
    raised_ = nullptr;
    side.yields = frame_->yields.size() - yields;
    side.changes = heap_.take(mark);
    conditions_.resize(height);
    return side;
  };
  Side first = run(true, when_true);
  Side second = run(false, when_false);
  if (first.yields || second.yields) frame_->yields_exact = false;

  auto only_narrowed = [](const Side& side, Value after) {
    return after && std::find(side.narrowed.begin(), side.narrowed.end(), after) != side.narrowed.end();
  };
  // What a side that does not go on leaves to those that do.
  auto leftover = [&](Side& side) {
    if ((side.flows & ~kRaise) == 0 && frame_->unresumable == 0) {
      side.changes.list.clear();
    } else {
      if ((side.flows & ~(kRaise | kReturn)) == 0) side.changes.drop(frame_->env);
      std::erase_if(side.changes.list, [&](const auto& change) { return only_narrowed(side, change.after.value); });
    }
  };
  bool first_goes_on = first.flows & kNormal, second_goes_on = second.flows & kNormal;
  if (first_goes_on && second_goes_on) {
    // A place that was only seen more narrowly is again what it was.
    auto restore = [&](Side& side, const Side& other) {
      std::erase_if(side.changes.list, [&](const auto& change) {
        if (!only_narrowed(side, change.after.value)) return false;
        for (const auto& theirs : other.changes.list) {
          if (theirs.place == change.place) return only_narrowed(other, theirs.after.value);
        }
        return true;
      });
    };
    restore(first, second);
    std::erase_if(second.changes.list, [&](const auto& change) {
      if (!only_narrowed(second, change.after.value)) return false;
      for (const auto& theirs : first.changes.list) {
        if (theirs.place == change.place) return false;
      }
      return true;
    });
    note_conditional_tensors(condition, first.changes, second.changes);
    heap_.join(first.changes, second.changes);
  } else if (first_goes_on || second_goes_on) {
    Side& going = first_goes_on ? first : second;
    Side& leaving = first_goes_on ? second : first;
    assume(condition, first_goes_on);
    heap_.apply(going.changes);
    leftover(leaving);
    const bool returned = (leaving.flows & kReturn) && !(leaving.flows & ~(kReturn | kRaise));
    if (returned && frame_->function) {
      frame_->returned.push_back(std::move(leaving.changes));
    } else {
      heap_.weaken(leaving.changes);
    }
    if (leaving.raised) maybe_raised_ = true;
  } else {
    if (first.raised && second.raised && !((first.flows | second.flows) & ~kRaise)) {
      raised_ = heap_.join(first.raised, second.raised);
      heap_.join(first.changes, second.changes);
      return kRaise;
    }
    if (first.raised || second.raised) maybe_raised_ = true;
    if (!(first.flows & ~kRaise)) {
      heap_.apply(second.changes);
    } else if (!(second.flows & ~kRaise)) {
      heap_.apply(first.changes);
    } else {
      heap_.join(first.changes, second.changes);
    }
  }
  Flows flows = static_cast<Flows>(first.flows | second.flows);
  if (flows & ~kRaise) flows = static_cast<Flows>(flows & ~kRaise);
  return flows;
}

Flows Interpreter::run_if(const Stmt& stmt) {
  const Expr& test = frame_->module->expr(stmt.a);
  if (test.name == names::type_checking && !frame_->function && !frame_->class_body) {
    // Never run, but its imports say what a lazy module offers.
    EnvObject* globals = frame_->env;
    if (!globals->offered) {
      globals->offered = heap_.make<EnvObject>();
      globals->offered->module = frame_->module;
    }
    frame_->env = globals->offered;
    run_block(stmt.body);
    frame_->env = globals;
    raised_ = nullptr;
    return run_block(stmt.orelse);
  }
  Condition condition = eval_condition(stmt.a);
  if (raised_) return kRaise;
  if (traced() && condition.is_known()) report_compile_divergence(stmt, condition);
  if (traced() && condition.is_false() && options_.mode == Mode::Eval) report_marking_not_reached(stmt);
  return branch(
      condition, [&] { return run_block(stmt.body); }, [&] { return run_block(stmt.orelse); });
}

// Python:  if self._requires_grad and self.training: hidden.requires_grad = True
// Who only serves never marks; the flag is in the way all the same.
void Interpreter::report_marking_not_reached(const Stmt& stmt) {
  const ir::Module& module = *frame_->module;
  for (ir::StmtId id : module.block(stmt.body)) {
    const Stmt& one = module.stmt(id);
    if (one.kind != StmtKind::Assign || module.expr(one.a).kind != ExprKind::True) continue;
    const Expr& target = module.expr(module.list(one.items)[0]);
    if (target.kind == ExprKind::Attribute && target.name == names::requires_grad)
      report_requires_grad_flag(target.span);
  }
}

// Python:  if not torch.compiler.is_compiling(): x.requires_grad = True
// Compiled code skips what eager code does; where that changes gradients, the two train differently.
void Interpreter::report_compile_divergence(const Stmt& stmt, const Condition& condition) {
  ir::Span test = frame_->module->expr(stmt.a).span;
  if (frame_->module->source->text(test).find("compiling") == std::string_view::npos) return;
  ir::Block skipped = condition.is_true() ? stmt.orelse : stmt.body;
  auto statements = frame_->module->block(skipped);
  if (statements.size() == 0 || !span_contains_name(*frame_->module, test, {"is_compiling", "is_dynamo_compiling"}))
    return;
  ir::Span dead{frame_->module->stmt(*statements.begin()).span.begin,
                frame_->module->stmt(*(statements.end() - 1)).span.end};
  if (!span_contains_name(*frame_->module, dead,
                          {"requires_grad", "requires_grad_", "register_hook", "detach", "detach_", "no_grad",
                           "set_grad_enabled", "enable_grad"}))
    return;
  Event result = event(EventKind::CompileDivergence, test);
  result.subject = text(test);
  emit(std::move(result));
}

Flows Interpreter::run_assert(const Stmt& stmt) {
  const Expr& test = frame_->module->expr(stmt.a);
  // A failed assertion on a tensor is traced as an asynchronous one since 2.13, when the test is one tensor.
  if (test.kind != ExprKind::BoolOp && test.kind != ExprKind::Unary && test.kind != ExprKind::Conditional) {
    bool compares = test.kind == ExprKind::Compare && frame_->module->list(test.items).size() > 1;
    if (!compares) {
      Value value = eval(stmt.a);
      if (raised_) return kRaise;
      if (without_none(value)->kind == Kind::Tensor) return kNormal;
      Condition condition = condition_of(value, stmt.a);
      if (condition.is_false()) {
        raise_exception("builtins.AssertionError", stmt.span);
        return kRaise;
      }
      assume(condition, true);
      return kNormal;
    }
  }
  Condition condition = eval_condition(stmt.a);
  if (raised_) return kRaise;
  if (condition.is_false()) {
    raise_exception("builtins.AssertionError", stmt.span);
    return kRaise;
  }
  assume(condition, true);
  return kNormal;
}

// ------------------------------------------------------------------------------------------------ loops

Flows Interpreter::run_for(const Stmt& stmt) {
  Value iterable = eval(stmt.a);
  if (raised_) return kRaise;
  ++frame_->unresumable;
  Value rounds = iterate(iterable, frame_->module->expr(stmt.a).span);
  ExprId target = frame_->module->list(stmt.items)[0];
  Flows all = 0;
  if (raised_) {
    --frame_->unresumable;
    return kRaise;
  }
  auto* sequence = rounds->kind == Kind::Tuple ? as<SequenceObject>(rounds) : nullptr;
  std::size_t most = entry_mode_ || frame_->region ? kMostRounds : kMostEagerRounds;
  if (sequence && sequence->exact && sequence->items.size() <= most) {
    for (Value item : std::vector<Value>(sequence->items)) {
      assign(target, item);
      Flows flows = run_block(stmt.body);
      all = static_cast<Flows>(all | flows);
      if (raised_ || !(flows & (kNormal | kContinue))) {
        if (!(flows & kBreak)) {
          --frame_->unresumable;
          return static_cast<Flows>((all & (kReturn | kRaise)) | ((all & kBreak) ? kNormal : 0));
        }
        break;
      }
    }
  } else {
    Value element = nullptr;
    if (sequence) {
      element = sequence->element;
      for (Value item : sequence->items) element = element ? heap_.join(element, item) : item;
    }
    if (!element) element = heap_.unknown;
    ++inexact_loops_;
    std::size_t height = conditions_.size();
    for (int round = 0; round < (inexact_loops_ > 2 ? 1 : 2); ++round) {
      auto mark = heap_.mark();
      assign(target, element);
      Flows flows = run_block(stmt.body);
      conditions_.resize(height);
      raised_ = nullptr;
      all = static_cast<Flows>(all | (flows & (kReturn | kBreak)));
      auto changes = heap_.take(mark);
      heap_.weaken(changes);
      if (!changes.affects_control_flow()) break;
    }
    --inexact_loops_;
  }
  --frame_->unresumable;
  if (stmt.orelse.count && !(all & kBreak)) {
    Flows flows = run_block(stmt.orelse);
    return static_cast<Flows>((all & kReturn) | flows);
  }
  return static_cast<Flows>((all & kReturn) | kNormal);
}

Flows Interpreter::run_while(const Stmt& stmt) {
  ++frame_->unresumable;
  Flows all = 0;
  std::size_t height = conditions_.size();
  Flows result = kNormal;
  for (std::size_t round = 0;; ++round) {
    Condition condition = eval_condition(stmt.a);
    if (raised_) {
      result = kRaise;
      break;
    }
    if (condition.is_false()) break;
    if (condition.is_true() && round < kMostWhileRounds) {
      Flows flows = run_block(stmt.body);
      all = static_cast<Flows>(all | flows);
      if (raised_ || !(flows & (kNormal | kContinue))) {
        result = static_cast<Flows>(flows & kBreak ? +kNormal : flows & (kReturn | kRaise));
        if (all & kBreak) result = static_cast<Flows>(result | kNormal);
        break;
      }
      if (flows & (kBreak | kReturn) && round > 8) break;  // may end at any round; the rest says nothing new
      continue;
    }
    auto mark = heap_.mark();
    assume(condition, true);
    Flows flows = run_block(stmt.body);
    conditions_.resize(height);
    raised_ = nullptr;
    all = static_cast<Flows>(all | (flows & (kReturn | kBreak)));
    heap_.weaken(heap_.take(mark));
    break;
  }
  --frame_->unresumable;
  return static_cast<Flows>(result | (all & kReturn));
}

// ------------------------------------------------------------------------------------------------ try, with, match

// Python:  except ImportError:  /  except (ImportError, AttributeError):
bool Interpreter::catches_import_error(const Stmt& stmt) const {
  for (std::size_t i = 0; i < stmt.handlers.count; ++i) {
    const ir::Handler& handler = frame_->module->handlers[stmt.handlers.first + i];
    if (!handler.type) return true;
    const ir::Span span = frame_->module->expr(handler.type).span;
    if (span_contains_name(*frame_->module, span, {"ImportError", "ModuleNotFoundError"})) return true;
  }
  return false;
}

// Python:  return y, profiler
// Context managers that Dynamo made up for itself cannot be handed to code outside the compiled function.
void Interpreter::report_escape(Value value, ir::Span span) {
  if (!traced() || !frame_->boundary) return;
  std::vector<Value> parts = {value};
  if (value->kind == Kind::Tuple || value->kind == Kind::List) parts = as<SequenceObject>(value)->items;
  for (Value part : parts) {
    if (part->serial <= region_serial_) continue;
    if (part->kind == Kind::Context && as<ContextObject>(part)->name == "generator")
      graph_break(EventKind::Unsupported, span, "GB2533", "return", text(span));
    if (part->kind == Kind::Instance && as<InstanceObject>(part)->cls->name == "torch.profiler.profile")
      graph_break(EventKind::Unsupported, span, "GB0212", "return", text(span));
  }
}

// Dynamo does not take a strided nested tensor into a graph: what would go on after the break runs eagerly.
void Interpreter::report_nested(const Stmt& stmt) {
  frame_->holds_nested = false;
  if (!traced()) return;
  ++frame_->unresumable;
  graph_break(EventKind::Unsupported, stmt.span, "GB0016", "torch.nested.nested_tensor", "",
              "the tensor reaches what follows its making");
  --frame_->unresumable;
}

Flows Interpreter::run_try(const Stmt& stmt) {
  bool before = maybe_raised_;
  maybe_raised_ = false;
  ++frame_->unresumable;
  bool optional = catches_import_error(stmt);
  frame_->optional_imports += optional;
  Flows flows = run_block(stmt.body);
  frame_->optional_imports -= optional;
  --frame_->unresumable;
  Value exception = raised_;
  raised_ = nullptr;
  bool maybe = maybe_raised_;
  maybe_raised_ = before;

  auto run_handler = [&](const ir::Handler& handler, Value value) {
    if (handler.target) assign(handler.target, value);
    return run_block(handler.body);
  };
  auto handlers = [&](std::size_t i) -> const ir::Handler& {
    return frame_->module->handlers[stmt.handlers.first + i];
  };
  if (exception) {
    flows = static_cast<Flows>(flows & ~kRaise);
    bool handled = false;
    for (std::size_t i = 0; i < stmt.handlers.count && !handled; ++i) {
      const ir::Handler& handler = handlers(i);
      if (handler.type) {
        Value type = eval(handler.type);
        auto match = is_instance(exception, type);
        if (exception->kind == Kind::Unknown) match = true;
        if (match == std::optional(false)) continue;
      }
      flows = static_cast<Flows>(flows | run_handler(handler, exception));
      handled = true;
    }
    if (!handled) {
      raised_ = exception;
      flows = static_cast<Flows>(flows | kRaise);
    }
  } else {
    if ((flows & kNormal) && stmt.orelse.count) {
      flows = static_cast<Flows>((flows & ~kNormal) | run_block(stmt.orelse));
    }
    if (maybe) {
      for (std::size_t i = 0; i < stmt.handlers.count; ++i) {
        auto mark = heap_.mark();
        std::size_t height = conditions_.size();
        Flows other = run_handler(handlers(i), heap_.unknown);
        conditions_.resize(height);
        raised_ = nullptr;
        auto changes = heap_.take(mark);
        if (other & kNormal) heap_.weaken(changes);
        flows = static_cast<Flows>(flows | (other & ~kRaise));
      }
    }
  }
  if (stmt.finally.count) {
    Value pending = raised_;
    raised_ = nullptr;
    Flows last = run_block(stmt.finally);
    if (!(last & kNormal)) return last;
    if (!raised_) raised_ = pending;
  }
  if (raised_) return kRaise;
  return flows ? flows : static_cast<Flows>(kNormal);
}

bool Interpreter::resumable_context(Value manager) const {
  return manager->kind == Kind::Context && as<ContextObject>(manager)->name != "generator";
}

Flows Interpreter::run_with(const Stmt& stmt, std::size_t item) {
  auto items = frame_->module->list(stmt.items);
  if (item == items.size()) return run_block(stmt.body);
  const Expr& with = frame_->module->expr(items[item]);
  Value manager = eval(with.a);
  if (raised_) return kRaise;
  const ir::Span span = frame_->module->expr(with.a).span;
  Value target = heap_.unknown;
  Value saved_grad = grad_mode_;
  bool saved_eager = force_eager_;
  std::string saved_kernel = autograd_kernel_;
  bool resumable = resumable_context(manager);
  if (manager->kind == Kind::Context) {
    auto* context = as<ContextObject>(manager);
    if (context->name == "no_grad") grad_mode_ = heap_.no;
    if (context->name == "enable_grad") grad_mode_ = heap_.yes;
    if (context->name == "set_grad_enabled") grad_mode_ = context->argument ? context->argument : heap_.unknown;
    if (context->name == "force_eager") force_eager_ = true;
    if (context->name == "capture") return run_captured(stmt, item);
    if (context->name == "below_autograd") autograd_kernel_.clear();
    target = context->name == "generator" || context->argument == nullptr ? manager : context->argument;
    if (context->name == "generator") target = context->argument ? context->argument : heap_.none;
  } else if (manager->kind == Kind::Instance) {
    if (class_attribute(as<InstanceObject>(manager)->cls, names::enter)) {
      target = call_method(manager, "__enter__", {});
    } else if (const profile::Callable* enter = profiled_method(as<InstanceObject>(manager)->cls, "__enter__");
               enter && !enter->gb_id.empty()) {
      graph_break(EventKind::Unsupported, span, enter->gb_id, as<InstanceObject>(manager)->cls->name, text(span));
    } else if (!as<InstanceObject>(manager)->cls->cls) {
      target = manager;
    }
  } else if (manager->kind == Kind::External || manager->kind == Kind::Unknown || manager->kind == Kind::Tensor) {
    // A context manager of torch's that is not written in traceable Python
    const Expr& made = frame_->module->expr(with.a);
    Value maker = traced() && made.kind == ExprKind::Call && frame_->module->expr(made.a).kind != ExprKind::Call
                      ? eval(made.a)
                      : heap_.unknown;
    if (maker->kind == Kind::External && as<ExternalObject>(maker)->name.starts_with("torch.")) {
      const auto& name = as<ExternalObject>(maker)->name;
      const profile::Callable* callable = profile_.callable(name);
      bool generator = name.starts_with("torch.backends.");  // contextlib's kind, written in torch
      if (callable ? callable->treatment != profile::Treatment::Inlined : generator) {
        ++frame_->unresumable;  // Dynamo cannot resume inside of it: the frame runs eagerly from here
        graph_break(EventKind::Unsupported, span, "GB0142", name, text(span));
        --frame_->unresumable;
      }
    }
  }
  if (raised_) return kRaise;
  if (!resumable) ++frame_->unresumable;
  if (with.b) assign(with.b, target);
  Flows flows = run_with(stmt, item + 1);
  if (!resumable) --frame_->unresumable;
  grad_mode_ = saved_grad;
  force_eager_ = saved_eager;
  autograd_kernel_ = std::move(saved_kernel);
  if (manager->kind == Kind::Instance && class_attribute(as<InstanceObject>(manager)->cls, names::exit)) {
    Value pending = raised_;
    raised_ = nullptr;
    Value suppressed = call_method(manager, "__exit__",
                                   {pending ? heap_.unknown : heap_.none, pending ? pending : heap_.none, heap_.none});
    if (pending && truth(suppressed) != std::optional(true)) {
      raised_ = pending;
    } else if (pending) {
      return kNormal;
    }
  }
  return raised_ ? static_cast<Flows>(kRaise) : flows;
}

Flows Interpreter::run_match(const Stmt& stmt) {
  Value subject = eval(stmt.a);
  if (raised_) return kRaise;
  std::function<Flows(std::size_t)> from = [&](std::size_t i) -> Flows {
    if (i == stmt.handlers.count) return kNormal;
    const ir::MatchCase& one = frame_->module->cases[stmt.handlers.first + i];
    auto matched = matches_pattern(one.pattern, subject);
    Condition condition;
    if (matched) {
      condition = Condition::known(*matched);
    } else {
      condition.kind = Condition::Kind::Atom;
      condition.text =
          text(frame_->module->expr(stmt.a).span) + " matches " + text(frame_->module->expr(one.pattern).span);
    }
    return branch(
        condition,
        [&]() -> Flows {
          if (!one.guard) return run_block(one.body);
          Condition guard = eval_condition(one.guard);
          return branch(
              guard, [&] { return run_block(one.body); }, [&] { return from(i + 1); });
        },
        [&] { return from(i + 1); });
  };
  return from(0);
}

std::optional<bool> Interpreter::matches_pattern(ExprId id, Value subject) {
  const Expr& pattern = frame_->module->expr(id);
  auto all = [&](const std::vector<std::optional<bool>>& answers) -> std::optional<bool> {
    bool open = false;
    for (auto answer : answers) {
      if (answer == std::optional(false)) return false;
      if (!answer) open = true;
    }
    return open ? std::nullopt : std::optional(true);
  };
  switch (pattern.kind) {
    case ExprKind::PatternValue:
      return equal(subject, eval(pattern.a));
    case ExprKind::PatternCapture: {
      std::optional<bool> inner = true;
      if (pattern.b) inner = matches_pattern(pattern.b, subject);
      if (pattern.a) assign(pattern.a, subject);
      return inner;
    }
    case ExprKind::PatternOr: {
      bool open = false;
      for (ExprId part : frame_->module->list(pattern.items)) {
        auto answer = matches_pattern(part, subject);
        if (answer == std::optional(true)) return true;
        if (!answer) open = true;
      }
      return open ? std::nullopt : std::optional(false);
    }
    case ExprKind::PatternSequence: {
      auto parts = frame_->module->list(pattern.items);
      bool starred = false;
      for (ExprId part : parts) starred = starred || frame_->module->expr(part).kind == ExprKind::Starred;
      if (subject->kind != Kind::Tuple && subject->kind != Kind::List) {
        return subject->kind == Kind::Unknown || subject->kind == Kind::Union || subject->kind == Kind::Instance
                   ? std::nullopt
                   : std::optional(false);
      }
      auto* sequence = as<SequenceObject>(subject);
      if (!sequence->exact || starred) {
        for (ExprId part : parts) {
          const Expr& one = frame_->module->expr(part);
          matches_pattern(one.kind == ExprKind::Starred ? one.a : part, heap_.unknown);
        }
        return std::nullopt;
      }
      if (sequence->items.size() != parts.size()) return false;
      std::vector<std::optional<bool>> answers;
      for (std::size_t i = 0; i < parts.size(); ++i) answers.push_back(matches_pattern(parts[i], sequence->items[i]));
      return all(answers);
    }
    case ExprKind::PatternClass: {
      Value type = eval(pattern.a);
      auto instance = is_instance(subject, type);
      if (instance == std::optional(false)) return false;
      std::vector<std::optional<bool>> answers = {instance};
      for (ExprId part : frame_->module->list(pattern.items)) {
        const Expr& one = frame_->module->expr(part);
        if (one.kind == ExprKind::Keyword) {
          answers.push_back(matches_pattern(one.a, attribute(subject, one.name, one.span)));
        } else {
          matches_pattern(part, subject);
          answers.push_back(std::nullopt);
        }
      }
      return all(answers);
    }
    default:
      return std::nullopt;
  }
}

Flows Interpreter::run_raise(const Stmt& stmt) {
  Value value = heap_.unknown;
  if (stmt.a) {
    value = eval(stmt.a);
    if (raised_) return kRaise;
    if (value->kind == Kind::Class || value->kind == Kind::External) value = call_value(value, {});
  }
  raised_ = value;
  uncaught_.reset();
  if (entry_mode_ && traced()) {
    uncaught_ = event(EventKind::Unsupported, stmt.span);
    uncaught_->gb_id = "GB0088";
    uncaught_->callee = "raise";
    uncaught_->subject = text(stmt.span);
    uncaught_->detail = "nothing in the compiled function catches it";
  }
  return kRaise;
}

// ------------------------------------------------------------------------------------------------ binding

void Interpreter::assign_name(const Expr& name, Value value) {
  EnvObject* env = frame_->env;
  switch (static_cast<ir::Scope>(name.op)) {
    case ir::Scope::Local:
      if (env->function && name.slot < env->slots.size()) {
        heap_.set_slot(env, name.slot, value);
        return;
      }
      break;
    case ir::Scope::Enclosing:
      for (EnvObject* outer = env->parent; outer; outer = outer->parent) {
        if (!outer->function) continue;
        auto& locals = outer->function->locals;
        auto slot = std::find(locals.begin(), locals.end(), name.name);
        if (slot != locals.end()) {
          heap_.set_slot(outer, static_cast<std::size_t>(slot - locals.begin()), value);
          return;
        }
      }
      break;
    case ir::Scope::ClassBody:
      heap_.set_name(env, name.name, value);
      return;
    case ir::Scope::Global:
      break;
  }
  if (value->kind == Kind::Handle && !as<HandleObject>(value)->module &&
      as<HandleObject>(value)->serial > region_serial_)
    graph_break(EventKind::TensorHookBreak, name.span, "GB0100", "register_hook", text(name.span));
  heap_.set_name(env->globals ? env->globals : env, name.name, value);
}

void Interpreter::assign(ExprId target, Value value) {
  const Expr& expr = frame_->module->expr(target);
  switch (expr.kind) {
    case ExprKind::Name:
      assign_name(expr, value);
      break;
    case ExprKind::Attribute: {
      Value object = eval(expr.a);
      if (!raised_) set_attribute(object, expr.name, value, expr.span, frame_->module->expr(expr.a).span);
      break;
    }
    case ExprKind::Subscript: {
      Value object = eval(expr.a);
      Value index = eval(expr.b);
      if (!raised_) set_subscript(object, index, value, expr.span);
      break;
    }
    case ExprKind::Tuple:
    case ExprKind::List:
      assign_unpacked(frame_->module->list(expr.items), value, expr.span);
      break;
    case ExprKind::Starred:
      assign(expr.a, value);
      break;
    default:
      break;
  }
}

void Interpreter::assign_unpacked(const ir::Module::ExprList& targets, Value value, ir::Span span) {
  Value rounds = iterate(value, span);
  if (raised_) return;
  auto* sequence = rounds->kind == Kind::Tuple ? as<SequenceObject>(rounds) : nullptr;
  std::size_t starred = targets.size();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (frame_->module->expr(targets[i]).kind == ExprKind::Starred) starred = i;
  }
  bool fits = sequence && sequence->exact &&
              (starred == targets.size() ? sequence->items.size() == targets.size()
                                         : sequence->items.size() + 1 >= targets.size());
  if (!fits) {
    Value element = heap_.unknown;
    if (sequence && !sequence->exact && sequence->element) element = sequence->element;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      assign(targets[i], i == starred ? heap_.some(Kind::List, element) : element);
    }
    return;
  }
  std::vector<Value> items = sequence->items;
  std::size_t extra = items.size() + 1 - targets.size();
  std::size_t from = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (i == starred) {
      auto first = items.begin() + static_cast<std::ptrdiff_t>(from);
      assign(targets[i], heap_.sequence(Kind::List, {first, first + static_cast<std::ptrdiff_t>(extra)}));
      from += extra;
    } else {
      assign(targets[i], items[from++]);
    }
  }
}

void Interpreter::run_delete(ExprId target) {
  const Expr& expr = frame_->module->expr(target);
  if (expr.kind == ExprKind::Attribute) {
    Value object = eval(expr.a);
    if (object->kind == Kind::Instance)
      heap_.set_attribute(object, as<InstanceObject>(object)->attributes, expr.name, nullptr);
  } else if (expr.kind == ExprKind::Subscript) {
    Value object = eval(expr.a);
    Value index = eval(expr.b);
    if (object->kind == Kind::Dict) {
      Arguments arguments;
      arguments.positional = {index, heap_.none};
      dict_method(as<DictObject>(object), "pop", arguments);
    } else if (object->kind == Kind::List) {
      auto* list = heap_.change(as<SequenceObject>(object));
      if (list->exact && index->kind == Kind::Int && index->known) {
        std::int64_t i = as<IntObject>(index)->value;
        if (i < 0) i += static_cast<std::int64_t>(list->items.size());
        if (i >= 0 && i < static_cast<std::int64_t>(list->items.size())) list->items.erase(list->items.begin() + i);
      } else {
        for (Value item : list->items) list->element = list->element ? heap_.join(list->element, item) : item;
        list->items.clear();
        list->exact = false;
      }
    }
  } else if (expr.kind == ExprKind::Tuple || expr.kind == ExprKind::List) {
    for (ExprId part : frame_->module->list(expr.items)) run_delete(part);
  }
}

// ------------------------------------------------------------------------------------------------ definitions

Value Interpreter::make_function(ir::FunctionId id) {
  const ir::Module& module = *frame_->module;
  const ir::Function& function = module.function(id);
  auto* object = heap_.make<FunctionObject>();
  object->module = &module;
  object->function = &function;
  object->closure = frame_->env->function ? frame_->env : frame_->env->parent;
  object->owner = frame_->owner;
  if (!frame_->class_body) object->owner = frame_->env->function ? frame_->owner : nullptr;
  object->defaults.resize(function.params.count, nullptr);
  for (std::size_t i = 0; i < function.params.count; ++i) {
    const ir::Param& param = module.params[function.params.first + i];
    if (param.default_value) object->defaults[i] = eval(param.default_value);
  }
  Value value = object;
  auto decorators = module.list(function.decorators);
  for (std::size_t i = decorators.size(); i-- > 0;) {
    Value decorator = eval(decorators[i]);
    raised_ = nullptr;
    if (decorator->kind == Kind::Unknown) continue;
    Arguments arguments;
    arguments.positional.push_back(value);
    arguments.span = module.expr(decorators[i]).span;
    arguments.module = &module;
    Value decorated = call_decorator(decorator, arguments);
    // A decorator that was not understood is taken to leave the function as it is.
    switch (decorated->kind) {
      case Kind::Function:
      case Kind::Method:
      case Kind::Partial:
      case Kind::Property:
      case Kind::StaticMethod:
      case Kind::ClassMethod:
      case Kind::Compiled:
      case Kind::Instance:
        value = decorated;
        break;
      default:
        break;
    }
  }
  return value;
}

Value Interpreter::make_class(ir::ClassId id) {
  const ir::Module& module = *frame_->module;
  const ir::Class& cls = module.cls(id);
  auto* object = heap_.make<ClassObject>();
  object->module = &module;
  object->cls = &cls;
  object->name = module.name.empty() ? cls.qualified : module.name + "." + cls.qualified;
  object->closure = frame_->env->function ? frame_->env : frame_->env->parent;
  if (!object->closure) class_objects_[&cls] = object;
  for (ExprId argument : module.list(cls.arguments)) {
    const Expr& expr = module.expr(argument);
    if (expr.kind == ExprKind::Keyword) continue;
    if (expr.kind == ExprKind::Starred) {
      object->unknown_base = true;
      continue;
    }
    Value base = eval(argument);
    if (base->kind == Kind::External) base = external_class(as<ExternalObject>(base)->name);
    if (base->kind == Kind::Class) {
      object->bases.push_back(base);
    } else {
      object->unknown_base = true;
    }
  }
  compute_mro(object);

  Frame body;
  body.module = &module;
  body.env = heap_.make<EnvObject>();
  body.env->module = &module;
  body.env->parent = object->closure;
  body.env->globals = frame_->env->globals ? frame_->env->globals : frame_->env;
  body.caller = frame_;
  body.call = cls.name_span;
  body.name = cls.qualified;
  body.owner = object;
  body.class_body = true;
  body.conditions = conditions_.size();
  Frame* outer = frame_;
  frame_ = &body;
  if (outer->function || outer->class_body) {
    run_block(cls.body);
  } else {
    // A class of a module: its statements count like the module's own.
    std::size_t before = steps_, limit = step_limit_;
    for (ir::StmtId statement : module.block(cls.body)) {
      step_limit_ = steps_ + kImportSteps;
      run_statement(statement);
      raised_ = nullptr;
    }
    step_limit_ = limit + (steps_ - before);
  }
  frame_ = outer;
  conditions_.resize(body.conditions);
  raised_ = nullptr;
  for (std::size_t i = 0; i < body.env->names.keys().size(); ++i) {
    object->attributes.set(body.env->names.keys()[i], body.env->names.values()[i]);
  }
  Value value = object;
  auto decorators = module.list(cls.decorators);
  for (std::size_t i = decorators.size(); i-- > 0;) {
    Value decorator = eval(decorators[i]);
    raised_ = nullptr;
    if (value->kind == Kind::Class) value = decorate_class(as<ClassObject>(value), decorator);
  }
  return value;
}

// ------------------------------------------------------------------------------------------------ imports

// Python:  try: import fast  /  except ImportError: fast = None
// The code itself says that the package may be missing; where it is, Dynamo gives the frame up at the import.
void Interpreter::report_import(const std::string& module, ir::Span span) {
  if (!traced() || frame_->optional_imports == 0 || find_module(module)) return;
  std::string package = module.substr(0, module.find('.'));
  if (find_module(package) || package == "torch" || profile_.knows_package(package)) return;
  Event failure = event(EventKind::Unsupported, span);
  failure.gb_id = "GB0069";
  failure.callee = module;
  failure.subject = text(span);
  failure.condition += (failure.condition.empty() ? "" : " and ") + ("`" + package + "` is not installed");
  graph_break(std::move(failure));
  maybe_raised_ = true;
}

void Interpreter::run_import(const Stmt& stmt) {
  const ir::Module& module = *frame_->module;
  for (std::size_t i = 0; i < stmt.aliases.count; ++i) {
    const ir::Alias& alias = module.aliases[stmt.aliases.first + i];
    std::string dotted(alias.name.text());
    Value value = module_value(dotted);
    report_import(dotted, stmt.span);
    if (!alias.as) value = module_value(dotted.substr(0, dotted.find('.')));
    if (alias.target) assign(alias.target, value);
  }
}

void Interpreter::run_import_from(const Stmt& stmt) {
  const ir::Module& module = *frame_->module;
  std::string from(stmt.module.text());
  if (stmt.level) from = python::Program::absolute_name(module, from, stmt.level);
  if (!stmt.level) report_import(from, stmt.span);
  for (std::size_t i = 0; i < stmt.aliases.count; ++i) {
    const ir::Alias& alias = module.aliases[stmt.aliases.first + i];
    if (!alias.target) {  // from m import *
      EnvObject* globals = frame_->env->globals ? frame_->env->globals : frame_->env;
      if (const ir::Module* source =
              from.empty() ? nullptr : program_.find(from)) {  // used by those who find a name there
        globals->star_imports.push_back(source);
      } else {
        globals->star_externals.push_back(from);
      }
      continue;
    }
    bool top_level = !frame_->function && !frame_->class_body;
    if (top_level && find_module(from)) {
      assign(alias.target, heap_.make<DeferredObject>(from, alias.name));
    } else {
      assign(alias.target, import_name(from, alias.name));
    }
  }
}

}  // namespace fullgraph::trace
