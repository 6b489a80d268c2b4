#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files.h"
#include "cli/fix.h"
#include "tests/unit/temporary_folder.h"

using namespace fullgraph;
using namespace fullgraph::cli;

namespace {

std::string read(const std::string& path) {
  return read_file(path).value_or("(unreadable)");
}

std::size_t count_of(const std::string& folder) {
  std::size_t out = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) out += !entry.path().empty();
  return out;
}

}  // namespace

TEST_CASE("files: several are replaced together, with their permissions") {
  const TemporaryFolder folder;
  folder.write("a", "old a");
  folder.write("b", "old b");
  const std::string a = folder.path() + "/a", b = folder.path() + "/b";
  chmod(a.c_str(), 0751);
  CHECK(replace_files({{a, "old a", "new a"}, {b, "old b", "new b"}}).has_value());
  CHECK(read(a) == "new a");
  CHECK(read(b) == "new b");
  struct stat info {};
  stat(a.c_str(), &info);
  CHECK((info.st_mode & 07777) == 0751);
  CHECK(count_of(folder.path()) == 2);
}

TEST_CASE("files: nothing is replaced when one has changed meanwhile") {
  const TemporaryFolder folder;
  folder.write("a", "old a");
  folder.write("b", "old b");
  const std::string a = folder.path() + "/a", b = folder.path() + "/b";
  const auto done = replace_files({{a, "old a", "new a"}, {b, "old b", "new b"}}, [&] { folder.write("b", "edited"); });
  REQUIRE(!done);
  CHECK(done.error().message.contains("has changed"));
  CHECK(done.error().where->file == b);
  CHECK(read(a) == "old a");
  CHECK(read(b) == "edited");
  CHECK(count_of(folder.path()) == 2);
}

TEST_CASE("files: nothing is replaced when one is gone") {
  const TemporaryFolder folder;
  folder.write("a", "old a");
  const std::string a = folder.path() + "/a";
  CHECK(!replace_files({{a, "old a", "new a"}, {folder.path() + "/b", "old b", "new b"}}));
  CHECK(!replace_files({{a, "old a", "new a"}}, [&] { unlink(a.c_str()); }));
  CHECK(count_of(folder.path()) == 0);
}

TEST_CASE("files: a link stays one, and two names of a file must agree") {
  const TemporaryFolder folder;
  folder.write("a", "old");
  const std::string a = folder.path() + "/a", link = folder.path() + "/link";
  REQUIRE(symlink("a", link.c_str()) == 0);
  CHECK(replace_files({{a, "old", "new"}, {link, "old", "new"}}).has_value());
  CHECK(read(a) == "new");
  CHECK(std::filesystem::is_symlink(link));
  CHECK(!replace_files({{a, "new", "newer"}, {link, "new", "other"}}));
  CHECK(read(a) == "new");
}

TEST_CASE("files: long names can be replaced, and what a killed run leaves is known") {
  const TemporaryFolder folder;
  const std::string name(250, 'n');
  folder.write(name, "old");
  CHECK(replace_files({{folder.path() + "/" + name, "old", "new"}}).has_value());
  CHECK(is_leftover(".fullgraph-a1B2c3.tmp"));
  CHECK(!is_leftover(".fullgraph.toml"));
  CHECK(!is_leftover("model.py"));
}

TEST_CASE("fix: a link is followed only to what lies under a given path") {
  const TemporaryFolder folder;
  folder.write("project/a.py", "");
  folder.write("project/sub/b.py", "");
  folder.write("elsewhere/c.py", "");
  const std::string project = folder.path() + "/project";
  REQUIRE(symlink("sub/b.py", (project + "/inside.py").c_str()) == 0);
  REQUIRE(symlink("../elsewhere/c.py", (project + "/outside.py").c_str()) == 0);
  REQUIRE(symlink("project", (folder.path() + "/alias").c_str()) == 0);
  CHECK(!refusal(project + "/a.py", {project}));
  CHECK(!refusal(project + "/inside.py", {project}));
  CHECK(refusal(project + "/outside.py", {project}));
  CHECK(!refusal(project + "/outside.py", {project, folder.path() + "/elsewhere"}));
  CHECK(!refusal(project + "/outside.py", {project + "/outside.py"}));  // named by the user
  CHECK(!refusal(folder.path() + "/alias/a.py", {folder.path() + "/alias"}));
  CHECK(refusal(project + "/a.py", {project + "/sub"}));
}
