#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "reports/frame.h"
#include "reports/report.h"
#include "reports/width.h"
#include "rules/fingerprint.h"
#include "tests/unit/samples.h"

using namespace fullgraph;
using namespace fullgraph::reports;
using nlohmann::json;

namespace {

std::string frame_of(const std::string& text, std::string_view marked, unsigned context = 2) {
  const auto file = samples::source("m.py", text);
  return frame(*file, samples::at(file, marked).span, {.context = context, .gutter = 0, .mark = '^', .emphasis = {}},
               {});
}

Report report_of(std::vector<Diagnostic> findings) {
  Report out;
  out.version = "0.1.0";
  out.torch_version = "2.13.0";
  out.root = "/home/me/my project";
  out.files = 1;
  out.findings = std::move(findings);
  return out;
}

Report sample_report() {
  const auto file = samples::source("pkg/m.py", "def f(x):\n    x.requires_grad = True\n    return x\n");
  Diagnostic finding = samples::finding(samples::at(file, "x.requires_grad = True"));
  finding.condition = "training";
  finding.gb_id = "GB0206";
  finding.url = "https://example.org/gb0206";
  finding.roots = {"pkg.m.Model.forward"};
  finding.path = {{samples::at(file, "return x"), "Model.forward"}};
  finding.related = {{samples::at(file, "def f(x)"), "defined here"}};
  finding.fixes = {{Applicability::Unsafe, "remove it", {{samples::at(file, "x.requires_grad = True"), "pass"}}}};
  return report_of({finding});
}

}  // namespace

TEST_CASE("width: ideographs take two columns, marks none, tabs go to the next stop") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("数据") == 4);
  CHECK(display_width("e\xCC\x81") == 1);  // e and a combining acute accent
  CHECK(display_width("\t") == 4);
  CHECK(display_width("ab\tc") == 5);
  CHECK(display_width("🔥") == 2);
}

TEST_CASE("width: nothing in a source can write to the terminal or turn the text around") {
  CHECK(printable("\x1b[31m") == "\xE2\x90\x9B[31m");  // U+241B
  CHECK(printable("a\xE2\x80\xAE"
                  "b") ==
        "a\xEF\xBF\xBD"
        "b");  // U+202E, right-to-left override
  CHECK(printable("a\tb\n") == "a\tb\n");
}

TEST_CASE("frame: two lines around, the span underlined, no line after the last line break") {
  CHECK(frame_of("a\nb\nc = x + 1\nd\n", "x + 1") ==
        "  |\n"
        "1 | a\n"
        "2 | b\n"
        "3 | c = x + 1\n"
        "  |     ^^^^^\n"
        "4 | d\n"
        "  |\n");
}

TEST_CASE("frame: the underline stands under the right columns") {
  CHECK(frame_of("\t数 = 值\n", "值", 0) ==
        "  |\n"
        "1 |     数 = 值\n"
        "  |          ^^\n"
        "  |\n");
  CHECK(frame_of("\xEF\xBB\xBF"
                 "ab = 1\n",
                 "1", 0) == "  |\n1 | ab = 1\n  |      ^\n  |\n");
  CHECK(frame_of("ab = 1\r\ncd = 2\r\n", "2", 1) == "  |\n1 | ab = 1\n2 | cd = 2\n  |      ^\n  |\n");
}

TEST_CASE("frame: a span of many lines shows its first four lines and its last") {
  CHECK(frame_of("f(\n  1,\n  2,\n  3,\n  4,\n  5,\n  6,\n)\n", "f(\n  1,\n  2,\n  3,\n  4,\n  5,\n  6,\n)", 0) ==
        "  |\n"
        "1 | f(\n"
        "  | ^^\n"
        "2 |   1,\n"
        "  |   ^^\n"
        "3 |   2,\n"
        "  |   ^^\n"
        "4 |   3,\n"
        "  |   ^^\n"
        "...\n"
        "8 | )\n"
        "  | ^\n"
        "  |\n");
}

TEST_CASE("frame: a long line is cut around the span, the underline moves with it") {
  const std::string text = frame_of(std::string(300, 'a') + "XYZ" + std::string(300, 'b') + "\n", "XYZ", 0);
  const std::size_t line = text.find("1 | ") + 4, under = text.find("  | ", line) + 4;
  const std::string shown = text.substr(line, text.find('\n', line) - line);
  CHECK(shown.starts_with("…a"));
  CHECK(shown.ends_with("b…"));
  CHECK(display_width(shown) <= frame_width);
  // The "…" is three bytes and one column.
  CHECK(shown.find("XYZ") - 2 == text.find('^', under) - under);
}

TEST_CASE("frame: an empty span at the end of the file has a mark, too") {
  const auto file = samples::source("m.py", "abc");
  CHECK(frame(*file, {3, 3}, {}, {}) == "  |\n1 | abc\n  |    ^\n  |\n");
  const auto empty = samples::source("m.py", "");
  CHECK(frame(*empty, {0, 0}, {}, {}).find('^') != std::string::npos);
}

TEST_CASE("fingerprint: survives moves, indentation and comments, not a change of code") {
  const auto one = samples::source("m.py", "x.requires_grad = True\n");
  const auto two = samples::source("m.py", "import os\n\n  x.requires_grad  =  True  # why\n");
  const auto three = samples::source("m.py", "y.requires_grad = True\n");
  const auto print = [](const auto& file, std::string_view text) {
    return rules::fingerprints({samples::finding(samples::at(file, text))})[0];
  };
  CHECK(print(one, "x.") == print(two, "x.requires"));
  CHECK(print(one, "x.") != print(three, "y."));
}

TEST_CASE("fingerprint: equal lines are told apart by their order") {
  const auto file = samples::source("m.py", "f(x)\nf(x)\n");
  const auto prints = rules::fingerprints({samples::finding({file, {0, 4}}), samples::finding({file, {5, 9}})});
  CHECK(prints[0] != prints[1]);
}

TEST_CASE("fingerprint: a hash sign in a string is no comment") {
  const auto file = samples::source("m.py", "f('#', x)  # note\n");
  CHECK(rules::normalised_line(samples::finding({file, {0, 1}})) == "f('#', x)");
}

TEST_CASE("json: one object with exactly the documented keys") {
  const json out = json::parse(render(sample_report(), Format::Json, {}));
  CHECK(out["schema"] == 1);
  CHECK(out["version"] == "0.1.0");
  CHECK(out["torch_version"] == "2.13.0");
  const json& finding = out["findings"][0];
  CHECK(finding["code"] == "FG101");
  CHECK(finding["severity"] == "error");
  CHECK(finding["file"] == "pkg/m.py");
  CHECK(finding["line"] == 2);
  CHECK(finding["column"] == 5);
  CHECK(finding["end_line"] == 2);
  CHECK(finding["end_column"] == 27);
  CHECK(finding["function"] == "Model.forward");
  CHECK(finding["condition"] == "training");
  CHECK(finding["gb_id"] == "GB0206");
  CHECK(finding["roots"] == json::array({"pkg.m.Model.forward"}));
  CHECK(finding["path"] == json::array({{{"file", "pkg/m.py"},
                                         {"line", 3},
                                         {"column", 5},
                                         {"end_line", 3},
                                         {"end_column", 13},
                                         {"function", "Model.forward"}}}));
  CHECK(finding["fixes"][0]["applicability"] == "unsafe");
  CHECK(
      finding["fixes"][0]["edits"][0] ==
      json({{"file", "pkg/m.py"}, {"line", 2}, {"column", 5}, {"end_line", 2}, {"end_column", 27}, {"text", "pass"}}));
  CHECK(out["errors"] == json::array());
  CHECK(out["summary"]["by_severity"]["error"] == 1);
}

TEST_CASE("json: columns count code points") {
  const auto file = samples::source("m.py", "数据 = x\n");
  const json out = json::parse(render(report_of({samples::finding(samples::at(file, "x"))}), Format::Json, {}));
  CHECK(out["findings"][0]["column"] == 6);
  const json rdjson = json::parse(render(report_of({samples::finding(samples::at(file, "x"))}), Format::Rdjson, {}));
  CHECK(rdjson["diagnostics"][0]["location"]["range"]["start"]["column"] == 10);  // reviewdog counts bytes
}

TEST_CASE("json-lines: one finding a line") {
  const std::string out = render(sample_report(), Format::JsonLines, {});
  CHECK(out.find('\n') == out.size() - 1);
  CHECK(json::parse(out)["code"] == "FG101");
}

TEST_CASE("sarif: relative paths belong to a base, the path is a code flow, places are related") {
  const json out = json::parse(render(sample_report(), Format::Sarif, {}));
  const json& run = out["runs"][0];
  CHECK(run["columnKind"] == "unicodeCodePoints");
  CHECK(run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == "file:///home/me/my%20project/");
  const json& result = run["results"][0];
  CHECK(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"] == "FG101");
  CHECK(result["locations"][0]["physicalLocation"]["artifactLocation"] ==
        json({{"uri", "pkg/m.py"}, {"uriBaseId", "%SRCROOT%"}}));
  CHECK(result["codeFlows"][0]["threadFlows"][0]["locations"].size() == 2);
  CHECK(result["relatedLocations"][0]["message"]["text"] == "defined here");
  CHECK(result["partialFingerprints"]["primaryLocationLineHash"].get<std::string>().size() == 16);
  CHECK(result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"] == "pass");
}

TEST_CASE("sarif: advice without edits is no fix, paths outside the root are absolute") {
  const auto file = samples::source("../other/a b.py", "x\n");
  Diagnostic finding = samples::finding({file, {0, 1}});
  finding.fixes = {{Applicability::Display, "think", {}}};
  const json out = json::parse(render(report_of({finding}), Format::Sarif, {}));
  const json& result = out["runs"][0]["results"][0];
  CHECK(!result.contains("fixes"));
  CHECK(result["locations"][0]["physicalLocation"]["artifactLocation"] ==
        json({{"uri", "file:///home/me/other/a%20b.py"}}));
}

TEST_CASE("github: escapes, and no columns for a range of several lines") {
  const auto file = samples::source("a,b:c.py", "f(\n  x)\n");
  Diagnostic one = samples::finding({file, {0, 2}}, "FG101", "50% of\nit");
  Diagnostic two = samples::finding({file, {0, 7}});
  const std::string out = render(report_of({one, two}), Format::Github, {});
  CHECK(out.starts_with("::error title=fullgraph (FG101),file=a%2Cb%3Ac.py,line=1,col=1,endLine=1,endColumn=3::"));
  CHECK(out.find("50%25 of%0Ait") != std::string::npos);
  CHECK(out.find("line=1,endLine=2::") != std::string::npos);
}

TEST_CASE("gitlab: description names the code, fingerprints differ") {
  const auto file = samples::source("m.py", "f(x)\nf(x)\n");
  const json out = json::parse(
      render(report_of({samples::finding({file, {0, 4}}), samples::finding({file, {5, 9}})}), Format::Gitlab, {}));
  CHECK(out[0]["description"] == "FG101: it breaks");
  CHECK(out[0]["fingerprint"] != out[1]["fingerprint"]);
  CHECK(out[1]["location"]["positions"]["begin"]["line"] == 2);
}

TEST_CASE("junit: text is escaped; a clean run is one passing case") {
  const auto file = samples::source("m.py", "x\n");
  const std::string out =
      render(report_of({samples::finding({file, {0, 1}}, "FG101", "a < b & \"c\"")}), Format::Junit, {});
  CHECK(out.find("a &lt; b &amp; &quot;c&quot;") != std::string::npos);
  CHECK(out.find("<testcase name=\"org.fullgraph.FG101\"") != std::string::npos);
  const std::string clean = render(report_of({}), Format::Junit, {});
  CHECK(clean.find("tests=\"1\" failures=\"0\"") != std::string::npos);
  CHECK(clean.find("<testcase") != std::string::npos);
}

TEST_CASE("full: header, place, condition, path, Dynamo's page, related place, advice") {
  const std::string out = render(sample_report(), Format::Full, {});
  CHECK(out ==
        "error[FG101]: it breaks\n"
        " --> pkg/m.py:2:5\n"
        "  |\n"
        "1 | def f(x):\n"
        "2 |     x.requires_grad = True\n"
        "  |     ^^^^^^^^^^^^^^^^^^^^^^\n"
        "3 |     return x\n"
        "  |\n"
        "  = when: training\n"
        "  = root: `pkg.m.Model.forward`, through\n"
        "      pkg/m.py:3:5  Model.forward  return x\n"
        "  = dynamo: GB0206  https://example.org/gb0206\n"
        "  = help: remove it (unsafe: changes behaviour)\n"
        "note: defined here\n"
        " --> pkg/m.py:1:1\n"
        "  |\n"
        "1 | def f(x):\n"
        "  | --------\n"
        "  |\n"
        "\n"
        "Found 1 finding (1 error) in 1 file\n"
        "No fixes available (1 hidden fix can be enabled with --unsafe-fixes)\n");
}

TEST_CASE("full: colour adds escapes and nothing else; without colour there is no escape") {
  const std::string plain = render(sample_report(), Format::Full, {});
  std::string colored = render(sample_report(), Format::Full, {.color = true});
  CHECK(plain.find('\x1b') == std::string::npos);
  std::string stripped;
  for (std::size_t i = 0; i < colored.size(); ++i) {
    if (colored[i] != '\x1b') {
      stripped += colored[i];
      continue;
    }
    while (colored[i] != 'm') ++i;
  }
  CHECK(stripped == plain);
  CHECK(colored != plain);
}

TEST_CASE("concise and grouped") {
  CHECK(render(sample_report(), Format::Concise, {.summary = false}) ==
        "pkg/m.py:2:5: FG101 it breaks (when training)\n");
  CHECK(render(sample_report(), Format::Grouped, {.summary = false}) ==
        "pkg/m.py:\n  2:5  FG101 it breaks (when training)\n\n");
  CHECK(render(sample_report(), Format::Pylint, {}) == "pkg/m.py:2: [FG101] it breaks (when training)\n");
}

TEST_CASE("summary: counts by severity, what was left out") {
  Report report = report_of({});
  report.files = 12;
  report.suppressed = 2;
  CHECK(render(report, Format::Concise, {}) == "No findings in 12 files; 2 suppressed\n");
}

TEST_CASE("statistics: most frequent first") {
  const auto file = samples::source("m.py", "x\n");
  const Place place{file, {0, 1}};
  const Report report =
      report_of({samples::finding(place, "FG101"), samples::finding(place, "FG402"), samples::finding(place, "FG402")});
  CHECK(render_statistics(report, Format::Full) == "2  FG402  a-rule\n1  FG101  a-rule\n");
  CHECK(json::parse(render_statistics(report, Format::Json))[0] ==
        json({{"code", "FG402"}, {"name", "a-rule"}, {"count", 2}}));
}

TEST_CASE("formats: every name is known and an unknown one is not") {
  for (const std::string_view name : format_names()) CHECK(format_of(name).has_value());
  CHECK(!format_of("yaml").has_value());
}
