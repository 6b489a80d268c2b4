// Classes, functions and what they are made of.
#include <utility>

#include "analyzer/cxx/spelling.h"
#include "analyzer/cxx/translator.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"

namespace fullgraph::cxx {
namespace {

bool is_forward_like(const clang::CXXRecordDecl* record) {
  for (const clang::CXXMethodDecl* method : record->methods()) {
    if (!method->isStatic() && method->getDeclName().isIdentifier() && method->getName() == "forward") return true;
  }
  return false;
}

std::string annotation_of(clang::QualType type) {
  const clang::QualType bare = type.getNonReferenceType();
  if (is_tensor(bare)) return "torch.Tensor";
  if (bare->isBooleanType()) return "bool";
  if (bare->isIntegerType()) return "int";
  if (bare->isFloatingType()) return "float";
  const std::string name = class_name(bare);
  if (name == "std::basic_string") return "str";
  const auto* record = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record_of(bare));
  const bool of_tensors = record != nullptr && record->getTemplateArgs().size() > 0 &&
                          record->getTemplateArgs()[0].getKind() == clang::TemplateArgument::Type &&
                          is_tensor(record->getTemplateArgs()[0].getAsType());
  if (of_tensors && (name == "std::vector" || name == "c10::ArrayRef")) return "list[torch.Tensor]";
  return {};
}

}  // namespace

void Translator::run(const std::vector<clang::Decl*>& declarations, const std::vector<Registration>& registrations) {
  out_.line("import torch");
  for (const Registration& one : registrations) {
    if (one.kind != RegistrationKind::Kernel || one.function == nullptr) continue;
    if (const clang::FunctionDecl* const code = own_definition(one.function)) kernels_.emplace(code, &one);
  }
  for (const clang::Decl* declaration : declarations) {
    if (is_own(declaration)) declare(declaration);
  }
  for (const Registration& one : registrations) {
    if (one.lambda == nullptr) continue;
    mark_kernel(one);
    Piece name;
    lambda(one.lambda, name);
  }
}

// @torch.ops.libtorch.kernel("mine::twice", "CUDA")
void Translator::mark_kernel(const Registration& registration) {
  out_.line("@" + std::string(kernel_mark) + "(" + python_string(registration.name) + ", " +
            python_string(registration.key) + ")");
}

bool Translator::is_own(const clang::Decl* declaration) const {
  const clang::SourceLocation place = sources_.getExpansionLoc(declaration->getLocation());
  return place.isValid() && !sources_.isLoadedSourceLocation(place) && !sources_.isInSystemHeader(place) &&
         sources_.getFileEntryRefForID(sources_.getFileID(place)).has_value();
}

void Translator::declare_all(const clang::DeclContext* context) {
  for (const clang::Decl* declaration : context->decls()) {
    if (is_own(declaration)) declare(declaration);
  }
}

void Translator::declare(const clang::Decl* declaration) {
  using namespace clang;  // NOLINT: a list of what Clang has
  if (const auto* space = llvm::dyn_cast<NamespaceDecl>(declaration)) return declare_all(space);
  if (const auto* linkage = llvm::dyn_cast<LinkageSpecDecl>(declaration)) return declare_all(linkage);
  if (const auto* pattern = llvm::dyn_cast<ClassTemplateDecl>(declaration)) return record(pattern->getTemplatedDecl());
  if (const auto* pattern = llvm::dyn_cast<FunctionTemplateDecl>(declaration))
    return function(pattern->getTemplatedDecl());
  if (const auto* class_ = llvm::dyn_cast<CXXRecordDecl>(declaration)) return record(class_);
  if (const auto* function_ = llvm::dyn_cast<FunctionDecl>(declaration)) return function(function_);
}

const clang::FunctionDecl* Translator::own_definition(const clang::FunctionDecl* function) const {
  if (const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern()) function = pattern;
  const clang::FunctionDecl* definition = nullptr;
  if (!function->isDefined(definition) || definition->getBody() == nullptr || definition->isDefaulted()) return nullptr;
  return is_own(definition) ? definition : nullptr;
}

bool Translator::is_written(const clang::CXXRecordDecl* record) const {
  if (const clang::CXXRecordDecl* pattern = record->getTemplateInstantiationPattern()) record = pattern;
  record = record->getDefinition();
  // Clang takes the name away from a class that is defined twice.
  return record != nullptr && record->getIdentifier() != nullptr && is_own(record) && held_by(record) == nullptr;
}

void Translator::record(const clang::CXXRecordDecl* record) {
  if (!record->isThisDeclarationADefinition() || !is_written(record) || record->isUnion() || record->isImplicit() ||
      record->getTemplateInstantiationPattern() != nullptr)
    return;
  if (!written_.insert(record).second) return;
  // Classes within are classes beside: what is inside of a name makes no difference to what it does.
  for (const clang::Decl* inner : record->decls()) {
    if (llvm::isa<clang::CXXRecordDecl, clang::ClassTemplateDecl>(inner) && is_own(inner)) declare(inner);
  }
  std::string bases;
  bool module = false;
  for (const clang::CXXBaseSpecifier& specifier : record->bases()) {
    const clang::CXXRecordDecl* const base = record_of(specifier.getType());
    if (base == nullptr) continue;
    std::string name;
    if (is_written(base)) {
      name = names_.of(base);
    } else if (is_autograd_function(base)) {
      name = "torch.autograd.Function";
    } else if (const std::string known = library_module(base); !known.empty()) {
      name = known;
    } else if (is_module(base)) {
      name = "torch.nn.Module";
    }
    module = module || is_module(base);
    if (!name.empty()) bases += (bases.empty() ? "" : ", ") + name;
  }
  // Models that are no modules of libtorch are called in the same way.
  if (bases.empty() && is_forward_like(record)) bases = "torch.nn.Module";
  Piece head;
  head << "class ";
  const unsigned begin = head.size();
  head << names_.of(record);
  head.stands_for(begin, record->getLocation());
  head << (bases.empty() ? "" : "(" + bases + ")") << ":";
  out_.open(head);
  const unsigned switches = std::exchange(switches_, 0);
  if (!is_autograd_function(record)) constructor(record, !bases.empty());
  for (const clang::Decl* inner : record->decls()) {
    const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(inner);
    const auto* one = llvm::dyn_cast<clang::CXXMethodDecl>(pattern != nullptr ? pattern->getTemplatedDecl() : inner);
    if (one != nullptr && !one->isImplicit()) method(one);
  }
  switches_ = switches;
  out_.close();
}

// Of several constructors the one that takes most: it does what the others leave to defaults.
void Translator::constructor(const clang::CXXRecordDecl* record, bool module) {
  const clang::CXXConstructorDecl* chosen = nullptr;
  for (const clang::CXXConstructorDecl* one : record->ctors()) {
    const auto* definition = llvm::dyn_cast_or_null<clang::CXXConstructorDecl>(own_definition(one));
    if (definition == nullptr || definition->isCopyOrMoveConstructor()) continue;
    if (chosen == nullptr || definition->getNumParams() > chosen->getNumParams()) chosen = definition;
  }
  Piece head;
  head << "def ";
  const unsigned begin = head.size();
  head << "__init__";
  head.stands_for(begin, chosen == nullptr ? record->getLocation() : chosen->getLocation());
  head << "(" << (chosen == nullptr ? "self" : parameters(chosen, "self")) << "):";
  out_.open(head);
  if (module) out_.line("super().__init__()");
  std::set<const clang::FieldDecl*> initialized;
  if (chosen != nullptr) {
    for (const clang::CXXCtorInitializer* one : chosen->inits()) {
      if (one->isMemberInitializer() && one->isWritten()) initialized.insert(one->getMember());
    }
  }
  for (const clang::FieldDecl* one : record->fields()) {
    if (!initialized.contains(one) && !one->isUnnamedBitField() && !one->getNameAsString().empty()) field(one);
  }
  if (chosen != nullptr) {
    for (const clang::CXXCtorInitializer* one : chosen->inits()) {
      if (one->isWritten()) initializer(one);
    }
    body(chosen->getBody());
  }
  out_.close();
}

void Translator::field(const clang::FieldDecl* field) {
  Piece line;
  line << "self." << python_name(field->getNameAsString()) << " = ";
  const clang::CXXRecordDecl* const record = record_of(field->getType());
  const std::string module = record == nullptr ? std::string() : library_module(record);
  if (field->hasInClassInitializer() && field->getInClassInitializer() != nullptr) {
    expression(field->getInClassInitializer(), line);
  } else if (!module.empty()) {
    line << module << "()";
  } else if (class_name(field->getType()) == "std::vector") {
    line << "[]";
  } else {
    line << unknown;
  }
  out_.statement(std::move(line), field->getSourceRange());
}

void Translator::initializer(const clang::CXXCtorInitializer* initializer) {
  if (!initializer->isMemberInitializer()) return;
  Piece line;
  line << "self." << python_name(initializer->getMember()->getNameAsString()) << " = ";
  expression(initializer->getInit(), line);
  out_.statement(std::move(line), initializer->getSourceRange());
}

void Translator::method(const clang::CXXMethodDecl* method) {
  if (llvm::isa<clang::CXXConstructorDecl, clang::CXXDestructorDecl, clang::CXXConversionDecl>(method)) return;
  const clang::FunctionDecl* const definition = own_definition(method);
  if (definition == nullptr) return;
  if (method->isStatic()) out_.line("@staticmethod");
  define(definition, names_.of(method), method->isStatic() ? "" : "self");
}

void Translator::function(const clang::FunctionDecl* function) {
  // Methods stand in their classes.
  if (llvm::isa<clang::CXXMethodDecl>(function) || !function->isThisDeclarationADefinition()) return;
  if (function->isTemplateInstantiation() || own_definition(function) == nullptr || !written_.insert(function).second)
    return;
  const auto [first, last] = kernels_.equal_range(function);
  for (auto at = first; at != last; ++at) mark_kernel(*at->second);
  define(function, names_.of(function), "");
}

void Translator::define(const clang::FunctionDecl* function, const std::string& name, const std::string& first) {
  Piece head;
  head << "def ";
  const unsigned begin = head.size();
  head << name;
  head.stands_for(begin, function->getNameInfo().getSourceRange());
  head << "(" << parameters(function, first) << "):";
  out_.open(head);
  body(function->getBody());
  out_.close();
}

std::string Translator::parameters(const clang::FunctionDecl* function, std::string out) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  // Python hands each gradient to `backward` on its own.
  const bool backward = method != nullptr && method->isStatic() && method->getDeclName().isIdentifier() &&
                        method->getName() == "backward" && is_autograd_function(method->getParent());
  unsigned number = 0;
  for (const clang::ParmVarDecl* parameter : function->parameters()) {
    ++number;
    std::string name = python_name(parameter->getNameAsString());
    if (name.empty()) name = "unnamed_" + std::to_string(number);
    if (parameter->isParameterPack() || (backward && number == 2)) name = "*" + name;
    out += (out.empty() ? "" : ", ") + name;
    const std::string annotation = annotation_of(parameter->getType());
    if (!annotation.empty() && !name.starts_with('*')) out += ": " + annotation;
    if (!name.starts_with('*') && parameter->hasDefaultArg() && !parameter->hasUninstantiatedDefaultArg() &&
        !parameter->hasUnparsedDefaultArg()) {
      Piece value;
      expression(parameter->getDefaultArg(), value);
      out += " = " + value.text();
    }
  }
  return out;
}

}  // namespace fullgraph::cxx
