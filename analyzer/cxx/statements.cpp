// Statements: blocks with their guards, branches, loops, assignments.
#include <algorithm>
#include <utility>

#include "analyzer/cxx/spelling.h"
#include "analyzer/cxx/translator.h"
#include "clang/AST/DeclTemplate.h"

namespace fullgraph::cxx {
namespace {

// A guard that leaves kernels of autograd out, one in a std::optional or std::unique_ptr, or an object that has one.
bool keeps_below_autograd(clang::QualType type, unsigned depth) {
  const std::string name = class_name(type);
  for (const std::string_view below :
       {"at::AutoDispatchBelowAutograd", "at::AutoDispatchBelowADInplaceOrView", "at::AutoNonVariableTypeMode",
        "c10::InferenceMode", "c10::impl::ExcludeDispatchKeyGuard", "c10::impl::ForceDispatchKeyGuard"}) {
    if (name == below) return true;
  }
  const clang::CXXRecordDecl* record = record_of(type);
  if (record == nullptr || depth == 0 || is_tensor(type) || is_module(record)) return false;
  if (const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record)) {
    for (const clang::TemplateArgument& argument : special->getTemplateArgs().asArray()) {
      if (argument.getKind() == clang::TemplateArgument::Type && keeps_below_autograd(argument.getAsType(), depth - 1))
        return true;
    }
  }
  record = record->getDefinition();
  return record != nullptr && std::ranges::any_of(record->fields(), [&](const clang::FieldDecl* field) {
           return keeps_below_autograd(field->getType(), depth - 1);
         });
}

// The `with` that a guard is, over the rest of its block; empty for a variable that is none.
std::string guard_of(const clang::VarDecl* variable) {
  const std::string name = class_name(variable->getType());
  if (name == "c10::NoGradGuard" || name == "at::NoGradGuard") return "torch.no_grad()";
  if (name == "c10::InferenceMode") return "torch.inference_mode(), " + std::string(below_autograd) + "()";
  if (name == "c10::AutoGradMode") return "torch.set_grad_enabled";
  return keeps_below_autograd(variable->getType(), 2) ? std::string(below_autograd) + "()" : std::string();
}

const clang::VarDecl* guard_in(const clang::Stmt* statement) {
  const auto* declared = llvm::dyn_cast<clang::DeclStmt>(statement);
  const auto* variable = declared != nullptr && declared->isSingleDecl()
                             ? llvm::dyn_cast<clang::VarDecl>(declared->getSingleDecl())
                             : nullptr;
  return variable == nullptr || guard_of(variable).empty() ? nullptr : variable;
}

// Is it a call of this method of a CUDA graph?
bool calls_graph(const clang::Stmt* statement, std::string_view method) {
  const auto* expression = llvm::dyn_cast<clang::Expr>(statement);
  const auto* call = expression == nullptr ? nullptr : llvm::dyn_cast<clang::CXXMemberCallExpr>(plain(expression));
  return call != nullptr && call->getMethodDecl() != nullptr &&
         qualified(call->getMethodDecl()) == "at::cuda::CUDAGraph::" + std::string(method);
}

bool calls_graph_within(const clang::Stmt* statement, std::string_view method) {
  return statement != nullptr &&
         (calls_graph(statement, method) || std::ranges::any_of(statement->children(), [&](const clang::Stmt* inner) {
            return calls_graph_within(inner, method);
          }));
}

// Does the capture that begins in front of these statements end among them, and nowhere inside of one?
bool ends_capture(llvm::ArrayRef<clang::Stmt*> statements) {
  for (const clang::Stmt* one : statements) {
    if (calls_graph(one, "capture_end")) return true;
    if (calls_graph_within(one, "capture_end")) return false;
  }
  return false;
}

// `int i = first` and `i < last` and `++i` of a loop; null where it is another kind of loop.
struct Counting {
  const clang::VarDecl* variable = nullptr;
  const clang::Expr* last = nullptr;
};

Counting counting_of(const clang::ForStmt* loop) {
  const auto* first = llvm::dyn_cast_or_null<clang::DeclStmt>(loop->getInit());
  const auto* variable =
      first != nullptr && first->isSingleDecl() ? llvm::dyn_cast<clang::VarDecl>(first->getSingleDecl()) : nullptr;
  const auto* condition =
      loop->getCond() == nullptr ? nullptr : llvm::dyn_cast<clang::BinaryOperator>(plain(loop->getCond()));
  const auto* step = loop->getInc() == nullptr ? nullptr : llvm::dyn_cast<clang::UnaryOperator>(plain(loop->getInc()));
  if (variable == nullptr || variable->getInit() == nullptr || condition == nullptr || step == nullptr) return {};
  if (condition->getOpcode() != clang::BO_LT || !step->isIncrementOp()) return {};
  const auto* counted = llvm::dyn_cast<clang::DeclRefExpr>(plain(condition->getLHS()));
  return counted != nullptr && counted->getDecl() == variable ? Counting{variable, condition->getRHS()} : Counting{};
}

// The statements of a `switch` under their values.
struct Case {
  std::vector<const clang::Expr*> values;  // none: default
  bool is_default = false;
  std::vector<clang::Stmt*> statements;
};

std::vector<Case> cases_of(const clang::SwitchStmt* statement) {
  std::vector<Case> out;
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(statement->getBody());
  if (block == nullptr) return out;
  for (clang::Stmt* at : block->body()) {
    bool begins = true;
    while (auto* label = llvm::dyn_cast<clang::SwitchCase>(at)) {
      if (begins) out.emplace_back();
      begins = false;
      const auto* value = llvm::dyn_cast<clang::CaseStmt>(label);
      out.back().is_default = out.back().is_default || value == nullptr;
      if (value != nullptr) out.back().values.push_back(value->getLHS());
      at = label->getSubStmt();
    }
    if (!out.empty()) out.back().statements.push_back(at);
  }
  return out;
}

}  // namespace

void Translator::body(const clang::Stmt* statement_) {
  if (const auto* compound = llvm::dyn_cast_or_null<clang::CompoundStmt>(statement_)) {
    std::vector<clang::Stmt*> statements(compound->body_begin(), compound->body_end());
    block(statements);
  } else if (statement_ != nullptr) {
    statement(statement_);
  }
}

// A guard holds until the end of its block.
void Translator::block(llvm::ArrayRef<clang::Stmt*> statements) {
  std::vector<const clang::Stmt*> open;  // guards around the statement; null: the capture
  const auto capture = [&] { return std::ranges::find(open, nullptr); };
  for (std::size_t at = 0; at < statements.size(); ++at) {
    const clang::Stmt* const one = statements[at];
    if (guard(one)) {
      open.push_back(one);
    } else if (capture() == open.end() && calls_graph(one, "capture_begin") &&
               ends_capture(statements.drop_front(at + 1))) {
      begin_capture(one);
      open.push_back(nullptr);
    } else if (capture() != open.end() && calls_graph(one, "capture_end")) {
      // Guards that were made in between go on.
      const std::vector<const clang::Stmt*> inner(capture() + 1, open.end());
      for (auto left = open.end(); left != capture(); --left) out_.close();
      open.erase(capture(), open.end());
      for (const clang::Stmt* const made : inner) {
        guard(made);
        open.push_back(made);
      }
    } else {
      statement(one);
    }
  }
  for (std::size_t left = open.size(); left > 0; --left) out_.close();
}

// Opens the block of a guard.
bool Translator::guard(const clang::Stmt* statement) {
  const clang::VarDecl* const variable = guard_in(statement);
  if (variable == nullptr) return false;
  Piece head;
  head << "with " << guard_of(variable);
  const auto* made = variable->getInit() == nullptr
                         ? nullptr
                         : llvm::dyn_cast<clang::CXXConstructExpr>(variable->getInit()->IgnoreImplicit());
  if (!head.text().ends_with(')')) {
    head << "(";
    if (made != nullptr && made->getNumArgs() > 0) expression(made->getArg(0), head);
    head << ")";
  }
  head.stands_for(0, statement->getSourceRange());
  head << ":";
  out_.open(head);
  return true;
}

// C++:  graph.capture_begin(); … graph.capture_end();
void Translator::begin_capture(const clang::Stmt* statement) {
  Piece head;
  head << "with " << captured_block << "()";
  head.stands_for(0, statement->getSourceRange());
  head << ":";
  out_.open(head);
}

void Translator::statement(const clang::Stmt* statement) {
  using namespace clang;  // NOLINT: a list of what Clang has
  if (llvm::isa<CompoundStmt>(statement)) return body(statement);
  if (const auto* declared = llvm::dyn_cast<DeclStmt>(statement)) return declaration(declared);
  if (const auto* condition = llvm::dyn_cast<IfStmt>(statement)) return branch(condition);
  if (const auto* loop = llvm::dyn_cast<ForStmt>(statement)) return count(loop);
  if (const auto* loop = llvm::dyn_cast<CXXForRangeStmt>(statement)) return each(loop);
  if (const auto* choice = llvm::dyn_cast<SwitchStmt>(statement)) return choose(choice);
  if (const auto* attempt_ = llvm::dyn_cast<CXXTryStmt>(statement)) return attempt(attempt_);
  if (const auto* attributed = llvm::dyn_cast<AttributedStmt>(statement))
    return this->statement(attributed->getSubStmt());
  if (const auto* label = llvm::dyn_cast<LabelStmt>(statement)) return this->statement(label->getSubStmt());
  if (const auto* loop = llvm::dyn_cast<WhileStmt>(statement)) {
    Piece head;
    head << "while ";
    expression(loop->getCond(), head);
    head << ":";
    const unsigned switches = std::exchange(switches_, 0);
    out_.open(head);
    body(loop->getBody());
    out_.close();
    switches_ = switches;
    return;
  }
  if (const auto* loop = llvm::dyn_cast<DoStmt>(statement)) {  // once for certain
    // TORCH_CHECK and its like are `do { … } while (false)`: no loop at all.
    const unsigned switches = switches_++;
    body(loop->getBody());
    switches_ = switches;
    return;
  }
  if (const auto* result = llvm::dyn_cast<ReturnStmt>(statement)) {
    Piece line;
    line << "return";
    if (result->getRetValue() != nullptr) {
      line << " ";
      expression(result->getRetValue(), line);
    }
    return out_.statement(std::move(line), result->getSourceRange());
  }
  if (llvm::isa<BreakStmt>(statement)) return out_.line(switches_ > 0 ? "pass" : "break");
  if (llvm::isa<ContinueStmt>(statement)) return out_.line("continue");
  if (const auto* expression_ = llvm::dyn_cast<Expr>(statement)) return effect(expression_);
}

void Translator::declaration(const clang::DeclStmt* statement) {
  for (const clang::Decl* declared : statement->decls()) {
    if (const auto* one = llvm::dyn_cast<clang::VarDecl>(declared)) variable(one);
  }
}

void Translator::variable(const clang::VarDecl* variable) {
  Piece line;
  if (const auto* parts = llvm::dyn_cast<clang::DecompositionDecl>(variable)) {
    bool first = true;
    for (const clang::BindingDecl* part : parts->bindings()) {
      line << (first ? "" : ", ") << python_name(part->getNameAsString());
      first = false;
    }
    if (parts->bindings().size() == 1) line << ",";
  } else {
    line << python_name(variable->getNameAsString());
  }
  line << " = ";
  if (variable->getInit() != nullptr) {
    expression(variable->getInit(), line);
  } else {
    line << unknown;
  }
  out_.statement(std::move(line), variable->getSourceRange());
}

bool Translator::ends_in_exception(const clang::Expr* expression) const {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expression);
  const clang::FunctionDecl* const function = call == nullptr ? nullptr : call->getDirectCallee();
  return function != nullptr && function->isNoReturn();
}

// An expression as a statement.
void Translator::effect(const clang::Expr* expression_) {
  expression_ = plain(expression_);
  if (const auto* pair = llvm::dyn_cast<clang::BinaryOperator>(expression_);
      pair != nullptr && pair->getOpcode() == clang::BO_Comma) {
    effect(pair->getLHS());
    return effect(pair->getRHS());
  }
  if (llvm::isa<clang::CXXThrowExpr>(expression_) || ends_in_exception(expression_))
    return out_.statement(Piece() << "raise RuntimeError", expression_->getSourceRange());
  if (assignment(expression_)) return;
  // `unused` values, casts to void and assertions that are compiled away
  if (llvm::isa<clang::DeclRefExpr, clang::IntegerLiteral>(expression_)) return;
  Piece line;
  expression(expression_, line);
  out_.statement(std::move(line), expression_->getSourceRange());
}

// `ctx->saved_data["x"] = x` of an autograd function: a call, since Python has no such thing.
bool Translator::keep_with_context(const clang::Expr* target, const clang::Expr* value, const clang::Expr* whole) {
  const auto* entry = llvm::dyn_cast<clang::CXXOperatorCallExpr>(plain(target));
  if (entry == nullptr || entry->getOperator() != clang::OO_Subscript) return false;
  const auto* member = llvm::dyn_cast<clang::MemberExpr>(plain(entry->getArg(0)));
  if (member == nullptr || qualified(member->getMemberDecl()) != "torch::autograd::AutogradContext::saved_data")
    return false;
  Piece line;
  line << saved_data << "(";
  expression(value, line);
  line << ")";
  out_.statement(std::move(line), whole->getSourceRange());
  return true;
}

bool Translator::assignment(const clang::Expr* expression_) {
  const clang::Expr* target = nullptr;
  const clang::Expr* value = nullptr;
  std::string operation;
  if (const auto* plain_ = llvm::dyn_cast<clang::BinaryOperator>(expression_);
      plain_ != nullptr && plain_->isAssignmentOp()) {
    target = plain_->getLHS();
    value = plain_->getRHS();
    operation = plain_->getOpcodeStr().str();
  } else if (const auto* overloaded = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression_);
             overloaded != nullptr && overloaded->isAssignmentOp() && overloaded->getNumArgs() == 2) {
    target = overloaded->getArg(0);
    value = overloaded->getArg(1);
    operation = clang::getOperatorSpelling(overloaded->getOperator());
  } else if (const auto* step = llvm::dyn_cast<clang::UnaryOperator>(expression_);
             step != nullptr && step->isIncrementDecrementOp()) {
    target = step->getSubExpr();
    operation = step->isIncrementOp() ? "+= 1" : "-= 1";
  } else {
    return false;
  }
  if (value != nullptr && keep_with_context(target, value, expression_)) return true;
  Piece line;
  expression(target, line);
  // What Python cannot assign to is evaluated all the same.
  const char last = line.text().empty() ? '\0' : line.text().back();
  const bool assignable = last != ')' && line.text() != unknown && line.text() != "self";
  if (!assignable) {
    out_.statement(std::move(line), target->getSourceRange());
    if (value == nullptr) return true;
    line = Piece();
    expression(value, line);
  } else {
    line << " " << operation;
    if (value != nullptr) {
      line << " ";
      expression(value, line);
    }
  }
  out_.statement(std::move(line), expression_->getSourceRange());
  return true;
}

void Translator::branch(const clang::IfStmt* statement_) {
  if (statement_->getInit() != nullptr) statement(statement_->getInit());
  if (const clang::VarDecl* declared = statement_->getConditionVariable()) variable(declared);
  Piece head;
  head << "if ";
  if (statement_->isConsteval()) {
    head << unknown;
  } else {
    expression(statement_->getCond(), head);
  }
  head << ":";
  out_.open(head);
  body(statement_->getThen());
  out_.close();
  if (statement_->getElse() == nullptr) return;
  out_.open(Piece() << "else:");
  body(statement_->getElse());
  out_.close();
}

void Translator::count(const clang::ForStmt* loop) {
  const unsigned switches = std::exchange(switches_, 0);
  Piece head;
  const Counting counting = counting_of(loop);
  if (counting.variable != nullptr) {
    head << "for " << python_name(counting.variable->getNameAsString()) << " in range(";
    expression(counting.variable->getInit(), head);
    head << ", ";
    expression(counting.last, head);
    head << "):";
  } else {
    if (loop->getInit() != nullptr) statement(loop->getInit());
    head << "while ";
    if (loop->getCond() != nullptr) {
      expression(loop->getCond(), head);
    } else {
      head << "True";
    }
    head << ":";
  }
  out_.open(head);
  body(loop->getBody());
  if (counting.variable == nullptr && loop->getInc() != nullptr) effect(loop->getInc());
  out_.close();
  switches_ = switches;
}

void Translator::each(const clang::CXXForRangeStmt* loop) {
  const unsigned switches = std::exchange(switches_, 0);
  Piece head;
  head << "for ";
  const clang::VarDecl* const variable = loop->getLoopVariable();
  if (const auto* parts = llvm::dyn_cast<clang::DecompositionDecl>(variable)) {
    for (const clang::BindingDecl* part : parts->bindings()) head << python_name(part->getNameAsString()) << ", ";
  } else {
    head << python_name(variable->getNameAsString());
  }
  head << " in ";
  expression(loop->getRangeInit(), head);
  head << ":";
  out_.open(head);
  body(loop->getBody());
  out_.close();
  switches_ = switches;
}

// Each case under its own condition; that one runs on into the next is lost.
void Translator::choose(const clang::SwitchStmt* statement_) {
  if (statement_->getInit() != nullptr) statement(statement_->getInit());
  const unsigned switches = switches_++;
  bool first = true;
  std::vector<Case> cases = cases_of(statement_);
  std::ranges::stable_partition(cases, [](const Case& one) { return !one.is_default; });
  for (const Case& one : cases) {
    Piece head;
    if (one.is_default) {
      head << (first ? "if True:" : "else:");
    } else {
      head << (first ? "if " : "elif ");
      bool more = false;
      for (const clang::Expr* value : one.values) {
        head << (more ? " or " : "");
        more = true;
        operand(statement_->getCond(), head);
        head << " == ";
        operand(value, head);
      }
      head << ":";
    }
    first = false;
    out_.open(head);
    block(one.statements);
    out_.close();
  }
  switches_ = switches;
}

void Translator::attempt(const clang::CXXTryStmt* statement_) {
  out_.open(Piece() << "try:");
  body(statement_->getTryBlock());
  out_.close();
  for (unsigned at = 0; at < statement_->getNumHandlers(); ++at) {
    const clang::CXXCatchStmt* const handler = statement_->getHandler(at);
    const clang::VarDecl* const caught = handler->getExceptionDecl();
    const std::string name = caught == nullptr ? std::string() : caught->getNameAsString();
    // Whatever else C++ catches, Python's exceptions have one ancestor.
    out_.open(Piece() << "except Exception" << (name.empty() ? "" : " as " + python_name(name)) << ":");
    body(handler->getHandlerBlock());
    out_.close();
  }
}

}  // namespace fullgraph::cxx
