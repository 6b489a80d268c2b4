// Calls: operators, methods of tensors, modules and containers, functions of libtorch and of the project.
#include <algorithm>
#include <cctype>

#include "analyzer/cxx/spelling.h"
#include "analyzer/cxx/translator.h"

namespace fullgraph::cxx {
namespace {

using Arguments = llvm::ArrayRef<const clang::Expr*>;

Arguments arguments_of(const clang::CallExpr* call, unsigned from = 0) {
  Arguments out(call->getArgs(), call->getNumArgs());
  out = out.drop_front(std::min<std::size_t>(from, out.size()));
  while (!out.empty() && llvm::isa<clang::CXXDefaultArgExpr>(out.back())) out = out.drop_back();
  return out;
}

const clang::Expr* object_of(const clang::CXXMemberCallExpr* call) {
  return call->getImplicitObjectArgument();
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_options(const clang::Expr* expression) {
  return class_name(plain(expression)->getType()) == "c10::TensorOptions";
}

// A dtype or a device where options are asked for, which Python takes by name.
bool becomes_options(const clang::Expr* expression) {
  return class_name(expression->getType()) == "c10::TensorOptions";
}

bool is_pointer_like(std::string_view name) {
  return one_of(name, {"std::shared_ptr", "std::unique_ptr", "c10::intrusive_ptr", "std::optional", "c10::optional",
                       "c10::MaybeOwned", "std::__shared_ptr_access", "std::reference_wrapper"});
}

bool is_sequence(std::string_view name) {
  return one_of(name, {"std::vector", "c10::ArrayRef", "std::array", "std::deque", "c10::SmallVector", "c10::List",
                       "c10::IListRef", "std::initializer_list"});
}

bool is_stream(clang::QualType type) {
  const std::string name = class_name(type);
  return one_of(name, {"std::basic_ostream", "std::basic_ofstream"});
}

bool is_standard_stream(const clang::Expr* expression) {
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(plain(expression));
  return name != nullptr && one_of(qualified(name->getDecl()), {"std::cout", "std::cerr", "std::clog"});
}

}  // namespace

void Translator::arguments(Arguments given, Piece& out) {
  bool first = true;
  for (const clang::Expr* argument : given) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(argument)) continue;
    if (!first) out << ", ";
    first = false;
    expression(argument, out);
  }
}

void Translator::call(const clang::CallExpr* call, Piece& out) {
  if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call)) return call_operator(operation, out);
  if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
    if (method->getMethodDecl() != nullptr) return call_method(method, out);
  }
  if (const clang::FunctionDecl* function = call->getDirectCallee()) return call_function(call, function, out);
  call_dependent(call, out);
}

// In templates, and where Clang could not tell: by the names alone.
void Translator::call_dependent(const clang::CallExpr* call, Piece& out) {
  const clang::Expr* const callee = plain(call->getCallee());
  std::string method;
  const clang::Expr* object = nullptr;
  if (const auto* member = llvm::dyn_cast<clang::CXXDependentScopeMemberExpr>(callee)) {
    method = member->getMember().getAsString();
    object = member->isImplicitAccess() ? nullptr : member->getBase();
  } else if (const auto* overloads = llvm::dyn_cast<clang::UnresolvedMemberExpr>(callee)) {
    method = overloads->getMemberName().getAsString();
    object = overloads->isImplicitAccess() ? nullptr : overloads->getBase();
  } else if (const auto* named = llvm::dyn_cast<clang::UnresolvedLookupExpr>(callee)) {
    // Overloads of one function of the project, or of libtorch.
    for (const clang::NamedDecl* declaration : named->decls()) {
      const clang::NamedDecl* found = declaration->getUnderlyingDecl();
      if (const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(found)) found = pattern->getTemplatedDecl();
      if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(found)) return call_function(call, function, out);
    }
  }
  if (!method.empty()) {
    if (object != nullptr) {
      operand(object, out);
    } else {
      out << "self";
    }
    const TensorMember known = tensor_member(method);
    if (known.is_property) {
      out << known.python;
      return;
    }
    if (method == "forward") {  // a call of the module, for its hooks
    } else if (!known.python.empty()) {
      out << known.python;
    } else {
      out << "." << python_name(method);
    }
  } else {
    operand(callee, out);
  }
  out << "(";
  arguments(arguments_of(call), out);
  out << ")";
}

void Translator::unknown_call(const std::string& name, clang::QualType result, const clang::Expr* object,
                              Arguments given, Piece& out) {
  if (is_tensor(result)) {
    out << "torch.ops.cxx." << (name.starts_with("operator") ? std::string("operator_call") : python_name(name));
  } else {
    out << unknown;
  }
  out << "(";
  if (object != nullptr) {
    expression(object, out);
    if (!given.empty()) out << ", ";
  }
  arguments(given, out);
  out << ")";
}

// ---------------------------------------------------------------------------------------------------------- operators

void Translator::call_operator(const clang::CXXOperatorCallExpr* call, Piece& out) {
  const clang::OverloadedOperatorKind kind = call->getOperator();
  const Arguments given(call->getArgs(), call->getNumArgs());
  const std::string owner = class_name(given[0]->getType());
  switch (kind) {
    case clang::OO_Arrow:
      return operand(given[0], out);
    case clang::OO_Star:
      if (given.size() == 1) return operand(given[0], out);
      break;
    case clang::OO_Call: {
      const clang::FunctionDecl* const function = call->getDirectCallee();
      const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(function);
      const bool module = held_by(record_of(given[0]->getType())) != nullptr;
      const bool lambda = method != nullptr && method->getParent()->isLambda();
      if (!module && !lambda && owner != "std::function" && method != nullptr) {
        operand(given[0], out);
        out << "." << (own_definition(method) != nullptr ? names_.of(method) : std::string("call"));
      } else {
        operand(given[0], out);
      }
      out << "(";
      arguments(arguments_of(call, 1), out);
      out << ")";
      return;
    }
    case clang::OO_Subscript:
      operand(given[0], out);
      out << "[";
      arguments(given.drop_front(), out);
      out << "]";
      return;
    case clang::OO_Equal:
      if (const auto* target = llvm::dyn_cast<clang::DeclRefExpr>(plain(given[0]))) {
        out << "(";
        reference(target->getDecl(), out);
        out << " := ";
        operand(given[1], out);
        out << ")";
        return;
      }
      return expression(given[1], out);
    case clang::OO_Exclaim:
      out << (is_tensor(given[0]->getType()) ? "~" : "not ");
      return operand(given[0], out);
    case clang::OO_PlusPlus:
    case clang::OO_MinusMinus:
      return operand(given[0], out);
    case clang::OO_LessLess:
      if (print(call, out)) return;
      break;
    default:
      break;
  }
  const std::string_view spelling = clang::getOperatorSpelling(kind);
  if (given.size() == 2) {
    operand(given[0], out);
    out << " " << binary_operator(spelling.ends_with('=') && call->isAssignmentOp() ? spelling.substr(0, 1) : spelling)
        << " ";
    return operand(given[1], out);
  }
  if (given.size() == 1 && one_of(spelling, {"-", "+", "~"})) {
    out << spelling;
    return operand(given[0], out);
  }
  unknown_call("operator", call->getType(), nullptr, given, out);
}

// `std::cout << a << b`: one call of print. A stream of one's own is no output.
bool Translator::print(const clang::CXXOperatorCallExpr* call, Piece& out) {
  if (!is_stream(call->getType())) return false;
  std::vector<const clang::Expr*> written;
  const clang::Expr* at = call;
  while (const auto* shift = llvm::dyn_cast<clang::CXXOperatorCallExpr>(plain(at))) {
    if (shift->getOperator() != clang::OO_LessLess) break;
    written.insert(written.begin(), shift->getArg(1));
    at = shift->getArg(0);
  }
  // Only of a tensor does output take what the device has.
  const bool of_tensor =
      std::ranges::any_of(written, [](const clang::Expr* one) { return is_tensor(plain(one)->getType()); });
  out << (of_tensor && is_standard_stream(at) ? "print" : std::string(unknown)) << "(";
  arguments(written, out);
  out << ")";
  return true;
}

// ------------------------------------------------------------------------------------------------------------ methods

void Translator::call_method(const clang::CXXMemberCallExpr* call, Piece& out) {
  const clang::CXXMethodDecl* const method = call->getMethodDecl();
  const clang::Expr* const object = object_of(call);
  const std::string owner = qualified(method->getParent());
  if (llvm::isa<clang::CXXConversionDecl>(method)) return expression(object, out);
  if (owner == "at::Tensor" || owner == "at::TensorBase") return call_tensor(call, out);
  if (call_module(call, out) || call_container(call, out) || call_operator_handle(call, out)) return;
  if (own_definition(method) != nullptr || (is_written(method->getParent()) && method->isPureVirtual())) {
    operand(object, out);
    out << "." << names_.of(method) << "(";
    arguments(arguments_of(call), out);
    out << ")";
    return;
  }
  unknown_call(method->getNameAsString(), call->getType(), object, arguments_of(call), out);
}

void Translator::call_tensor(const clang::CXXMemberCallExpr* call, Piece& out) {
  const std::string name = call->getMethodDecl()->getNameAsString();
  const clang::Expr* const object = object_of(call);
  const Arguments given = arguments_of(call);
  if (name == "defined") {
    out << "(";
    operand(object, out);
    out << " is not None)";
    return;
  }
  operand(object, out);
  if (name == "index" && given.size() == 1) {
    out << "[";
    const auto* elements = llvm::dyn_cast<clang::InitListExpr>(plain(given[0]));
    if (elements == nullptr) {
      expression(given[0], out);
    } else {
      arguments(elements->inits(), out);
    }
    out << "]";
    return;
  }
  const TensorMember known = tensor_member(name);
  if (known.is_property) {
    out << known.python;
    return;
  }
  if (known.python.empty()) {
    out << "." << python_name(name);
  } else {
    out << known.python;
  }
  out << "(";
  bool first = true;
  for (const clang::Expr* argument : given) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(argument) || is_options(argument)) continue;
    if (!first) out << ", ";
    first = false;
    expression(argument, out);
  }
  for (const clang::Expr* argument : given) {
    if (is_options(argument)) keywords_of_options(argument, out);
  }
  if (name == "register_hook" && given.size() == 1) captures_of_hook(given[0], out);
  out << ")";
}

// Python's functions see what is around them; in C++ it makes a difference how a lambda has got it:
// `h.register_hook(lambda_1, copies=[h], refers=[scale])`.
void Translator::captures_of_hook(const clang::Expr* hook, Piece& out) {
  const auto* function = llvm::dyn_cast<clang::LambdaExpr>(plain(hook));
  if (function == nullptr) return;
  Piece copies, refers;
  const auto add = [](Piece& list, const Piece& value) { list << (list.text().empty() ? "" : ", ") << value.text(); };
  for (const clang::LambdaCapture& capture : function->captures()) {
    const auto* variable =
        capture.capturesVariable() ? llvm::dyn_cast<clang::VarDecl>(capture.getCapturedVar()) : nullptr;
    if (variable == nullptr) continue;
    Piece value;
    if (variable->isInitCapture()) {
      if (variable->getInit() == nullptr || capture.getCaptureKind() != clang::LCK_ByCopy) continue;
      expression(variable->getInit(), value);
    } else {
      reference(variable, value);
    }
    if (capture.getCaptureKind() == clang::LCK_ByCopy) {
      if (is_tensor(variable->getType())) add(copies, value);
    } else if (variable->hasLocalStorage() && !variable->getType()->isReferenceType()) {
      add(refers, value);
    }
  }
  if (!copies.text().empty()) out << ", copies=[" << copies.text() << "]";
  if (!refers.text().empty()) out << ", refers=[" << refers.text() << "]";
}

bool Translator::call_module(const clang::CXXMemberCallExpr* call, Piece& out) {
  const clang::CXXMethodDecl* const method = call->getMethodDecl();
  const clang::CXXRecordDecl* const record = method->getParent();
  const clang::Expr* const object = object_of(call);
  const std::string name = method->getNameAsString();
  const Arguments given = arguments_of(call);
  const bool context = qualified(record) == "torch::autograd::AutogradContext";
  if (context) {
    if (name == "get_saved_variables") {
      operand(object, out);
      out << ".saved_tensors";
      return true;
    }
    operand(object, out);
    out << "." << name << "(" << (name == "save_for_backward" && !given.empty() ? "*" : "");
    arguments(given, out);
    out << ")";
    return true;
  }
  if (!is_module(record)) return false;
  if (name == "forward" && !llvm::isa<clang::CXXThisExpr>(plain(object))) {
    operand(object, out);
    out << "(";
    arguments(given, out);
    out << ")";
    return true;
  }
  if (own_definition(method) != nullptr) return false;
  // Registered under a name, and kept by whoever asked for it.
  if (one_of(name, {"register_module", "replace_module", "register_buffer"}) && given.size() >= 2) {
    expression(given[1], out);
    return true;
  }
  if (name == "register_parameter" && given.size() >= 2) {
    out << "torch.nn.Parameter(";
    expression(given[1], out);
    if (given.size() > 2) {
      out << ", requires_grad=";
      expression(given[2], out);
    }
    out << ")";
    return true;
  }
  if (name == "size" && given.empty()) {
    out << "len(";
    expression(object, out);
    out << ")";
    return true;
  }
  operand(object, out);
  if (name == "is_training") {
    out << ".training";
  } else if (one_of(name, {"as", "ptr"})) {  // the same module, as another class
  } else if (name == "push_back") {
    out << ".append(";
    arguments(given.take_back(1), out);
    out << ")";
  } else if (one_of(name, {"at", "operator[]"}) && given.size() == 1) {
    out << "[";
    expression(given[0], out);
    out << "]";
  } else {
    out << "." << python_name(name) << "(";
    arguments(given, out);
    out << ")";
  }
  return true;
}

// C++:     c10::Dispatcher::singleton().findSchemaOrThrow("mine::twice", "").typed<Tensor (Tensor)>().call(x)
// Python:  torch.ops.mine.twice(x)
bool Translator::call_operator_handle(const clang::CXXMemberCallExpr* call, Piece& out) {
  const std::string owner = qualified(call->getMethodDecl()->getParent());
  const std::string name = call->getMethodDecl()->getNameAsString();
  // `x.device().is_cpu()`: what the tensor says of itself
  if (owner == "c10::Device" && one_of(name, {"is_cpu", "is_cuda"})) {
    const auto* device = llvm::dyn_cast<clang::CXXMemberCallExpr>(plain(object_of(call)));
    if (device == nullptr || !is_tensor(object_of(device)->getType())) return false;
    operand(object_of(device), out);
    out << "." << name;
    return true;
  }
  if (owner == "c10::Dispatcher" && name == "findSchemaOrThrow" && call->getNumArgs() > 0) {
    const auto* text = llvm::dyn_cast<clang::StringLiteral>(plain(call->getArg(0)));
    const std::string schema = text == nullptr ? std::string() : text->getString().str();
    const std::size_t colons = schema.find("::");
    const auto is_word = [](const std::string& word) {
      return !word.empty() &&
             std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    };
    if (colons == std::string::npos || !is_word(schema.substr(0, colons)) || !is_word(schema.substr(colons + 2)))
      return false;
    const auto* overload =
        call->getNumArgs() < 2 ? nullptr : llvm::dyn_cast<clang::StringLiteral>(plain(call->getArg(1)));
    const std::string other = overload == nullptr ? std::string() : overload->getString().str();
    if (!other.empty() && !is_word(other)) return false;
    out << "torch.ops." << schema.substr(0, colons) << "." << schema.substr(colons + 2);
    if (!other.empty()) out << "." << other;
    return true;
  }
  if (owner == "c10::OperatorHandle" && name == "typed") {
    expression(object_of(call), out);
    return true;
  }
  if (owner == "c10::TypedOperatorHandle" && name == "call") {
    expression(object_of(call), out);
    out << "(";
    arguments(arguments_of(call), out);
    out << ")";
    return true;
  }
  return false;
}

// Containers, smart pointers and optional values of the standard library and of libtorch.
bool Translator::call_container(const clang::CXXMemberCallExpr* call, Piece& out) {
  const std::string owner = class_name(object_of(call)->getType());
  const std::string declared = qualified(call->getMethodDecl()->getParent());
  const std::string name = call->getMethodDecl()->getNameAsString();
  const clang::Expr* const object = object_of(call);
  const Arguments given = arguments_of(call);
  if (declared == "c10::Scalar" || is_pointer_like(owner)) {
    if (one_of(name, {"has_value", "defined"})) {
      out << "(";
      operand(object, out);
      out << " is not None)";
    } else {
      operand(object, out);
    }
    return true;
  }
  if (!is_sequence(owner)) return false;
  if (one_of(name, {"size", "empty"})) {
    out << (name == "empty" ? "(len(" : "len(");
    expression(object, out);
    out << (name == "empty" ? ") == 0)" : ")");
    return true;
  }
  const bool adds = one_of(name, {"push_back", "emplace_back"});
  if ((adds || name == "at") && given.size() == 1) {
    operand(object, out);
    out << (adds ? ".append(" : "[");
    expression(given[0], out);
    out << (adds ? ")" : "]");
    return true;
  }
  if (one_of(name, {"back", "front", "clear", "vec"})) {
    operand(object, out);
    out << (name == "back" ? "[-1]" : name == "front" ? "[0]" : name == "clear" ? ".clear()" : "");
    return true;
  }
  return false;
}

// ---------------------------------------------------------------------------------------------------------- functions

void Translator::call_function(const clang::CallExpr* call, const clang::FunctionDecl* function, Piece& out) {
  if (call_library(call, function, out)) return;
  const Arguments given = arguments_of(call);
  if (own_definition(function) != nullptr) {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
    if (method != nullptr) out << (method->isStatic() ? names_.of(method->getParent()) : std::string("self")) << ".";
    out << names_.of(function) << "(";
    arguments(given, out);
    out << ")";
    return;
  }
  const std::string name = qualified(function);
  if (const std::string python = library_function(name); !python.empty()) {
    out << python << "(";
    bool first = true;
    for (const clang::Expr* argument : given) {
      if (llvm::isa<clang::CXXDefaultArgExpr>(argument) || becomes_options(argument)) continue;
      if (!first) out << ", ";
      first = false;
      expression(argument, out);
    }
    for (const clang::Expr* argument : given) {
      if (is_options(argument)) keywords_of_options(argument, out);
    }
    out << ")";
    return;
  }
  // Of CUDA's runtime: the tracer knows what waits for the device.
  if (name.starts_with("cuda") && name.find(':') == std::string::npos) {
    out << "torch.cuda.runtime." << name << "(";
    arguments(given, out);
    out << ")";
    return;
  }
  unknown_call(function->getNameAsString(), call->getType(), nullptr, given, out);
}

// What Python writes in another way than as a call of a function of the same name.
bool Translator::call_library(const clang::CallExpr* call, const clang::FunctionDecl* function, Piece& out) {
  const std::string name = qualified(function);
  const Arguments given = arguments_of(call);
  if (one_of(name, {"std::move", "std::forward", "std::ref", "std::cref", "std::as_const", "__builtin_expect",
                    "std::make_optional"}) &&
      !given.empty()) {
    expression(given[0], out);
    return true;
  }
  if (one_of(name, {"std::make_tuple", "std::tie", "std::make_pair", "std::forward_as_tuple"})) {
    out << "(";
    arguments(given, out);
    out << (given.size() == 1 ? ",)" : ")");
    return true;
  }
  if (name == "std::get" && given.size() == 1) {
    const clang::TemplateArgumentList* const chosen = function->getTemplateSpecializationArgs();
    if (chosen == nullptr || chosen->size() == 0 || chosen->get(0).getKind() != clang::TemplateArgument::Integral)
      return false;
    operand(given[0], out);
    out << "[" << std::to_string(chosen->get(0).getAsIntegral().getExtValue()) << "]";
    return true;
  }
  if (one_of(name, {"std::make_shared", "std::make_unique"})) {
    const clang::TemplateArgumentList* const chosen = function->getTemplateSpecializationArgs();
    const clang::CXXRecordDecl* const record =
        chosen == nullptr || chosen->size() == 0 ? nullptr : record_of(chosen->get(0).getAsType());
    if (record == nullptr) return false;
    make(record, given, out);
    return true;
  }
  // F::apply(x): declared by libtorch, of a class of the project.
  if (name == "torch::autograd::Function::apply") {
    const auto* special =
        llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(llvm::cast<clang::CXXMethodDecl>(function)->getParent());
    const clang::CXXRecordDecl* const record =
        special == nullptr ? nullptr : record_of(special->getTemplateArgs()[0].getAsType());
    if (record == nullptr || !is_written(record)) return false;
    out << names_.of(record) << ".apply(";
    arguments(given, out);
    out << ")";
    return true;
  }
  return false;
}

// `torch::TensorOptions().dtype(torch::kFloat).requires_grad(true)`: what of it the tracer asks for.
void Translator::keywords_of_options(const clang::Expr* options, Piece& out) {
  const clang::Expr* at = plain(options);
  for (;;) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(at);
    const clang::FunctionDecl* const function = call == nullptr ? nullptr : call->getDirectCallee();
    if (function == nullptr) return;
    const auto* setting = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
    if (function->getNameAsString() == "requires_grad") {
      const Arguments given = arguments_of(call);
      out << (out.text().ends_with('(') ? "" : ", ") << "requires_grad=";
      if (given.empty()) {
        out << "True";
      } else {
        expression(given[0], out);
      }
      return;
    }
    if (setting == nullptr) return;
    at = plain(setting->getImplicitObjectArgument());
  }
}

}  // namespace fullgraph::cxx
