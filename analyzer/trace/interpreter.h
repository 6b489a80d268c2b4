// The abstract interpreter: follows Python the way TorchDynamo follows it, with abstract values in place of tensors.
//
// It runs code in two manners. *Eager* code (module bodies, constructors, an entry function, a training loop) is run to
// learn which objects exist. *Traced* code (what a root reaches) is run the same way, and in addition every place where
// Dynamo would give up becomes an event. Python semantics are in statements.cpp, expressions.cpp, calls.cpp,
// attributes.cpp and operators.cpp; what Python and PyTorch themselves provide is in the models_*.cpp files.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/profile/profile.h"
#include "analyzer/python/program.h"
#include "analyzer/trace/event.h"
#include "analyzer/trace/heap.h"
#include "analyzer/trace/inference.h"
#include "analyzer/trace/objects.h"
#include "analyzer/trace/trace.h"

namespace re2 {
class RE2;
}

namespace fullgraph::trace {

// Ways to leave a statement; a set, since more than one may be possible.
enum Flow : std::uint8_t { kNormal = 1, kReturn = 2, kBreak = 4, kContinue = 8, kRaise = 16 };
using Flows = std::uint8_t;

struct Frame {
  const ir::Module* module = nullptr;
  const ir::Function* function = nullptr;  // null: a module or class body
  FunctionObject* object = nullptr;
  EnvObject* env = nullptr;
  Frame* caller = nullptr;
  ir::Span call;                 // in the caller's module
  std::string_view name;         // qualified, for paths; of the program
  ClassObject* owner = nullptr;  // for super()
  Value self = nullptr;
  Value result = nullptr;  // join of the values returned so far
  std::vector<Value> yields;
  bool yields_exact = true;
  bool region = false;     // runs below a compiled root, whether Dynamo follows it or has given it up
  bool* traced = nullptr;  // does Dynamo follow this frame? of the heap, which undoes it; null: it never did
  std::vector<Heap::Changes> returned;  // what branches that left the function early have changed
  bool boundary = false;                // Dynamo starts here: a root, or a frame called from a skipped one
  int optional_imports = 0;             // try blocks around the current statement that go on where an import fails
  bool holds_nested = false;            // the graph has just ended at the making of a strided nested tensor
  int unresumable = 0;         // depth of loops, try blocks and foreign context managers around the current statement
  std::size_t conditions = 0;  // height of the condition stack at entry
  bool class_body = false;
  ir::Span module_init{};  // the call of nn.Module's constructor in this one

  [[nodiscard]] bool is_traced() const { return traced && *traced; }
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<ir::Symbol, Value>> keywords;
  bool more_positional = false;  // an inexact *args
  Value more_element = nullptr;
  bool more_keywords = false;  // an inexact **kwargs
  ir::Span span;               // of the call expression
  const ir::Module* module = nullptr;
  std::vector<ir::Span> positional_spans;
  std::vector<std::pair<ir::Symbol, ir::Span>> keyword_spans;

  [[nodiscard]] Value keyword(ir::Symbol name) const;
  [[nodiscard]] Value keyword(std::string_view name) const;
  // The argument at a position, or by name.
  [[nodiscard]] Value get(std::size_t index, std::string_view name) const;
  [[nodiscard]] ir::Span span_of(std::string_view name) const;
};

// A condition that has been evaluated: known, or a formula over what is not.
struct Condition {
  enum class Kind : std::uint8_t { True, False, Atom, And, Or } kind = Kind::True;
  // Atom: `value` has this truth, or (Test::…) is of this kind
  const Sym* sym = nullptr;
  bool negated = false;
  // How it reads, without negation: `text`; without one, the name of `sym`; without that, the source at `where`.
  std::string text;
  Location where;
  // What holds of a place when the atom is true or false (null: nothing to narrow)
  struct Narrowing {
    EnvObject* env = nullptr;
    std::size_t slot = 0;
    InstanceObject* instance = nullptr;
    ir::Symbol attribute;
    Value when_true = nullptr;
    Value when_false = nullptr;
  };
  std::optional<bool> usual;  // truth, without negation, where every constructor is called with its defaults
  std::vector<Narrowing> narrowings;
  std::vector<Condition> parts;

  static Condition known(bool value) {
    Condition result;
    result.kind = value ? Kind::True : Kind::False;
    return result;
  }
  [[nodiscard]] bool is_true() const { return kind == Kind::True; }
  [[nodiscard]] bool is_false() const { return kind == Kind::False; }
  [[nodiscard]] bool is_known() const { return is_true() || is_false(); }
};
Condition operator!(const Condition& condition);

// One conjunct of the path condition.
struct Term {
  Condition condition;  // its words are needed for few terms, and made when they are
  bool holds = true;
  const Sym* sym = nullptr;
  bool value = true;
};

struct LeafMark {  // a requires_grad_() call on an intermediate
  Event event;
  bool reported = false;
};

// The source of a span with its blanks and line ends as single blanks, cut when it is long.
std::string one_line(const ir::Module& module, ir::Span span);

// Statements that one statement at the top of a module may run.
constexpr std::size_t kImportSteps = 400;

class Interpreter {
 public:
  Interpreter(python::Program& program, const profile::Profile& profile, const Options& options);
  ~Interpreter();

  // ---- roots (roots.cpp)
  void trace_module_root(const ir::Module& module, ir::ClassId cls);
  void trace_function_root(const ir::Module& module, ir::FunctionId function);
  Result<void> trace_entry(std::string_view entry);
  void run_script(const ir::Module& module);                              // the module's own top-level code, eagerly
  void scan_function(const ir::Module& module, ir::FunctionId function);  // eagerly, with unknown arguments

  std::vector<Event>& events() { return events_; }
  // Functions that some traced frame of the last root has run.
  [[nodiscard]] const std::unordered_set<const ir::Function*>& functions_of_root() const { return reached_; }
  // Which modules code of a module has named so far.
  using Uses = std::unordered_map<const ir::Module*, std::unordered_set<const ir::Module*>>;
  [[nodiscard]] const Uses& module_uses() const { return module_uses_; }
  void forget_uses() {
    module_uses_.clear();
    last_use_ = {};
  }
  // Runs the code of a module, which otherwise waits for the first that names it.
  void load(const ir::Module& module);
  // Has its code been run?
  [[nodiscard]] bool has_loaded(const ir::Module& module) const { return modules_.contains(&module); }

 private:
  friend struct Models;
  Heap heap_;
  python::Program& program_;
  const profile::Profile& profile_;
  const Options& options_;
  std::vector<Event> events_;

  // ---- state of the run
  Frame* frame_ = nullptr;
  Value grad_mode_;       // Bool
  Value root_grad_mode_;  // grad mode under which roots are called
  Value training_;        // Bool that an nn.Module without a mode of its own has
  std::vector<Term> conditions_;
  std::string root_;
  Value raised_ = nullptr;  // an exception on its way up
  std::vector<std::unique_ptr<LeafMark>> marks_;
  std::vector<std::unique_ptr<Registration>> registrations_;
  std::size_t steps_ = 0;  // statements run for the current root
  std::size_t step_limit_ = 150'000;
  int depth_ = 0;
  bool entry_mode_ = false;
  bool enter_region_ = false;              // the next frame is a compiled root
  std::optional<Event> uncaught_;          // under known arguments: the `raise` that ran last
  bool maybe_raised_ = false;              // something raised under a condition that is not known
  int inexact_loops_ = 0;                  // loops around whose number of rounds is not known
  std::unordered_set<Value> readers_run_;  // each class's __getattribute__ that this root has run
  std::uint32_t breaks_ = 0;               // graph breaks so far
  std::unordered_map<Value, std::uint32_t>
      drawn_;                     // random numbers, and what was computed from them, with `breaks_` then
  std::uint32_t hop_serial_ = 0;  // in the body of a higher-order operator: objects numbered up to this are outside
  bool hop_counted_ = false;      // … and one of them got another plain value
  const std::string* hooked_ = nullptr;  // … and that body is a hook on the tensor of this name
  const Event* policy_ = nullptr;  // the call of checkpoint(…, context_fn=…) whose function is being run eagerly
  std::vector<std::pair<Registration*, Event>> pending_registrations_;  // reported at the end unless removed
  Region region_ = Region::Model;                                       // what the root is the code of
  std::string autograd_kernel_;  // in C++: the operator whose autograd kernel runs, without a guard since
  std::string device_kernel_;    // … whose kernel for a device runs
  bool force_eager_ = false;     // torch.compiler.set_stance("force_eager")
  const ir::Module* entry_module_ = nullptr;
  bool compile_seen_ = false;      // torch.compile was called by the code of this entry
  int disabled_ = 0;               // inside a torch.compiler.disable()d call
  std::optional<bool> fullgraph_;  // of the compile site
  std::vector<InstanceObject*> compiled_modules_called_;
  std::vector<CompiledObject*> compiled_;
  std::uint32_t region_serial_ = 0;  // objects numbered up to this existed before the compiled region was entered
  std::vector<Registration*> global_backward_hooks_;
  std::unordered_set<const ir::Function*> traced_functions_, long_functions_;
  std::unordered_set<const ir::Function*> root_functions_,
      reached_;  // of those, what this root ran; and the one before
  Uses module_uses_;
  std::pair<const ir::Module*, const ir::Module*> last_use_;
  std::vector<std::pair<const ir::Function*, const ir::Module*>> entry_functions_;  // run for the current entry
  std::unordered_map<const ir::Module*, PyModuleObject*> modules_;
  std::unordered_map<std::string, Value> externals_;
  std::vector<Value> literals_;  // strings in source, by symbol
  std::unordered_map<const ir::Param*, const Sym*> parameter_syms_;
  std::unordered_map<ir::Symbol, Value> builtins_;  // by name; null: none of that name
  std::unordered_map<std::string, ClassObject*> external_classes_;
  std::unordered_map<Value, std::vector<Term>> since_;  // of a tensor that a variable holds under these terms only
  std::unordered_map<std::string, std::shared_ptr<const re2::RE2>> patterns_;  // compiled
  std::unordered_map<const ir::Class*, std::vector<ir::Symbol>> filled_later_;
  std::unordered_map<const Sym*, const ClassObject*> attribute_owners_;  // of attributes of which nothing is known
  std::map<std::pair<const ClassObject*, std::string>, Value> default_entries_;  // null: none, or several
  std::unordered_map<const ir::Module*, std::vector<std::pair<std::uint32_t, ir::Symbol>>> fillings_;
  std::unordered_map<std::string, Value>
      constant_calls_;  // results by function and arguments; null: not the same each time
  std::unordered_map<std::string, Value> pure_calls_;   // … of traced calls that depend on nothing else
  mutable std::uint64_t facts_used_ = 0;                // how often a condition of the path decided something
  std::unordered_map<std::string, Value> constructed_;  // modules built from symbolic arguments, by class and arguments
  std::map<std::pair<const ClassObject*, const Sym*>, InstanceObject*> some_instances_;
  struct Operator {                      // made with torch.library
    const ir::Module* module = nullptr;  // where it is defined
    const Location* native = nullptr;    // … in C++
    bool kernel = false;                 // has one for a device
    bool faked = false;                  // has one that says what it returns, or needs none
  };
  std::unordered_map<std::string, Operator> operators_;               // by name: "mine::twice"
  std::unordered_map<const ir::Class*, ClassObject*> class_objects_;  // of module-level classes

  void reset();  // after a root
  void in_module(const ir::Module& module, const std::function<void(PyModuleObject*)>& body);
  Arguments unknown_arguments(FunctionObject* function, std::size_t skip, ClassObject* receiver = nullptr);
  Arguments unknown_arguments_of(Value callable);
  void trace_uncalled(CompiledObject* compiled);

  // ---- statements.cpp
  Flows run_block(ir::Block block);
  Flows run_statement(ir::StmtId id);
  Flows run_if(const ir::Stmt& stmt);
  Flows run_for(const ir::Stmt& stmt);
  Flows run_while(const ir::Stmt& stmt);
  Flows run_try(const ir::Stmt& stmt);
  bool catches_import_error(const ir::Stmt& stmt) const;
  Flows run_with(const ir::Stmt& stmt, std::size_t item);
  Flows run_match(const ir::Stmt& stmt);
  Flows run_raise(const ir::Stmt& stmt);
  Flows run_assert(const ir::Stmt& stmt);
  void run_import(const ir::Stmt& stmt);
  void run_import_from(const ir::Stmt& stmt);
  void run_delete(ir::ExprId target);
  // Tries both ways under an unknown condition and joins what they leave.
  void note_conditional_tensors(const Condition& condition, const Heap::Changes& first, const Heap::Changes& second);
  Flows branch(const Condition& condition, const std::function<Flows()>& when_true,
               const std::function<Flows()>& when_false);
  void assign(ir::ExprId target, Value value);
  void assign_unpacked(const ir::Module::ExprList& targets, Value value, ir::Span span);
  void assign_name(const ir::Expr& name, Value value);
  std::optional<bool> matches_pattern(ir::ExprId pattern, Value subject);  // binds captures
  bool resumable_context(Value manager) const;
  Value make_function(ir::FunctionId id);
  Value make_class(ir::ClassId id);

  // ---- expressions.cpp
  Value eval(ir::ExprId id);
  Value eval_name(const ir::Expr& expr);
  Value eval_call(const ir::Expr& expr);
  Value eval_comprehension(const ir::Expr& expr);
  void run_clauses(const ir::Expr& expr, std::size_t clause, const std::function<void()>& element, bool& exact);
  Value eval_compare(const ir::Expr& expr);
  Value eval_bool_op(const ir::Expr& expr);
  Value eval_conditional(const ir::Expr& expr);
  Value eval_fstring(const ir::Expr& expr);
  Value eval_subscript(const ir::Expr& expr);
  Value eval_constant(const ir::Expr& expr);
  Arguments eval_arguments(const ir::Expr& call);
  Value lookup_global(EnvObject* globals, ir::Symbol name);
  Value resolve(Value value);  // looks a Deferred name up
  Value lookup_builtin(ir::Symbol name);

  // ---- conditions.cpp
  Condition eval_condition(ir::ExprId id);
  void end_operands(Heap::Mark mark, bool narrowed);
  Condition condition_of(Value value, ir::ExprId id);  // truth of a value; reports branching on a tensor
  void narrow_place(Condition& condition, ir::ExprId place, Value when_true, Value when_false);
  void assume(const Condition& condition, bool truth, bool narrows = true);
  std::optional<bool> fact(const Sym* sym) const;
  std::optional<bool> truth(Value value);                             // without reporting; nullopt: not known
  Value filter(Value value, const std::function<bool(Value)>& keep);  // alternatives of a union
  std::optional<bool> is_instance(Value value, Value type);
  std::string condition_text(bool& training, bool& grad) const;
  std::string unusual_term() const;  // of the path condition: the first that is false under the defaults
  Value without_none(Value value);

  // ---- calls.cpp
  Value call(Value callee, Arguments& arguments);
  Value call_function(FunctionObject* function, Value self, Arguments& arguments);
  Value run_function(FunctionObject* function, Value self, Arguments& arguments);
  Value call_instance(InstanceObject* instance, Arguments& arguments);
  Value call_compiled(CompiledObject* compiled, Arguments& arguments);
  Value call_region(CompiledObject* compiled, Arguments& arguments);
  Value call_disabled(CompiledObject* disabled, Arguments& arguments);
  Value call_method(Value object, std::string_view name, std::vector<Value> arguments);
  Value call_value(Value callee, std::vector<Value> arguments);
  bool bind(FunctionObject* function, Value self, const Arguments& arguments, EnvObject* env);
  void leave_region(Value result);
  Value value_from_annotation(const ir::Module& module, ir::ExprId annotation, const Sym* name);
  Value parameter_value(FunctionObject* function, const ir::Param& param, bool root, ClassObject* receiver = nullptr);
  Value construct(ClassObject* cls, Arguments& arguments);
  InstanceObject* some_instance(ClassObject* cls, const Sym* name);  // of which nothing but the class is known
  InstanceObject* instantiate_root(ClassObject* cls);                // built by its constructor from unknown arguments
  Value call_union(UnionObject* callees, Arguments& arguments);
  void raise_exception(std::string_view type, ir::Span span);
  Value iterate(Value iterable, ir::Span span);  // → a Sequence, exact or not

  // ---- class_facts.cpp
  const std::vector<ir::Symbol>& filled_later(const ClassObject& cls);
  void open_containers(InstanceObject* instance);
  Value entry_of_attribute(Value mapping, Value key);
  Value default_entry(const ClassObject& cls, const std::string& key);

  // ---- inference.cpp
  enum class Likely : std::uint8_t { Unknown, Tensor, Other };
  bool is_likely_tensor(FunctionObject* function, ClassObject* receiver, const ir::Param& param);
  const std::vector<Likely>& likely_types(FunctionObject* function, ClassObject* receiver, int depth);
  Likely likely_type(FunctionObject* function, ClassObject* receiver, ir::Symbol keyword, std::size_t position,
                     int depth);
  Likely as_argument(const ir::Module& module, ClassObject* receiver, const ir::Function& code, const ParameterUse& use,
                     int depth);
  Value named_callee(const ir::Module& module, ir::ExprId id);
  std::map<std::tuple<const ir::Function*, const ClassObject*, int>, std::vector<Likely>>
      likely_;  // by depth, so that the order of questions is no matter
  std::map<const ir::Module*, std::vector<ParameterUse>> uses_;

  // ---- memo.cpp
  std::string call_key(const void* callee, Value self, const Arguments& arguments) const;
  Value run_unconditionally(Arguments& arguments, const std::function<Value()>& body);
  Value call_class(ClassObject* cls, Arguments& arguments);
  Value call_constant_function(FunctionObject* function, Arguments& arguments);
  Value call_pure_function(FunctionObject* function, Value self, Arguments& arguments);
  bool within_steps(const ir::Function* code, std::size_t most, const std::function<void()>& body);
  Value call_decorator(Value decorator, Arguments& arguments);
  Value call_method_of(Value self, FunctionObject* function, Arguments& arguments);

  // ---- attributes.cpp
  Value attribute(Value object, ir::Symbol name, ir::Span span);
  Value attribute_or_null(Value object, ir::Symbol name, ir::Span span);
  Value class_attribute(ClassObject* cls, ir::Symbol name, ClassObject** where = nullptr);
  Value bind_attribute(Value attribute, Value self, ClassObject* owner, ir::Span span);
  Value instance_attribute(InstanceObject* instance, ir::Symbol name, ir::Span span);
  Value builtin_layer_attribute(InstanceObject* instance, ir::Symbol name);
  void set_attribute(Value object, ir::Symbol name, Value value, ir::Span span, ir::Span object_span);
  Value external(const std::string& name);
  ClassObject* external_class(const std::string& name);
  ClassObject* class_of(Value value);
  void compute_mro(ClassObject* cls);
  Value code_object(const FunctionObject& function);
  bool attributes_known(const ClassObject* cls) const;
  bool is_subclass(const ClassObject* cls, std::string_view name) const;
  PyModuleObject* module_object(const ir::Module* module);
  const ir::Module* find_module(std::string_view dotted, const ir::Module* user = nullptr);
  void note_use(const ir::Module* user, const ir::Module* used) {
    if (last_use_ == std::pair(user, used) || user == used) return;
    last_use_ = {user, used};
    module_uses_[user].insert(used);
  }
  Value import_name(const std::string& module, ir::Symbol name);
  Value module_value(const std::string& dotted);
  Value module_attribute(PyModuleObject* module, ir::Symbol name);
  Value some_attribute(InstanceObject* instance, ir::Symbol name, ir::Span span);

  // ---- operators.cpp
  Value binary(ir::BinaryOp op, Value left, Value right, ir::Span span);
  Value unary(ir::UnaryOp op, Value operand, ir::Span span);
  Value compare(ir::CompareOp op, Value left, Value right, ir::Span span);
  Value subscript(Value object, Value index, ir::Span span, ir::Span index_span);
  void set_subscript(Value object, Value index, Value value, ir::Span span);
  std::optional<bool> equal(Value left, Value right);
  std::optional<bool> identical(Value left, Value right);
  Value length(Value value);
  Value tensor_index(TensorObject* tensor, Value index, ir::Span span);
  void read_bounds(TensorObject* tensor, Value index, ir::Span span);

  // ---- models_*.cpp: Python's own and PyTorch's functions
  Value call_external(ExternalObject* function, Arguments& arguments);
  Value einops_result(std::string_view module, std::string_view function);
  void report_profiled(const std::string& name, const Arguments& arguments);
  InstanceObject* opaque_instance(std::string_view cls);
  Value external_instance(std::string_view callable);
  const profile::Callable* profiled_method(const ClassObject* cls, std::string_view name) const;
  Value call_profiled_method(const InstanceObject* instance, std::string_view name,
                             const Arguments& arguments);  // null: not known
  void run_getattribute(InstanceObject* instance, ir::Symbol name);
  Value enter_on_stack(Value manager, ir::Span span);
  Value library_call(const std::string& name,
                     const Arguments& arguments);  // torch.library.…; null: nothing of interest
  void library_method(const InstanceObject* library, std::string_view name, const Arguments& arguments);
  Value make_operator(const Arguments& arguments);
  void report_missing_fake(const Operator& op, std::string_view name, ir::Span span);
  void report_out_shape(const std::string& name, const Arguments& arguments);
  void report_import(const std::string& module, ir::Span span);
  void report_nested(const ir::Stmt& stmt);
  void report_escape(Value value, ir::Span span);
  Value make_coroutine();
  bool drive_coroutine(const InstanceObject* instance, std::string_view name, const Arguments& arguments);
  Value address_of(TensorObject* tensor);
  Value compare_addresses(ir::CompareOp op, Value left, Value right, ir::Span span);  // null: neither is one
  Value calculate_address(Value left, Value right, ir::Span span);                    // null: neither is one
  void with_gradients(const std::function<void()>& body);
  Value apply_function(ClassObject* cls, Arguments& arguments);
  bool report_unsupported_function(ClassObject* cls, const Arguments& arguments);
  void run_backward(ClassObject* cls, Value context, Value result, const Arguments& arguments);
  Value call_builtin(std::string_view name, Arguments& arguments);
  Value call_numpy(const std::string& name, const Arguments& arguments);
  Value call_stdlib(const std::string& name, Arguments& arguments, bool& known);
  Value call_regex(std::string_view name, const Arguments& arguments);
  Value call_torch(const std::string& name, Arguments& arguments);
  // Of recorded graphs; null: nothing special.
  Value recorded_global(ir::Symbol name);
  Value call_recorded(const std::string& name, Arguments& arguments);
  Value call_operator(std::string_view name, Arguments& arguments);
  Value call_script_operator(std::string_view name, Arguments& arguments);
  Value call_higher_order(std::string_view name, Arguments& arguments);
  Value call_script_function(std::string_view name, Arguments& arguments);
  Value call_body(Value body, const std::vector<Value>& operands, ir::Span span);
  Value index_by_tensors(Arguments& arguments);
  void report_recorded(EventKind kind, std::string_view callee, const Arguments& arguments, std::string detail = {});
  void report_frozen_state(std::string_view name, const Arguments& arguments);
  void report_archive(InstanceObject* root);
  [[nodiscard]] const ir::Origin* origin_at(ir::Span span) const;
  // Of the project's C++, seen from its Python.
  void know_native_operators();
  Value call_native_function(std::string_view name, const Arguments& arguments);
  Value load_native_module(const Arguments& arguments);
  // Of C++ that is spelled as Python.
  Value call_cxx(const std::string& name, Arguments& arguments);
  void note_cxx_method(TensorObject* tensor, std::string_view name, const Arguments& arguments);
  Value mark_kernel(const Arguments& arguments);
  Value call_kernel(CompiledObject* kernel, Arguments& arguments);
  void note_cxx_function(const ClassObject* cls, const Arguments& arguments);
  Flows run_captured(const ir::Stmt& with, std::size_t item);
  [[nodiscard]] bool in_cxx() const { return frame_->module->recording == ir::Recording::Cxx; }
  void note_cxx_hook(TensorObject* tensor, const Arguments& arguments);
  [[nodiscard]] bool is_parameter_of_frame(Value value) const;
  [[nodiscard]] bool in_backward_pass() const;
  [[nodiscard]] bool in_recording() const { return frame_->module->recording != ir::Recording::None; }
  Value call_native(NativeObject* native, Arguments& arguments);
  Value string_method(StrObject* string, std::string_view name, Arguments& arguments);
  Value sequence_method(SequenceObject* sequence, std::string_view name, Arguments& arguments);
  Value dict_method(DictObject* dict, std::string_view name, Arguments& arguments);
  Value read_numpy(TensorObject* array, std::string_view name, const Arguments& arguments);
  Value tensor_method(TensorObject* tensor, std::string_view name, Arguments& arguments);
  Value tensor_attribute(TensorObject* tensor, ir::Symbol name, ir::Span span);
  Value module_method(InstanceObject* module, std::string_view name, Arguments& arguments, bool& known);
  Value call_builtin_layer(InstanceObject* layer, const std::string& cls, Arguments& arguments);
  Value operator_result(const profile::Callable* callable, std::string_view name, const Arguments& arguments,
                        Value self);
  void report_operator(const std::string& name, const profile::Callable* callable, Value self,
                       const Arguments& arguments);
  void report_registration(Registration* where, Value hook, std::string_view method);
  Value named_in(FunctionObject* function, const ir::Expr& expr);
  bool reads_gradient(FunctionObject* function, int depth = 0);
  void run_tensor_hook(TensorObject* tensor, Value hook, std::string_view method, Arguments& arguments);
  void flush_registrations();
  void note_compile();
  void report_compile_divergence(const ir::Stmt& stmt, const Condition& condition);
  void report_requires_grad_assigned(Origin origin, Truth before, std::optional<bool> flag, ir::Span span,
                                     ir::Span object_span);
  void report_requires_grad_flag(ir::Span assignment);
  void report_marking_not_reached(const ir::Stmt& stmt);
  // `subject`: how it is written, where that is not what stands at `span`.
  void report_replaced_parameter(Value old, Value value, ir::Span span, std::string subject = {});
  [[nodiscard]] bool compiles_something(const ir::Function& function, const ir::Module& module) const;
  void scan_hazards(const ir::Module& module, std::string_view except);
  void report_checkpoint_settings(std::string_view name, Arguments& arguments);
  void report_side_effect(const Object* object, Value value, ir::Span span);
  Value register_module_hook(InstanceObject* module, std::string_view name, Arguments& arguments);
  Value unknown_method(const ir::Expr& callee, Arguments& arguments);
  bool span_contains_name(const ir::Module& module, ir::Span span, std::initializer_list<std::string_view> names) const;
  Value checkpoint(Arguments& arguments, const std::string& name);
  Value compile(Arguments& arguments);
  Value disable(Arguments& arguments, const std::string& name);
  Value decorate_class(ClassObject* cls, Value decorator);
  std::vector<std::pair<std::string, Value>> named_parameters(Value module);
  void add_parameters(Value root, const std::string& prefix, std::unordered_set<Value>& seen,
                      std::vector<std::pair<std::string, Value>>& result);
  std::vector<std::pair<std::string, Value>> named_children(InstanceObject* module);
  void each_module(Value root, const std::function<void(InstanceObject*, const std::string&)>& visit);
  Value construct_tensor(const Arguments& arguments, std::string_view name);
  Registration* registration(ir::Span span);
  Truth requires_grad_of(const Arguments& arguments);

  // ---- events.cpp
  Event event(EventKind kind, ir::Span span) const;
  // Reports a graph break at `span` of the current frame, and lets the frames that cannot be resumed run eagerly.
  void graph_break(EventKind kind, ir::Span span, std::string_view gb_id, std::string_view callee = {},
                   std::string_view subject = {}, std::string_view detail = {});
  void graph_break(Event event);
  void report_module_constructors();
  [[nodiscard]] bool is_drawn(Value value) const;
  Value from_operands(Value result, Value left, Value right);
  void emit(Event event);
  [[nodiscard]] bool traced() const { return frame_ && frame_->is_traced() && disabled_ == 0; }
  [[nodiscard]] bool is_fullgraph() const { return fullgraph_.value_or(options_.fullgraph); }
  void leave_frames();
  std::string text(ir::Span span) const;
  std::string receiver(ir::Span call, std::string_view method) const;  // the object of a call of `method`, as written
};

}  // namespace fullgraph::trace
