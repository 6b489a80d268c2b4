#include "validator/cxx_module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "validator/compile_flags.h"
#include "validator/graphs.h"
#include "validator/process.h"

namespace fullgraph::embedded {
extern const std::string_view native_model_header;
}

namespace fullgraph::validator {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view stage = "build";

std::unexpected<Failure> unusable(std::string message) {
  return std::unexpected(Failure{.kind = FailureKind::BadInput,
                                 .stage = std::string(stage),
                                 .message = std::move(message),
                                 .where = "",
                                 .output = ""});
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_header(const fs::path& path) {
  constexpr std::array<std::string_view, 4> endings = {".h", ".hpp", ".hh", ".hxx"};
  return std::ranges::find(endings, path.extension().string()) != endings.end();
}

// Sources and headers of a folder, without what builds and tools leave there.
std::vector<fs::path> files_of(const fs::path& source) {
  if (!fs::is_directory(source)) return {source};
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::recursive_directory_iterator at(source, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_directory() && (name.starts_with('.') || name.starts_with("build"))) at.disable_recursion_pending();
    if (at->is_regular_file() && (is_cxx_source(name) || is_header(name))) out.push_back(at->path());
  }
  std::ranges::sort(out);
  return out;
}

struct Chosen {
  fs::path file;           // where the class is
  std::string expression;  // that makes one
};

// The class that the user named, or the only one that is no part of another.
std::expected<Chosen, Failure> choose(const CxxModule& module, const std::vector<fs::path>& files) {
  const std::string wanted =
      module.expression ? module.expression->substr(0, module.expression->find_first_of("({")) : "";
  std::vector<Chosen> candidates;
  std::vector<std::string> names;
  for (const fs::path& file : files) {
    for (const ModuleClass& one : module_classes(read_text(file))) {
      names.push_back(one.name);
      if (module.expression ? one.name == wanted : !one.used)
        candidates.push_back({file, module.expression.value_or(one.name + "()")});
    }
  }
  // An expression may call a function, or name a class that the text does not show to be a module.
  if (module.expression && candidates.empty() && files.size() == 1) return Chosen{files[0], *module.expression};
  if (candidates.size() == 1) return candidates[0];
  if (names.empty()) return unusable(fmt::format("{}: no class there derives from torch::nn::Module", module.source));
  return unusable(fmt::format("{}: which module is meant? Name it with --module, like --module \"{}()\"; there are {}",
                              module.source, names.back(), fmt::join(names, ", ")));
}

std::string harness(const Chosen& chosen) {
  return fmt::format(
      "#include \"{}\"\n"
      "#include \"native_model.h\"\n"
      "extern \"C\" fullgraph::native::Model* fullgraph_make_model() {{ return fullgraph::native::wrap({}); }}\n",
      chosen.file.string(), chosen.expression);
}

Command compile_command(const CxxModule& module, const Chosen& chosen, const std::vector<fs::path>& files,
                        const TemporaryFolder& folder, const std::string& library) {
  const CompileFlags known = compile_flags_of(chosen.file);
  const char* named = std::getenv("CXX");
  Command out;
  out.arguments = {!known.compiler.empty() ? known.compiler : named != nullptr && *named != '\0' ? named : "c++"};
  const auto add = [&](std::initializer_list<std::string> more) {
    out.arguments.insert(out.arguments.end(), more.begin(), more.end());
  };
  add({"-O1"});
  out.arguments.insert(out.arguments.end(), known.flags.begin(), known.flags.end());
  // The wrapper needs C++20, as libtorch's own headers do; a newer standard stays.
  const bool newer = std::ranges::any_of(known.flags, [](const std::string& flag) {
    return flag.starts_with("-std=") && (flag.ends_with("23") || flag.ends_with("2b") || flag.ends_with("26"));
  });
  if (!newer) add({"-std=c++20"});
  add({"-w", "-fPIC", "-shared", "-fvisibility=default", "-I", folder.path()});
  for (const std::string& include : module.include_folders) add({"-isystem", include});
  add({folder.path() + "/" + module.name + ".cpp"});
  for (const fs::path& file : files) {
    if (!is_header(file) && file != chosen.file) add({file.string()});
  }
  for (const std::string& other : module.libraries) {
    const fs::path path = other;
    if (path.is_absolute()) {
      add({other, "-Wl,-rpath," + path.parent_path().string()});
    } else {
      add({"-l" + other});
    }
  }
  add({"-o", library});
  out.set = {{"LC_ALL", "C"}};
  out.directory = known.directory;
  out.contained = true;
  out.most_output = std::size_t{64} << 10;
  out.timeout = module.limits.timeout;
  out.memory_limit = module.limits.memory;
  return out;
}

// The first line of the compiler's that says what is wrong.
std::string first_error(std::string_view output) {
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    if (line.find("error") != std::string_view::npos || line.find("undefined") != std::string_view::npos)
      return std::string(line);
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return "the compiler failed";
}

}  // namespace

std::expected<std::string, Failure> build_cxx_module(const CxxModule& module, const TemporaryFolder& folder) {
  const std::vector<fs::path> files = files_of(module.source);
  const auto chosen = choose(module, files);
  if (!chosen) return std::unexpected(chosen.error());
  for (const auto& [name, text] : {std::pair<std::string, std::string>{module.name + ".cpp", harness(*chosen)},
                                   {"native_model.h", std::string(embedded::native_model_header)}}) {
    if (const auto written = folder.write(name, text); !written) return unusable(written.error().message);
  }
  const std::string library = folder.path() + "/" + module.name + ".so";
  const Command command = compile_command(module, *chosen, files, folder, library);
  const auto finished = run(command);
  if (!finished) {
    return unusable(fmt::format("the C++ compiler cannot be started: {}; install one, or name it in CXX",
                                finished.error().message));
  }
  if (finished->end != End::Exited) {
    Failure failure = failure_of(*finished, std::string(stage), module.limits);
    return std::unexpected(std::move(failure));
  }
  if (finished->status != 0) {
    return std::unexpected(Failure{.kind = FailureKind::BadInput,
                                   .stage = std::string(stage),
                                   .message = first_error(finished->output),
                                   .where = "",
                                   .output = finished->output});
  }
  return library;
}

}  // namespace fullgraph::validator
