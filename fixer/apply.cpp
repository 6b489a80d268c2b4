#include "fixer/apply.h"

#include <algorithm>
#include <tuple>

#include "analyzer/python/parse.h"

namespace fullgraph::fixer {
namespace {

std::unexpected<Error> failure(const ir::SourceFile& source, std::uint32_t offset, std::string message) {
  return std::unexpected(
      Error{ErrorKind::Encoding, std::move(message), ErrorLocation{source.path(), source.position(offset).line, 0}});
}

// From offsets in the decoded text to offsets in the bytes. Offsets are asked for in ascending order.
class Offsets {
 public:
  Offsets(std::string_view text, python::Coding coding) : text_(text), coding_(coding) {}

  std::size_t in_bytes(std::uint32_t offset) {
    if (coding_ == python::Coding::Utf8) return offset;
    for (; at_ < offset; ++at_) {
      if ((text_[at_] & 0xC0) != 0x80) ++bytes_;
    }
    return bytes_;
  }

 private:
  std::string_view text_;
  python::Coding coding_;
  std::size_t at_ = 0, bytes_ = 0;
};

}  // namespace

std::string with_line_ends(std::string_view text, std::string_view line_end) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) {
      out += line_end;
    } else {
      out += text[i];
    }
  }
  return out;
}

Result<std::string> apply(const std::string& bytes, const ir::SourceFile& source, std::vector<const Edit*> edits) {
  const auto order = [](const Edit* edit) {
    return std::make_tuple(edit->place.span.begin, edit->place.span.end, std::string_view(edit->text));
  };
  std::ranges::sort(edits, {}, order);
  const auto twice = std::ranges::unique(edits, {}, order);
  edits.erase(twice.begin(), twice.end());

  const python::Coding coding = python::coding_of(bytes);
  Offsets offsets(source.text(), coding);
  std::string out;
  std::size_t done = 0;
  for (const Edit* edit : edits) {
    const ir::Span span = edit->place.span;
    const auto text = python::encode(with_line_ends(edit->text, source.line_end(span.begin)), coding);
    if (!text) return failure(source, span.begin, "the file's coding has not all of the characters that are inserted");
    const std::size_t begin = offsets.in_bytes(span.begin);
    out.append(bytes, done, begin - done);
    out += *text;
    done = offsets.in_bytes(span.end);
  }
  out.append(bytes, done);
  if (python::coding_of(out) != coding) return failure(source, 0, "the declaration of the file's coding would change");
  return out;
}

}  // namespace fullgraph::fixer
