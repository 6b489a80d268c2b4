#include "analyzer/cxx/precompiled_header.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "analyzer/cxx/stubs.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MD5.h"

namespace fullgraph::cxx {
namespace {

namespace fs = std::filesystem;

constexpr const char* prologue_path = "/fullgraph-stubs/fullgraph_torch.h";
constexpr const char* prologue = "#include <torch/torch.h>\n";

class Generate : public clang::GeneratePCHAction {
 public:
  explicit Generate(std::string output) : output_(std::move(output)) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef file) override {
    compiler.getFrontendOpts().OutputFile = output_;
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    // Headers of CUDA that are not there are errors of few declarations; the rest is of use.
    compiler.getDiagnostics().setFatalsAsError(true);
    compiler.getPreprocessorOpts().AllowPCHWithCompilerErrors = true;
    return GeneratePCHAction::CreateASTConsumer(compiler, file);
  }

 private:
  std::string output_;
};

class Factory : public clang::tooling::FrontendActionFactory {
 public:
  explicit Factory(std::string output) : output_(std::move(output)) {}
  std::unique_ptr<clang::FrontendAction> create() override { return std::make_unique<Generate>(output_); }

 private:
  std::string output_;
};

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Of everything that a header is made from; its own headers are checked by Clang.
std::string key_of(const CompileCommand& command) {
  llvm::MD5 hash;
  for (const std::string& argument :
       arguments_of({command.directory, command.language, command.standard, command.torch, {}, false}))
    hash.update(argument + "\n");
  for (const std::string& folder : command.torch)
    hash.update(content_of(fs::path(folder) / "torch/headeronly/version.h"));
  for (const Stub& stub : stubs()) hash.update(llvm::StringRef(stub.text.data(), stub.text.size()));
  hash.update(clang::getClangFullVersion() + FULLGRAPH_VERSION + prologue);
  llvm::MD5::MD5Result result;
  hash.final(result);
  return result.digest().str().str();
}

void make(const CompileCommand& command, const std::string& output) {
  CompileCommand plain = command;
  plain.flags.clear();
  std::vector<std::string> arguments = arguments_of(plain);
  arguments.insert(arguments.end(), {"-Xclang", "-fvalidate-ast-input-files-content"});
  for (std::string& argument : arguments) {
    if (argument == "c++") argument = "c++-header";
  }
  const clang::tooling::FixedCompilationDatabase commands("/", arguments);
  clang::tooling::ClangTool tool(commands, {prologue_path});
  tool.clearArgumentsAdjusters();  // they would take the output away
  tool.mapVirtualFile(prologue_path, prologue);
  for (const Stub& stub : stubs())
    tool.mapVirtualFile(llvm::StringRef(stub.path.data(), stub.path.size()),
                        llvm::StringRef(stub.text.data(), stub.text.size()));
  clang::IgnoringDiagConsumer quiet;
  tool.setDiagnosticConsumer(&quiet);
  tool.setPrintErrorMessage(false);
  Factory factory(output);
  tool.run(&factory);
}

}  // namespace

std::string precompiled_header_for(const Request& request, const CompileCommand& command, bool anew) {
  if (request.cache.empty() || command.torch.empty()) return {};
  const fs::path folder = fs::path(request.cache) / "clang";
  const fs::path file = folder / ("torch-" + key_of(command) + ".pch");
  std::error_code error;
  if (!anew && fs::exists(file, error)) return file.string();
  fs::create_directories(folder, error);
  // Others may make the same one: each writes its own and the last one stays.
  const fs::path mine = file.string() + "." + std::to_string(getpid());
  make(command, mine.string());
  fs::rename(mine, file, error);
  if (error) return {};
  return file.string();
}

}  // namespace fullgraph::cxx
