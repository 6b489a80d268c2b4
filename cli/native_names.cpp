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

// Of a source that calls certain functions: these calls, and the last names of all of its texts.
struct Saying {
  std::string calls;
  std::set<std::string_view> names;
};

// An extension that a source builds.
struct Build {
  std::string name;
  std::set<std::string> sources;  // file names: folders are often put together
  bool only = false;              // there is no other in that source
};

bool is_call_of(const ir::Module& module, const ir::Expr& call, std::initializer_list<std::string_view> functions) {
  if (call.kind != ir::ExprKind::Call) return false;
  const ir::Expr& callee = module.expr(call.a);
  return (callee.kind == ir::ExprKind::Name || callee.kind == ir::ExprKind::Attribute) &&
         one_of(callee.name.text(), functions);
}

// The Python sources of the run: each is gone through once, for all that is asked later.
//
// Who registers a fake kernel, or allows a function, may build its name from parts. A source that does such things and
// has a text that ends in the name is taken to mean it: what is not certain is not reported.
class PythonSources {
 public:
  explicit PythonSources(const python::Program& program) {
    for (const python::Program::File& file : program.files()) {
      if (file.module != nullptr) {
        look_at(*file.module);
      } else if (file.readable) {  // nothing needed it
        if (auto source = python::read_source(file.path, file.shown))
          look_at(*modules_.emplace_back(python::parse(*std::move(source), file.shown, false)));
      }
    }
  }

  [[nodiscard]] bool empty() const { return empty_; }

  [[nodiscard]] bool fakes(std::string_view op) const { return mentions(fakes_, op); }
  [[nodiscard]] bool allows(std::string_view function) const { return mentions(allows_, function); }

  // The names under which an extension with this source is built.
  [[nodiscard]] std::set<std::string> extensions_of(const std::string& file) const {
    const std::string name = std::filesystem::path(file).filename().string();
    std::set<std::string> out;
    for (const Build& build : builds_) {
      if (build.only || build.sources.contains(name)) out.insert(build.name);
    }
    return out;
  }

 private:
  void look_at(const ir::Module& module) {
    empty_ = false;
    note(fakes_, module, {"register_fake", "impl_abstract", "register_meta", "register_kernel", "impl"});
    note(allows_, module, {"allow_in_graph", "substitute_in_graph", "nonstrict_trace"});
    note_builds(module);
  }

  static void note(std::vector<Saying>& sayings, const ir::Module& module,
                   std::initializer_list<std::string_view> functions) {
    Saying saying;
    for (const ir::Expr& expr : module.exprs) {
      if (is_call_of(module, expr, functions)) saying.calls += std::string(module.source->text(expr.span)) + "\n";
    }
    if (saying.calls.empty()) return;
    for (const ir::Expr& expr : module.exprs) {
      if (expr.kind == ir::ExprKind::String) saying.names.insert(last_name(expr.name.text()));
    }
    sayings.push_back(std::move(saying));
  }

  static bool mentions(const std::vector<Saying>& sayings, std::string_view name) {
    return std::ranges::any_of(sayings, [&](const Saying& saying) {
      return saying.names.contains(name) || saying.calls.find(name) != std::string::npos;
    });
  }

  void note_builds(const ir::Module& module) {
    std::vector<const ir::Expr*> calls;
    for (const ir::Expr& expr : module.exprs) {
      if (is_call_of(module, expr, {"CppExtension", "CUDAExtension", "SyclExtension", "Pybind11Extension", "load"}))
        calls.push_back(&expr);
    }
    for (const ir::Expr* call : calls) {
      if (auto name = name_of(module, *call))
        builds_.push_back({std::move(*name), sources_in(module, *call), calls.size() == 1});
    }
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

  static std::set<std::string> sources_in(const ir::Module& module, const ir::Expr& call) {
    std::set<std::string> out;
    for (const ir::Expr& expr : module.exprs) {
      if (expr.kind == ir::ExprKind::String && expr.span.begin >= call.span.begin && expr.span.end <= call.span.end)
        out.insert(std::filesystem::path(std::string(expr.name.text())).filename().string());
    }
    return out;
  }

  std::vector<std::shared_ptr<const ir::Module>> modules_;  // that nobody else holds
  bool empty_ = true;
  std::vector<Saying> fakes_, allows_;
  std::vector<Build> builds_;
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
