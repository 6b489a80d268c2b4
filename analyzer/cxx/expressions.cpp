// Expressions, calls and constructions left out.
#include "analyzer/cxx/spelling.h"
#include "analyzer/cxx/translator.h"

namespace fullgraph::cxx {
namespace {

bool binds_loosely(const clang::Expr* expression) {
  expression = plain(expression);
  if (const auto* called = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression)) return called->isInfixBinaryOp();
  return llvm::isa<clang::BinaryOperator, clang::UnaryOperator, clang::ConditionalOperator>(expression);
}

}  // namespace

const clang::Expr* plain(const clang::Expr* expression) {
  for (;;) {
    const clang::Expr* const before = expression;
    expression = expression->IgnoreUnlessSpelledInSource()->IgnoreParens();
    if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(expression)) expression = cast->getSubExpr();
    if (const auto* standard = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(expression))
      expression = standard->getSubExpr();
    if (expression == before) return expression;
  }
}

void Translator::expression(const clang::Expr* expression, Piece& out) {
  expression = plain(expression);
  const unsigned begin = out.size();
  dispatch(expression, out);
  out.stands_for(begin, expression->getSourceRange());
}

void Translator::operand(const clang::Expr* operand, Piece& out) {
  if (!binds_loosely(operand)) return expression(operand, out);
  out << "(";
  expression(operand, out);
  out << ")";
}

void Translator::list(llvm::ArrayRef<const clang::Expr*> elements, Piece& out) {
  out << "[";
  arguments(elements, out);
  out << "]";
}

void Translator::dispatch(const clang::Expr* expression, Piece& out) {
  using namespace clang;  // NOLINT: a list of what Clang has
  if (const auto* call_ = llvm::dyn_cast<CallExpr>(expression)) return call(call_, out);
  if (const auto* made = llvm::dyn_cast<CXXConstructExpr>(expression)) return construct(made, out);
  if (const auto* name = llvm::dyn_cast<DeclRefExpr>(expression)) return reference(name->getDecl(), out);
  if (const auto* member_ = llvm::dyn_cast<MemberExpr>(expression)) return member(member_, out);
  if (const auto* operation = llvm::dyn_cast<BinaryOperator>(expression)) return binary(operation, out);
  if (const auto* operation = llvm::dyn_cast<UnaryOperator>(expression)) return unary(operation, out);
  if (const auto* function = llvm::dyn_cast<LambdaExpr>(expression)) return lambda(function, out);
  if (const auto* elements = llvm::dyn_cast<InitListExpr>(expression)) return list(elements->inits(), out);
  if (const auto* elements = llvm::dyn_cast<ParenListExpr>(expression)) {
    if (elements->getNumExprs() == 1) return this->expression(elements->getExpr(0), out);
  }
  if (llvm::isa<CXXThisExpr>(expression)) {
    out << "self";
    return;
  }
  if (const auto* choice = llvm::dyn_cast<ConditionalOperator>(expression)) {
    operand(choice->getTrueExpr(), out);
    out << " if ";
    operand(choice->getCond(), out);
    out << " else ";
    return operand(choice->getFalseExpr(), out);
  }
  if (const auto* element = llvm::dyn_cast<ArraySubscriptExpr>(expression)) {
    operand(element->getBase(), out);
    out << "[";
    this->expression(element->getIdx(), out);
    out << "]";
    return;
  }
  if (const auto* made = llvm::dyn_cast<CXXNewExpr>(expression)) {
    if (const Expr* init = made->getInitializer()) return this->expression(init, out);
  }
  if (const auto* number = llvm::dyn_cast<IntegerLiteral>(expression)) {
    llvm::SmallString<24> digits;
    number->getValue().toString(digits, 10, number->getType()->isSignedIntegerType());
    out << std::string_view(digits.data(), digits.size());
    return;
  }
  if (const auto* number = llvm::dyn_cast<FloatingLiteral>(expression)) {
    llvm::SmallString<24> digits;
    number->getValue().toString(digits);
    const std::string_view text(digits.data(), digits.size());
    out << text << (text.find_first_of(".eEn") == std::string_view::npos ? ".0" : "");
    return;
  }
  if (const auto* truth = llvm::dyn_cast<CXXBoolLiteralExpr>(expression)) {
    out << (truth->getValue() ? "True" : "False");
    return;
  }
  if (const auto* text = llvm::dyn_cast<clang::StringLiteral>(expression)) {
    out << (text->getCharByteWidth() == 1 ? python_string(text->getString().str()) : "\"\"");
    return;
  }
  if (llvm::isa<CXXNullPtrLiteralExpr, GNUNullExpr>(expression)) {
    out << "None";
    return;
  }
  if (const auto* member_ = llvm::dyn_cast<CXXDependentScopeMemberExpr>(expression)) {
    if (member_->isImplicitAccess()) {
      out << "self";
    } else {
      operand(member_->getBase(), out);
    }
    out << "." << python_name(member_->getMember().getAsString());
    return;
  }
  // What Clang could not resolve is looked into all the same.
  if (const auto* broken = llvm::dyn_cast<RecoveryExpr>(expression)) {
    out << unknown << "(";
    arguments(const_cast<RecoveryExpr*>(broken)->subExpressions(), out);
    out << ")";
    return;
  }
  out << unknown;
}

void Translator::reference(const clang::ValueDecl* declaration, Piece& out) {
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
    const bool here = own_definition(function) != nullptr;
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
    if (here && method != nullptr) out << names_.of(method->getParent()) << ".";
    out << (here ? names_.of(function) : std::string(unknown));
    return;
  }
  const std::string constant = library_constant(qualified(declaration));
  if (!constant.empty()) {
    out << constant;
    return;
  }
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
  const bool local =
      llvm::isa<clang::BindingDecl>(declaration) || (variable != nullptr && !variable->isStaticDataMember() &&
                                                     (variable->isLocalVarDeclOrParm() || variable->isInitCapture()));
  out << (local ? python_name(declaration->getNameAsString()) : std::string(unknown));
}

void Translator::member(const clang::MemberExpr* expression, Piece& out) {
  const clang::ValueDecl* const declaration = expression->getMemberDecl();
  if (llvm::isa<clang::VarDecl, clang::EnumConstantDecl>(declaration)) return reference(declaration, out);
  const std::string name = declaration->getNameAsString();
  const std::string owner = class_name(expression->getBase()->getType());
  operand(expression->getBase(), out);
  if (owner == "std::pair") {
    out << (name == "first" ? "[0]" : "[1]");
  } else {
    out << "." << python_name(name);
  }
}

void Translator::binary(const clang::BinaryOperator* expression, Piece& out) {
  if (expression->getOpcode() == clang::BO_Comma) return this->expression(expression->getRHS(), out);
  // The value of an assignment inside of an expression; the change itself is lost where the target is no plain name.
  if (expression->isAssignmentOp()) {
    const auto* target = llvm::dyn_cast<clang::DeclRefExpr>(plain(expression->getLHS()));
    if (target == nullptr || expression->isCompoundAssignmentOp()) return this->expression(expression->getRHS(), out);
    out << "(";
    reference(target->getDecl(), out);
    out << " := ";
    operand(expression->getRHS(), out);
    out << ")";
    return;
  }
  const std::string_view operation = binary_operator(clang::BinaryOperator::getOpcodeStr(expression->getOpcode()));
  operand(expression->getLHS(), out);
  const bool whole = expression->getOpcode() == clang::BO_Div && expression->getType()->isIntegerType();
  out << " " << (whole ? "//" : operation) << " ";
  operand(expression->getRHS(), out);
}

void Translator::unary(const clang::UnaryOperator* expression, Piece& out) {
  switch (expression->getOpcode()) {
    case clang::UO_Minus:
      out << "-";
      break;
    case clang::UO_Not:
      out << "~";
      break;
    case clang::UO_LNot:
      out << "not ";
      break;
    default:  // addresses and what is behind them are the same to Python
      break;
  }
  operand(expression->getSubExpr(), out);
}

// Python's own lambdas hold one expression: a function in front of the statement takes its place.
void Translator::lambda(const clang::LambdaExpr* expression, Piece& out) {
  const std::string name = "lambda_" + std::to_string(++lambdas_);
  const clang::CXXMethodDecl* const function = expression->getCallOperator();
  const unsigned switches = switches_;
  switches_ = 0;
  out_.open(Piece() << "def " << name << "(" << parameters(function, "") << "):");
  for (const clang::LambdaCapture& capture : expression->captures()) {
    const auto* variable =
        capture.capturesVariable() ? llvm::dyn_cast<clang::VarDecl>(capture.getCapturedVar()) : nullptr;
    if (variable != nullptr && variable->isInitCapture() && variable->getInit() != nullptr) this->variable(variable);
  }
  body(expression->getBody());
  out_.close();
  switches_ = switches;
  out << name;
}

}  // namespace fullgraph::cxx
