// What a parameter without annotation is: its own function says so by what it does with it.
//
// Python:  def forward(self, x, mask=None):
//              n = x.shape[1]               only tensors have a shape
//              mask = self.expand(mask)     asks the method `expand` in turn
//
// Every use of a parameter before it is assigned anew counts. One that no tensor supports (`x.items()`, `x(…)`, a loop
// over it, `if x:`) outweighs all others, and without any evidence nothing is known: what is inferred here is traced
// and reported on like an annotation.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"

namespace fullgraph::trace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Symbol;

namespace {

using Role = ParameterUse::Role;

constexpr int kMostCalls = 4;  // followed from one function to the next

bool is_local(const Expr& expr) {
  return expr.kind == ExprKind::Name && static_cast<ir::Scope>(expr.op) == ir::Scope::Local;
}

// Methods of tensors that other things have as well: lists, strings, sets, dicts, modules, distributions.
bool is_ambiguous(std::string_view method) {
  return one_of(method, {"split",    "values", "indices", "index",  "count",          "sort",
                         "add",      "to",     "type",    "half",   "float",          "double",
                         "bfloat16", "cuda",   "cpu",     "xpu",    "requires_grad_", "share_memory_",
                         "expand",   "sample", "item",    "tolist", "numpy",          "copy",
                         "map",      "apply",  "apply_",  "names",  "pin_memory",     "storage",
                         "size",     "mean",   "rename",  "set_",   "__len__",        "__getitem__"});
}

// torch's functions that take a list of tensors, sizes or anything else where others take a tensor.
bool takes_no_tensor(std::string_view function) {
  return one_of(function, {"cat",
                           "concat",
                           "concatenate",
                           "stack",
                           "hstack",
                           "vstack",
                           "dstack",
                           "column_stack",
                           "row_stack",
                           "block_diag",
                           "broadcast_tensors",
                           "meshgrid",
                           "cartesian_prod",
                           "einsum",
                           "chain_matmul",
                           "multi_dot",
                           "zeros",
                           "ones",
                           "empty",
                           "full",
                           "rand",
                           "randn",
                           "randint",
                           "randperm",
                           "arange",
                           "range",
                           "linspace",
                           "logspace",
                           "eye",
                           "tensor",
                           "as_tensor",
                           "asarray",
                           "scalar_tensor",
                           "from_numpy",
                           "frombuffer",
                           "is_tensor",
                           "atleast_1d",
                           "atleast_2d",
                           "atleast_3d",
                           "hann_window",
                           "hamming_window",
                           "tril_indices",
                           "triu_indices",
                           "promote_types",
                           "result_type",
                           "can_cast",
                           "broadcast_shapes",
                           "normal",
                           "where"});
}

// Collects the uses of local names in one module.
class Collector {
 public:
  explicit Collector(const ir::Module& module) : module_(module) {}

  std::vector<ParameterUse> run() {
    for (std::size_t i = 0; i < module_.exprs.size(); ++i) expression({static_cast<std::uint32_t>(i)});
    for (const ir::Stmt& stmt : module_.stmts) statement(stmt);
    std::sort(uses_.begin(), uses_.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    return std::move(uses_);
  }

 private:
  void use(ExprId id, Role role, ExprId outer = {}, std::size_t position = 0, Symbol keyword = {}) {
    if (!id) return;
    const Expr& expr = module_.expr(id);
    if (is_local(expr)) uses_.push_back({expr.span.begin, expr.slot, role, outer, position, keyword});
  }

  void truth(ExprId id) { use(id, Role::Other); }

  bool is_string(ExprId id) const { return module_.expr(id).kind == ExprKind::String; }

  void expression(ExprId id) {
    const Expr& expr = module_.expr(id);
    switch (expr.kind) {
      case ExprKind::Attribute:
        use(expr.a, Role::Attribute, id);
        break;
      case ExprKind::Call: {
        use(expr.a, Role::Other);
        if (const Expr& callee = module_.expr(expr.a); callee.kind == ExprKind::Attribute)
          use(callee.a, Role::Method, expr.a);
        std::size_t position = 0;
        for (ExprId argument : module_.list(expr.items)) {
          const Expr& passed = module_.expr(argument);
          if (passed.kind == ExprKind::Keyword)
            use(passed.a, Role::Argument, id, 0, passed.name);
          else if (passed.kind == ExprKind::Starred)
            position += 1000;  // what follows stands at a place not known
          else
            use(argument, Role::Argument, id, position++);
        }
        break;
      }
      case ExprKind::Starred:
      case ExprKind::DoubleStarred:
      case ExprKind::YieldFrom:
        use(expr.a, Role::Other);
        break;
      case ExprKind::CompFor:
        use(expr.b, Role::Other);
        break;
      case ExprKind::CompIf:
        truth(expr.a);
        break;
      case ExprKind::Conditional:
        truth(expr.a);
        break;
      case ExprKind::BoolOp:
        for (ExprId operand : module_.list(expr.items)) truth(operand);
        break;
      case ExprKind::Unary:
        if (static_cast<ir::UnaryOp>(expr.op) == ir::UnaryOp::Not) truth(expr.a);
        if (static_cast<ir::UnaryOp>(expr.op) == ir::UnaryOp::Invert) use(expr.a, Role::Tensor);
        break;
      case ExprKind::Binary:
        if (static_cast<ir::BinaryOp>(expr.op) == ir::BinaryOp::MatMul) {
          use(expr.a, Role::Tensor);
          use(expr.b, Role::Tensor);
        }
        break;
      case ExprKind::Subscript:
        subscript(expr);
        break;
      case ExprKind::Compare: {
        ExprId left = expr.a;
        for (ExprId item : module_.list(expr.items)) {
          const Expr& comparison = module_.expr(item);
          auto op = static_cast<ir::CompareOp>(comparison.op);
          bool membership = op == ir::CompareOp::In || op == ir::CompareOp::NotIn;
          if (is_string(comparison.a) || membership) use(left, Role::Other);
          if (is_string(left) || membership) use(comparison.a, Role::Other);
          left = comparison.a;
        }
        break;
      }
      case ExprKind::NamedExpr:
        use(expr.a, Role::Stored);
        break;
      default:
        break;
    }
  }

  // x[:, 0], x[..., None] and x[:, None, :] mean a tensor; x["key"] does not.
  void subscript(const Expr& expr) {
    if (is_string(expr.b)) return use(expr.a, Role::Other);
    const Expr& index = module_.expr(expr.b);
    if (index.kind != ExprKind::Tuple) return;
    bool slices = false;
    for (ExprId item : module_.list(index.items)) {
      ExprKind kind = module_.expr(item).kind;
      slices = slices || kind == ExprKind::Slice || kind == ExprKind::Ellipsis || kind == ExprKind::None;
    }
    if (slices) use(expr.a, Role::Tensor);
  }

  void statement(const ir::Stmt& stmt) {
    switch (stmt.kind) {
      case ir::StmtKind::If:
      case ir::StmtKind::While:
      case ir::StmtKind::Assert:
        truth(stmt.a);
        break;
      case ir::StmtKind::For:
        use(stmt.a, Role::Other);
        for (ExprId target : module_.list(stmt.items)) stored(target, stmt.header.end);
        break;
      case ir::StmtKind::Assign:
        for (ExprId target : module_.list(stmt.items)) {
          ExprKind kind = module_.expr(target).kind;
          if (kind == ExprKind::Tuple || kind == ExprKind::List) use(stmt.a, Role::Other);
          stored(target, stmt.span.end);
        }
        break;
      case ir::StmtKind::AnnAssign:
        if (stmt.a) stored(module_.list(stmt.items)[0], stmt.span.end);
        break;
      default:
        break;
    }
  }

  void stored(ExprId target, std::uint32_t from) {
    const Expr& expr = module_.expr(target);
    if (is_local(expr)) {
      uses_.push_back({from, expr.slot, Role::Stored, target, 0, {}});
    } else if (expr.kind == ExprKind::Tuple || expr.kind == ExprKind::List) {
      for (ExprId item : module_.list(expr.items)) stored(item, from);
    }
  }

  const ir::Module& module_;
  std::vector<ParameterUse> uses_;
};

}  // namespace

namespace {

// The spans that are no code of `code` itself: functions in it.
std::vector<ir::Span> nested_functions(const ir::Module& module, const ir::Function& code) {
  std::vector<ir::Span> spans;
  for (const ir::Function& other : module.functions) {
    if (other.parent && &module.function(other.parent) == &code) spans.push_back(other.span);
  }
  return spans;
}

// Python:  @staticmethod            the first parameter is no `self`
bool is_static(const ir::Module& module, const ir::Function& code) {
  if (!code.owner) return true;
  auto decorators = module.list(code.decorators);
  return std::any_of(decorators.begin(), decorators.end(),
                     [&](ExprId decorator) { return module.text(decorator) == "staticmethod"; });
}

// Is a value stored at `offset` on every way through the function, so that nothing after it is about the parameter?
bool is_unconditional(const ir::Module& module, const ir::Function& code, std::uint32_t offset) {
  for (ir::StmtId id : module.block(code.body)) {
    const ir::Stmt& stmt = module.stmt(id);
    if (stmt.span.begin < offset && offset <= stmt.span.end)
      return stmt.kind == ir::StmtKind::Assign || stmt.kind == ir::StmtKind::AnnAssign ||
             stmt.kind == ir::StmtKind::With;
  }
  return false;
}

}  // namespace

// A callee as far as it can be named without running anything: modules, functions, classes.
Value Interpreter::named_callee(const ir::Module& module, ExprId id) {
  const Expr& expr = module.expr(id);
  if (expr.kind == ExprKind::Name && static_cast<ir::Scope>(expr.op) == ir::Scope::Global)
    return lookup_global(module_object(&module)->globals, expr.name);
  if (expr.kind != ExprKind::Attribute) return nullptr;
  Value object = named_callee(module, expr.a);
  if (!object) return nullptr;
  switch (object->kind) {
    case Kind::PyModule:
      return module_attribute(as<PyModuleObject>(object), expr.name);
    case Kind::External:
      return external(as<ExternalObject>(object)->name + "." + std::string(expr.name.text()));
    case Kind::Class:
      return class_attribute(as<ClassObject>(object), expr.name);
    default:
      return nullptr;
  }
}

Interpreter::Likely Interpreter::as_argument(const ir::Module& module, ClassObject* receiver, const ir::Function& code,
                                             const ParameterUse& use, int depth) {
  const Expr& call = module.expr(use.outer);
  const Expr& callee = module.expr(call.a);
  Value target = nullptr;
  std::size_t position = use.position;
  bool of_self = false;  // self.name(x)
  if (callee.kind == ExprKind::Attribute && receiver && code.params.count > 0) {
    const Expr& object = module.expr(callee.a);
    of_self = is_local(object) && object.slot == module.params[code.params.first].slot;
  }
  if (of_self) {
    target = class_attribute(receiver, callee.name);
    // No method of the class: a submodule.
    if (!target) return receiver->is_module && position == 0 && !use.keyword.id ? Likely::Tensor : Likely::Unknown;
    if (target->kind == Kind::StaticMethod)
      target = as<PropertyObject>(target)->getter;
    else
      ++position;
  } else {
    target = named_callee(module, call.a);
  }
  if (!target) return Likely::Unknown;
  if (target->kind == Kind::Function)
    return likely_type(as<FunctionObject>(target), of_self ? receiver : as<FunctionObject>(target)->owner, use.keyword,
                       position, depth + 1);
  if (target->kind != Kind::External || use.keyword.id) return Likely::Unknown;
  std::string_view name = profile_.canonical(as<ExternalObject>(target)->name);
  if (name == "builtins.isinstance") {
    auto arguments = module.list(call.items);
    return arguments.size() == 2 && module.text(arguments[1]).ends_with("Tensor") ? Likely::Unknown : Likely::Other;
  }
  if (name.starts_with("builtins."))
    return one_of(name.substr(9), {"len", "print", "type", "id", "abs", "min", "max", "sum", "round"}) ? Likely::Unknown
                                                                                                       : Likely::Other;
  std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return Likely::Unknown;
  std::string_view where = name.substr(0, dot), function = name.substr(dot + 1);
  if (!one_of(where, {"torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special"}))
    return Likely::Unknown;
  if (position != 0)
    return function == "einsum" || (position == 1 && one_of(function, {"matmul", "bmm", "mm", "cdist"}))
               ? Likely::Tensor
               : Likely::Unknown;
  const profile::Callable* callable = profile_.callable(name);
  if (!callable || takes_no_tensor(function))
    return function == "where" && call.items.count == 3 ? Likely::Tensor : Likely::Unknown;
  using enum profile::Returns;
  bool tensor = callable->returns == Tensor || callable->returns == Tensors || callable->returns == TensorList ||
                where == "torch.nn.functional";
  return tensor ? Likely::Tensor : Likely::Unknown;
}

// What the uses of every parameter say. `receiver` is the class of the object whose method this is.
const std::vector<Interpreter::Likely>& Interpreter::likely_types(FunctionObject* function, ClassObject* receiver,
                                                                  int depth) {
  const ir::Function& code = *function->function;
  const ir::Module& module = *function->module;
  auto [found, fresh] = likely_.try_emplace({&code, receiver, depth}, code.params.count, Likely::Unknown);
  std::vector<Likely>& result = found->second;
  if (!fresh || code.body.count == 0) return result;
  auto [collected, first_time] = uses_.try_emplace(&module);
  if (first_time) collected->second = Collector(module).run();
  const std::vector<ParameterUse>& uses = collected->second;
  std::uint32_t start = module.stmt(*module.block(code.body).begin()).span.begin;
  auto nested = nested_functions(module, code);
  if (is_static(module, code)) receiver = nullptr;
  std::vector<bool> stored(code.params.count, false);
  auto at = std::lower_bound(uses.begin(), uses.end(), start,
                             [](const ParameterUse& use, std::uint32_t offset) { return use.offset < offset; });
  for (; at != uses.end() && at->offset <= code.span.end; ++at) {
    if (at->slot >= code.params.count || stored[at->slot]) continue;
    if (std::any_of(nested.begin(), nested.end(),
                    [&](ir::Span span) { return span.begin <= at->offset && at->offset < span.end; }))
      continue;
    Likely said = Likely::Unknown;
    switch (at->role) {
      case Role::Tensor:
        said = Likely::Tensor;
        break;
      case Role::Other:
        said = Likely::Other;
        break;
      case Role::Attribute:
      case Role::Method: {
        std::string_view name = module.expr(at->outer).name.text();
        bool property = one_of(name, {"shape", "ndim", "T", "mT", "H", "data", "dtype", "device", "grad",
                                      "requires_grad", "is_cuda", "is_leaf", "layout", "real", "imag"});
        if (!property && !profile_.callable("torch.Tensor." + std::string(name)))
          said = Likely::Other;
        else if (at->role == Role::Method ? !is_ambiguous(name) || name == "size" || name == "mean" || name == "float"
                                          : one_of(name, {"shape", "ndim", "is_cuda"}))
          said = Likely::Tensor;
        break;
      }
      case Role::Argument:
        if (depth < kMostCalls && result[at->slot] != Likely::Other)
          said = as_argument(module, receiver, code, *at, depth);
        break;
      case Role::Stored:
        stored[at->slot] = is_unconditional(module, code, at->offset);
        break;
    }
    if (said == Likely::Other || (said == Likely::Tensor && result[at->slot] == Likely::Unknown))
      result[at->slot] = said;
  }
  return result;
}

Interpreter::Likely Interpreter::likely_type(FunctionObject* function, ClassObject* receiver, Symbol keyword,
                                             std::size_t position, int depth) {
  const ir::Function& code = *function->function;
  for (std::size_t i = 0; i < code.params.count; ++i) {
    const ir::Param& param = function->module->params[code.params.first + i];
    if (param.kind == ir::ParamKind::VarArgs || param.kind == ir::ParamKind::KwArgs) continue;
    if (keyword.id ? param.name != keyword : i != position) continue;
    if (param.annotation) {
      std::string_view written = function->module->text(param.annotation);
      bool tensor = written == "Tensor" || written == "torch.Tensor" ||
                    written.find("Optional[Tensor]") != std::string_view::npos || written == "Optional[torch.Tensor]" ||
                    written == "torch.Tensor | None" || written == "Tensor | None";
      return tensor ? Likely::Tensor : Likely::Unknown;
    }
    // Python:  def scale(x, factor=1.0)     a number, unless somebody passes a tensor
    if (param.default_value && function->module->expr(param.default_value).kind != ExprKind::None)
      return Likely::Unknown;
    if (param.slot >= code.params.count) return Likely::Unknown;
    return likely_types(function, receiver, depth)[param.slot];
  }
  return Likely::Unknown;
}

// Does the function itself say that this parameter is a tensor?
bool Interpreter::is_likely_tensor(FunctionObject* function, ClassObject* receiver, const ir::Param& param) {
  const ir::Function& code = *function->function;
  if (param.annotation || param.slot >= code.params.count || code.name == names::init) return false;
  Frame frame;
  frame.module = function->module;
  frame.env = module_object(function->module)->globals;
  frame.caller = frame_;
  frame.conditions = conditions_.size();
  Frame* outer = std::exchange(frame_, &frame);
  bool result = likely_types(function, receiver ? receiver : function->owner, 0)[param.slot] == Likely::Tensor;
  frame_ = outer;
  return result;
}

}  // namespace fullgraph::trace
