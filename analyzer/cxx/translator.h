// C++ of a project, spelled as the Python that does the same with the same tensors.
//
// The tracer of `fullgraph` knows Python's names for what libtorch does, and follows calls, branches and loops. So a
// class that derives from torch::nn::Module becomes a class that derives from torch.nn.Module, `x.item<float>()`
// becomes `x.item()`, a guard becomes a `with` over the rest of its block. What has no counterpart becomes `_unknown`,
// a name that nothing defines and of which nothing is known; a function whose source is not here and that gives a
// tensor is called as an operator.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/cxx/names.h"
#include "analyzer/cxx/python_text.h"
#include "analyzer/cxx/registrations.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

namespace fullgraph::cxx {

class Translator {
 public:
  explicit Translator(clang::ASTContext& context) : context_(context), sources_(context.getSourceManager()) {}

  // The declarations at the top of a translation unit; those of system headers and of precompiled ones are left out.
  // What is registered as the kernel of an operator is marked as such.
  void run(const std::vector<clang::Decl*>& declarations, const std::vector<Registration>& registrations);
  [[nodiscard]] const PythonText& result() const { return out_; }

 private:
  // declarations.cpp
  void mark_kernel(const Registration& registration);
  [[nodiscard]] bool is_own(const clang::Decl* declaration) const;
  void declare(const clang::Decl* declaration);
  void declare_all(const clang::DeclContext* context);
  void record(const clang::CXXRecordDecl* record);
  void constructor(const clang::CXXRecordDecl* record, bool module);
  void field(const clang::FieldDecl* field);
  void initializer(const clang::CXXCtorInitializer* initializer);
  void method(const clang::CXXMethodDecl* method);
  void function(const clang::FunctionDecl* function);
  void define(const clang::FunctionDecl* function, const std::string& name, const std::string& first);
  [[nodiscard]] std::string parameters(const clang::FunctionDecl* function, std::string first);
  // The definition whose body is here to be read; null for one that is elsewhere.
  [[nodiscard]] const clang::FunctionDecl* own_definition(const clang::FunctionDecl* function) const;
  [[nodiscard]] bool is_written(const clang::CXXRecordDecl* record) const;

  // statements.cpp
  void body(const clang::Stmt* statement);
  void block(llvm::ArrayRef<clang::Stmt*> statements);
  bool guard(const clang::Stmt* statement);
  void begin_capture(const clang::Stmt* statement);
  void statement(const clang::Stmt* statement);
  void declaration(const clang::DeclStmt* statement);
  void variable(const clang::VarDecl* variable);
  void effect(const clang::Expr* expression);
  bool assignment(const clang::Expr* expression);
  bool keep_with_context(const clang::Expr* target, const clang::Expr* value, const clang::Expr* whole);
  void branch(const clang::IfStmt* statement);
  void count(const clang::ForStmt* statement);
  void each(const clang::CXXForRangeStmt* statement);
  void choose(const clang::SwitchStmt* statement);
  void attempt(const clang::CXXTryStmt* statement);
  [[nodiscard]] bool ends_in_exception(const clang::Expr* expression) const;

  // expressions.cpp
  void expression(const clang::Expr* expression, Piece& out);
  // The same in parentheses where something else binds closer.
  void operand(const clang::Expr* expression, Piece& out);
  void dispatch(const clang::Expr* expression, Piece& out);
  void reference(const clang::ValueDecl* declaration, Piece& out);
  void member(const clang::MemberExpr* expression, Piece& out);
  void binary(const clang::BinaryOperator* expression, Piece& out);
  void unary(const clang::UnaryOperator* expression, Piece& out);
  void lambda(const clang::LambdaExpr* expression, Piece& out);
  void list(llvm::ArrayRef<const clang::Expr*> elements, Piece& out);

  // constructions.cpp
  void construct(const clang::CXXConstructExpr* expression, Piece& out);
  void make(const clang::CXXRecordDecl* record, llvm::ArrayRef<const clang::Expr*> arguments, Piece& out);

  // calls.cpp
  void call(const clang::CallExpr* expression, Piece& out);
  void call_operator(const clang::CXXOperatorCallExpr* expression, Piece& out);
  void call_method(const clang::CXXMemberCallExpr* expression, Piece& out);
  void call_tensor(const clang::CXXMemberCallExpr* expression, Piece& out);
  bool call_container(const clang::CXXMemberCallExpr* expression, Piece& out);
  bool call_module(const clang::CXXMemberCallExpr* expression, Piece& out);
  void call_function(const clang::CallExpr* expression, const clang::FunctionDecl* function, Piece& out);
  bool call_operator_handle(const clang::CXXMemberCallExpr* call, Piece& out);
  bool call_library(const clang::CallExpr* expression, const clang::FunctionDecl* function, Piece& out);
  void call_dependent(const clang::CallExpr* expression, Piece& out);
  void arguments(llvm::ArrayRef<const clang::Expr*> arguments, Piece& out);
  void captures_of_hook(const clang::Expr* hook, Piece& out);
  void keywords_of_options(const clang::Expr* options, Piece& out);
  bool print(const clang::CXXOperatorCallExpr* expression, Piece& out);
  // A function that is not here, by what it gives.
  void unknown_call(const std::string& name, clang::QualType result, const clang::Expr* object,
                    llvm::ArrayRef<const clang::Expr*> arguments, Piece& out);

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  Names names_;
  PythonText out_;
  std::set<const clang::Decl*> written_;
  std::multimap<const clang::FunctionDecl*, const Registration*> kernels_;  // by the definition of what runs
  unsigned lambdas_ = 0;
  unsigned switches_ = 0;  // around, without a loop between: `break` leaves one of these
};

// What stands behind conversions and temporaries that the author did not write.
const clang::Expr* plain(const clang::Expr* expression);

}  // namespace fullgraph::cxx
