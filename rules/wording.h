// The turns of phrase that every rule's message shares, so that all findings read alike: names in backquotes on one
// line, hazards that stay hazards, advice that is shown but never applied.
//
// Header only.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/ir/ir.h"
#include "analyzer/trace/event.h"
#include "rules/rule.h"

namespace fullgraph::rules {

// Source text as it can stand in a one-line message: line breaks and indentation become one space, a long text is cut.
inline std::string one_line(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out;
  bool space = false;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      space = !out.empty();
      continue;
    }
    if (space) out += ' ';
    space = false;
    out += c == '`' ? '\'' : c;
  }
  if (out.size() <= longest) return out;
  std::size_t cut = longest - 1;
  while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xC0) == 0x80) --cut;  // not inside a code point
  return out.substr(0, cut) + "…";
}

// "`hidden_states`", or the words that stand for it when the event does not name it.
inline std::string named(std::string_view text, std::string_view otherwise) {
  const std::string line = one_line(text);
  return line.empty() ? std::string(otherwise) : "`" + line + "`";
}

// The last part of a qualified name: "torch.Tensor.item" → "item".
inline std::string_view last_name(std::string_view qualified) {
  const std::size_t dot = qualified.rfind('.');
  return dot == std::string_view::npos ? qualified : qualified.substr(dot + 1);
}

// " (detail)" for the end of a message, nothing when the event has no detail.
inline std::string with_detail(const trace::Event& event) {
  const std::string line = one_line(event.detail);
  return line.empty() ? std::string() : " (" + line + ")";
}

// Where the code of an event runs, of C++: "forward", "the kernel of the operator", "what the CUDA graph captures".
inline std::string region_of(const trace::Event& event) {
  switch (event.region) {
    case trace::Region::Model:
      return "forward";
    case trace::Region::Kernel:
      return "the operator's kernel";
    case trace::Region::Capture:
      return "what the CUDA graph captures";
  }
  return {};
}

// A fact that costs no graph break is never an error, whatever the rule's usual severity is.
inline Diagnostic begin(const RuleInfo& info, const trace::Event& event, const Context& context) {
  Diagnostic diagnostic = context.diagnostic(info, event);
  if (diagnostic.gb_id.empty()) diagnostic.severity = Severity::Hazard;
  return diagnostic;
}

// The same for rules whose findings mark hazards even where the line breaks too.
inline Diagnostic begin_hazard(const RuleInfo& info, const trace::Event& event, const Context& context) {
  Diagnostic diagnostic = context.diagnostic(info, event);
  diagnostic.severity = Severity::Hazard;
  return diagnostic;
}

// What a person can do where no edit is right for everybody.
inline void advise(Diagnostic& diagnostic, std::string message) {
  diagnostic.fixes.push_back({.applicability = Applicability::Display, .message = std::move(message), .edits = {}});
}

// A fix that has edits; nothing when none could be written.
inline void offer(Diagnostic& diagnostic, Applicability applicability, std::string message, std::vector<Edit> edits) {
  if (edits.empty()) return;
  diagnostic.fixes.push_back(
      {.applicability = applicability, .message = std::move(message), .edits = std::move(edits)});
}

inline Place place(const ir::Module* module, ir::Span span) {
  return {.source = module == nullptr ? nullptr : module->source, .span = span};
}

// Is profile version "2.13.0" at least "major.minor"? Behaviour that changed between versions is worded by it.
inline bool at_least(std::string_view version, unsigned major, unsigned minor) {
  unsigned parts[2] = {0, 0};
  std::size_t at = 0;
  for (unsigned& part : parts) {
    for (; at < version.size() && std::isdigit(static_cast<unsigned char>(version[at])) != 0; ++at) {
      part = part * 10 + static_cast<unsigned>(version[at] - '0');
    }
    ++at;  // the dot
  }
  return parts[0] != major ? parts[0] > major : parts[1] >= minor;
}

}  // namespace fullgraph::rules
