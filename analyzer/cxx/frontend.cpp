#include "analyzer/cxx/frontend.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "analyzer/cxx/precompiled_header.h"
#include "analyzer/cxx/registrations.h"
#include "analyzer/cxx/stubs.h"
#include "analyzer/cxx/translator.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/Lexer.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/MemoryBuffer.h"

namespace fullgraph::cxx {
namespace {

// Where the author wrote it: an argument of a macro where it stands, what a macro is made of where it is used.
FilePlace place_of(const clang::SourceManager& sources, const clang::LangOptions& language, clang::SourceRange range) {
  FilePlace out;
  const clang::SourceLocation begin = sources.getFileLoc(range.getBegin());
  const clang::PresumedLoc place = sources.getPresumedLoc(begin, /*UseLineDirectives=*/false);
  if (place.isInvalid()) return out;
  out.file = place.getFilename();
  if (const auto entry = sources.getFileEntryRefForID(sources.getFileID(begin))) {
    const llvm::StringRef real = entry->getFileEntry().tryGetRealPathName();
    if (!real.empty()) out.file = real.str();
  }
  out.line = place.getLine();
  out.column = place.getColumn();
  const clang::SourceLocation end =
      clang::Lexer::getLocForEndOfToken(sources.getFileLoc(range.getEnd()), 0, sources, language);
  if (end.isValid() && sources.getFileID(end) == sources.getFileID(begin) &&
      sources.getFileOffset(end) > sources.getFileOffset(begin))
    out.length = sources.getFileOffset(end) - sources.getFileOffset(begin);
  return out;
}

// Does the range hold nothing but itself? A macro may be something else in the next build.
bool is_without_macros(const clang::ASTContext& context, clang::SourceRange range) {
  if (range.getBegin().isMacroID() || range.getEnd().isMacroID()) return false;
  const llvm::StringRef text = clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(range),
                                                           context.getSourceManager(), context.getLangOpts());
  const auto is_in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_in_name(text[end])) ++end;
    const auto name = context.Idents.find(text.substr(at, end - at));
    if (end > at && name != context.Idents.end() && name->second->hadMacroDefinition()) return false;
    at = std::max(end, at + 1);
  }
  return true;
}

class Errors : public clang::DiagnosticConsumer {
 public:
  explicit Errors(Document& out) : out_(out) {}

  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor*) override {
    language_ = &language;
  }
  void EndSourceFile() override { language_ = nullptr; }

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    if (level < clang::DiagnosticsEngine::Error) return;
    if (!info.hasSourceManager() || info.getLocation().isInvalid() || language_ == nullptr) {
      without_place_ = true;
      return;
    }
    const clang::SourceManager& sources = info.getSourceManager();
    const clang::SourceLocation at = sources.getExpansionLoc(info.getLocation());
    if (sources.isInSystemHeader(at)) {
      ++out_.errors_elsewhere;
      return;
    }
    llvm::SmallString<128> message;
    info.FormatDiagnostic(message);
    out_.errors.push_back({place_of(sources, *language_, at), std::string(message)});
  }

  // Clang did not begin, or refused the precompiled header.
  [[nodiscard]] bool without_place() const { return without_place_; }

 private:
  Document& out_;
  const clang::LangOptions* language_ = nullptr;
  bool without_place_ = false;
};

class Consumer : public clang::ASTConsumer {
 public:
  explicit Consumer(Document& out) : out_(out) {}

  bool shouldSkipFunctionBody(clang::Decl* declaration) override {
    const clang::SourceManager& sources = declaration->getASTContext().getSourceManager();
    return sources.isInSystemHeader(sources.getExpansionLoc(declaration->getLocation()));
  }

  // Asking the translation unit for its declarations would read all of a precompiled header.
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) {
      if (!declaration->isFromASTFile()) declarations_.push_back(declaration);
    }
    return true;
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    const clang::SourceManager& sources = context.getSourceManager();
    const std::vector<Registration> registrations = registrations_in(declarations_, sources);
    Translator translator(context);
    translator.run(declarations_, registrations);
    std::set<std::string> files;
    out_.text = translator.result().text();
    for (const TextSpan& span : translator.result().spans()) {
      FilePlace place = place_of(sources, context.getLangOpts(), span.range);
      if (place.line == 0) continue;
      files.insert(place.file);
      out_.spans.push_back({span.begin, span.end, std::move(place), is_without_macros(context, span.range)});
    }
    for (const Registration& one : registrations) {
      FilePlace place = place_of(sources, context.getLangOpts(), one.range);
      if (place.line == 0) continue;
      files.insert(place.file);
      out_.registrations.push_back({name_of(one.kind), one.name, one.key, std::move(place)});
    }
    out_.files.assign(files.begin(), files.end());
    out_.parsed = true;
  }

 private:
  Document& out_;
  std::vector<clang::Decl*> declarations_;
};

class Action : public clang::ASTFrontendAction {
 public:
  explicit Action(Document& out) : out_(out) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;  // of those that the consumer says
    compiler.getDiagnostics().setFatalsAsError(true);      // a missing header ends nothing
    return std::make_unique<Consumer>(out_);
  }

 private:
  Document& out_;
};

class Factory : public clang::tooling::FrontendActionFactory {
 public:
  explicit Factory(Document& out) : out_(out) {}
  std::unique_ptr<clang::FrontendAction> create() override { return std::make_unique<Action>(out_); }

 private:
  Document& out_;
};

// False: the precompiled header was refused.
bool run(const Request& request, const CompileCommand& command, const std::string& precompiled, Document& out) {
  std::vector<std::string> arguments = arguments_of(command);
  if (!precompiled.empty()) {
    arguments.insert(arguments.begin(), {"-include-pch", precompiled, "-Xclang", "-fvalidate-ast-input-files-content",
                                         "-Xclang", "-fallow-pch-with-compiler-errors"});
  }
  const clang::tooling::FixedCompilationDatabase commands(command.directory, arguments);
  clang::tooling::ClangTool tool(commands, {request.file});
  tool.mapVirtualFile("/fullgraph-stubs/fullgraph_torch.h", "#include <torch/torch.h>\n");
  for (const Stub& stub : stubs())
    tool.mapVirtualFile(llvm::StringRef(stub.path.data(), stub.path.size()),
                        llvm::StringRef(stub.text.data(), stub.text.size()));
  std::vector<std::string> contents;  // as long as the tool
  contents.reserve(request.overlays.size());
  for (const auto& [path, file] : request.overlays) {
    const auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer) continue;
    contents.push_back((*buffer)->getBuffer().str());
    tool.mapVirtualFile(path, contents.back());
  }
  Errors errors(out);
  tool.setDiagnosticConsumer(&errors);
  tool.setPrintErrorMessage(false);
  Factory factory(out);
  tool.run(&factory);
  return out.parsed && !errors.without_place();
}

}  // namespace

Document read(const Request& request, const CompileCommand& command) {
  for (const bool anew : {false, true}) {
    const std::string precompiled = precompiled_header_for(request, command, anew);
    if (precompiled.empty()) break;
    Document out;
    out.precompiled = true;
    if (run(request, command, precompiled, out)) return out;
  }
  Document out;
  run(request, command, "", out);
  return out;
}

}  // namespace fullgraph::cxx
