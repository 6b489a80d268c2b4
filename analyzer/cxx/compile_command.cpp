#include "analyzer/cxx/compile_command.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "analyzer/cxx/stubs.h"
#include "clang/Tooling/CompilationDatabase.h"

namespace fullgraph::cxx {
namespace {

namespace fs = std::filesystem;

bool holds_torch(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "ATen" / "ATen.h", error) || fs::exists(folder / "torch" / "torch.h", error);
}

std::unique_ptr<clang::tooling::CompilationDatabase> database_in(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(folder / "compile_commands.json", ignored)) return nullptr;
  std::string error;
  return clang::tooling::CompilationDatabase::loadFromDirectory(folder.string(), error);
}

std::unique_ptr<clang::tooling::CompilationDatabase> database_of(const Request& request) {
  if (!request.database.empty()) return database_in(request.database);
  for (fs::path folder = fs::path(request.file).parent_path();; folder = folder.parent_path()) {
    for (const fs::path& place : {folder, folder / "build"}) {
      if (auto found = database_in(place)) return found;
    }
    if (folder == folder.parent_path()) return nullptr;
  }
}

// The database's own entry. One of another file stands for a header only, which no command names.
std::vector<clang::tooling::CompileCommand> commands_of(const Request& request) {
  const auto database = database_of(request);
  if (database == nullptr) return {};
  const fs::path suffix = fs::path(request.file).extension();
  const bool header = suffix.string().starts_with(".h") || suffix == ".cuh";
  const std::vector<std::string> files = database->getAllFiles();
  const bool named = std::ranges::any_of(files, [&](const std::string& file) {
    std::error_code ignored;
    return fs::equivalent(file, request.file, ignored);
  });
  if (!header && !named) return {};
  return database->getCompileCommands(request.file);
}

// Do its include folders have a Python's headers?
bool knows_python(const CompileCommand& command) {
  for (std::size_t at = 0; at + 1 < command.flags.size(); at += 2) {
    std::error_code error;
    const fs::path folder = fs::path(command.directory) / command.flags[at + 1];
    if (command.flags[at].starts_with("-i") || command.flags[at] == "-I") {
      if (fs::exists(folder / "Python.h", error)) return true;
    }
  }
  return false;
}

class Normaliser {
 public:
  explicit Normaliser(CompileCommand& out) : out_(out) {}

  void take(const std::vector<std::string>& arguments) {
    for (std::size_t at = 0; at < arguments.size(); ++at) {
      const std::string& argument = arguments[at];
      if (argument.starts_with("-std=")) {
        standard(argument.substr(5));
        continue;
      }
      const auto* const flag =
          std::ranges::find_if(kept, [&](std::string_view name) { return argument.starts_with(name); });
      if (flag == kept.end()) continue;
      const bool apart = argument.size() == flag->size();
      if (apart && at + 1 == arguments.size()) break;
      keep(*flag, apart ? arguments[++at] : argument.substr(flag->size()));
    }
  }

 private:
  // Flags whose value may be an argument of its own; longer ones first.
  static constexpr std::array<std::string_view, 6> kept = {"-isystem", "-iquote", "-include", "-I", "-D", "-U"};

  void keep(std::string_view flag, const std::string& value) {
    if (flag == "-include" && value.ends_with("cmake_pch.hxx")) return;  // made by a build that may not have run
    const bool folder = flag == "-I" || flag == "-isystem" || flag == "-iquote";
    const fs::path whole = fs::path(out_.directory) / value;
    if (folder && holds_torch(whole)) {
      out_.torch.push_back(whole.lexically_normal().string());
      return;
    }
    out_.flags.emplace_back(flag);
    out_.flags.push_back(value);
  }

  // libtorch asks for C++20; what is older means the same in it.
  void standard(std::string_view name) {
    for (const std::string_view newer : {"c++23", "c++2b", "c++26", "c++2c"}) {
      if (name.ends_with(newer.substr(1))) out_.standard = newer;
    }
  }

  CompileCommand& out_;
};

}  // namespace

CompileCommand compile_command_of(const Request& request) {
  CompileCommand out;
  const fs::path file(request.file);
  out.directory = file.parent_path().string();
  out.language = file.extension() == ".cu" || file.extension() == ".cuh" ? "cuda" : "c++";
  out.standard = "c++20";
  if (const auto commands = commands_of(request); !commands.empty()) {
    out.from_database = true;
    out.directory = commands.front().Directory;
    Normaliser(out).take(commands.front().CommandLine);
  }
  Normaliser(out).take(request.extra_arguments);
  if (out.torch.empty() && !request.torch.empty()) {
    for (const char* below : {"include", "include/torch/csrc/api/include"}) {
      std::error_code ignored;
      const fs::path folder = fs::path(request.torch) / below;
      if (fs::is_directory(folder, ignored)) out.torch.push_back(folder.string());
    }
  }
  return out;
}

std::vector<std::string> arguments_of(const CompileCommand& command) {
  std::vector<std::string> out = {"-x",
                                  command.language,
                                  "-std=" + command.standard,
                                  "-Wno-everything",
                                  "-ferror-limit=0",
                                  "-resource-dir",
                                  FULLGRAPH_CLANG_RESOURCES};
  if (command.language == "cuda") {
    for (const char* flag : {"--cuda-host-only", "-nocudainc", "-nocudalib", "-include", cuda_stub_path})
      out.emplace_back(flag);
  }
  if (!knows_python(command)) {
    out.emplace_back("-isystem");
    out.emplace_back(python_stub_folder);
  }
  // Headers of libtorch are not the project's, whatever its build calls them.
  for (const std::string& folder : command.torch) {
    out.emplace_back("-isystem");
    out.push_back(folder);
  }
  out.insert(out.end(), command.flags.begin(), command.flags.end());
  out.emplace_back("-idirafter");
  out.emplace_back(stub_folder);
  return out;
}

}  // namespace fullgraph::cxx
