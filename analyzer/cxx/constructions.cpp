// Objects that are made: modules, containers, tensors, and wrappers that Python does without.
#include "analyzer/cxx/spelling.h"
#include "analyzer/cxx/translator.h"

namespace fullgraph::cxx {
namespace {

using Arguments = llvm::ArrayRef<const clang::Expr*>;

// Classes around one value that Python has no need of.
bool is_wrapper(std::string_view name) {
  for (const std::string_view known :
       {"std::optional", "c10::optional", "c10::Scalar", "c10::IValue", "at::indexing::TensorIndex", "std::function",
        "std::basic_string", "c10::basic_string_view", "std::basic_string_view", "c10::Device", "std::shared_ptr",
        "std::unique_ptr", "c10::OptionalArrayRef", "c10::MaybeOwned", "c10::SymInt", "torch::nn::AnyModule",
        "torch::nn::AnyValue", "std::reference_wrapper", "torch::autograd::Edge"}) {
    if (name == known) return true;
  }
  return false;
}

bool is_list(std::string_view name) {
  for (const std::string_view known : {"std::vector", "c10::ArrayRef", "std::initializer_list", "c10::IListRef",
                                       "at::IListRef", "c10::List", "c10::SmallVector", "std::array", "std::deque"}) {
    if (name == known) return true;
  }
  return false;
}

// The arguments of `Conv1dOptions(in, out, 3)` in `Conv1dOptions(in, out, 3).stride(2)`, which are those of the module.
Arguments arguments_of_options(const clang::Expr* options) {
  options = plain(options);
  while (const auto* setting = llvm::dyn_cast<clang::CXXMemberCallExpr>(options))
    options = plain(setting->getImplicitObjectArgument());
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(options);
  return made == nullptr ? Arguments() : Arguments(made->getArgs(), made->getNumArgs());
}

bool is_options(clang::QualType type) {
  const std::string name = class_name(type);
  return name.starts_with("torch::nn::") && name.ends_with("Options");
}

// Without what C++ fills in by itself.
Arguments written(Arguments arguments) {
  while (!arguments.empty() && llvm::isa<clang::CXXDefaultArgExpr>(arguments.back())) arguments = arguments.drop_back();
  return arguments;
}

}  // namespace

void Translator::construct(const clang::CXXConstructExpr* expression, Piece& out) {
  make(expression->getConstructor()->getParent(), {expression->getArgs(), expression->getNumArgs()}, out);
}

void Translator::make(const clang::CXXRecordDecl* record, Arguments given, Piece& out) {
  given = written(given);
  const std::string name = qualified(record);
  if (const clang::CXXRecordDecl* held = held_by(record)) {
    const bool empty = given.size() == 1 && llvm::isa<clang::CXXNullPtrLiteralExpr>(plain(given[0]));
    const clang::CXXRecordDecl* const from = given.size() == 1 ? record_of(given[0]->getType()) : nullptr;
    if (from != nullptr && (held_by(from) == held || qualified(from) == "std::shared_ptr"))
      return expression(given[0], out);
    if (!empty || !library_module(held).empty()) return make(held, empty ? Arguments() : given, out);
    out << unknown;
    return;
  }
  // A copy, or what is moved from.
  if (given.size() == 1 && record_of(given[0]->getType()) == record) return expression(given[0], out);
  if (const std::string module = library_module(record); !module.empty()) {
    if (given.size() == 1 && is_options(given[0]->getType())) given = arguments_of_options(given[0]);
    out << module << "(";
    arguments(given, out);
    out << ")";
    return;
  }
  if (is_list(name)) {
    if (given.empty()) {
      out << "[]";
      return;
    }
    if (given.size() == 1) return expression(given[0], out);
  }
  if (name == "std::tuple" || name == "std::pair") {
    out << "(";
    arguments(given, out);
    out << (given.size() == 1 ? ",)" : ")");
    return;
  }
  if (name == "at::indexing::Slice") {
    out << "slice(";
    if (given.empty()) out << "None";
    arguments(given, out);
    out << ")";
    return;
  }
  if (given.empty() && (name == "at::Tensor" || is_wrapper(name) || name == "std::nullopt_t")) {
    out << "None";
    return;
  }
  if (given.size() == 1 && (is_wrapper(name) || name == "at::Tensor")) return expression(given[0], out);
  if (is_written(record)) {
    out << names_.of(record);
  } else {
    out << unknown;
    if (given.empty()) return;
  }
  out << "(";
  arguments(given, out);
  out << ")";
}

}  // namespace fullgraph::cxx
