// What C++ makes known to Python: operators with their kernels (TORCH_LIBRARY, and RegisterOperators, which was there
// before it) and functions bound with pybind11.
//
// Both are done by code that runs when the library is loaded, and so regular that their names can be read off it.
#pragma once

#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

namespace fullgraph::cxx {

enum class RegistrationKind {
  Schema,    // m.def("twice(Tensor x) -> Tensor")
  Kernel,    // m.impl("twice", …), and m.def("twice", …), which is both
  Function,  // m.def("twice", …) of PYBIND11_MODULE; a class there counts as the function that makes its objects
};

struct Registration {
  RegistrationKind kind;
  std::string name;  // "mine::twice" of an operator, "extension.twice" of a function
  std::string key;   // of a kernel: "CPU", "Meta", …; empty: for whatever calls it
  clang::SourceRange range;
  // Of a kernel, what runs: a function, or a lambda; null: something else.
  const clang::FunctionDecl* function = nullptr;
  const clang::LambdaExpr* lambda = nullptr;
};

// In the declarations at the top of a translation unit, in order.
std::vector<Registration> registrations_in(const std::vector<clang::Decl*>& declarations,
                                           const clang::SourceManager& sources);

// "schema", "kernel", "function"
const char* name_of(RegistrationKind kind);

}  // namespace fullgraph::cxx
