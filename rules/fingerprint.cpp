#include "rules/fingerprint.h"

#include <fmt/format.h>

#include <unordered_map>

namespace fullgraph::rules {
namespace {

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\f';
}

// Where a comment begins; a '#' in a string on the same line does not count. Strings that began on a line before are
// not recognised: the worst that follows is a line that is hashed too short.
std::size_t comment_start(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      return i;
    }
  }
  return line.size();
}

}  // namespace

std::string normalised_line(const Diagnostic& diagnostic) {
  if (diagnostic.place.source == nullptr) return {};
  const ir::SourceFile& source = *diagnostic.place.source;
  std::string_view line = source.line_text(source.position(diagnostic.place.span.begin).line);
  line = line.substr(0, comment_start(line));
  std::string out;
  for (const char c : line) {
    if (blank(c)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += c;
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string identity(const Diagnostic& finding) {
  std::string key = finding.place.source == nullptr ? std::string() : finding.place.source->path();
  for (const std::string& part : {finding.code, finding.function, normalised_line(finding)}) {
    key += '\0';
    key += part;
  }
  return key;
}

std::string hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return fmt::format("{:016x}", hash);
}

std::vector<std::string> fingerprints(const std::vector<Diagnostic>& findings) {
  std::unordered_map<std::string, unsigned> seen;
  std::vector<std::string> out;
  out.reserve(findings.size());
  for (const Diagnostic& finding : findings) {
    std::string key = identity(finding);
    const unsigned index = seen[key]++;
    key += '\0';
    key += std::to_string(index);
    out.push_back(finding.fingerprint.empty() ? hash_text(key) : finding.fingerprint);
  }
  return out;
}

}  // namespace fullgraph::rules
