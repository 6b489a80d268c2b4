// What C++ declarations are called in the Python text.
//
// Namespaces and overloads have no counterpart there: each function and class of the project gets a name of its own.
#pragma once

#include <map>
#include <set>
#include <string>

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"

namespace fullgraph::cxx {

class Names {
 public:
  // The first to ask for a name gets it, the others get it with a number.
  std::string of(const clang::NamedDecl* declaration);

 private:
  std::map<const clang::Decl*, std::string> names_;
  std::map<const clang::DeclContext*, std::set<std::string>> taken_;  // null: the text as a whole
};

// "at::Tensor", template arguments and inline namespaces left out.
std::string qualified(const clang::NamedDecl* declaration);
// The class behind references, pointers and sugar; null where there is none.
const clang::CXXRecordDecl* record_of(clang::QualType type);
// "at::Tensor" of `const torch::Tensor&`; empty where it is no class.
std::string class_name(clang::QualType type);

bool is_tensor(clang::QualType type);
// A class, or a base of it, has this qualified name. Bases that cannot be known (of templates) count by their spelling.
bool derives_from(const clang::CXXRecordDecl* record, std::string_view name);
bool is_module(const clang::CXXRecordDecl* record);
bool is_autograd_function(const clang::CXXRecordDecl* record);
// The module class that a holder (`torch::nn::Linear`, what TORCH_MODULE makes) holds; null for anything else.
const clang::CXXRecordDecl* held_by(const clang::CXXRecordDecl* record);
// "torch.nn.Linear" of LinearImpl or its holder in libtorch; empty for anything else.
std::string library_module(const clang::CXXRecordDecl* record);

}  // namespace fullgraph::cxx
