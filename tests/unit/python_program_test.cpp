// Which file a module name means. Expected values: Python's import system (the path finder), tried with Python 3.11.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "analyzer/python/program.h"

using namespace fullgraph;
using python::Program;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    static std::atomic<int> number{0};
    path = fs::temp_directory_path() /
           ("fullgraph-program-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& text = "") const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
  std::string operator()(const std::string& name) const { return (path / name).string(); }
};

std::string file_of(const ir::Module* module) {
  return module == nullptr ? "" : std::string(module->source->text());
}

}  // namespace

TEST_CASE("the name of a module is that of the packages around it") {
  const Folder folder;
  folder.file("src/pkg/__init__.py");
  folder.file("src/pkg/a/__init__.py");
  const auto b = python::module_name_of(folder.file("src/pkg/a/b.py"));
  CHECK(b.name == "pkg.a.b");
  CHECK(b.search_root == folder("src"));
  CHECK_FALSE(b.is_package);
  const auto a = python::module_name_of(folder("src/pkg/a/__init__.py"));
  CHECK(a.name == "pkg.a");
  CHECK(a.is_package);
  CHECK(a.search_root == folder("src"));
  CHECK(python::module_name_of(folder.file("script.py")).name == "script");
  CHECK(python::module_name_of("no/such/file.py").search_root == "no/such");
}

TEST_CASE("relative imports") {
  ir::Module module;
  module.name = "pkg.a.b";
  CHECK(Program::absolute_name(module, "x.y", 0) == "x.y");
  CHECK(Program::absolute_name(module, "", 1) == "pkg.a");
  CHECK(Program::absolute_name(module, "c", 1) == "pkg.a.c");
  CHECK(Program::absolute_name(module, "c", 2) == "pkg.c");
  CHECK(Program::absolute_name(module, "c", 3).empty());
  module.is_package = true;
  CHECK(Program::absolute_name(module, "c", 1) == "pkg.a.b.c");
  CHECK(Program::absolute_name(module, "c", 3) == "pkg.c");
  CHECK(Program::absolute_name(module, "c", 4).empty());
  module.name = "script";
  module.is_package = false;
  CHECK(Program::absolute_name(module, "c", 1).empty());
}

TEST_CASE("packages, modules and namespace packages") {
  const Folder folder;
  folder.file("one/pkg/__init__.py", "'package'");
  folder.file("one/pkg/m.py", "'module'");
  folder.file("one/pkg/m/readme.txt");
  folder.file("one/space/left.py", "'left'");
  folder.file("two/space/right.py", "'right'");
  folder.file("one/plain.py", "'plain'");
  folder.file("two/plain/__init__.py", "'other plain'");
  folder.file("one/later/readme.txt");
  folder.file("two/later.py", "'later'");
  Program program({folder("one"), folder("two")});
  CHECK(file_of(program.find("pkg")) == "'package'");
  CHECK(program.find("pkg")->is_package);
  CHECK(program.find("pkg")->name == "pkg");
  CHECK(file_of(program.find("pkg.m")) == "'module'");  // a module before a namespace package
  CHECK(program.find("pkg.m")->name == "pkg.m");
  CHECK(file_of(program.find("space.left")) == "'left'");
  CHECK(file_of(program.find("space.right")) == "'right'");  // namespace packages are put together
  CHECK(program.find("space") == nullptr);
  CHECK(file_of(program.find("plain")) == "'plain'");  // the first folder wins
  CHECK(file_of(program.find("later")) == "'later'");  // a module wins over a namespace package before it
  CHECK(program.find("pkg.none") == nullptr);
  CHECK(program.find("plain.none") == nullptr);
  CHECK(program.find("none") == nullptr);
  CHECK(program.find("") == nullptr);
  CHECK(program.find("pkg..m") == nullptr);
  CHECK(program.find("../two/later") == nullptr);
  CHECK(program.is_package("pkg"));
  CHECK(program.is_package("space"));
  CHECK_FALSE(program.is_package("pkg.m"));
  CHECK_FALSE(program.is_package("plain"));
  CHECK_FALSE(program.is_package("none"));
  CHECK(program.find("pkg") == program.find("pkg"));
}

TEST_CASE("modules of an earlier program are taken as they are") {
  const Folder folder;
  folder.file("a.py", "'a'");
  folder.file("b.py", "import a");
  Program first({});
  const auto before = first.load({{.path = folder("a.py"), .shown = "a.py"}}, 1);
  folder.file("a.py", "'changed'");
  Program second({});
  const auto& files = second.load({{.path = folder("a.py"), .shown = "a.py", .module = before[0].module},
                                   {.path = folder("b.py"), .shown = "b.py"}},
                                  2);
  CHECK(files[0].module == before[0].module);
  CHECK(second.find("a") == before[0].module.get());
}

TEST_CASE("linted files come first and are not parsed twice") {
  const Folder folder;
  folder.file("src/pkg/__init__.py", "'on disk'");
  folder.file("src/pkg/m.py", "'m on disk'");
  folder.file("src/other.py", "'other'");
  folder.file("lib/other.py", "'lib other'");
  folder.file("loose/space/x.py", "'x'");
  Program program({folder("lib"), folder("loose")});
  const std::string edited = "'edited'";
  const auto& files = program.load({{.path = folder("src/pkg/m.py"), .shown = "m.py", .text = &edited},
                                    {.path = folder("src/none.py"), .shown = "none.py"},
                                    {.path = folder("loose/space/x.py"), .shown = "x.py"}},
                                   4);
  REQUIRE(files.size() == 3);
  CHECK(file_of(files[0].module.get()) == "'edited'");
  CHECK(files[0].module->name == "pkg.m");
  CHECK(files[1].module == nullptr);
  CHECK(files[1].error.kind == ErrorKind::Io);
  CHECK(program.find("pkg.m") == files[0].module.get());
  CHECK(file_of(program.find("pkg")) == "'on disk'");
  CHECK(file_of(program.find("other")) == "'other'");  // the root of linted files before the search path
  CHECK(program.find("none") == nullptr);
  CHECK(program.find("space.x") == files[2].module.get());  // the same file under its other name
}

TEST_CASE("linted files that are not wanted are parsed when something imports them") {
  const Folder folder;
  folder.file("pkg/__init__.py", "");
  folder.file("pkg/model.py", "def forward(x): return x");
  folder.file("pkg/config.py", "'settings'");
  folder.file("pkg/broken.py", "\xff");
  Program program({});
  const auto input = [&](const std::string& name) {
    return Program::Input{.path = folder("pkg/" + name), .shown = name, .required = false};
  };
  const auto& files = program.load({input("model.py"), input("config.py"), input("broken.py")}, 2,
                                   [](std::string_view text) { return text.contains("forward"); });
  CHECK(files[0].module != nullptr);
  CHECK(files[1].module == nullptr);
  CHECK(files[1].readable);
  CHECK_FALSE(files[2].readable);  // every file is read, and its encoding judged
  const ir::Module* config = program.find("pkg.config");
  REQUIRE(config != nullptr);
  CHECK(config == files[1].module.get());
  CHECK(config->source->path() == "config.py");
}

TEST_CASE("opaque packages are never looked for") {
  const Folder folder;
  folder.file("torch/__init__.py");
  folder.file("torch/nn.py");
  folder.file("torchish.py");
  Program program({folder("")});
  program.set_opaque({"torch"});
  CHECK(program.find("torch") == nullptr);
  CHECK(program.find("torch.nn") == nullptr);
  CHECK_FALSE(program.is_package("torch"));
  CHECK(program.find("torchish") != nullptr);
}

TEST_CASE("the order of files does not depend on threads, and finding is safe from many") {
  const Folder folder;
  std::vector<Program::Input> inputs;
  for (int index = 0; index < 60; ++index) {
    const std::string text =
        "x = " + std::to_string(index) + "\n" + std::string(static_cast<std::size_t>(index % 7), '\n');
    inputs.push_back({.path = folder.file("m" + std::to_string(index) + ".py", text), .shown = "", .text = nullptr});
    folder.file("lib/n" + std::to_string(index) + ".py", text);
  }
  Program program({folder("lib")});
  const auto& files = program.load(inputs, 8);
  for (std::size_t index = 0; index < files.size(); ++index) CHECK(files[index].path == inputs[index].path);
  std::vector<std::vector<const ir::Module*>> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : found) {
      threads.emplace_back([&] {
        for (int index = 0; index < 60; ++index) {
          result.push_back(program.find("n" + std::to_string(index)));
          result.push_back(program.find("m" + std::to_string(index)));
          result.push_back(program.find("none" + std::to_string(index)));
        }
      });
    }
  }
  for (const auto& result : found) CHECK(result == found[0]);
  CHECK(found[0][0] != nullptr);
  CHECK(found[0][1] == files[0].module.get());
  CHECK(found[0][2] == nullptr);
}

TEST_CASE("no inputs") {
  Program program({});
  CHECK(program.load({}, 4).empty());
  CHECK(program.find("x") == nullptr);
}
