// ensure_import: under which name a file can speak of a module, and where an import belongs.
#include <algorithm>

#include "rules/edits.h"
#include "rules/layout.h"

namespace fullgraph::rules {
namespace {

// What is bound at module level, conditional statements included.
class ModuleLevel {
 public:
  ModuleLevel(const ir::Module& module, std::string_view wanted) : module_(module), wanted_(wanted) {
    walk(module.body);
  }

  // Ways to speak of the module, in source order.
  std::vector<std::string> names;

  // Is the name bound by something else than an import of the module?
  [[nodiscard]] bool otherwise_bound(std::string_view name) const {
    return std::ranges::find(others_, name) != others_.end();
  }

 private:
  void walk(ir::Block block) {
    for (const ir::StmtId id : module_.block(block)) {
      const ir::Stmt& stmt = module_.stmt(id);
      switch (stmt.kind) {
        case ir::StmtKind::Import:
        case ir::StmtKind::ImportFrom:
          for (std::uint32_t i = 0; i < stmt.aliases.count; ++i) import(stmt, module_.aliases[stmt.aliases.first + i]);
          break;
        case ir::StmtKind::FunctionDef:
        case ir::StmtKind::ClassDef:
          bind(stmt.a);
          break;
        case ir::StmtKind::Assign:
        case ir::StmtKind::AnnAssign:
          // `torch = None` where the import failed: nothing that needs the module will run.
          if (stmt.a && module_.expr(stmt.a).kind != ir::ExprKind::None)
            for (const ir::ExprId target : module_.list(stmt.items)) bind(target);
          break;
        case ir::StmtKind::If:
          if (is_for_type_checkers(stmt)) {
            walk(stmt.orelse);
            break;
          }
          [[fallthrough]];
        default:
          if (stmt.kind == ir::StmtKind::For) bind(module_.list(stmt.items)[0]);
          if (stmt.kind == ir::StmtKind::With)
            for (const ir::ExprId item : module_.list(stmt.items)) bind(module_.expr(item).b);
          for (const OwnedBlock& owned : blocks_of(module_, id)) walk(owned.block);
      }
    }
  }

  [[nodiscard]] bool is_for_type_checkers(const ir::Stmt& stmt) const {
    const ir::Expr& test = module_.expr(stmt.a);
    return (test.kind == ir::ExprKind::Name || test.kind == ir::ExprKind::Attribute) &&
           test.name.text() == "TYPE_CHECKING";
  }

  void bind(ir::ExprId target) {
    if (!target) return;
    const ir::Expr& expr = module_.expr(target);
    if (expr.kind == ir::ExprKind::Name) others_.emplace_back(expr.name.text());
    if (expr.kind == ir::ExprKind::Tuple || expr.kind == ir::ExprKind::List)
      for (const ir::ExprId item : module_.list(expr.items)) bind(item);
  }

  void import(const ir::Stmt& stmt, const ir::Alias& alias) {
    const std::string_view name = alias.name.text(), as = alias.as.text();
    if (stmt.kind == ir::StmtKind::ImportFrom) {
      const std::string_view bound = as.empty() ? name : as;
      if (stmt.level == 0 && std::string(stmt.module.text()) + "." + std::string(name) == wanted_) {
        names.emplace_back(bound);
      } else {
        others_.emplace_back(bound);
      }
      return;
    }
    if (!as.empty()) {
      if (name == wanted_) {
        names.emplace_back(as);
      } else {
        others_.emplace_back(as);
      }
      return;
    }
    // `import torch.nn` brings torch as well.
    if (name == wanted_ || name.starts_with(wanted_ + ".")) names.push_back(wanted_);
    const std::string_view root = name.substr(0, name.find('.'));
    if (root != std::string_view(wanted_).substr(0, wanted_.find('.'))) others_.emplace_back(root);
  }

  const ir::Module& module_;
  std::string wanted_;
  std::vector<std::string> others_;
};

std::string_view root_of(std::string_view dotted) {
  return dotted.substr(0, dotted.find('.'));
}

// Has one of the functions around `use` a variable of that name?
bool shadowed(const ir::Module& module, std::string_view name, ir::Span use) {
  return std::ranges::any_of(module.functions, [&](const ir::Function& function) {
    return function.span.begin <= use.begin && use.end <= function.span.end &&
           std::ranges::any_of(function.locals, [&](ir::Symbol local) { return local.text() == name; });
  });
}

// Does the file go on without the package: is all that it imports of it under a condition?
bool imported_under_condition(const ir::Module& module, std::string_view package) {
  const auto for_type_checkers = [&](ir::Span place) {
    return std::ranges::any_of(module.stmts, [&](const ir::Stmt& stmt) {
      if (stmt.kind != ir::StmtKind::If || place.begin < stmt.span.begin || stmt.span.end < place.end) return false;
      const ir::Expr& test = module.expr(stmt.a);
      return test.name.text() == "TYPE_CHECKING";
    });
  };
  const auto imports = [&](const ir::Stmt& stmt) {
    if (stmt.kind == ir::StmtKind::ImportFrom) return stmt.level == 0 && root_of(stmt.module.text()) == package;
    if (stmt.kind != ir::StmtKind::Import) return false;
    for (std::uint32_t i = 0; i < stmt.aliases.count; ++i) {
      if (root_of(module.aliases[stmt.aliases.first + i].name.text()) == package) return true;
    }
    return false;
  };
  const bool always =
      std::ranges::any_of(module.block(module.body), [&](ir::StmtId id) { return imports(module.stmt(id)); });
  return !always && std::ranges::any_of(module.stmts, [&](const ir::Stmt& stmt) {
    return imports(stmt) && !for_type_checkers(stmt.span);
  });
}

// Behind the imports at the head of the file, else behind its docstring, else before its first statement.
Edit new_import(const ir::Module& module, std::string_view dotted) {
  const Layout layout(module);
  const std::string line = "import " + std::string(dotted);
  const std::string_view text = module.source->text();
  const auto size = static_cast<std::uint32_t>(text.size());
  const auto at = [&](std::uint32_t offset, std::string inserted) {
    return Edit{{module.source, {offset, offset}}, std::move(inserted)};
  };
  const auto behind = [&](const ir::Stmt& stmt, std::string_view blank_line) {
    const std::uint32_t next = layout.next_line(stmt.span.end);
    // A last line without its end has no next line.
    const bool open = next == size && !text.ends_with('\n') && !text.ends_with('\r');
    if (open) return at(size, "\n" + std::string(blank_line) + line);
    return at(next, std::string(blank_line) + line + "\n");
  };
  const ir::Stmt* last = nullptr;
  for (const ir::StmtId id : module.block(module.body)) {
    const ir::Stmt& stmt = module.stmt(id);
    if (stmt.kind == ir::StmtKind::FunctionDef || stmt.kind == ir::StmtKind::ClassDef) break;
    if (stmt.kind == ir::StmtKind::Import || stmt.kind == ir::StmtKind::ImportFrom) last = &stmt;
  }
  if (last != nullptr) return behind(*last, "");
  if (module.body.count == 0) return at(size, line + "\n");
  const ir::Stmt& first = module.stmt(*module.block(module.body).begin());
  const bool docstring = first.kind == ir::StmtKind::Expression && module.expr(first.a).kind == ir::ExprKind::String;
  if (docstring) return behind(first, "\n");
  return at(layout.line_begin(first.span.begin), line + "\n\n");
}

}  // namespace

std::optional<Import> ensure_import(const ir::Module& module, std::string_view dotted, ir::Span use) {
  const ModuleLevel level(module, dotted);
  const auto usable = [&](std::string_view name) {
    return !level.otherwise_bound(root_of(name)) && !shadowed(module, root_of(name), use);
  };
  for (const std::string& name : level.names) {
    if (usable(name)) return Import{name, {}};
  }
  if (!usable(dotted) || imported_under_condition(module, root_of(dotted))) return std::nullopt;
  return Import{std::string(dotted), {new_import(module, dotted)}};
}

}  // namespace fullgraph::rules
