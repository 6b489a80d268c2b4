#include <doctest/doctest.h>

#include "cli/baseline.h"
#include "cli/files.h"
#include "tests/unit/samples.h"
#include "tests/unit/temporary_folder.h"

using namespace fullgraph;
using namespace fullgraph::cli;

namespace {

const std::string before = "f(x)\nf(x)\ng(y)\n";

Diagnostic at_line(const std::string& text, unsigned line, std::string path = "pkg/m.py", std::string code = "FG101") {
  const auto file = samples::source(std::move(path), text);
  const std::uint32_t begin = file->line_start(line);
  return samples::finding({file, {begin, begin + 1}}, std::move(code));
}

bool all(const std::string&) {
  return true;
}

}  // namespace

TEST_CASE("baseline: findings that were there are accepted, new ones are not") {
  Baseline baseline("/p");
  baseline.add(at_line(before, 1), "/p");
  CHECK(baseline.filter({at_line(before, 1)}, "/p").empty());
  Baseline again("/p");
  again.add(at_line(before, 1), "/p");
  CHECK(again.filter({at_line(before, 3)}, "/p").size() == 1);
  CHECK(again.filter({at_line(before, 1, "pkg/m.py", "FG402")}, "/p").size() == 1);
  CHECK(again.filter({at_line(before, 1, "pkg/other.py")}, "/p").size() == 1);
}

TEST_CASE("baseline: moved and reindented lines stay matched, changed ones do not") {
  Baseline baseline("/p");
  baseline.add(at_line(before, 3), "/p");
  const std::string after = "import os\n\nif a:\n    g(y)  # a comment\n";
  CHECK(baseline.filter({at_line(after, 4)}, "/p").empty());
  Baseline other("/p");
  other.add(at_line(before, 3), "/p");
  CHECK(other.filter({at_line("f(x)\nf(x)\ng(z)\n", 3)}, "/p").size() == 1);
}

TEST_CASE("baseline: equal lines count") {
  Baseline baseline("/p");
  baseline.add(at_line(before, 1), "/p");
  CHECK(baseline.filter({at_line(before, 1), at_line(before, 2)}, "/p").size() == 1);
  Baseline both("/p");
  both.add(at_line(before, 1), "/p");
  both.add(at_line(before, 2), "/p");
  CHECK(both.filter({at_line(before, 1), at_line(before, 2)}, "/p").empty());
  CHECK(both.size() == 2);
}

TEST_CASE("baseline: paths are relative to the baseline file, wherever the run begins") {
  Baseline baseline("/p");
  baseline.add(at_line(before, 1, "pkg/m.py"), "/p");
  CHECK(baseline.filter({at_line(before, 1, "m.py")}, "/p/pkg").empty());
}

TEST_CASE("baseline: what is gone is stale and can be pruned, but only in files that were looked at") {
  Baseline baseline("/p");
  baseline.add(at_line(before, 1), "/p");
  baseline.add(at_line(before, 2), "/p");
  baseline.add(at_line(before, 3, "pkg/unseen.py"), "/p");
  CHECK(baseline.filter({at_line(before, 1)}, "/p").empty());
  const auto seen = [](const std::string& path) { return path == "/p/pkg/m.py"; };
  CHECK(baseline.stale(seen) == 1);
  CHECK(baseline.stale(all) == 2);
  baseline.prune(seen);
  CHECK(baseline.size() == 2);
  baseline.drop(seen);
  CHECK(baseline.size() == 1);
}

TEST_CASE("baseline: written and read again it is the same, byte for byte") {
  Baseline baseline("/p");
  baseline.add(at_line(before, 3), "/p");
  baseline.add(at_line(before, 1), "/p");
  const std::string text = baseline.to_json();
  const auto read = Baseline::parse(text, "/p/baseline.json");
  REQUIRE(read);
  CHECK(read->to_json() == text);
  Baseline other("/p");
  other.add(at_line(before, 1), "/p");
  other.add(at_line(before, 3), "/p");
  CHECK(other.to_json() == text);  // whatever the order
}

TEST_CASE("baseline: broken files are errors, not empty baselines") {
  for (const char* text : {"", "[]", "{", "{}", "{\"schema\": 2, \"findings\": []}", "{\"schema\": 1}",
                           "{\"schema\": \"1\", \"findings\": []}", "{\"schema\": 1, \"findings\": [3]}",
                           "{\"schema\": 1, \"findings\": [{\"path\": \"a\"}]}",
                           "{\"schema\": 1, \"findings\": [{\"path\": \"a\", \"code\": \"b\", \"function\": \"\", "
                           "\"line_hash\": \"x\", \"count\": -1}]}"}) {
    CAPTURE(text);
    const auto read = Baseline::parse(text, "/p/b.json");
    REQUIRE(!read);
    CHECK(read.error().where->file == "/p/b.json");
  }
  CHECK(Baseline::parse("{\"schema\": 1, \"findings\": []}", "/p/b.json"));
}

TEST_CASE("files: replaced as a whole, permissions and links kept") {
  TemporaryFolder folder;
  folder.write("real.txt", "old");
  const std::string real = folder.path() + "/real.txt", link = folder.path() + "/link.txt";
  std::filesystem::permissions(real, std::filesystem::perms::owner_all);
  std::filesystem::create_symlink("real.txt", link);
  REQUIRE(write_atomically(link, "new"));
  CHECK(std::filesystem::is_symlink(link));
  CHECK(*read_file(real) == "new");
  CHECK(std::filesystem::status(real).permissions() == std::filesystem::perms::owner_all);
  REQUIRE(write_atomically(folder.path() + "/fresh.txt", "x"));
  CHECK(*read_file(folder.path() + "/fresh.txt") == "x");
  CHECK(!write_atomically(folder.path() + "/none/x.txt", "x"));
  CHECK(!write_atomically(folder.path(), "x"));  // a folder
  CHECK(!read_file(folder.path()));
  // Nothing is left beside the files.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()) == 3);
}

TEST_CASE("baseline: one finding less of a kind") {
  Baseline baseline("/p");
  baseline.add(at_line(before, 1), "/p");
  baseline.add(at_line(before, 2), "/p");
  baseline.remove(at_line(before, 1), "/p");
  CHECK(baseline.size() == 1);
  baseline.remove(at_line(before, 1), "/p");
  baseline.remove(at_line(before, 1), "/p");
  CHECK(baseline.size() == 0);
}
