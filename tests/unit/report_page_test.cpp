#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "reports/fix_diff.h"
#include "reports/page_data.h"
#include "reports/width.h"
#include "tests/unit/samples.h"

using namespace fullgraph;
using namespace fullgraph::reports;
using nlohmann::json;

namespace {

Edit edit(const std::shared_ptr<const ir::SourceFile>& file, std::string_view replaced, std::string text) {
  return {samples::at(file, replaced), std::move(text)};
}

Edit insertion(const std::shared_ptr<const ir::SourceFile>& file, std::uint32_t at, std::string text) {
  return {{file, {at, at}}, std::move(text)};
}

// "12\n a\n-b\n+c\n": the first line's number and the lines, hunk by hunk.
std::string diff_text(std::vector<Edit> edits) {
  std::string out;
  for (const Hunk& hunk : diff_of({Applicability::Safe, "do it", std::move(edits)})) {
    out += std::to_string(hunk.line) + "\n";
    for (const DiffLine& line : hunk.lines) out += line.mark + line.text + "\n";
  }
  return out;
}

Report report_of(std::vector<Diagnostic> findings) {
  Report out;
  out.findings = std::move(findings);
  return out;
}

json finding_data(Diagnostic finding) {
  return json::parse(page_data(report_of({std::move(finding)})))["findings"][0];
}

}  // namespace

TEST_CASE("diff of a fix: a line of context where there is one that says something") {
  const auto file = samples::source("m.py", "a\nb\nc\n\nd\n");
  CHECK(diff_text({edit(file, "b", "B")}) == "1\n a\n-b\n+B\n c\n");
  CHECK(diff_text({edit(file, "a", "A")}) == "1\n-a\n+A\n b\n");
  CHECK(diff_text({edit(file, "c", "C")}) == "2\n b\n-c\n+C\n");
  CHECK(diff_text({edit(file, "b\n", "")}) == "1\n a\n-b\n c\n");
  CHECK(diff_text({edit(file, "b", "if x:\n    b")}) == "1\n a\n-b\n+if x:\n+    b\n c\n");
}

TEST_CASE("diff of a fix: lines that are put in") {
  const auto file = samples::source("m.py", "a\nb\n");
  CHECK(diff_text({insertion(file, 0, "import torch\n")}) == "1\n+import torch\n a\n");
  CHECK(diff_text({insertion(file, 2, "x\n")}) == "1\n a\n+x\n b\n");
  CHECK(diff_text({insertion(file, 4, "x\n")}) == "2\n b\n+x\n");
}

TEST_CASE("diff of a fix: what is apart is shown apart, equal edits once, what is near together") {
  const auto file = samples::source("m.py", "1\n2\n3\n4\n5\n6\n7\n");
  CHECK(diff_text({edit(file, "6", "F"), edit(file, "1", "A"), edit(file, "6", "F")}) ==
        "1\n-1\n+A\n 2\n5\n 5\n-6\n+F\n 7\n");
  CHECK(diff_text({edit(file, "2", "B"), edit(file, "4", "D")}) == "1\n 1\n-2\n-3\n-4\n+B\n+3\n+D\n 5\n");
}

TEST_CASE("diff of a fix: line ends are no part of lines, and a mark at the begin of the file is not") {
  const auto file = samples::source("m.py",
                                    "\xEF\xBB\xBF"
                                    "a\r\nb\r\nc\r\n");
  CHECK(diff_text({edit(file, "b", "if x:\n    b")}) == "1\n a\n-b\n+if x:\n+    b\n c\n");
  CHECK(diff_text({edit(file, "a", "A")}) == "1\n-a\n+A\n b\n");
}

TEST_CASE("diff of a fix: edits that do not go together make none") {
  const auto file = samples::source("m.py", "abc\n");
  CHECK(diff_text({edit(file, "ab", ""), edit(file, "bc", "")}).empty());
  CHECK(diff_text({{{file, {2, 99}}, "x"}}).empty());
  CHECK(diff_text({{Place{}, "x"}}).empty());
}

TEST_CASE("data of the page: no text of a source gets out of it") {
  const auto file = samples::source("</script>.py", "x = '</script><!--'  # \xE2\x80\xAE\x1b\n");
  Diagnostic finding = samples::finding(samples::at(file, "'</script><!--'"), "FG101", "about `</script>`");
  finding.condition = "a < \xFF b";
  finding.roots = {"<locals>"};
  const std::string text = page_data(report_of({finding}));
  CHECK(text.find('<') == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
  const json data = json::parse(text);  // throws on what is no UTF-8
  CHECK(data["paths"][0] == "</script>.py");
  CHECK(data["roots"][0] == "<locals>");
  CHECK(data["findings"][0]["message"] == "about `</script>`");
  CHECK(data["findings"][0]["when"] == "a < \xEF\xBF\xBD b");
  CHECK(data["findings"][0]["frame"] == json::parse(R"([[1, "x = ", "'</script><!--'", "  # \ufffd\u241b"]])"));
}

TEST_CASE("data of the page: the marked part of each line") {
  const auto file = samples::source("m.py", "a\nb\nf(数,\n  y)\nc\nd\ne\n");
  CHECK(finding_data(samples::finding(samples::at(file, "数,\n  y")))["frame"] ==
        json::parse(R"json([[1, "a"], [2, "b"], [3, "f(", "数,", ""], [4, "  ", "y", ")"], [5, "c"], [6, "d"]])json"));
  // An empty span has a place, too.
  CHECK(finding_data(samples::finding({file, {2, 2}}))["frame"][1] == json::parse(R"([2, "", "", "b"])"));
}

TEST_CASE("data of the page: long lines and long spans are cut") {
  const auto line = samples::source("m.py", std::string(1000, 'a') + "mark" + std::string(1000, 'b') + "\n");
  CHECK(finding_data(samples::finding(samples::at(line, "mark")))["frame"] ==
        json::array({json::array({1, "…" + std::string(80, 'a'), "mark", std::string(240, 'b') + "…"})}));

  std::string text;
  for (int i = 1; i <= 30; ++i) text += "line\n";
  const auto file = samples::source("m.py", text);
  const json frame = finding_data(samples::finding({file, {0, 30 * 5 - 1}}))["frame"];
  std::string numbers;
  for (const json& row : frame) numbers += row.empty() ? "… " : std::to_string(row[0].get<int>()) + " ";
  CHECK(numbers == "1 2 3 4 5 6 7 8 … 29 30 ");
}

TEST_CASE("data of the page: a way for each root, and null where it is not known") {
  const auto file = samples::source("m.py", "one()\ntwo()\nx\n");
  const PathStep one{samples::at(file, "one()"), "A.forward"}, two{samples::at(file, "two()"), "B.forward"};
  Diagnostic finding = samples::finding(samples::at(file, "x"));
  finding.roots = {"a", "b", "c"};
  finding.path = {two};
  finding.ways = {{"a", {one, two}}, {"c", {two}}};
  const json data = json::parse(page_data(report_of({finding})));
  CHECK(data["findings"][0]["ways"] == json::parse("[[0, 0, 1], [1, null], [2, 1]]"));
  CHECK(data["calls"][0] == json::array({0, 1, 1, "one()"}));
  CHECK(data["functions"][1] == "A.forward");

  finding.roots = {"b"};  // the one that `path` is from
  finding.ways.clear();
  CHECK(finding_data(finding)["ways"] == json::parse("[[0, 0]]"));
}

TEST_CASE("a byte that begins no character takes none with it") {
  CHECK(printable("\xF0\xE2\x80\xAE.") == "\xEF\xBF\xBD\xEF\xBF\xBD.");
  CHECK(printable("\xE2\x1b[m") == "\xEF\xBF\xBD\xE2\x90\x9B[m");
}
