// Merging, making, comparing and rolling back fixes, with fixes made up for it.
#include <doctest/doctest.h>

#include <set>

#include "fixer/apply.h"
#include "fixer/diff.h"
#include "fixer/merge.h"
#include "fixer/repair.h"
#include "tests/unit/samples.h"

using namespace fullgraph;
using namespace fullgraph::fixer;

namespace {

using File = std::shared_ptr<const ir::SourceFile>;

Edit edit(const File& file, std::string_view at, std::string text) {
  return {samples::at(file, at), std::move(text)};
}

Edit insertion(const File& file, std::uint32_t at, std::string text) {
  return {{file, {at, at}}, std::move(text)};
}

Diagnostic finding(const File& file, std::string_view at, std::vector<Edit> edits,
                   Applicability applicability = Applicability::Safe) {
  Diagnostic out = samples::finding(samples::at(file, at));
  out.function.clear();
  out.fixes = {{applicability, "repair it", std::move(edits)}};
  return out;
}

std::string applied(const std::string& bytes, const std::vector<Edit>& edits, const File& file) {
  std::vector<const Edit*> list;
  for (const Edit& one : edits) list.push_back(&one);
  const auto out = apply(bytes, *file, std::move(list));
  return out ? *out : "error: " + out.error().message;
}

std::string applied(const std::string& bytes, const std::vector<std::pair<std::string, std::string>>& edits) {
  const File file = python::make_source(bytes, "m.py").value();
  std::vector<Edit> list;
  for (const auto& [at, text] : edits) list.push_back(edit(file, at, text));
  return applied(bytes, list, file);
}

}  // namespace

TEST_CASE("apply: what no edit covers stays byte for byte") {
  CHECK(applied("a b\tc  \r\nd", {{"b", "x"}, {"d", ""}}) == "a x\tc  \r\n");
  CHECK(applied("\xEF\xBB\xBF# é\r\na\rb\n", {{"a", "x"}}) == "\xEF\xBB\xBF# é\r\nx\rb\n");
  CHECK(applied("a", {}) == "a");
}

TEST_CASE("apply: line feeds become what ends the lines around") {
  CHECK(applied("a\r\nb", {{"b", "x\ny\r\nz"}}) == "a\r\nx\r\ny\r\nz");
  CHECK(applied("a\nb", {{"b", "x\ny"}}) == "a\nx\ny");
  CHECK(applied("a\r\nb\nc\n", {{"b", "x\ny"}}) == "a\r\nx\ny\nc\n");
  CHECK(applied("a", {{"a", "x\ny"}}) == "x\ny");
}

TEST_CASE("apply: single-byte codings are kept, with bytes that stand for nothing") {
  const std::string latin = "# coding: latin-1\ns = '\xE4'\nzz\n";
  CHECK(applied(latin, {{"zz", "'ö'"}}) == "# coding: latin-1\ns = '\xE4'\n'\xF6'\n");
  CHECK(applied(latin, {{"zz", "'€'"}}).starts_with("error: "));
  const std::string windows = "# coding: cp1252\ns = '\x81\x80'\nzz\n";
  CHECK(applied(windows, {{"zz", "'€'"}}) == "# coding: cp1252\ns = '\x81\x80'\n'\x80'\n");
}

TEST_CASE("apply: a coding is neither lost nor found") {
  CHECK(applied("# a\n# coding: latin-1\n", {{"# a\n", "# a\n# b\n"}}).starts_with("error: "));
  CHECK(applied("# a\n# b\n# coding: latin-1\n", {{"# a\n", ""}}).starts_with("error: "));
}

TEST_CASE("merge: fixes that touch exclude each other, the first is taken") {
  const File file = samples::source("m.py", "one two three\n");
  const auto taken = [&](std::vector<Edit> a, std::vector<Edit> b) {
    std::vector<Diagnostic> findings = {finding(file, "one", std::move(a)), finding(file, "two", std::move(b))};
    const Merged merged = merge(findings, false);
    CHECK(merged.flawed.empty());
    CHECK(merged.waiting == (merged.fixes.size() == 1));
    REQUIRE(!merged.fixes.empty());
    CHECK(merged.fixes[0].offers[0].finding == 0);
    return merged.fixes.size();
  };
  CHECK(taken({edit(file, "one", "x")}, {edit(file, "two", "y")}) == 2);
  CHECK(taken({edit(file, "one two", "x")}, {edit(file, "two three", "y")}) == 1);
  CHECK(taken({edit(file, "one ", "")}, {edit(file, "two", "")}) == 2);                               // side by side
  CHECK(taken({edit(file, "one", "x")}, {insertion(file, 3, "y")}) == 1);                             // at the border
  CHECK(taken({insertion(file, 0, "x")}, {insertion(file, 0, "y")}) == 1);                            // in which order?
  CHECK(taken({insertion(file, 0, "  ")}, {edit(file, "two", "y"), insertion(file, 0, "  ")}) == 1);  // meant twice?
  CHECK(taken({edit(file, "one", "x"), edit(file, "two", "y")}, {edit(file, "two", "z"), edit(file, "three", "z")}) ==
        1);
}

TEST_CASE("merge: equal edits are made once: an import, the removal of one line") {
  const File file = samples::source("m.py", "one two three\n");
  std::vector<Diagnostic> findings = {
      finding(file, "one", {insertion(file, 0, "import torch\n"), edit(file, "one", "x")}),
      finding(file, "two", {insertion(file, 0, "import torch\n"), edit(file, "two", "y")}),
      finding(file, "three", {edit(file, "two", "y")})};
  const Merged merged = merge(findings, false);
  REQUIRE(merged.fixes.size() == 3);
  std::vector<Edit> all;
  for (const Chosen& chosen : merged.fixes) all.insert(all.end(), chosen.fix().edits.begin(), chosen.fix().edits.end());
  CHECK(applied("one two three\n", all, file) == "import torch\nx y three\n");
}

TEST_CASE("merge: one fix of several findings is one, whatever the order of its edits") {
  const File file = samples::source("m.py", "one two three\n");
  std::vector<Diagnostic> findings = {finding(file, "one", {edit(file, "one", "x"), edit(file, "three", "y")}),
                                      finding(file, "two", {edit(file, "three", "y"), edit(file, "one", "x")})};
  const Merged merged = merge(findings, false);
  REQUIRE(merged.fixes.size() == 1);
  CHECK(merged.fixes[0].offers.size() == 2);
}

TEST_CASE("merge: of a finding's fixes the first that is allowed") {
  const File file = samples::source("m.py", "one\n");
  Diagnostic both = finding(file, "one", {edit(file, "one", "x")}, Applicability::Unsafe);
  both.fixes.push_back({Applicability::Safe, "carefully", {edit(file, "one", "y")}});
  both.fixes.push_back({Applicability::Safe, "advice", {}});
  const auto text = [&](bool unsafe, const Skip& skip = {}) {
    const std::vector<Diagnostic> findings = {both};  // what is merged points into it
    const Merged merged = merge(findings, unsafe, skip);
    return merged.fixes.empty() ? std::string() : merged.fixes[0].fix().edits[0].text;
  };
  CHECK(text(true) == "x");
  CHECK(text(false) == "y");
  CHECK(text(true, [](const Diagnostic&, const Fix& fix) { return fix.message == "repair it"; }) == "y");
  both.fixes.pop_back();
  both.fixes.pop_back();
  CHECK(text(false).empty());
  both.fixes[0].applicability = Applicability::Display;
  CHECK(text(true).empty());
}

TEST_CASE("merge: a fix that cannot be right is none") {
  const File file = samples::source("m.py", "one two\n");
  std::vector<Diagnostic> findings = {
      finding(file, "one", {edit(file, "one", "x"), edit(file, "one two", "y")}),
      finding(file, "one", {insertion(file, 100, "x")}),
      finding(file, "one", {insertion(file, 0, "x"), insertion(file, 0, "y")}),
  };
  const Merged merged = merge(findings, false);
  CHECK(merged.fixes.empty());
  CHECK(merged.flawed.size() == 3);
}

namespace {

// A language of one rule: each line that begins with "bad" is a finding, and its fixes are said by the test.
struct World {
  std::map<std::string, std::string> disk;
  std::function<std::vector<Edit>(const File&, ir::Span line)> fix;
  bool also_worse = true;  // lines that begin with "worse" are findings, too
  unsigned looks = 0;

  std::vector<Diagnostic> look(const Texts& changed) {
    ++looks;
    std::vector<Diagnostic> out;
    for (const auto& [path, text] : disk) {
      const auto now = changed.find(path);
      const File file = samples::source(path, now == changed.end() ? text : now->second);
      for (unsigned line = 1; line <= file->line_count(); ++line) {
        const ir::Span span{file->line_start(line), file->line_start(line + 1)};
        const std::string_view words = file->line_text(line);
        if (!words.starts_with("bad") && !(also_worse && words.starts_with("worse"))) continue;
        Diagnostic found = samples::finding({file, span}, words.starts_with("bad") ? "FG101" : "FG402");
        found.function.clear();
        if (words.starts_with("bad")) found.fixes = {{Applicability::Safe, "repair", fix(file, span)}};
        out.push_back(std::move(found));
      }
    }
    return out;
  }

  Outcome repaired(unsigned rounds = 10) {
    Request request;
    request.most_rounds = rounds;
    request.read = [&](const std::string& file) -> Result<std::string> { return disk.at(file); };
    request.look = [&](const Texts& changed, bool) { return look(changed); };
    auto findings = look({});
    looks = 0;
    return repair(std::move(findings), request).value();
  }
};

std::string lines(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& line : list) out += line + "\n";
  return out;
}

// "bad" becomes "good", except where a word of the line says what goes wrong.
std::vector<Edit> good_unless(const File& file, ir::Span line) {
  const std::string_view text = file->text(line);
  const Place word{file, {line.begin, line.begin + 3}};
  if (text.contains("stays")) return {{word, "bad"}};
  if (text.contains("moves")) return {{{file, line}, "bad_moved\n"}};
  if (text.contains("breaks")) return {{word, "("}};
  if (text.contains("worsens")) return {{word, "worse"}};
  return {{word, "good"}};
}

}  // namespace

TEST_CASE("repair: one look confirms a round, and nothing is left") {
  World world;
  world.fix = good_unless;
  world.disk = {{"a.py", lines({"bad_1", "x", "bad_2"})}, {"b.py", "bad_3\n"}, {"c.py", "fine\n"}};
  const Outcome out = world.repaired();
  CHECK(out.after == Texts{{"a.py", lines({"good_1", "x", "good_2"})}, {"b.py", "good_3\n"}});
  CHECK(out.before.at("b.py") == "bad_3\n");
  CHECK(out.repaired.size() == 3);
  CHECK(out.findings.empty());
  CHECK(out.rolled_back.empty());
  CHECK(out.settled);
  CHECK(world.looks == 1);
}

TEST_CASE("repair: a fix that does not remove its finding, adds one or is no Python is rolled back, the others stay") {
  for (const auto& [word, why] :
       std::vector<std::pair<std::string, std::string>>{{"stays", "it does not remove FG101"},
                                                        {"moves", "it leaves FG101 at a.py:2"},
                                                        {"breaks", "the result is no valid Python"},
                                                        {"worsens", "it adds FG402 at a.py:2"}}) {
    CAPTURE(word);
    World world;
    world.fix = good_unless;
    world.disk = {{"a.py", lines({"bad_1", "bad_" + word, "bad_2"})}, {"b.py", "bad_3\n"}};
    const Outcome out = world.repaired();
    CHECK(out.after == Texts{{"a.py", lines({"good_1", "bad_" + word, "good_2"})}, {"b.py", "good_3\n"}});
    CHECK(out.repaired.size() == 3);
    REQUIRE(out.findings.size() == 1);
    CHECK(out.findings[0].place.source->text() == out.after.at("a.py"));
    REQUIRE(out.rolled_back.size() == 1);
    CHECK(out.rolled_back[0].why == why);
    CHECK(out.rolled_back[0].file == "a.py");
    CHECK(out.rolled_back[0].line == 2);
    CHECK(out.settled);
  }
}

TEST_CASE("repair: all edits of a fix are rolled back, in every file") {
  World world;
  world.disk = {{"a.py", lines({"bad_1", "other"})}, {"b.py", lines({"x", "y"})}};
  world.fix = [](const File& file, ir::Span line) {
    const File other = samples::source("b.py", "x\ny\n");
    return std::vector<Edit>{{{file, line}, "worse\n"}, edit(other, "y", "z")};
  };
  const Outcome out = world.repaired();
  CHECK(out.after.empty());
  CHECK(out.rolled_back.size() == 1);
  CHECK(out.findings.size() == 1);
}

TEST_CASE("repair: many good fixes beside a few bad ones cost few looks") {
  World world;
  world.fix = good_unless;
  std::vector<std::string> text;
  for (int i = 0; i < 200; ++i) text.push_back("bad_" + std::to_string(i));
  text[50] = "bad_worsens";
  text[150] = "bad_stays";
  world.disk = {{"a.py", lines(text)}};
  const Outcome out = world.repaired();
  CHECK(out.repaired.size() == 198);
  CHECK(out.rolled_back.size() == 2);
  CHECK(out.settled);
  CHECK(world.looks < 30);
}

TEST_CASE("repair: no fix is blamed for a finding that comes and goes by itself") {
  World world;
  world.fix = good_unless;
  std::vector<std::string> text;
  for (int i = 0; i < 50; ++i) text.push_back("bad_" + std::to_string(i));
  text[20] = "bad_stays";
  world.disk = {{"a.py", lines(text)}};
  Request request;
  request.read = [&](const std::string& file) -> Result<std::string> { return world.disk.at(file); };
  unsigned looks = 0;
  request.look = [&](const Texts& changed, bool careful) {
    std::vector<Diagnostic> findings = world.look(changed);
    if (++looks % 2 == 1 || careful)
      findings.push_back(samples::finding({samples::source("b.py", "x\n"), {0, 1}}, "FG501"));
    return findings;
  };
  const Outcome out = repair(world.look({}), request).value();
  CHECK(out.repaired.size() == 49);
  REQUIRE(out.rolled_back.size() == 1);
  CHECK(out.rolled_back[0].line == 21);
  CHECK(looks < 10);
}

TEST_CASE("repair: fixes that wait for others are made in the next round, up to a limit") {
  World world;
  world.disk = {{"a.py", lines({"bad_1", "bad_2", "bad_3"})}};
  // Each fix claims the whole file.
  world.fix = [](const File& file, ir::Span line) {
    std::string text(file->text());
    text.replace(line.begin, 3, "good");
    return std::vector<Edit>{{{file, {0, static_cast<std::uint32_t>(file->text().size())}}, text}};
  };
  const Outcome out = world.repaired();
  CHECK(out.after.at("a.py") == lines({"good_1", "good_2", "good_3"}));
  CHECK(out.settled);
  const Outcome two = world.repaired(2);
  CHECK(two.after.at("a.py") == lines({"good_1", "good_2", "bad_3"}));
  CHECK(!two.settled);
}

TEST_CASE("repair: two fixes that only together leave no Python are made one after the other") {
  World world;
  world.disk = {{"a.py", "if x:\n bad_1\n bad_2\n"}};
  const auto look = [](World& w, const Texts& changed) {
    std::vector<Diagnostic> out;
    const auto now = changed.find("a.py");
    const File file = samples::source("a.py", now == changed.end() ? w.disk.at("a.py") : now->second);
    for (unsigned line = 1; line <= file->line_count(); ++line) {
      if (!file->line_text(line).starts_with(" bad")) continue;
      const ir::Span span{file->line_start(line), file->line_start(line + 1)};
      Diagnostic found = samples::finding({file, span});
      const bool alone = file->line_count() == 3;
      found.fixes = {{Applicability::Safe, "remove", {{{file, span}, alone ? " pass\n" : ""}}}};
      out.push_back(std::move(found));
    }
    return out;
  };
  Request request;
  request.read = [&](const std::string& file) -> Result<std::string> { return world.disk.at(file); };
  request.look = [&](const Texts& changed, bool) { return look(world, changed); };
  const Outcome out = repair(look(world, {}), request).value();
  CHECK(out.after.at("a.py") == "if x:\n pass\n");
  CHECK(out.rolled_back.empty());
}

TEST_CASE("repair: a finding on a line that another fix changes is no new one") {
  World world;
  world.disk = {{"a.py", "bad_1; worse\n"}};
  const auto look = [](const std::string& text) {
    const File file = samples::source("a.py", text);
    std::vector<Diagnostic> out;
    if (text.starts_with("bad")) {
      Diagnostic bad = samples::finding(samples::at(file, "bad_1"));
      bad.fixes = {{Applicability::Safe, "repair", {edit(file, "bad_1", "good")}}};
      out.push_back(std::move(bad));
    }
    out.push_back(samples::finding(samples::at(file, "worse"), "FG402"));
    return out;
  };
  Request request;
  request.read = [&](const std::string& file) -> Result<std::string> { return world.disk.at(file); };
  request.look = [&](const Texts& changed, bool) { return look(changed.at("a.py")); };
  const Outcome out = repair(look("bad_1; worse\n"), request).value();
  CHECK(out.after.at("a.py") == "good; worse\n");
  CHECK(out.rolled_back.empty());
}

TEST_CASE("repair: nothing is made of a file that is not any more what the findings are about") {
  World world;
  world.fix = good_unless;
  world.disk = {{"a.py", "bad_1\n"}};
  Request request;
  request.read = [](const std::string&) -> Result<std::string> { return "bad_1  # edited\n"; };
  request.look = [&](const Texts& changed, bool) { return world.look(changed); };
  const auto out = repair(world.look({}), request);
  REQUIRE(!out);
  CHECK(out.error().message.contains("has changed"));
}

TEST_CASE("repair: only what is wanted is repaired") {
  World world;
  world.fix = good_unless;
  world.disk = {{"a.py", "bad_1\nbad_2\n"}};
  Request request;
  request.read = [&](const std::string& file) -> Result<std::string> { return world.disk.at(file); };
  request.look = [&](const Texts& changed, bool) { return world.look(changed); };
  request.wanted = [](std::vector<Diagnostic> findings) {
    std::erase_if(findings, [](const Diagnostic& d) { return d.place.source->text(d.place.span) == "bad_1\n"; });
    return findings;
  };
  const Outcome out = repair(world.look({}), request).value();
  CHECK(out.after.at("a.py") == "bad_1\ngood_2\n");
  CHECK(out.findings.size() == 1);
}

TEST_CASE("diff: hunks as diff -u writes them") {
  CHECK(unified_diff("m.py", "a\n", "a\n").empty());
  CHECK(unified_diff("m.py", "a\nb\n", "a\nc\n") == "--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
  CHECK(unified_diff("m.py", "a", "a\n") ==
        "--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
  CHECK(unified_diff("m.py", "", "a\n") == "--- a/m.py\n+++ b/m.py\n@@ -0,0 +1 @@\n+a\n");
  CHECK(unified_diff("m.py", "a\n", "") == "--- a/m.py\n+++ b/m.py\n@@ -1 +0,0 @@\n-a\n");
  CHECK(unified_diff("m.py", "a\r\nb\n", "a\nb\n") == "--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n");
  CHECK(unified_diff("my file.py", "a\n", "b\n").starts_with("--- a/my file.py\t\n+++ b/my file.py\t\n"));
  CHECK(unified_diff("a\"b\n.py", "a\n", "b\n").starts_with("--- \"a/a\\\"b\\012.py\"\n"));
}

TEST_CASE("diff: changes with at most six lines between them share a hunk") {
  std::vector<std::string> text;
  for (int i = 0; i < 40; ++i) text.push_back("line " + std::to_string(i));
  const auto hunks = [&](int first, int second) {
    std::vector<std::string> after = text;
    after[static_cast<std::size_t>(first)] += "x";
    after[static_cast<std::size_t>(second)] += "x";
    const std::string diff = unified_diff("m.py", lines(text), lines(after));
    std::size_t count = 0;
    for (std::size_t at = diff.find("\n@@ "); at != std::string::npos; at = diff.find("\n@@ ", at + 1)) ++count;
    return count;
  };
  CHECK(hunks(10, 17) == 1);
  CHECK(hunks(10, 18) == 2);
  CHECK(hunks(0, 39) == 2);
}
