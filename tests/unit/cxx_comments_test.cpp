// Comments of C++, and the directives in them.
#include "cli/cxx_comments.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/suppression.h"

using namespace fullgraph;
using namespace fullgraph::cli;

namespace {

std::vector<std::string> comments(const std::string& text) {
  std::vector<std::string> out;
  for (const ir::Span span : comments_of_cxx(text)) out.push_back(text.substr(span.begin, span.end - span.begin));
  return out;
}

std::vector<Directive> directives(std::string text) {
  ir::Module module;
  module.recording = ir::Recording::Cxx;
  module.comments = comments_of_cxx(text);
  module.source = std::make_shared<const ir::SourceFile>("net.cpp", std::move(text));
  return directives_of(module);
}

}  // namespace

TEST_CASE("comments of C++ are told from what looks like them") {
  CHECK(comments("int a;  // one\n/* two\n lines */ int b; // three  \r\n") ==
        std::vector<std::string>{"// one", "/* two\n lines */", "// three"});
  CHECK(comments(R"(auto s = "http://x"; char c = '"'; // end)") == std::vector<std::string>{"// end"});
  CHECK(comments("auto s = R\"x( // no )\" )x\"; // yes\n") == std::vector<std::string>{"// yes"});
  CHECK(comments("int big = 1'000'000; // digits") == std::vector<std::string>{"// digits"});
  CHECK(comments("auto s = \"a \\\" // no\"; int i;").empty());
  CHECK(comments("/* never closed") == std::vector<std::string>{"/* never closed"});
}

TEST_CASE("directives of C++ cover the line they stand on, or the next one") {
  const auto trailing = directives("a();\nb();  // fullgraph: ignore[FG601] the reason\n");
  REQUIRE(trailing.size() == 1);
  CHECK(trailing[0].codes.at(0).text == "FG601");
  CHECK(trailing[0].lines.at(0).first == 2);
  CHECK(trailing[0].lines.at(0).last == 2);
  const auto leading = directives("// fullgraph: ignore[FG601]\na();\n");
  REQUIRE(leading.size() == 1);
  CHECK(leading[0].lines.at(0).first == 2);
  CHECK(directives("// see fullgraph: ignore[FG601]\n").empty());
}

TEST_CASE("NOLINT is ours where it names one of our checks") {
  const auto here = directives("a();  // NOLINT(fullgraph-FG601, bugprone-x) the reason\n");
  REQUIRE(here.size() == 1);
  CHECK(here[0].codes.size() == 1);
  CHECK(here[0].codes[0].text == "FG601");
  CHECK(here[0].foreign);
  CHECK(here[0].lines.at(0).first == 1);
  CHECK(directives("// NOLINTNEXTLINE(fullgraph-host-copy)\na();\n").at(0).lines.at(0).first == 2);
  const auto block = directives("// NOLINTBEGIN(fullgraph-FG601)\na();\nb();\n// NOLINTEND(fullgraph-FG601)\nc();\n");
  REQUIRE(block.size() == 2);
  CHECK(block[0].lines.at(0).first == 1);
  CHECK(block[0].lines.at(0).last == 4);
  CHECK(directives("a();  // NOLINT\nb();  // NOLINT(bugprone-x)\n").empty());
  CHECK(directives("a();  // NOLINT(fullgraph-FG601\n").empty());
}
