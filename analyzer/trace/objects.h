// Abstract values: what a Python object is known to be while a program is traced.
//
// A Value points to an Object that its Heap owns. Scalars are immutable and may be known (`known`) or known by type
// only; a value that stands for something symbolic (a configuration flag, the training flag) carries the Sym that
// conditions are written in. Containers, instances and tensors have identity and change; every change goes through
// the Heap's journal, so that a branch can be tried, undone and joined with its alternative.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/ir/ir.h"
#include "analyzer/trace/event.h"

namespace fullgraph::trace {

enum class Kind : std::uint8_t {
  Unknown,
  None,
  Bool,
  Int,
  Float,
  Complex,
  Str,
  Bytes,
  Ellipsis,
  NotImplemented,
  Tensor,
  Tuple,
  List,
  Set,
  Dict,
  Slice,
  Iterator,
  Function,
  Method,
  Native,
  Class,
  Instance,
  PyModule,
  External,
  Partial,
  Property,
  StaticMethod,
  ClassMethod,
  Super,
  Compiled,
  Handle,
  Context,
  Deferred,
  Union,
};

// Something that a condition can be about.
struct Sym {
  enum class What : std::uint8_t { Plain, Training, GradMode, FloatDtype };
  std::string text;  // as conditions show it: "training", "self._requires_grad"
  What what = What::Plain;
  std::uint32_t id = 0;
};

struct Object {
  Kind kind;
  bool known = false;        // scalars: the value is known; Unknown: never
  bool from_tensor = false;  // a Python scalar whose value was read from a tensor
  bool lasting = false;      // made to outlive the current root
  std::uint32_t serial = 0;  // objects are numbered as they are made
  const Sym* sym = nullptr;
  Object* usual =
      nullptr;  // a scalar that is not known: what it is where every constructor is called with its defaults
  explicit Object(Kind k) : kind(k) {}
  Object(const Object&) = default;
  Object& operator=(const Object&) = default;
  virtual ~Object() = default;
};
using Value = Object*;

// Attributes and globals, in the order of their first assignment: few are searched, many are hashed.
class AttrMap {
 public:
  [[nodiscard]] Value get(ir::Symbol key) const;
  void set(ir::Symbol key, Value value);  // null removes
  [[nodiscard]] const std::vector<ir::Symbol>& keys() const { return keys_; }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 private:
  [[nodiscard]] std::size_t index_of(ir::Symbol key) const;
  void enter(std::size_t index);  // into the table
  void rebuild();
  std::vector<ir::Symbol> keys_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> table_;  // once there are many: index + 1 by hash, 0 where there is none
};

struct BoolObject : Object {
  bool value = false;
  explicit BoolObject(bool v) : Object(Kind::Bool), value(v) { known = true; }
};
struct IntObject : Object {
  std::int64_t value = 0;
  explicit IntObject(std::int64_t v) : Object(Kind::Int), value(v) { known = true; }
};
struct FloatObject : Object {
  double value = 0;
  explicit FloatObject(double v) : Object(Kind::Float), value(v) { known = true; }
};
struct StrObject : Object {  // Str and Bytes
  std::string value;
  StrObject(Kind k, std::string v) : Object(k), value(std::move(v)) { known = true; }
};

enum class Dtype : std::uint8_t { Unknown, Bool, Int, Float, Complex };

// Shape: absent = unknown rank; a negative dimension = unknown size.
using Shape = std::optional<std::vector<std::int64_t>>;

struct TensorObject : Object {
  Origin origin = Origin::Unknown;
  Dtype dtype = Dtype::Unknown;
  ir::Symbol dtype_name;  // "float32" when known
  Truth requires_grad = Truth::Unknown;
  bool parameter = false;  // an nn.Parameter
  bool numpy = false;      // an ndarray
  bool sparse = false;
  Object* alias_of = nullptr;   // the tensor that it was detached from
  bool strided_nested = false;  // a nested tensor that is not jagged
  Shape shape;
  std::vector<std::uint32_t> marks;     // requires_grad_() calls on intermediates that it descends from
  struct Registration* hook = nullptr;  // of a hook on this parameter
  std::uint32_t own_mark = UINT32_MAX;  // the requires_grad_() call that was made on this very tensor
  TensorObject() : Object(Kind::Tensor) {}
};

// Tuple, List, Set: `items` when `exact`, else any number of values like `element` (null: nothing known of them).
struct SequenceObject : Object {
  std::vector<Value> items;
  bool exact = true;
  Value element = nullptr;
  ir::Symbol type_name;                 // namedtuple class, "Size"
  std::vector<ir::Symbol> field_names;  // namedtuples and structured results
  explicit SequenceObject(Kind k) : Object(k) {}
};

struct DictObject : Object {
  struct Entry {
    Value key;
    Value value;
    bool maybe = false;  // may be missing
  };
  std::vector<Entry> entries;
  bool exact = true;        // no other keys
  Value element = nullptr;  // other values, when not exact
  DictObject() : Object(Kind::Dict) {}
};

struct SliceObject : Object {
  Value lower, upper, step;
  SliceObject(Value l, Value u, Value s) : Object(Kind::Slice), lower(l), upper(u), step(s) {}
};

// An iterator over values that are computed already; `position` advances.
struct IteratorObject : Object {
  SequenceObject* sequence = nullptr;
  std::size_t position = 0;
  bool generator = false;
  IteratorObject() : Object(Kind::Iterator) {}
};

struct ClassObject;
struct EnvObject;

// torch.compiler.disable: not at all, with all that is called below, or with recursive=False.
enum class Disabled : std::uint8_t { No, Recursive, NotRecursive };

struct FunctionObject : Object {
  const ir::Module* module = nullptr;
  const ir::Function* function = nullptr;
  EnvObject* closure = nullptr;  // environment of the enclosing function, if any
  ClassObject* owner = nullptr;  // class whose body defined it
  std::vector<Value> defaults;   // by parameter index; null: none
  AttrMap attributes;
  Disabled disabled = Disabled::No;
  bool context_manager = false;                 // @contextlib.contextmanager
  bool constant_result = false;                 // torch.compiler.assume_constant_result
  bool allowed = false;                         // allow_in_graph and the like
  std::string operator_name;                    // of torch.library.custom_op: "mine::twice"
  std::vector<struct ContextObject*> contexts;  // decorated with @torch.no_grad() and its kin
  FunctionObject() : Object(Kind::Function) {}
};

struct MethodObject : Object {
  Value self;
  Value function;  // Function or Native
  MethodObject(Value s, Value f) : Object(Kind::Method), self(s), function(f) {}
};

// A method of a built-in type, bound to its object ("append" of a list).
struct NativeObject : Object {
  Value self;
  ir::Symbol name;
  NativeObject(Value s, ir::Symbol n) : Object(Kind::Native), self(s), name(n) {}
};

struct ClassObject : Object {
  const ir::Module* module = nullptr;
  const ir::Class* cls = nullptr;  // null for classes that are not in source
  std::string name;                // qualified: "pkg.mod.Class", "torch.nn.Linear"
  std::vector<Value> bases;        // Class objects; Unknown for what could not be resolved
  std::vector<ClassObject*> mro;   // itself first
  bool unknown_base = false;
  bool is_module = false;    // torch.nn.Module or below it
  bool is_function = false;  // torch.autograd.Function or below it
  bool dataclass = false;
  bool validated = false;  // a pydantic dataclass: its constructor checks and converts the fields
  bool is_namedtuple = false;
  bool is_enum = false;
  bool is_exception = false;
  EnvObject* closure = nullptr;
  AttrMap attributes;
  ClassObject() : Object(Kind::Class) {}
};

struct Registration {  // of a hook
  Location where;
  bool removed = false;
  bool broke = false;  // a traced call of the hooked module was seen
};

// What a module carries beside its attributes.
struct ModuleState {
  std::vector<Value> forward_hooks, forward_pre_hooks;
  std::vector<Registration*> backward_hooks;
  bool legacy_backward_hook = false;
  bool compiled = false;                       // Module.compile() was called
  Truth parameters_require_grad = Truth::Yes;  // for parameters of built-in layers
  std::optional<bool> training;
  std::vector<Value> arguments;  // of a built-in layer's constructor
  std::vector<std::pair<ir::Symbol, Value>> keywords;
};

struct InstanceObject : Object {
  ClassObject* cls;
  AttrMap attributes;
  std::optional<ModuleState> module;  // of nn.Module instances
  Value payload = nullptr;            // subclasses of list and dict, wrapped containers (ModuleList)
  bool opaque = false;                // built by code that was not followed: any attribute may exist
  bool unknown_call = false;
  explicit InstanceObject(ClassObject* c) : Object(Kind::Instance), cls(c) {}
};

struct PyModuleObject : Object {
  const ir::Module* module;
  EnvObject* globals;
  PyModuleObject(const ir::Module* m, EnvObject* g) : Object(Kind::PyModule), module(m), globals(g) {}
};

// A name outside the program: "torch.nn.functional.relu", "math", "builtins.len".
struct ExternalObject : Object {
  std::string name;
  bool module_like = false;
  std::unordered_map<ir::Symbol, Value> members;  // those that were asked for
  explicit ExternalObject(std::string n) : Object(Kind::External), name(std::move(n)) {}
};

struct PartialObject : Object {
  Value function;
  std::vector<Value> arguments;
  std::vector<std::pair<ir::Symbol, Value>> keywords;
  explicit PartialObject(Value f) : Object(Kind::Partial), function(f) {}
};

struct PropertyObject : Object {  // Property, StaticMethod, ClassMethod
  Value getter;
  Value setter = nullptr;
  bool cached = false;
  PropertyObject(Kind k, Value g) : Object(k), getter(g) {}
};

struct SuperObject : Object {
  ClassObject* after;
  Value self;
  SuperObject(ClassObject* a, Value s) : Object(Kind::Super), after(a), self(s) {}
};

// torch.compile(target), or torch.compiler.disable(target) of what is no plain function
struct CompiledObject : Object {
  Value target;
  Disabled disabled = Disabled::No;
  std::optional<bool> fullgraph;
  Location where;
  std::string kernel_of;   // in C++: the operator whose kernel it is
  std::string kernel_key;  // … and for whom: "CPU", "Autograd"
  explicit CompiledObject(Value t) : Object(Kind::Compiled), target(t) {}
};

// What register_*_hook returned.
struct HandleObject : Object {
  Registration* registration;
  bool made_in_region = false;
  InstanceObject* module = nullptr;
  Value hook = nullptr;
  explicit HandleObject(Registration* r) : Object(Kind::Handle), registration(r) {}
};

// A context manager known to the tracer: torch.no_grad() and its kin.
struct ContextObject : Object {
  std::string name;
  Value argument = nullptr;
  explicit ContextObject(std::string n) : Object(Kind::Context), name(std::move(n)) {}
};

// A name that `from module import name` binds at module level; looked up when somebody reads it.
struct DeferredObject : Object {
  std::string module;
  ir::Symbol name;
  DeferredObject(std::string m, ir::Symbol n) : Object(Kind::Deferred), module(std::move(m)), name(n) {}
};

struct UnionObject : Object {
  std::vector<Value> alternatives;  // two or more, none a Union
  UnionObject() : Object(Kind::Union) {}
};

// Variables of one function call, one class body or one module.
struct EnvObject : Object {
  const ir::Module* module = nullptr;
  const ir::Function* function = nullptr;  // null: names live in `names`
  std::vector<Value> slots;
  AttrMap names;
  std::vector<const ir::Module*> star_imports;
  std::vector<std::string> star_externals;
  EnvObject* parent = nullptr;  // enclosing function
  EnvObject* globals = nullptr;
  EnvObject* offered = nullptr;  // modules: what `if TYPE_CHECKING:` imports, for lazy modules
  EnvObject() : Object(Kind::Unknown) {}
};

template <class T>
T* as(Value value) {
  return static_cast<T*>(value);
}

// "NoneType", "int", "torch.Tensor", a class's name: for messages and dumps.
std::string type_name(const Object& object);
std::string callable_name(Value value);

}  // namespace fullgraph::trace
