#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/merge_recordings.h"
#include "cli/remembered_sources.h"
#include "tests/unit/temporary_folder.h"

using namespace fullgraph;
using namespace fullgraph::cli;

namespace {

ir::Origin origin(const std::string& file, std::uint32_t line, const std::string& code, std::uint32_t column = 0) {
  ir::Origin out;
  out.file = file;
  out.line = line;
  out.column = column;
  out.code = code;
  return out;
}

std::string shown(const std::optional<Place>& place) {
  if (!place) return "nowhere";
  const auto at = place->source->position(place->span.begin);
  return fmt::format("{}:{}:{} `{}`", place->source->path(), at.line, at.column, place->source->text(place->span));
}

std::shared_ptr<const ir::SourceFile> source(const std::string& path, const std::string& text) {
  return std::make_shared<const ir::SourceFile>(path, text);
}

Diagnostic finding(const std::string& code, const std::shared_ptr<const ir::SourceFile>& where, std::uint32_t line) {
  Diagnostic out;
  out.code = code;
  const auto start = where->line_start(line);
  out.place = {where, {start, start + static_cast<std::uint32_t>(where->line_text(line).size())}};
  return out;
}

// Where a finding on `line` of the recorded `path` ends up among `sources`.
std::string merged(const std::string& path, std::uint32_t line, const std::string& code, const LintedSources& sources) {
  RememberedSources remembered("/work");
  remembered.remember(origin(path, line, code));
  Diagnostic recorded;
  recorded.code = "FG402";
  recorded.place = *remembered.place_of(origin(path, line, code));
  std::vector<Diagnostic> found;
  merge_findings(found, {recorded}, sources);
  REQUIRE(found.size() == 1);
  return shown(found.front().place);
}

}  // namespace

TEST_CASE("remembered lines stand at their numbers") {
  RememberedSources sources("/home");
  sources.remember(origin("/home/m.py", 3, "    ä = x.item()"));
  sources.remember(origin("/home/m.py", 5, ""));
  sources.remember(origin("/home/m.py", 5, "return ä"));  // the one that says more
  sources.remember(origin("/home/m.py", 6, "a\nb\rc"));
  CHECK(shown(sources.place_of(origin("/home/m.py", 3, ""))) == "m.py:3:5 `ä = x.item()`");
  CHECK(shown(sources.place_of(origin("/home/m.py", 3, "", 9))) == "m.py:3:9 `x.item()`");
  CHECK(shown(sources.place_of(origin("/home/m.py", 3, "", 1000))) == "m.py:3:17 ``");
  CHECK(shown(sources.place_of(origin("/home/m.py", 4, ""))) == "m.py:4:1 ``");
  CHECK(shown(sources.place_of(origin("/home/m.py", 5, ""))) == "m.py:5:1 `return ä`");
  CHECK(shown(sources.place_of(origin("/home/m.py", 6, ""))) == "m.py:6:1 `a b c`");
  CHECK(shown(sources.place_of(origin("/home/m.py", 0, ""))) == "nowhere");
  CHECK(shown(sources.place_of(origin("/home/m.py", 900, ""))) == "nowhere");
  CHECK(shown(sources.place_of(origin("/home/n.py", 3, ""))) == "nowhere");
}

TEST_CASE("made-up line numbers do not cost the memory of files that long") {
  RememberedSources sources("/");
  for (int file = 0; file < 100; ++file) sources.remember(origin(fmt::format("/{}.py", file), 900'000, "x"));
  sources.remember(origin("/huge.py", 4'000'000'000, "x"));
  CHECK(shown(sources.place_of(origin("/huge.py", 4'000'000'000, "x"))) == "nowhere");
  int placed = 0;
  for (int file = 0; file < 100; ++file)
    placed += sources.place_of(origin(fmt::format("/{}.py", file), 900'000, "x")) ? 1 : 0;
  CHECK(placed == 17);  // 16 million lines in all
}

TEST_CASE("a recorded finding moves to the source that its line is in") {
  const LintedSources sources = {source("src/models/net.py", "import torch\n  y = x.item()\n"),
                                 source("src/other/net.py", "import torch\ny = x.item()\n"),
                                 source("src/models/more.py", "y = x.item()\n")};
  CHECK(merged("/elsewhere/models/net.py", 2, "y = x.item()", sources) == "src/models/net.py:2:3 `y = x.item()`");
  CHECK(merged("/elsewhere/other/net.py", 2, "y = x.item()", sources) == "src/other/net.py:2:1 `y = x.item()`");
  CHECK(merged("C:\\code\\models\\net.py", 2, "y = x.item()", sources).starts_with("src/models/net.py:2:3"));
  // Not if the line is another one, or there is none.
  CHECK(merged("/elsewhere/models/net.py", 1, "y = x.item()", sources).starts_with("/elsewhere/models/net.py:1"));
  CHECK(merged("/elsewhere/models/net.py", 77, "y = x.item()", sources).starts_with("/elsewhere/models/net.py:77"));
  CHECK(merged("/elsewhere/models/third.py", 2, "y = x.item()", sources).starts_with("/elsewhere/models/third.py:2"));
  // Without a line to compare it takes two names, or all that the source has.
  CHECK(merged("/elsewhere/models/net.py", 2, "", sources) == "src/models/net.py:2:3 `y = x.item()`");
  CHECK(merged("/elsewhere/net.py", 2, "", sources).starts_with("/elsewhere/net.py:2"));
  CHECK(merged("/elsewhere/net.py", 1, "", {source("net.py", "x\n")}) == "net.py:1:1 `x`");
}

TEST_CASE("what the source shows already is not told twice") {
  const auto net = source("net.py", "a\ny = x.item()\n");
  std::vector<Diagnostic> found = {finding("FG402", net, 2)};
  Diagnostic same = finding("FG402", source("/there/net.py", "\ny = x.item()\n"), 2);
  same.related.push_back({same.place, "recorded in m.pt2 as"});
  Diagnostic other = finding("FG403", source("/there/net.py", "\ny = x.item()\n"), 2);
  merge_findings(found, {same, other}, {net});
  REQUIRE(found.size() == 2);
  CHECK(found[0].related.size() == 1);
  CHECK(found[1].code == "FG403");
  CHECK(found[1].place.source == net);
}

TEST_CASE("what a file is, by its content and by Python's own names") {
  const TemporaryFolder folder;
  const auto kind = [&](const std::string& name, const std::string& content) {
    folder.write(name, content);
    const auto recorded = is_recording({folder.path() + "/" + name, name, nullptr, true});
    return std::string(!recorded ? recorded.error().message : *recorded ? "recording" : "source");
  };
  const std::string graph = "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
  CHECK(kind("graph.txt", graph) == "recording");
  CHECK(kind("graph", graph) == "recording");
  CHECK(kind("graph.py", graph) == "source");
  CHECK(kind("script", "import torch\n") == "source");
  CHECK(kind("notes.txt", "import torch\n") == "holds neither a graph nor a log of graph breaks");
  // A run that breaks no graph may write nothing at all.
  CHECK(kind("run.log", "") == "recording");
  CHECK(kind("run.log", "epoch 1\n") == "recording");
}
