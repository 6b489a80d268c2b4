#include "cli/native_names.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "analyzer/python/parse.h"

namespace fullgraph::cli {
namespace {

// What setup tools and torch.utils.cpp_extension.load put in its place.
constexpr std::string_view name_of_the_build = "TORCH_EXTENSION_NAME";

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view last_name(std::string_view name) {
  return name.substr(name.find_last_of(".:") + 1);
}

// The Python sources of the run, asked for what they say of names in C++.
//
// Who registers a fake kernel, or allows a function, may build its name from parts. A source that does such things and
// has a text that ends in the name is taken to mean it: what is not certain is not reported.
class PythonSources {
 public:
  explicit PythonSources(const python::Program& program) {
    for (const python::Program::File& file : program.files()) {
      if (file.module != nullptr) {
        modules_.push_back(file.module);
      } else if (file.readable) {  // nothing needed it
        if (auto source = python::read_source(file.path, file.shown))
          modules_.push_back(python::parse(*std::move(source), file.shown, false));
      }
    }
  }

  [[nodiscard]] bool empty() const { return modules_.empty(); }

  [[nodiscard]] bool fakes(std::string_view op) const {
    return calls({"register_fake", "impl_abstract", "register_meta", "register_kernel", "impl"}, op);
  }
  [[nodiscard]] bool allows(std::string_view function) const {
    return calls({"allow_in_graph", "substitute_in_graph", "nonstrict_trace"}, function);
  }

  // The names under which an extension with this source is built.
  [[nodiscard]] std::set<std::string> extensions_of(const std::string& file) const {
    std::set<std::string> out;
    for (const auto& module : modules_) {
      std::vector<const ir::Expr*> builds;
      for (const ir::Expr& expr : module->exprs) {
        if (expr.kind == ir::ExprKind::Call &&
            is_call_of(*module, expr, {"CppExtension", "CUDAExtension", "SyclExtension", "Pybind11Extension", "load"}))
          builds.push_back(&expr);
      }
      for (const ir::Expr* build : builds) {
        const auto name = name_of(*module, *build);
        if (name && (builds.size() == 1 || names_source(*module, *build, file))) out.insert(*name);
      }
    }
    return out;
  }

 private:
  // Is one of the functions called with the name in its arguments, or anywhere with the name in a text of that source?
  [[nodiscard]] bool calls(std::initializer_list<std::string_view> functions, std::string_view name) const {
    return std::ranges::any_of(modules_, [&](const std::shared_ptr<const ir::Module>& module) {
      bool called = false, in_arguments = false, in_text = false;
      for (const ir::Expr& expr : module->exprs) {
        if (expr.kind == ir::ExprKind::String) {
          in_text = in_text || last_name(expr.name.text()) == name;
        } else if (expr.kind == ir::ExprKind::Call && is_call_of(*module, expr, functions)) {
          called = true;
          in_arguments = in_arguments || module->source->text(expr.span).find(name) != std::string_view::npos;
        }
      }
      return called && (in_arguments || in_text);
    });
  }

  static bool is_call_of(const ir::Module& module, const ir::Expr& call,
                         std::initializer_list<std::string_view> functions) {
    const ir::Expr& callee = module.expr(call.a);
    return (callee.kind == ir::ExprKind::Name || callee.kind == ir::ExprKind::Attribute) &&
           one_of(callee.name.text(), functions);
  }

  static std::optional<std::string> text_of(const ir::Module& module, ir::ExprId id) {
    const ir::Expr& expr = module.expr(id);
    if (expr.kind != ir::ExprKind::String) return std::nullopt;
    return std::string(expr.name.text());
  }

  static std::optional<std::string> name_of(const ir::Module& module, const ir::Expr& call) {
    const auto arguments = module.list(call.items);
    for (const ir::ExprId id : arguments) {
      const ir::Expr& argument = module.expr(id);
      if (argument.kind == ir::ExprKind::Keyword && argument.name.text() == "name") return text_of(module, argument.a);
    }
    return arguments.size() == 0 ? std::nullopt : text_of(module, arguments[0]);
  }

  // By the last part of the path: folders are often put together.
  static bool names_source(const ir::Module& module, const ir::Expr& call, const std::string& file) {
    const std::string name = std::filesystem::path(file).filename().string();
    return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
      if (expr.kind != ir::ExprKind::String || expr.span.begin < call.span.begin || expr.span.end > call.span.end)
        return false;
      return std::filesystem::path(std::string(expr.name.text())).filename() == name;
    });
  }

  std::vector<std::shared_ptr<const ir::Module>> modules_;
};

bool is_device(std::string_view key) {
  return one_of(key, {"CPU", "CUDA", "XPU", "MPS", "HPU", "HIP", "PrivateUse1"});
}

// Runs the kernel for any tensor, or says what it returns.
bool is_for_all(const CxxRegistration& one) {
  return one.kind == "kernel" && !is_device(one.key) && !one.key.starts_with("Autograd");
}

}  // namespace

trace::Native native_names(const std::vector<CxxRegistration>& registered, const python::Program& program) {
  trace::Native out;
  if (registered.empty()) return out;
  const PythonSources python(program);
  if (python.empty()) return out;
  std::set<std::string> with_kernel, told;
  for (const CxxRegistration& one : registered) {
    if (one.kind == "kernel") (is_for_all(one) ? told : with_kernel).insert(one.name);
  }
  for (const CxxRegistration& one : registered) {
    const std::string_view plain = last_name(one.name);
    if (one.kind == "schema") {
      if (with_kernel.contains(one.name) && !told.contains(one.name) && !python.fakes(plain))
        out.operators_without_fake.emplace(one.name, one.where);
    } else if (one.kind == "function" && !python.allows(plain)) {
      if (!one.name.starts_with(name_of_the_build)) {
        out.functions.emplace(one.name, one.where);
        continue;
      }
      for (const std::string& extension : python.extensions_of(one.file))
        out.functions.emplace(extension + one.name.substr(name_of_the_build.size()), one.where);
    }
  }
  return out;
}

}  // namespace fullgraph::cli
