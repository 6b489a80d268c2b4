#include "analyzer/cxx/names.h"

#include "analyzer/cxx/python_text.h"
#include "clang/AST/DeclTemplate.h"

namespace fullgraph::cxx {
namespace {

// Instances of a template share its name.
const clang::NamedDecl* pattern_of(const clang::NamedDecl* declaration) {
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
    if (const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern()) declaration = pattern;
  } else if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(declaration)) {
    if (const clang::CXXRecordDecl* pattern = record->getTemplateInstantiationPattern()) declaration = pattern;
  }
  return llvm::cast<clang::NamedDecl>(declaration->getCanonicalDecl());
}

// What overrides a function is called like it.
const clang::NamedDecl* origin_of(const clang::NamedDecl* declaration) {
  declaration = pattern_of(declaration);
  while (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(declaration)) {
    if (method->size_overridden_methods() == 0) break;
    declaration = pattern_of(*method->begin_overridden_methods());
  }
  return declaration;
}

const clang::CXXRecordDecl* definition(const clang::CXXRecordDecl* record) {
  return record != nullptr && record->hasDefinition() ? record->getDefinition() : record;
}

const clang::CXXRecordDecl* record_of_base(clang::QualType type) {
  if (const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl()) return record;
  // Base<T> in a template.
  const auto* special = type->getAs<clang::TemplateSpecializationType>();
  if (special == nullptr) return nullptr;
  const auto* base = llvm::dyn_cast_or_null<clang::ClassTemplateDecl>(special->getTemplateName().getAsTemplateDecl());
  return base == nullptr ? nullptr : base->getTemplatedDecl();
}

}  // namespace

std::string Names::of(const clang::NamedDecl* declaration) {
  declaration = origin_of(declaration);
  std::string& name = names_[declaration];
  if (!name.empty()) return name;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(declaration);
  const std::string plain = python_name(declaration->getNameAsString());
  auto& taken = taken_[method == nullptr ? nullptr : method->getParent()->getCanonicalDecl()];
  name = plain;
  for (int number = 2; !taken.insert(name).second; ++number) name = plain + "_" + std::to_string(number);
  return name;
}

std::string qualified(const clang::NamedDecl* declaration) {
  std::string out = declaration->getNameAsString();
  for (const clang::DeclContext* at = declaration->getDeclContext(); at != nullptr; at = at->getParent()) {
    const auto* outer = llvm::dyn_cast<clang::NamedDecl>(at);
    const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(at);
    if (outer == nullptr || outer->getNameAsString().empty() || (space != nullptr && space->isInline())) continue;
    out = outer->getNameAsString() + "::" + out;
  }
  return out;
}

const clang::CXXRecordDecl* record_of(clang::QualType type) {
  if (type.isNull()) return nullptr;
  type = type.getNonReferenceType();
  while (type->isAnyPointerType()) type = type->getPointeeType();
  if (const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl()) return definition(record);
  return definition(record_of_base(type.getCanonicalType()));
}

std::string class_name(clang::QualType type) {
  const clang::CXXRecordDecl* const record = record_of(type);
  return record == nullptr ? std::string() : qualified(record);
}

bool is_tensor(clang::QualType type) {
  const std::string name = class_name(type);
  return name == "at::Tensor" || name == "at::TensorBase";
}

bool derives_from(const clang::CXXRecordDecl* record, std::string_view name) {
  record = definition(record);
  if (record == nullptr) return false;
  if (qualified(record) == name) return true;
  if (!record->hasDefinition()) return false;
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    if (derives_from(record_of_base(base.getType()), name)) return true;
  }
  return false;
}

bool is_module(const clang::CXXRecordDecl* record) {
  return derives_from(record, "torch::nn::Module");
}

bool is_autograd_function(const clang::CXXRecordDecl* record) {
  return derives_from(record, "torch::autograd::Function");
}

const clang::CXXRecordDecl* held_by(const clang::CXXRecordDecl* record) {
  record = definition(record);
  if (record == nullptr || !record->hasDefinition()) return nullptr;
  if (const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record)) {
    if (qualified(record) == "torch::nn::ModuleHolder" && special->getTemplateArgs().size() == 1)
      return record_of(special->getTemplateArgs()[0].getAsType());
  }
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    if (const clang::CXXRecordDecl* held = held_by(base.getType()->getAsCXXRecordDecl())) return held;
  }
  return nullptr;
}

std::string library_module(const clang::CXXRecordDecl* record) {
  if (const clang::CXXRecordDecl* held = held_by(record)) record = held;
  if (record == nullptr) return {};
  std::string name = qualified(record);
  constexpr std::string_view space = "torch::nn::", implementation = "Impl";
  if (!name.starts_with(space) || !name.ends_with(implementation)) return {};
  name = name.substr(space.size(), name.size() - space.size() - implementation.size());
  return name.find(':') == std::string::npos ? "torch.nn." + name : std::string();
}

}  // namespace fullgraph::cxx
