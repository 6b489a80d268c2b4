// fullgraph-clang: reads C++ and CUDA sources for `fullgraph check`, which starts it and reads what it writes.
//
//     fullgraph-clang [-p FOLDER] [--torch FOLDER] [--cache FOLDER] [--extra-arg ARGUMENT]… [--overlay FILE CONTENT]…
//                     [--text] FILE
//
// Writes one JSON document (see docs/cxx.md); with --text the text alone, for people.
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string_view>

#include "analyzer/cxx/frontend.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace fullgraph::cxx {
namespace {

class Writer {
 public:
  llvm::json::Value document(const Document& document, const CompileCommand& command) {
    llvm::json::Array spans, errors, registrations;
    for (const MappedSpan& span : document.spans) {
      llvm::json::Array row = place(span.where);
      row.insert(row.begin(), span.end);
      row.insert(row.begin(), span.begin);
      row.push_back(span.editable);
      spans.push_back(std::move(row));
    }
    for (const MappedRegistration& one : document.registrations)
      registrations.push_back(llvm::json::Object{
          {"kind", one.kind}, {"name", valid(one.name)}, {"key", one.key}, {"where", place(one.where)}});
    for (const CompileError& error : document.errors)
      errors.push_back(llvm::json::Object{{"where", place(error.where)}, {"message", valid(error.message)}});
    return llvm::json::Object{{"version", FULLGRAPH_VERSION},
                              {"parsed", document.parsed},
                              {"text", valid(document.text)},
                              {"spans", std::move(spans)},
                              {"registrations", std::move(registrations)},
                              {"errors", std::move(errors)},
                              {"errors_elsewhere", static_cast<std::int64_t>(document.errors_elsewhere)},
                              {"files", std::move(files_)},
                              {"compile_commands", command.from_database},
                              {"libtorch", !command.torch.empty()},
                              {"precompiled", document.precompiled}};
  }

 private:
  static std::string valid(const std::string& text) {
    return llvm::json::isUTF8(text) ? text : llvm::json::fixUTF8(text);
  }

  // [index of the file, line, column, length]
  llvm::json::Array place(const FilePlace& where) {
    const auto [entry, added] = numbers_.try_emplace(where.file, static_cast<std::int64_t>(numbers_.size()));
    if (added) files_.push_back(valid(where.file));
    return llvm::json::Array{entry->second, where.line, where.column, where.length};
  }

  std::map<std::string, std::int64_t> numbers_;
  llvm::json::Array files_;
};

// Several of these run at once, each for itself: a source that would take the machine ends its own worker.
void limit_resources() {
  constexpr rlim_t seconds = 300, bytes = rlim_t{12} << 30;
  const rlimit time{seconds, seconds}, memory{bytes, bytes};
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_AS, &memory);
}

int main(int count, const char** words) {
  limit_resources();
  Request request;
  bool text = false;
  for (int at = 1; at < count; ++at) {
    const std::string_view word = words[at];
    const auto value = [&] { return std::string(at + 1 < count ? words[++at] : ""); };
    if (word == "-p") {
      request.database = value();
    } else if (word == "--torch") {
      request.torch = value();
    } else if (word == "--cache") {
      request.cache = value();
    } else if (word == "--extra-arg") {
      request.extra_arguments.push_back(value());
    } else if (word == "--overlay") {
      std::string path = value();
      request.overlays.emplace_back(std::move(path), value());
    } else if (word == "--text") {
      text = true;
    } else {
      request.file = std::filesystem::absolute(word).lexically_normal().string();
    }
  }
  if (request.file.empty()) {
    std::fputs("fullgraph-clang: started by `fullgraph check`; give it a C++ source to see what it makes of it\n",
               stderr);
    return 2;
  }
  const CompileCommand command = compile_command_of(request);
  const Document document = read(request, command);
  if (text) {
    llvm::outs() << document.text;
  } else {
    llvm::outs() << Writer().document(document, command) << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace fullgraph::cxx

int main(int count, const char** words) {
  return fullgraph::cxx::main(count, words);
}
