// What a session says after edits is what tracing everything anew says, and it traces no more than the edit reaches.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "analyzer/profile/profile.h"
#include "analyzer/python/parse.h"
#include "analyzer/python/program.h"
#include "analyzer/trace/session.h"
#include "temporary_folder.h"

using namespace fullgraph;

namespace {

const std::string helper = R"(import torch

def scale(x):
    return x * 2
)";
const std::string breaking_helper = R"(import torch

def scale(x):
    print(x)
    return x * 2
)";
const std::string user = R"(from torch import nn
from pkg.helper import scale

class User(nn.Module):
    def forward(self, x):
        return scale(x)
)";
const std::string other = R"(from torch import nn

class Other(nn.Module):
    def forward(self, x):
        print("other")
        return x
)";

struct Project {
  explicit Project(const std::map<std::string, std::string>& files) {
    for (const auto& [name, text] : files) {
      folder.write(name, text);
      const std::string path = folder.path() + "/" + name;
      inputs.push_back({path, name});
      paths[name] = path;
    }
    program.load(inputs, 1);
    options.jobs = 2;
  }

  void edit(const std::string& name, const std::string& text) {
    auto source = python::make_source(text, name);
    REQUIRE(source);
    const python::ModuleName module = python::module_name_of(paths[name]);
    CHECK(program.replace(paths[name], python::parse(*source, module.name, module.is_package)));
  }

  static std::vector<std::string> told(const trace::Outcome& outcome) {
    std::vector<std::string> out;
    for (const trace::Event& event : outcome.events) {
      out.push_back(event.where.module->source->path() + ":" +
                    std::to_string(event.where.module->source->position(event.where.span.begin).line) + " " +
                    event.root);
    }
    return out;
  }
  std::vector<std::string> again() { return told(session.trace(program, *profile, options)); }
  std::vector<std::string> anew() { return told(trace::trace(program, *profile, options)); }

  TemporaryFolder folder;
  std::map<std::string, std::string> paths;
  std::vector<python::Program::Input> inputs;
  python::Program program{{}};
  const profile::Profile* profile = *profile::Profile::find(profile::Profile::versions().back());
  trace::Options options;
  trace::Session session;
};

}  // namespace

TEST_CASE("an edit of a helper changes what its users show, and nobody else is traced") {
  Project project({{"pkg/__init__.py", ""}, {"pkg/helper.py", helper}, {"pkg/user.py", user}, {"pkg/other.py", other}});
  const auto first = project.again();
  CHECK(first == project.anew());
  REQUIRE(first.size() == 1);  // the print in Other
  CHECK(project.session.traced_anew() == 2);

  CHECK(project.again() == first);
  CHECK(project.session.traced_anew() == 0);

  project.edit("pkg/helper.py", breaking_helper);
  const auto second = project.again();
  CHECK(second == project.anew());
  CHECK(second.size() == 2);
  CHECK(project.session.traced_anew() == 1);

  project.edit("pkg/other.py", "\n" + other);
  const auto third = project.again();
  CHECK(third == project.anew());
  CHECK(third[0] == "pkg/other.py:6 pkg.other.Other.forward");
  CHECK(project.session.traced_anew() == 1);

  project.edit("pkg/helper.py", helper);
  CHECK(project.again() == project.anew());
}

TEST_CASE("a root that another one begins or ceases to build") {
  const std::string building = R"(from torch import nn
from pkg.other import Other

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.other = Other()

    def forward(self, x):
        return self.other(x)
)";
  const std::string not_building = R"(from torch import nn

class Whole(nn.Module):
    def forward(self, x):
        return x
)";
  Project project({{"pkg/__init__.py", ""}, {"pkg/whole.py", not_building}, {"pkg/other.py", other}});
  CHECK(project.again() == project.anew());
  for (const std::string& text : {building, not_building, building, not_building}) {
    project.edit("pkg/whole.py", text);
    CHECK(project.again() == project.anew());
  }
}

TEST_CASE("what is imported for the first time by an edit is found") {
  Project project({{"pkg/__init__.py", ""}, {"pkg/user.py", other}});
  // Not among the files: it is read when somebody imports it, which happens in a copy of this process.
  project.folder.write("pkg/helper.py", breaking_helper);
  project.again();
  project.edit("pkg/user.py", user);
  const auto seen = project.again();
  CHECK(seen == project.anew());
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].ends_with("helper.py:4 pkg.user.User.forward"));
}

TEST_CASE("a cancelled call is made up for by the next") {
  Project project({{"pkg/__init__.py", ""}, {"pkg/helper.py", helper}, {"pkg/user.py", user}, {"pkg/other.py", other}});
  project.options.cancelled = [] { return true; };
  CHECK(project.session.trace(project.program, *project.profile, project.options).cancelled);
  project.options.cancelled = nullptr;
  CHECK(project.again() == project.anew());
  project.edit("pkg/helper.py", breaking_helper);
  project.options.cancelled = [] { return true; };
  CHECK(project.session.trace(project.program, *project.profile, project.options).cancelled);
  project.options.cancelled = nullptr;
  CHECK(project.again() == project.anew());
}

TEST_CASE("a tree that is kept from edit to edit reads as a fresh one does") {
  python::KeptTree kept;
  std::string text = user;
  const auto check = [&] {
    const auto parse = [&](python::KeptTree* tree) {
      return ir::dump(*python::parse(*python::make_source(text, "m.py"), "m", false, tree));
    };
    CHECK(parse(&kept) == parse(nullptr));
  };
  check();
  for (const char* piece :
       {"    # \u00e9 note\n", "        if x:\n            return x\n", "    y = (1,\n", "\t", "\n\n"}) {
    for (std::size_t at : {text.find("    def"), text.find("        return scale"), text.size()}) {
      const std::string before = text;
      text.insert(at, piece);
      check();
      text = before;
      check();
    }
  }
}
