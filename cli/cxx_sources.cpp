#include "cli/cxx_sources.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "analyzer/python/parse.h"
#include "analyzer/python/program.h"
#include "analyzer/trace/trace.h"
#include "cli/analysis.h"
#include "cli/cxx_comments.h"
#include "cli/cxx_worker.h"
#include "cli/files.h"
#include "cli/invalid_source.h"
#include "rules/rule.h"
#include "rules/wording.h"

namespace fullgraph::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> units = {".cpp", ".cc", ".cxx", ".cu", ".c++"};
constexpr std::array<std::string_view, 5> headers = {".h", ".hh", ".hpp", ".hxx", ".cuh"};

// An installed torch on the way to imported packages.
std::string torch_folder(const std::vector<std::string>& search_path) {
  for (const std::string& folder : search_path) {
    std::error_code error;
    if (fs::is_directory(fs::path(folder) / "torch" / "include", error)) return folder + "/torch";
  }
  return {};
}

std::string module_name(const std::string& path) {
  std::string out = fs::path(path).stem().string();
  std::ranges::replace_if(
      out, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return out;
}

// The files that documents speak of, read once each.
class CxxFiles {
 public:
  CxxFiles(const std::vector<const SourcePath*>& given, const CxxTexts& texts, const std::string& working_directory)
      : working_directory_(working_directory), texts_(texts) {
    for (const SourcePath* file : given) {
      std::error_code error;
      const fs::path real = fs::weakly_canonical(file->path, error);
      shown_[error ? file->path : real.string()] = file->shown;
    }
  }

  // Text and comments of a file.
  const ir::Module& module(const std::string& path) {
    auto& entry = modules_[path];
    if (entry == nullptr) {
      const auto shown = shown_.find(path);
      const auto text = texts_.find(path);
      const auto bytes = text == texts_.end() ? read_file(path) : Result<std::string>(text->second);
      auto made = std::make_shared<ir::Module>();
      made->recording = ir::Recording::Cxx;
      made->source = std::make_shared<const ir::SourceFile>(
          shown == shown_.end() ? shown_path(path, working_directory_) : shown->second,
          bytes ? replace_invalid(*bytes) : std::string());
      made->comments = comments_of_cxx(made->source->text());
      entry = std::move(made);
    }
    return *entry;
  }

  Place place(const std::vector<std::string>& files, const CxxPlace& where) {
    const ir::Module& file = module(files.at(where.file));
    const auto size = static_cast<std::uint32_t>(file.source->text().size());
    if (where.line == 0 || where.line > file.source->line_count()) return {file.source, {}};
    const std::uint32_t begin = std::min(size, file.source->line_start(where.line) + where.column - 1);
    return {file.source, {begin, std::min(size, begin + where.length)}};
  }

  [[nodiscard]] bool knows(const std::string& path) const { return modules_.contains(path); }
  [[nodiscard]] std::vector<std::shared_ptr<const ir::Module>> take() const {
    std::vector<std::shared_ptr<const ir::Module>> out;
    for (const auto& [path, module] : modules_) out.push_back(module);
    return out;
  }

 private:
  const std::string& working_directory_;
  const CxxTexts& texts_;
  std::map<std::string, std::string> shown_;
  std::map<std::string, std::shared_ptr<const ir::Module>> modules_;
};

class Look {
 public:
  Look(const std::string& working_directory, const std::vector<const SourcePath*>& files, const CxxTexts& texts,
       const Environment& environment, const trace::Options& options)
      : environment_(environment), options_(options), files_(files, texts, working_directory) {}

  void run(const SourcePath& file, const CxxDocument& document) {
    if (!document.found_libtorch) return leave_out(file);
    for (const std::string& one : document.files) files_.module(one);
    python::Program program({});
    program.set_opaque({"torch"});
    auto source = python::make_source(document.text, file.shown);
    if (!source) {
      out_.errors.push_back(source.error());
      return;
    }
    auto module = python::parse_recording(*source, module_name(file.path), ir::Recording::Cxx, nullptr);
    program.load({{file.path, file.shown, nullptr, true, module}}, 1);
    const trace::Outcome outcome = trace::trace(program, *environment_.profile, options_);
    out_.roots += outcome.roots;
    for (Diagnostic& finding : rules::judge(outcome.events, *environment_.profile, options_.jobs)) {
      if (!move(finding, document)) continue;
      finding.roots = {file.shown};  // whose settings hold for it
      add(std::move(finding));
    }
    add_errors(file, document);
    add_registrations(document);
  }

  [[nodiscard]] bool has_seen(const std::string& path) const {
    std::error_code error;
    return files_.knows(fs::weakly_canonical(path, error).string());
  }

  CxxFindings take() {
    out_.sources = files_.take();
    return std::move(out_);
  }
  CxxFindings& out() { return out_; }

 private:
  // The smallest part of the text that holds the place, and what it stands for.
  std::optional<Place> origin(const Place& place, const CxxDocument& document) {
    const CxxSpan* best = nullptr;
    for (const CxxSpan& span : document.spans) {
      if (span.begin > place.span.begin || span.end < place.span.end) continue;
      if (best == nullptr || span.end - span.begin < best->end - best->begin) best = &span;
    }
    if (best == nullptr) return std::nullopt;
    return files_.place(document.files, best->where);
  }

  bool move(Diagnostic& finding, const CxxDocument& document) {
    auto place = origin(finding.place, document);
    if (!place) return false;
    quote_author(finding.message, finding.place, *place);
    finding.place = std::move(*place);
    finding.function = in_cxx(finding.function);
    std::erase_if(finding.path, [&](PathStep& step) {
      auto there = origin(step.place, document);
      if (there) step.place = std::move(*there);
      step.function = in_cxx(step.function);
      return !there;
    });
    finding.ways.clear();  // they are of the text that stands for the source; `path` is moved
    std::erase_if(finding.related, [&](Related& related) {
      auto there = origin(related.place, document);
      if (there) related.place = std::move(*there);
      return !there;
    });
    for (Fix& fix : finding.fixes) move(fix, document);
    return true;
  }

  // An edit of the text is one of the source where the text stands for just that and no macro is part of it.
  void move(Fix& fix, const CxxDocument& document) {
    const bool moved = std::ranges::all_of(fix.edits, [&](Edit& edit) {
      const auto same = std::ranges::find_if(document.spans, [&](const CxxSpan& span) {
        return span.editable && span.begin == edit.place.span.begin && span.end == edit.place.span.end;
      });
      if (same == document.spans.end()) return false;
      edit.place = files_.place(document.files, same->where);
      return true;
    });
    if (moved) return;
    fix.applicability = Applicability::Display;
    fix.edits.clear();
  }

  // What a message quotes of the text becomes what stands in the source.
  static void quote_author(std::string& message, const Place& text, const Place& author) {
    const std::string python = quoted(text), cxx = quoted(author);
    if (const std::size_t at = message.find(python); at != std::string::npos) message.replace(at, python.size(), cxx);
    constexpr std::string_view self = "`self.";
    for (std::size_t at = message.find(self); at != std::string::npos; at = message.find(self, at))
      message.replace(at, self.size(), "`");
  }

  static std::string quoted(const Place& place) { return "`" + rules::one_line(place.source->text(place.span)) + "`"; }

  // "NetImpl.forward" → "NetImpl::forward"
  static std::string in_cxx(const std::string& python) {
    std::string out;
    for (const char c : python) {
      if (c == '.') {
        out += "::";
      } else {
        out += c;
      }
    }
    return out;
  }

  // Each file that includes a header finds the same in it.
  void add(Diagnostic finding) {
    if (known_.emplace(finding.place.source->path(), finding.place.span.begin, finding.code).second)
      out_.list.push_back(std::move(finding));
  }

  void add_errors(const SourcePath& file, const CxxDocument& document) {
    // How a source in a folder is compiled may be known to its own build alone.
    const bool certain = file.given || document.from_database;
    for (const CxxError& error : document.errors) {
      if (!certain) break;
      const ir::Module& module = files_.module(document.files.at(error.where.file));
      Diagnostic finding = syntax_error(module, {files_.place(document.files, error.where).span, error.message});
      finding.roots = {file.shown};
      add(std::move(finding));
    }
    const std::size_t errors = document.errors.size() + document.errors_elsewhere;
    if (errors == 0) return;
    out_.notes.push_back(
        fmt::format("{} was read in part: Clang reports {} error{}, and what depends on the places is not looked at",
                    file.shown, errors, errors == 1 ? "" : "s"));
  }

  // Without libtorch's headers nothing in the source has a type.
  void leave_out(const SourcePath& file) {
    const std::string why =
        "no libtorch was found, neither in a compile_commands.json nor on the search path (--python-path names an "
        "environment with torch)";
    if (file.given) {
      out_.errors.push_back({ErrorKind::Configuration, "is not looked at: " + why, ErrorLocation{file.shown, 0, 0}});
    } else if (std::ranges::find(out_.notes, "C++ sources are left out: " + why) == out_.notes.end()) {
      out_.notes.push_back("C++ sources are left out: " + why);
    }
  }

  void add_registrations(const CxxDocument& document) {
    for (const CxxNamed& one : document.registrations) {
      const std::string& path = document.files.at(one.where.file);
      const ir::Module& module = files_.module(path);
      out_.registrations.push_back(
          {one.kind, one.name, one.key, path, {&module, files_.place(document.files, one.where).span}});
    }
  }

  const Environment& environment_;
  const trace::Options& options_;
  CxxFiles files_;
  CxxFindings out_;
  std::set<std::tuple<std::string, std::uint32_t, std::string>> known_;
};

}  // namespace

bool is_cxx(const std::string& path) {
  return ends_with_any(path, units) || ends_with_any(path, headers);
}

bool is_libtorch_source(const std::string& path) {
  if (!ends_with_any(path, units)) return false;
  constexpr std::size_t head = 65536;
  std::ifstream file(path, std::ios::binary);
  std::string text(head, '\0');
  file.read(text.data(), head);
  text.resize(static_cast<std::size_t>(file.gcount()));
  static const re2::RE2 sign(R"((?m)^\s*#\s*include\s*[<"](?:torch|ATen|c10)/|\b(?:torch|c10)::\w|\bat::Tensor\b)");
  return re2::RE2::PartialMatch(text, sign);
}

namespace {

Result<CxxWorker> worker_for(const Environment& environment, const Settings& settings) {
  const std::string database = settings.compile_commands.value_or("");
  std::error_code error;
  if (!database.empty() && !fs::exists(fs::path(database) / "compile_commands.json", error))
    return std::unexpected(Error{ErrorKind::Usage, "there is no compile_commands.json in " + database, {}});
  return CxxWorker::find({torch_folder(environment.search_path), database, settings.extra_arguments.value_or(Names{})});
}

// What several workers say of the files. The first file goes alone: with it the precompiled header of all is made.
std::vector<Result<CxxDocument>> read_all(const CxxWorker& worker, const std::vector<const SourcePath*>& files,
                                          unsigned jobs) {
  std::vector<Result<CxxDocument>> out(files.size());
  if (files.empty()) return out;
  out.front() = worker.read(files.front()->path);
  std::atomic<std::size_t> next = 1;
  const auto work = [&] {
    for (std::size_t at = next++; at < files.size(); at = next++) out[at] = worker.read(files[at]->path);
  };
  std::vector<std::jthread> others;
  for (unsigned thread = 1; thread < jobs && thread + 1 < files.size(); ++thread) others.emplace_back(work);
  work();
  others.clear();
  return out;
}

}  // namespace

Result<std::string> text_of_cxx(const std::string& path, const Environment& environment, const Settings& settings) {
  const auto worker = worker_for(environment, settings);
  if (!worker) return std::unexpected(worker.error());
  auto document = worker->read(path);
  if (!document) return std::unexpected(document.error());
  return std::move(document->text);
}

CxxFindings look_at_cxx(const std::vector<const SourcePath*>& files, const CxxTexts& texts,
                        const std::string& working_directory, const Environment& environment, const Settings& settings,
                        unsigned jobs) {
  if (files.empty()) return {};
  auto worker = worker_for(environment, settings);
  if (worker) {
    if (auto replaced = worker->replace(texts); !replaced) worker = std::unexpected(replaced.error());
  }
  if (!worker) {
    CxxFindings out;
    const bool asked_for = std::ranges::any_of(files, &SourcePath::given);
    if (asked_for || worker.error().kind == ErrorKind::Usage) {
      out.errors.push_back(worker.error());
    } else {
      out.notes.push_back(fmt::format("{} C++ source{} left out: {}", files.size(), files.size() == 1 ? "" : "s",
                                      worker.error().message));
    }
    return out;
  }
  trace::Options options;
  const std::string mode = settings.mode.value_or("any");
  options.mode = mode == "train" ? trace::Mode::Train : mode == "eval" ? trace::Mode::Eval : trace::Mode::Any;
  options.roots = trace::Roots::Modules;
  options.jobs = jobs;
  Look look(working_directory, files, texts, environment, options);
  // A header that one of the sources includes has been looked at with it.
  for (const bool of_headers : {false, true}) {
    std::vector<const SourcePath*> chosen;
    for (const SourcePath* file : files) {
      if (ends_with_any(file->path, headers) == of_headers && !(of_headers && look.has_seen(file->path)))
        chosen.push_back(file);
    }
    const auto documents = read_all(*worker, chosen, jobs);
    for (std::size_t at = 0; at < chosen.size(); ++at) {
      if (documents[at]) {
        look.run(*chosen[at], *documents[at]);
        continue;
      }
      Error error = documents[at].error();
      error.where = ErrorLocation{chosen[at]->shown, 0, 0};
      look.out().errors.push_back(std::move(error));
    }
  }
  look.out().first = files.front()->shown;
  return look.take();
}

}  // namespace fullgraph::cli
