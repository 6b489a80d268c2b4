#include <doctest/doctest.h>

#include <filesystem>

#include "cli/discovery.h"
#include "cli/glob.h"
#include "tests/unit/temporary_folder.h"
#include "validator/process.h"

using namespace fullgraph;
using namespace fullgraph::cli;

namespace {

std::vector<std::string> found(const TemporaryFolder& folder, const std::vector<std::string>& paths = {"."},
                               const Settings& flags = {}) {
  Configs configs(std::nullopt, false, folder.path());
  const auto result = discover(paths, folder.path(), configs, flags);
  REQUIRE(result);
  std::vector<std::string> out;
  for (const SourcePath& file : result->files) out.push_back(file.shown);
  return out;
}

using Files = std::vector<std::string>;

void git(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  std::vector<std::string> command = {"git", "-C", folder.path()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto done = validator::run({.arguments = command});
  REQUIRE(done);
  REQUIRE(done->status == 0);
}

}  // namespace

TEST_CASE("glob: stars stay in their component, two go across") {
  CHECK(glob_matches("*.py", "a.py"));
  CHECK(!glob_matches("*.py", "a/b.py"));
  CHECK(glob_matches("**/*.py", "a/b/c.py"));
  CHECK(glob_matches("**/*.py", "c.py"));
  CHECK(glob_matches("a/**", "a/b/c"));
  CHECK(glob_matches("a/**/z", "a/z"));
  CHECK(!glob_matches("a/*/z", "a/b/c/z"));
  CHECK(glob_matches("t?st_[a-c]*", "test_bx"));
  CHECK(!glob_matches("t?st_[!a-c]*", "test_bx"));
  CHECK(glob_matches("{a,b*}.py", "bcd.py"));
  CHECK(!glob_matches("{a,b*}.py", "c.py"));
  CHECK(glob_matches("*a*b*c*", "xaxbxcx"));
  CHECK(!glob_matches("*a*b*c*", "xaxcxbx"));
  CHECK(glob_matches("[", "["));
}

TEST_CASE("glob: without a slash any component, with one from the base folder") {
  CHECK(matches_path({"build", "/p"}, "/p/x/build"));
  CHECK(!matches_path({"build", "/p"}, "/p/build/x"));  // the folder matches, not what is in it
  CHECK(matches_path({"x/build", "/p"}, "/p/x/build"));
  CHECK(!matches_path({"x/build", "/p"}, "/p/y/x/build"));
  CHECK(matches_path({"/p/x", "/q"}, "/p/x"));
  CHECK(matches_path({"./x/", "/p"}, "/p/x"));
}

TEST_CASE("discovery: python files of folders, sorted, without the usual build products") {
  TemporaryFolder folder;
  for (const char* name :
       {"b.py", "a.py", "pkg/m.py", "pkg/data.txt", "build/x.py", "pkg/node_modules/y.py", ".venv/z.py"})
    folder.write(name, "");
  CHECK(found(folder) == Files{"a.py", "b.py", "pkg/m.py"});
}

TEST_CASE("discovery: virtual environments are known by their pyvenv.cfg, whatever their name") {
  TemporaryFolder folder;
  folder.write("my-env/pyvenv.cfg", "home = /usr\n");
  folder.write("my-env/lib/x.py", "");
  folder.write("a.py", "");
  CHECK(found(folder) == Files{"a.py"});
}

TEST_CASE("discovery: a folder called x.py is a folder, loops of links end") {
  TemporaryFolder folder;
  folder.write("x.py/inner.py", "");
  std::filesystem::create_directory_symlink(folder.path(), folder.path() + "/loop");
  std::filesystem::create_symlink("self.py", folder.path() + "/self.py");
  CHECK(found(folder) == Files{"x.py/inner.py"});
}

TEST_CASE("discovery: files given by name are taken even if excluded, unless exclusion is forced") {
  TemporaryFolder folder;
  folder.write("build/x.py", "");
  folder.write("script", "");
  Settings force;
  force.force_exclude = true;
  CHECK(found(folder, {"build/x.py", "script"}) == Files{"build/x.py", "script"});
  CHECK(found(folder, {"build/x.py", "script"}, force) == Files{"script"});
}

TEST_CASE("discovery: a file that is given twice is linted once") {
  TemporaryFolder folder;
  folder.write("a.py", "");
  CHECK(found(folder, {"a.py", ".", "./a.py"}) == Files{"a.py"});
}

TEST_CASE("discovery: what does not exist is an error, the rest is found") {
  TemporaryFolder folder;
  folder.write("a.py", "");
  Configs configs(std::nullopt, false, folder.path());
  const auto result = discover({"none.py", "a.py"}, folder.path(), configs, {});
  REQUIRE(result);
  CHECK(result->files.size() == 1);
  REQUIRE(result->errors.size() == 1);
  CHECK(result->errors[0].where->file == "none.py");
}

TEST_CASE("discovery: exclude replaces the usual ones, extend-exclude adds; each folder's configuration holds for it") {
  TemporaryFolder folder;
  folder.write("fullgraph.toml", "exclude = [\"old\"]\nextend-exclude = [\"pkg/gen_*.py\"]\n");
  for (const char* name : {"build/x.py", "old/y.py", "pkg/gen_a.py", "pkg/m.py", "sub/old/z.py"})
    folder.write(name, "");
  folder.write("sub/fullgraph.toml", "");
  CHECK(found(folder) == Files{"build/x.py", "pkg/m.py", "sub/old/z.py"});
}

TEST_CASE("discovery: include") {
  TemporaryFolder folder;
  folder.write("fullgraph.toml", "extend-include = [\"*.pyw\"]\n");
  for (const char* name : {"a.py", "b.pyw", "c.txt"}) folder.write(name, "");
  CHECK(found(folder) == Files{"a.py", "b.pyw"});
}

TEST_CASE("discovery: git says what is ignored") {
  TemporaryFolder folder;
  git(folder, {"init", "-q"});
  folder.write(".gitignore", "gen/\n*_tmp.py\n");
  for (const char* name : {"a.py", "b_tmp.py", "gen/c.py", "pkg/d.py", "build/e.py", "env/pyvenv.cfg", "env/f.py"})
    folder.write(name, "");
  CHECK(found(folder) == Files{"a.py", "pkg/d.py"});
  CHECK(found(folder, {"pkg"}) == Files{"pkg/d.py"});
  CHECK(found(folder, {"gen"}) == Files{"gen/c.py"});  // named for a reason
  Settings all;
  all.respect_gitignore = false;
  CHECK(found(folder, {"."}, all) == Files{"a.py", "b_tmp.py", "gen/c.py", "pkg/d.py"});
}

TEST_CASE("discovery: deleted files are not listed, nested repositories are") {
  TemporaryFolder folder;
  git(folder, {"init", "-q"});
  folder.write("a.py", "");
  folder.write("gone.py", "");
  git(folder, {"add", "."});
  std::filesystem::remove(folder.path() + "/gone.py");
  folder.write("inner/b.py", "");
  folder.write("inner/c.py", "");
  folder.write("inner/.gitignore", "c.py\n");
  REQUIRE(validator::run({.arguments = {"git", "-C", folder.path() + "/inner", "init", "-q"}})->status == 0);
  CHECK(found(folder) == Files{"a.py", "inner/b.py"});
}

TEST_CASE("discovery: shown paths are relative below the working directory") {
  CHECK(shown_path("/p/a/b.py", "/p") == "a/b.py");
  CHECK(shown_path("/q/b.py", "/p") == "/q/b.py");
  CHECK(shown_path("/pp/b.py", "/p") == "/pp/b.py");
  CHECK(shown_path("/b.py", "/") == "b.py");
}
