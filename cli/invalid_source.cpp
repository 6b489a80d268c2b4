#include "cli/invalid_source.h"

#include "cli/files.h"
#include "reports/position.h"
#include "rules/rule.h"

namespace fullgraph::cli {
namespace {

Diagnostic invalid_source(std::shared_ptr<const ir::SourceFile> source, ir::Span span, std::string message) {
  const rules::RuleInfo& info = rules::find_rule("FG902")->info;
  Diagnostic out;
  out.code = info.code;
  out.name = info.name;
  out.severity = info.severity;
  out.message = std::move(message);
  out.place = {std::move(source), span};
  return out;
}

bool continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

// Bytes of the character that begins here; 0 when none does.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continuation(byte(i))) return 0;
  }
  // Overlong forms, surrogates, beyond U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90)) return 0;
  return length;
}

}  // namespace

std::string replace_invalid(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out.append(bytes.substr(0, length));
    }
    bytes.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

Diagnostic syntax_error(const ir::Module& module, const ir::SyntaxError& error) {
  return invalid_source(module.source, error.span, error.message);
}

Diagnostic unreadable_text(const python::Program::File& file) {
  const auto bytes = read_file(file.path);
  auto source = std::make_shared<const ir::SourceFile>(file.shown, bytes ? replace_invalid(*bytes) : std::string());
  ir::Span span;
  if (file.error.where) span.begin = reports::offset_of(*source, {file.error.where->line, file.error.where->column});
  span.end = span.begin;
  const std::string_view rest = source->text().substr(std::min<std::size_t>(span.begin, source->text().size()));
  if (!rest.empty() && rest[0] != '\n' && rest[0] != '\r') {
    span.end += static_cast<std::uint32_t>(std::max<std::size_t>(1, character_length(rest)));
  }
  return invalid_source(std::move(source), span, file.error.message);
}

}  // namespace fullgraph::cli
