#include "rules/parameter_hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "rules/layout.h"

namespace fullgraph::rules {
namespace {

bool is_name(const ir::Module& module, ir::ExprId id, std::string_view name) {
  return id && module.expr(id).kind == ir::ExprKind::Name && module.expr(id).name.text() == name;
}

std::size_t mentions(const ir::Module& module, std::string_view name, ir::Span within) {
  return static_cast<std::size_t>(std::ranges::count_if(module.exprs, [&](const ir::Expr& expr) {
    return expr.kind == ir::ExprKind::Name && expr.name.text() == name && within.contains(expr.span);
  }));
}

// `module.register_full_backward_hook(hook)` as a statement of a function's own block.
struct Registration {
  ir::Span statement;
  const ir::Function* function;  // around it
  std::string_view module, hook;
};

std::size_t registrations_in(const ir::Module& module, ir::Span function) {
  return static_cast<std::size_t>(std::ranges::count_if(module.exprs, [&](const ir::Expr& expr) {
    return expr.kind == ir::ExprKind::Attribute && function.contains(expr.span) &&
           expr.name.text() == "register_full_backward_hook";
  }));
}

// Is it a parameter of the function that always stands for the same?
bool stays(const ir::Module& module, const ir::Function& function, ir::Symbol name) {
  bool given = false;
  for (std::size_t i = 0; i < function.params.count; ++i) {
    const ir::Param& param = module.params[function.params.first + i];
    given =
        given || (param.name == name && param.kind != ir::ParamKind::VarArgs && param.kind != ir::ParamKind::KwArgs);
  }
  const bool bound = std::ranges::any_of(module.stmts, [&](const ir::Stmt& stmt) {
    if (!function.span.contains(stmt.span) || stmt.kind == ir::StmtKind::Delete) return false;
    const auto targets = module.list(stmt.items);
    return std::ranges::any_of(targets, [&](ir::ExprId target) {
      const ir::Span span = module.expr(target).span;
      return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
        return expr.kind == ir::ExprKind::Name && expr.name == name && expr.span == span;
      });
    });
  });
  return given && !bound;
}

std::optional<Registration> registration_at(const ir::Module& module, ir::Span place) {
  const std::vector<Spot> spots = Layout(module).around(place);
  if (spots.size() < 2) return std::nullopt;
  const ir::Stmt& stmt = module.stmt(spots.back().id);
  const ir::Stmt& owner = module.stmt(spots[spots.size() - 2].id);
  if (stmt.kind != ir::StmtKind::Expression || owner.kind != ir::StmtKind::FunctionDef) return std::nullopt;
  const ir::Expr& call = module.expr(stmt.a);
  if (call.kind != ir::ExprKind::Call || call.items.count != 1) return std::nullopt;
  const ir::Expr& callee = module.expr(call.a);
  const ir::Expr& hook = module.expr(module.list(call.items)[0]);
  if (callee.kind != ir::ExprKind::Attribute || callee.name.text() != "register_full_backward_hook")
    return std::nullopt;
  const ir::Expr& receiver = module.expr(callee.a);
  const ir::Function& function = module.function(owner.function);
  if (registrations_in(module, function.span) != 1 || !stays(module, function, receiver.name)) return std::nullopt;
  if (receiver.kind != ir::ExprKind::Name || hook.kind != ir::ExprKind::Name) return std::nullopt;
  return Registration{stmt.span, &function, receiver.name.text(), hook.name.text()};
}

// def hook(mod, grad_input, grad_output):
//     for param in mod.parameters(…): body
struct Hook {
  const ir::Function* function;
  const ir::Stmt* loop;
  std::string_view parameter;
  std::string_view arguments;  // of parameters()
};

std::optional<Hook> hook_of(const ir::Module& module, const Registration& registration) {
  const ir::Function* found = nullptr;
  for (const ir::StmtId id : module.block(registration.function->body)) {
    const ir::Stmt& stmt = module.stmt(id);
    if (stmt.kind == ir::StmtKind::FunctionDef && module.function(stmt.function).name.text() == registration.hook)
      found = &module.function(stmt.function);
  }
  // The name where it is bound, and the one that registers it.
  constexpr std::size_t users = 2;
  if (found == nullptr || mentions(module, registration.hook, registration.function->span) != users)
    return std::nullopt;
  if (found->params.count != 3 || found->decorators.count != 0 || found->body.count != 1) return std::nullopt;
  const ir::Stmt& loop = module.stmt(*module.block(found->body).begin());
  if (loop.kind != ir::StmtKind::For || loop.orelse.count != 0) return std::nullopt;
  const ir::Expr& target = module.expr(module.list(loop.items)[0]);
  const ir::Expr& call = module.expr(loop.a);
  if (target.kind != ir::ExprKind::Name || call.kind != ir::ExprKind::Call) return std::nullopt;
  const ir::Expr& callee = module.expr(call.a);
  const std::string_view self = module.params[found->params.first].name.text();
  if (callee.kind != ir::ExprKind::Attribute || callee.name.text() != "parameters" || !is_name(module, callee.a, self))
    return std::nullopt;
  for (const ir::ExprId argument : module.list(call.items)) {
    if (module.expr(argument).kind != ir::ExprKind::Keyword) return std::nullopt;
  }
  const std::string_view text = module.source->text(call.span);
  const std::size_t open = callee.span.end - call.span.begin + 1;
  return Hook{found, &loop, target.name.text(), text.substr(open, text.size() - open - 1)};
}

// Can the loop's body be the body of a function of the parameter?
bool is_about_the_parameter(const ir::Module& module, const Hook& hook) {
  const ir::Span body{module.stmt(*module.block(hook.loop->body).begin()).span.begin, hook.loop->span.end};
  for (std::size_t i = 0; i < 3; ++i) {
    if (mentions(module, module.params[hook.function->params.first + i].name.text(), body) != 0) return false;
  }
  const bool leaves = std::ranges::any_of(module.stmts, [&](const ir::Stmt& stmt) {
    return body.contains(stmt.span) && (stmt.kind == ir::StmtKind::Return || stmt.kind == ir::StmtKind::Break ||
                                        stmt.kind == ir::StmtKind::Continue || stmt.kind == ir::StmtKind::FunctionDef);
  });
  const bool long_string = std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
    const bool text = expr.kind == ir::ExprKind::String || expr.kind == ir::ExprKind::FString;
    return text && body.contains(expr.span) && module.source->text(expr.span).find('\n') != std::string_view::npos;
  });
  const ir::Span head{hook.function->name_span.end, body.begin};
  const bool captures = std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
    const bool later = expr.kind == ir::ExprKind::Lambda || expr.kind == ir::ExprKind::Yield ||
                       expr.kind == ir::ExprKind::YieldFrom || expr.kind == ir::ExprKind::GeneratorExp;
    return later && body.contains(expr.span);
  });
  const bool comment = std::ranges::any_of(module.comments, [&](ir::Span span) { return head.contains(span); });
  return !leaves && !long_string && !captures && !comment;
}

std::string without_prefix_on_lines(std::string_view text, std::string_view deep, std::string_view shallow) {
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    out += text.substr(0, end);
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
    if (!text.starts_with(deep)) continue;
    out += shallow;
    text.remove_prefix(deep.size());
  }
}

}  // namespace

Edits hook_parameters_instead(const ir::Module& module, ir::Span place) {
  const auto registration = registration_at(module, place);
  if (!registration) return {};
  const auto hook = hook_of(module, *registration);
  if (!hook || !is_about_the_parameter(module, *hook)) return {};
  constexpr std::array<std::string_view, 6> fresh = {
      "original_forward", "hooked", "forward_with_hooks", "name", "args", "kwargs"};
  const auto clashes = [&](std::string_view name) { return std::ranges::find(fresh, name) != fresh.end(); };
  if (clashes(hook->parameter) || clashes(registration->module) || hook->parameter == registration->module) return {};
  const bool taken = std::ranges::any_of(registration->function->locals, [&](ir::Symbol local) {
    return std::ranges::find(fresh, local.text()) != fresh.end();
  });
  const auto torch = ensure_import(module, "torch", place);
  if (taken || !torch) return {};

  const Layout layout(module);
  const ir::Span body{module.stmt(*module.block(hook->loop->body).begin()).span.begin, hook->loop->span.end};
  const std::string outer = layout.indentation(hook->loop->span.begin), inner = layout.indentation(body.begin);
  const std::string at = layout.indentation(registration->statement.begin);
  if (!layout.starts_line(body.begin) || !layout.starts_line(registration->statement.begin) ||
      !inner.starts_with(outer) || inner.size() == outer.size())
    return {};
  const std::string unit = inner.substr(outer.size());

  Edits edits = replace(module, {hook->function->name_span.end, body.end},
                        fmt::format("({}):\n{}{}", hook->parameter, outer,
                                    without_prefix_on_lines(module.source->text(body), inner, outer)));
  const std::string text = fmt::format(
      "original_forward = {module}.forward\n"
      "{at}hooked = {{}}\n"
      "\n"
      "{at}def forward_with_hooks(*args, **kwargs):\n"
      "{at}{unit}# Whoever replaces a parameter drops its hooks: they are put on when it is used.\n"
      "{at}{unit}if {torch}.is_grad_enabled():\n"
      "{at}{unit}{unit}for name, {param} in {module}.named_parameters({arguments}):\n"
      "{at}{unit}{unit}{unit}if {param}.requires_grad and hooked.get(name) is not {param}:\n"
      "{at}{unit}{unit}{unit}{unit}{param}.register_post_accumulate_grad_hook({hook})\n"
      "{at}{unit}{unit}{unit}{unit}hooked[name] = {param}\n"
      "{at}{unit}return original_forward(*args, **kwargs)\n"
      "\n"
      "{at}{module}.forward = forward_with_hooks",
      fmt::arg("module", registration->module), fmt::arg("at", at), fmt::arg("unit", unit),
      fmt::arg("torch", torch->name), fmt::arg("param", hook->parameter), fmt::arg("arguments", hook->arguments),
      fmt::arg("hook", registration->hook));
  for (Edit& edit : replace(module, registration->statement, text)) edits.push_back(std::move(edit));
  edits.insert(edits.end(), torch->edits.begin(), torch->edits.end());
  return edits;
}

}  // namespace fullgraph::rules
