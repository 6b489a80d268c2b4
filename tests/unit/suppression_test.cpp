#include <doctest/doctest.h>

#include "cli/suppression.h"
#include "tests/unit/samples.h"

using namespace fullgraph;
using namespace fullgraph::cli;

namespace {

struct Outcome {
  std::vector<std::string> left;     // codes that were not suppressed
  std::vector<std::string> about;    // "FG901 this comment suppresses nothing"
  std::vector<Diagnostic> findings;  // the latter
};

// Findings: one for each `code` at the place of `text`.
Outcome outcome(const std::string& source, const std::vector<std::pair<std::string, std::string>>& findings) {
  const auto module = samples::module(source);
  std::vector<Diagnostic> list;
  for (const auto& [text, code] : findings) list.push_back(samples::finding(samples::at(module->source, text), code));
  std::vector<Directive> directives = directives_of(*module);
  Outcome out;
  for (const Diagnostic& finding : suppress(*module, directives, std::move(list))) out.left.push_back(finding.code);
  out.findings = judge_directives(*module, directives, [](std::string_view code) { return code != "FG301"; });
  for (const Diagnostic& finding : out.findings) out.about.push_back(finding.code + " " + finding.message);
  return out;
}

using Lines = std::vector<std::string>;

std::string applied(const std::string& source, const Diagnostic& finding) {
  std::string out = source;
  const Edit& edit = finding.fixes.at(0).edits.at(0);
  return out.replace(edit.place.span.begin, edit.place.span.end - edit.place.span.begin, edit.text);
}

}  // namespace

TEST_CASE("suppression: trailing comments, by code, prefix, name or altogether") {
  for (const char* comment :
       {"# fullgraph: ignore[FG101] because", "# fullgraph: ignore[FG1]", "# fullgraph: ignore",
        "#fullgraph:ignore[fg101]", "# type: ignore # fullgraph: ignore[FG402, FG101]", "# noqa", "# noqa: FG101",
        "# NOQA:E501,FG101 reason", "# fullgraph: ignore[requires-grad-assignment]"}) {
    CAPTURE(comment);
    CHECK(outcome(std::string("x = 1\na.b = 2  ") + comment + "\n", {{"a.b", "FG101"}}).left.empty());
  }
  for (const char* comment : {"# fullgraph: ignore[FG402]", "# fullgraph: ignored", "# noqa: E501", "# noqas",
                              "# fullgraph: ignore[FG101", "# fullgraph ignore", "# fullgraph: ignore[]"}) {
    CAPTURE(comment);
    CHECK(outcome(std::string("x = 1\na.b = 2  ") + comment + "\n", {{"a.b", "FG101"}}).left == Lines{"FG101"});
  }
}

TEST_CASE("suppression: a comment on another line or in a string does nothing") {
  CHECK(outcome("a.b = 2\nc = 3  # fullgraph: ignore\n", {{"a.b", "FG101"}}).left == Lines{"FG101"});
  CHECK(outcome("a.b = '# fullgraph: ignore'\n", {{"a.b", "FG101"}}).left == Lines{"FG101"});
}

TEST_CASE("suppression: at the end of a statement of several lines it covers them all; in its middle its own line") {
  const std::string end = "f(\n  a,\n  b,\n)  # fullgraph: ignore[FG101]\n";
  CHECK(outcome(end, {{"a", "FG101"}, {"b", "FG101"}}).left.empty());
  const std::string middle = "f(\n  a,  # fullgraph: ignore[FG101]\n  b,\n)\n";
  CHECK(outcome(middle, {{"a", "FG101"}}).left.empty());
  CHECK(outcome(middle, {{"b", "FG101"}}).left == Lines{"FG101"});
  // A finding about the whole call takes the comment on any of its lines.
  CHECK(outcome(middle, {{"f(\n  a,  # fullgraph: ignore[FG101]\n  b,\n)", "FG101"}}).left.empty());
  const std::string text = "s = '''\nx\n'''  # noqa: FG101\n";
  CHECK(outcome(text, {{"s", "FG101"}}).left.empty());
}

TEST_CASE("suppression: a comment at a header does not reach into the body") {
  const std::string source = "if a:  # fullgraph: ignore[FG401]\n    b = c\n";
  CHECK(outcome(source, {{"a", "FG401"}}).left.empty());
  CHECK(outcome(source, {{"b", "FG401"}}).left == Lines{"FG401"});
}

TEST_CASE("suppression: on a line of its own it is for the next statement") {
  const std::string source = "# fullgraph: ignore[FG101]\n\n# more\nf(\n  A,\n)\nB\n";
  CHECK(outcome(source, {{"A", "FG101"}}).left.empty());
  CHECK(outcome(source, {{"B", "FG101"}}).left == Lines{"FG101"});
  const std::string header = "# fullgraph: ignore[FG401]\n@d\ndef f(a=q):\n    return z\n";
  CHECK(outcome(header, {{"q", "FG401"}}).left.empty());
  CHECK(outcome(header, {{"z", "FG401"}}).left == Lines{"FG401"});
  const std::string inside = "f(\n  # fullgraph: ignore[FG101]\n  A,\n  B,\n)\n";
  CHECK(outcome(inside, {{"A", "FG101"}}).left.empty());
  CHECK(outcome(inside, {{"B", "FG101"}}).left == Lines{"FG101"});
}

TEST_CASE("suppression: whole files") {
  for (const char* comment : {"# fullgraph: ignore-file", "# fullgraph: ignore-file[FG1]",
                              "# fullgraph: file-ignore[FG101]", "# fullgraph: noqa: FG101"}) {
    CAPTURE(comment);
    CHECK(outcome(std::string("a\n") + comment + "\nb\n", {{"a", "FG101"}, {"b", "FG101"}}).left.empty());
  }
  CHECK(outcome("# fullgraph: ignore-file[FG2]\na\n", {{"a", "FG101"}}).left == Lines{"FG101"});
}

TEST_CASE("suppression: blocks") {
  const std::string source = "u\n# fullgraph: disable[FG101]\nv\n# fullgraph: enable[FG101]\nw\n";
  CHECK(outcome(source, {{"v", "FG101"}}).left.empty());
  CHECK(outcome(source, {{"v", "FG402"}}).left == Lines{"FG402"});
  CHECK(outcome(source, {{"u", "FG101"}, {"w", "FG101"}}).left.size() == 2);
  const std::string open = "u\n# fullgraph: disable\nv\nw\n";
  CHECK(outcome(open, {{"u", "FG101"}, {"v", "FG101"}, {"w", "FG402"}}).left == Lines{"FG101"});
}

TEST_CASE("suppression: what suppresses nothing is reported, what is needed is not") {
  CHECK(outcome("a  # fullgraph: ignore[FG101]\n", {{"a", "FG101"}}).about.empty());
  CHECK(outcome("a  # fullgraph: ignore\n", {{"a", "FG101"}}).about.empty());
  CHECK(outcome("a  # fullgraph: ignore[FG101]\n", {}).about == Lines{"FG901 this comment suppresses nothing"});
  CHECK(outcome("a  # fullgraph: ignore\n", {}).about == Lines{"FG901 this comment suppresses nothing"});
  CHECK(outcome("a  # fullgraph: ignore[FG101, FG402]\n", {{"a", "FG101"}}).about ==
        Lines{"FG901 `FG402` suppresses nothing here"});
  CHECK(outcome("# fullgraph: ignore-file\n", {}).about.size() == 1);
  CHECK(outcome("# fullgraph: disable[FG1]\n", {}).about.size() == 1);
}

TEST_CASE("suppression: other tools' comments and rules that are switched off are left alone") {
  CHECK(outcome("a  # noqa\n", {}).about.empty());
  CHECK(outcome("a  # noqa: E501\n", {}).about.empty());
  CHECK(outcome("a  # noqa: E501, FG101\n", {}).about == Lines{"FG901 `FG101` suppresses nothing here"});
  CHECK(outcome("a  # fullgraph: ignore[FG301]\n", {}).about.empty());  // FG301 is off here
  CHECK(outcome("a  # fullgraph: ignore[FG901]\n", {}).about.empty());
}

TEST_CASE("suppression: codes that name no rule") {
  const Outcome out = outcome("a  # fullgraph: ignore[FG1O1]\n", {{"a", "FG101"}});
  CHECK(out.left == Lines{"FG101"});
  CHECK(out.about == Lines{"FG903 no rule is called `FG1O1`, did you mean `FG101`?"});
  CHECK(outcome("a  # noqa: FG999\n", {}).about.size() == 1);
  CHECK(outcome("a  # noqa: XX999\n", {}).about.empty());
}

TEST_CASE("suppression: the fix of an unused one takes away exactly the comment or the code") {
  const auto fixed = [](const std::string& source, const std::vector<std::pair<std::string, std::string>>& findings) {
    return applied(source, outcome(source, findings).findings.at(0));
  };
  CHECK(fixed("a  # fullgraph: ignore[FG101] why\nb\n", {}) == "a\nb\n");
  CHECK(fixed("a\n  # fullgraph: ignore[FG101]\nb\n", {}) == "a\nb\n");
  CHECK(fixed("a\r\n# fullgraph: ignore\r\nb\r\n", {}) == "a\r\nb\r\n");
  CHECK(fixed("a  # fullgraph: ignore[FG101, FG402]\n", {{"a", "FG101"}}) == "a  # fullgraph: ignore[FG101]\n");
  CHECK(fixed("a  # fullgraph: ignore[FG101, FG402]\n", {{"a", "FG402"}}) == "a  # fullgraph: ignore[FG402]\n");
  CHECK(fixed("a  # noqa: FG101 why\nb\n", {}) == "a\nb\n");
  CHECK(fixed("a  # noqa: FG101, FG402\n", {{"a", "FG402"}}) == "a  # noqa: FG402\n");
  CHECK(fixed("a  # type: ignore  # fullgraph: ignore[FG101] why\n", {}) == "a  # type: ignore\n");
  CHECK(fixed("a  # fullgraph: ignore[FG101] why  # type: ignore\n", {}) == "a  # type: ignore\n");
  CHECK(fixed("# fullgraph: ignore-file  # pylint: skip-file\na\n", {}) == "# pylint: skip-file\na\n");
  CHECK(fixed("\xEF\xBB\xBF# fullgraph: ignore-file\na\n", {}) ==
        "\xEF\xBB\xBF"
        "a\n");
  CHECK(fixed("a\n    # fullgraph: ignore", {}) == "a\n");
  CHECK(outcome("a  # noqa: E501, FG101\n", {}).findings.at(0).fixes.empty());
}
