#include "analyzer/cxx/registrations.h"

#include <map>
#include <optional>
#include <string_view>

#include "analyzer/cxx/names.h"
#include "analyzer/cxx/translator.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

namespace fullgraph::cxx {
namespace {

constexpr std::string_view initializer_class = "torch::detail::TorchLibraryInit";  // torch/library.h
constexpr std::string_view operators_class = "c10::RegisterOperators";             // ATen/core/op_registration
constexpr std::string_view options_class = "c10::RegisterOperators::Options";
constexpr std::string_view module_prefix = "pybind11_init_";  // pybind11/detail/common.h

// What stands in an expression: the first text, the first key of the dispatcher, a function or a lambda.
class Contents : public clang::RecursiveASTVisitor<Contents> {
 public:
  static Contents of(const clang::Expr* expression) {
    Contents out;
    out.TraverseStmt(const_cast<clang::Expr*>(expression));
    return out;
  }

  bool VisitStringLiteral(clang::StringLiteral* literal) {
    if (!text && literal->getCharByteWidth() == 1) text = literal->getString().str();
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    const clang::ValueDecl* const named = reference->getDecl();
    const std::string type = named->getType().getUnqualifiedType().getAsString();
    const std::string name = named->getNameAsString();
    if (type.ends_with("DispatchKey")) key = name;
    if (type.ends_with("DeviceType")) key = name.starts_with("k") ? name.substr(1) : name;
    if (const auto* found = llvm::dyn_cast<clang::FunctionDecl>(named); found != nullptr && function == nullptr)
      function = found;
    return true;
  }

  bool VisitLambdaExpr(clang::LambdaExpr* found) {
    if (lambda == nullptr) lambda = found;
    return true;
  }

  std::optional<std::string> text;
  std::string key;
  const clang::LambdaExpr* lambda = nullptr;
  const clang::FunctionDecl* function = nullptr;
};

std::optional<std::string> text_of(const clang::Expr* expression) {
  return Contents::of(expression).text;
}

// The kernels that options of the older interface hold: `.kernel<…>(DispatchKey::CUDA)`, `.catchAllKernel(…)`.
class Kernels : public clang::RecursiveASTVisitor<Kernels> {
 public:
  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    if (call->getMethodDecl() == nullptr) return true;
    const std::string name = call->getMethodDecl()->getNameAsString();
    if (name == "kernel" && call->getNumArgs() > 0) keys.push_back(Contents::of(call->getArg(0)).key);
    if (name == "catchAllKernel") keys.emplace_back();
    return true;
  }

  std::vector<std::string> keys;
};

std::string_view without_schema(std::string_view name) {
  return name.substr(0, name.find('('));
}

// The calls of `m.def` and `m.impl` in the body that registers.
class Body : public clang::RecursiveASTVisitor<Body> {
 public:
  Body(std::string space, std::string key, std::vector<Registration>& out)
      : space_(std::move(space)), key_(std::move(key)), out_(out) {}

  bool shouldTraversePostOrder() const { return true; }  // of `m.def(…).def(…)` the first comes first

  bool VisitVarDecl(clang::VarDecl* variable) {
    if (variable->getInit() == nullptr || class_name(variable->getType()) != "pybind11::module_") return true;
    const auto* made = llvm::dyn_cast<clang::CXXMemberCallExpr>(plain(variable->getInit()));
    if (made == nullptr || made->getNumArgs() == 0 || made->getMethodDecl()->getNameAsString() != "def_submodule")
      return true;
    if (const auto name = text_of(made->getArg(0)))
      submodules_[variable] = module_of(made->getImplicitObjectArgument()) + "." + *name;
    return true;
  }

  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    const clang::CXXMethodDecl* const method = call->getMethodDecl();
    if (method == nullptr) return true;
    const std::string owner = qualified(method->getParent()), name = method->getNameAsString();
    if (owner == "torch::Library") {
      note_operator(call, name);
    } else if (owner == operators_class && name == "op") {
      note_older({call->getArgs(), call->getNumArgs()}, call);
    } else if (owner == "pybind11::module_" && name == "def" && call->getNumArgs() >= 2) {
      note_function(module_of(call->getImplicitObjectArgument()), call->getArg(0), call);
    }
    return true;
  }

  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) {
    const std::string name = qualified(made->getConstructor()->getParent());
    if (name == operators_class && made->getNumArgs() >= 2) note_older({made->getArgs(), made->getNumArgs()}, made);
    if (name == "pybind11::class_" && made->getNumArgs() >= 2)
      note_function(module_of(made->getArg(0)), made->getArg(1), made);
    return true;
  }

 private:
  void note_operator(const clang::CXXMemberCallExpr* call, const std::string& method) {
    // `m.set_python_module("mine.fakes")`: what the operators return is told there.
    if (method == "set_python_module") has_fakes_ = true;
    if ((method != "def" && method != "impl") || call->getNumArgs() == 0) return;
    const auto text = text_of(call->getArg(0));
    if (!text) return;
    const std::string_view given = without_schema(*text);
    const std::string name =
        given.find("::") == std::string_view::npos ? space_ + "::" + std::string(given) : std::string(given);
    if (method == "def") note(RegistrationKind::Schema, name, "", call);
    if (method == "def" && has_fakes_) note(RegistrationKind::Kernel, name, "Meta", call);
    if (call->getNumArgs() < 2 || llvm::isa<clang::CXXDefaultArgExpr>(call->getArg(1))) return;
    const Contents kernel = Contents::of(call->getArg(1));
    // `m.def("twice(…)", {tags…})`: nothing that runs.
    const bool runs = method == "impl" || kernel.function != nullptr || is_callable(call->getArg(1));
    if (!runs) return;
    note(RegistrationKind::Kernel, name, kernel.key.empty() ? key_ : kernel.key, call);
    note_code(kernel);
  }

  // C++:  static auto registry = torch::RegisterOperators("mine::twice", &twice).op("mine::thrice(Tensor x) -> Tensor",
  //           torch::RegisterOperators::options().kernel<…>(torch::DispatchKey::CUDA));
  void note_older(llvm::ArrayRef<const clang::Expr*> arguments, const clang::Expr* call) {
    const auto text = text_of(arguments[0]);
    if (!text) return;
    const std::string name(without_schema(*text));
    note(RegistrationKind::Schema, name, "", call);
    const bool given = arguments.size() > 1 && !llvm::isa<clang::CXXDefaultArgExpr>(arguments[1]);
    if (given && class_name(arguments[1]->getType()) != options_class) {
      note(RegistrationKind::Kernel, name, "", call);
      note_code(Contents::of(arguments[1]));
      return;
    }
    Kernels kernels;
    kernels.TraverseStmt(const_cast<clang::Expr*>(arguments[given ? 1 : 0]));
    for (std::string& key : kernels.keys) note(RegistrationKind::Kernel, name, std::move(key), call);
  }

  void note_code(const Contents& kernel) {
    out_.back().lambda = kernel.lambda;
    if (kernel.lambda == nullptr) out_.back().function = kernel.function;
  }

  static bool is_callable(const clang::Expr* expression) {
    const clang::CXXRecordDecl* const record = plain(expression)->getType()->getAsCXXRecordDecl();
    return record != nullptr && (record->isLambda() || qualified(record) == "torch::CppFunction");
  }

  void note_function(const std::string& module, const clang::Expr* name, const clang::Expr* call) {
    if (const auto text = text_of(name)) note(RegistrationKind::Function, module + "." + *text, "", call);
  }

  [[nodiscard]] std::string module_of(const clang::Expr* object) const {
    const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(plain(object));
    const auto known = named == nullptr ? submodules_.end() : submodules_.find(named->getDecl());
    return known == submodules_.end() ? space_ : known->second;
  }

  void note(RegistrationKind kind, std::string name, std::string key, const clang::Expr* call) {
    out_.push_back({kind, std::move(name), std::move(key), call->getSourceRange()});
  }

  std::string space_, key_;
  bool has_fakes_ = false;
  std::map<const clang::Decl*, std::string> submodules_;
  std::vector<Registration>& out_;
};

class Declarations {
 public:
  Declarations(std::vector<Registration>& out, const clang::SourceManager& sources) : out_(out), sources_(sources) {}

  void look_at(clang::Decl* declaration) {
    if (sources_.isInSystemHeader(sources_.getExpansionLoc(declaration->getLocation()))) return;
    if (auto* space = llvm::dyn_cast<clang::DeclContext>(declaration);
        llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration)) {
      for (clang::Decl* inner : space->decls()) look_at(inner);
    } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      library(variable);
    } else if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      extension(function);
    }
  }

 private:
  // TORCH_LIBRARY and its like: a static object that is given the namespace, the key and the function that registers.
  void library(const clang::VarDecl* variable) {
    if (variable->getInit() == nullptr) return;
    const std::string type = class_name(variable->getType());
    if (type == operators_class) Body("", "", out_).TraverseStmt(const_cast<clang::Expr*>(variable->getInit()));
    if (type != initializer_class) return;
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(plain(variable->getInit()));
    if (made == nullptr || made->getNumArgs() < 4) return;
    const Contents function = Contents::of(made->getArg(1));
    const auto space = text_of(made->getArg(2));
    if (function.function == nullptr || !space) return;
    run(function.function, *space, Contents::of(made->getArg(3)).key);
  }

  void extension(const clang::FunctionDecl* function) {
    const std::string name = function->getNameAsString();
    if (name.starts_with(module_prefix) && function->isThisDeclarationADefinition())
      run(function, name.substr(module_prefix.size()), "");
  }

  void run(const clang::FunctionDecl* function, const std::string& space, const std::string& key) {
    const clang::FunctionDecl* definition = nullptr;
    if (function->isDefined(definition)) Body(space, key, out_).TraverseStmt(definition->getBody());
  }

  std::vector<Registration>& out_;
  const clang::SourceManager& sources_;
};

}  // namespace

std::vector<Registration> registrations_in(const std::vector<clang::Decl*>& declarations,
                                           const clang::SourceManager& sources) {
  std::vector<Registration> out;
  Declarations walk(out, sources);
  for (clang::Decl* declaration : declarations) walk.look_at(declaration);
  return out;
}

const char* name_of(RegistrationKind kind) {
  switch (kind) {
    case RegistrationKind::Schema:
      return "schema";
    case RegistrationKind::Kernel:
      return "kernel";
    case RegistrationKind::Function:
      return "function";
  }
  return "";
}

}  // namespace fullgraph::cxx
