#include "analyzer/trace/trace.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/session.h"
#include "analyzer/trace/stacks.h"

namespace fullgraph::trace {

bool may_start(std::string_view text) {
  constexpr std::string_view words[] = {"def forward",         "torch.compile",     "_hook",
                                        "utils.checkpoint",    "import checkpoint", "checkpoint_sequential",
                                        "checkpointing_enable"};
  return std::ranges::any_of(words, [&](std::string_view word) {
    return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
  });
}

Outcome trace_entries(python::Program& program, const profile::Profile& profile, const Options& options) {
  Outcome outcome;
  run_on_large_stacks(1, [&](unsigned) {
    Interpreter interpreter(program, profile, options);
    for (const std::string& entry : options.entries) {
      if (auto done = interpreter.trace_entry(entry); !done) outcome.errors.push_back(done.error());
      ++outcome.roots;
    }
    outcome.events = std::move(interpreter.events());
  });
  return outcome;
}

Outcome trace(python::Program& program, const profile::Profile& profile, const Options& options) {
  return Session(false).trace(program, profile, options);
}

}  // namespace fullgraph::trace
