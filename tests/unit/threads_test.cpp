// Reading, tracing and judging with several threads: nothing is lost, and nothing depends on who came first. Under the
// thread sanitizer these are the tests that say something (`./dev test tsan` runs few others).
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/profile/profile.h"
#include "analyzer/python/program.h"
#include "analyzer/trace/trace.h"
#include "rules/rule.h"

using namespace fullgraph;

namespace {

constexpr int modules = 24;

// Modules that share one: each has a break of its own, and one in what is shared.
std::vector<std::string> texts() {
  std::vector<std::string> out = {"import torch\n\n\ndef largest(x):\n    return x.max().item()\n"};
  for (int number = 0; number < modules; ++number) {
    const std::string name = std::to_string(number);
    out.push_back("import torch\nfrom shared import largest\n\n\nclass Net" + name +
                  "(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n        return x / largest(x)\n");
  }
  return out;
}

using Found = std::set<std::tuple<std::string, std::string, unsigned>>;  // code, file, line

Found look(const std::vector<std::string>& sources, unsigned jobs) {
  python::Program program({});
  program.set_opaque({"torch"});
  std::vector<python::Program::Input> inputs;
  for (std::size_t at = 0; at < sources.size(); ++at) {
    const std::string name = at == 0 ? "shared.py" : "net" + std::to_string(at) + ".py";
    inputs.push_back({"/nowhere/" + name, name, &sources[at]});
  }
  program.load(inputs, jobs);
  const auto profile = profile::Profile::find("2.13.0");
  REQUIRE(profile.has_value());
  trace::Options options;
  options.roots = trace::Roots::Modules;
  options.jobs = jobs;
  const trace::Outcome outcome = trace::trace(program, **profile, options);
  CHECK(outcome.roots == modules);
  Found found;
  for (const Diagnostic& one : rules::judge(outcome.events, **profile, jobs))
    found.emplace(one.code, one.place.source->path(), one.place.source->position(one.place.span.begin).line);
  return found;
}

}  // namespace

TEST_CASE("several threads find what one does") {
  const std::vector<std::string> sources = texts();
  const Found one = look(sources, 1);
  // What is printed in each module, and the one value that all of them read.
  CHECK(one.size() == modules + 1);
  CHECK(one.contains({"FG402", "shared.py", 5}));
  CHECK(one.contains({"FG501", "net1.py", 7}));
  for (const unsigned jobs : {2U, 4U, 8U}) CHECK(look(sources, jobs) == one);
}
