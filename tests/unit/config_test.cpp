#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/config.h"
#include "tests/unit/temporary_folder.h"

using namespace fullgraph;
using namespace fullgraph::cli;

namespace {

Error error_of(const std::string& text, const std::string& file = "/p/fullgraph.toml") {
  const auto parsed = parse_config(text, file, "/p");
  REQUIRE(!parsed);
  return parsed.error();
}

}  // namespace

TEST_CASE("config: all keys have a value and a place") {
  const auto parsed = parse_config(R"(
select = ["FG1", "FG201"]
ignore = ["FG102"]
extend-select = ["requires-grad-assignment"]
exclude = ["old"]
extend-exclude = ["gen/*"]
force-exclude = true
respect-gitignore = false
roots = "compiled"
mode = "train"
fullgraph = true
torch-version = "2.13"
python-path = ["lib", "/opt/x"]
src = ["src"]
entry = ["tools/make.py:case", "pkg.make:case"]
baseline = "accepted.json"
output-format = "sarif"
[per-file-ignores]
"tests/*" = ["FG1"]
"!src/*" = ["FG2"]
[severity]
FG101 = "hazard"
FG102 = "ignore"
)",
                                   "/p/fullgraph.toml", "/p");
  REQUIRE(parsed);
  CHECK(parsed->rules.select == Names{"FG1", "FG201"});
  CHECK(parsed->rules.ignore == Names{"FG102"});
  CHECK(parsed->exclude->at(0).glob == "old");
  CHECK(parsed->exclude->at(0).base == "/p");
  CHECK(parsed->force_exclude == true);
  CHECK(parsed->respect_gitignore == false);
  CHECK(parsed->roots == "compiled");
  CHECK(parsed->mode == "train");
  CHECK(parsed->fullgraph == true);
  CHECK(parsed->torch_version == "2.13");
  CHECK(parsed->python_path == Names{"/p/lib", "/opt/x"});
  CHECK(parsed->entry == Names{"/p/tools/make.py:case", "pkg.make:case"});
  CHECK(parsed->baseline == "/p/accepted.json");
  CHECK(parsed->output_format == "sarif");
  REQUIRE(parsed->per_file_ignores.size() == 2);
  CHECK(parsed->per_file_ignores[0].negated);  // TOML tables are sorted by key
  CHECK(parsed->severity.at("FG101") == Severity::Hazard);
  CHECK(parsed->severity.at("FG102") == std::nullopt);
}

TEST_CASE("config: [lint] takes the same keys, a string stands for a list of one") {
  const auto parsed = parse_config("exclude = \"old\"\n[lint]\nselect = [\"FG1\"]\n", "/p/fullgraph.toml", "/p");
  REQUIRE(parsed);
  CHECK(parsed->rules.select == Names{"FG1"});
  CHECK(parsed->exclude->size() == 1);
}

TEST_CASE("config: pyproject.toml counts only with our table") {
  const auto with = parse_config("[tool.other]\nx = 1\n[tool.fullgraph]\nmode = \"eval\"\n", "/p/pyproject.toml", "/p");
  REQUIRE(with);
  CHECK(with->mode == "eval");
  const auto without = parse_config("[tool.other]\nmode = 1\n", "/p/pyproject.toml", "/p");
  REQUIRE(without);
  CHECK(!without->mode);
}

TEST_CASE("config: errors name file, line and the nearest known name") {
  const Error key = error_of("select = []\nselct = [\"FG1\"]\n");
  CHECK(key.message == "unknown key `selct`, did you mean `select`?");
  CHECK(key.where->file == "/p/fullgraph.toml");
  CHECK(key.where->line == 2);

  const Error rule = error_of("ignore = [\n  \"FG101\",\n  \"FG1O1\",\n]\n");
  CHECK(rule.message == "unknown rule `FG1O1`, did you mean `FG101`?");
  CHECK(rule.where->line == 3);

  CHECK(error_of("[per-file-ignores]\n\"a\" = [\"FG1\"]\n\"b\" = [\"XX1\"]\n").where->line == 3);
  CHECK(error_of("mode = \"trian\"\n").message.find("did you mean `train`?") != std::string::npos);
  CHECK(error_of("mode = 3\n").message == "`mode` must be a string");
  CHECK(error_of("select = [1]\n").message == "`select` must be a list of strings");
  CHECK(error_of("[severity]\nFG101 = \"fatal\"\n").message.find("`fatal` is no value of `severity`") == 0);
  CHECK(error_of("entry = [\"make.py\"]\n").message.find("must be FILE:function") != std::string::npos);
  CHECK(error_of("a = \n").where->line == 1);  // no TOML at all
}

TEST_CASE("config: the nearest file counts alone; within a folder the dotted one goes first") {
  TemporaryFolder folder;
  folder.write("pyproject.toml", "[tool.fullgraph]\nselect = [\"FG1\"]\nmode = \"eval\"\n");
  folder.write("inner/pyproject.toml", "[project]\nname = \"x\"\n");
  folder.write("inner/deep/fullgraph.toml", "select = [\"FG2\"]\n");
  folder.write("inner/deep/.fullgraph.toml", "select = [\"FG3\"]\n");
  Configs configs(std::nullopt, false, folder.path());
  const auto inner = configs.find(folder.path() + "/inner");
  REQUIRE(inner);
  CHECK((*inner)->settings.rules.select == Names{"FG1"});  // the pyproject.toml beside it has no table of ours
  CHECK((*inner)->directory == folder.path());
  const auto deep = configs.find(folder.path() + "/inner/deep");
  REQUIRE(deep);
  CHECK((*deep)->settings.rules.select == Names{"FG3"});
  CHECK(!(*deep)->settings.mode);
  Configs none(std::nullopt, true, folder.path());
  const auto isolated = none.find(folder.path());
  REQUIRE(isolated);
  CHECK((*isolated)->file.empty());
}

TEST_CASE("config: extend fills in what a file does not say, relative to the extended file") {
  TemporaryFolder folder;
  folder.write("base.toml", "select = [\"FG1\"]\nignore = [\"FG101\"]\npython-path = [\"lib\"]\n");
  folder.write("sub/fullgraph.toml", "extend = \"../base.toml\"\nselect = [\"FG2\"]\n");
  const auto config = read_config(folder.path() + "/sub/fullgraph.toml", folder.path() + "/sub");
  REQUIRE(config);
  CHECK(config->settings.rules.select == Names{"FG2"});
  CHECK(config->settings.rules.ignore == Names{"FG101"});
  CHECK(config->settings.python_path == Names{folder.path() + "/lib"});
}

TEST_CASE("config: a circle of extends is an error, and so is a missing file") {
  TemporaryFolder folder;
  folder.write("a.toml", "extend = \"b.toml\"\n");
  folder.write("b.toml", "extend = \"a.toml\"\n");
  CHECK(!read_config(folder.path() + "/a.toml", folder.path()));
  CHECK(!read_config(folder.path() + "/none.toml", folder.path()));
  CHECK(!read_config(folder.path(), folder.path()));
}

TEST_CASE("config: required-version") {
  TemporaryFolder folder;
  folder.write("ok.toml", "required-version = \">=0.1, <1000\"\n");
  folder.write("old.toml", "required-version = \"==0.0.1\"\n");
  CHECK(read_config(folder.path() + "/ok.toml", folder.path()));
  const auto old = read_config(folder.path() + "/old.toml", folder.path());
  REQUIRE(!old);
  CHECK(old.error().message.find("required-version") != std::string::npos);
}

TEST_CASE("config: every key of the table can be set and is listed once") {
  Names seen;
  for (const Key& key : keys()) {
    CHECK(std::ranges::find(seen, key.name) == seen.end());
    seen.emplace_back(key.name);
    CHECK(!key.summary.empty());
  }
}
