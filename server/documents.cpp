#include "server/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace fullgraph::server {

namespace {

struct Character {
  std::uint32_t bytes = 1;
  std::uint32_t units = 1;
};

// The first character of a text that is not empty.
Character character_of(std::string_view text, Encoding encoding) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::uint32_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  Character out{std::min(bytes, static_cast<std::uint32_t>(text.size())), 1};
  if (encoding == Encoding::Utf8) out.units = out.bytes;
  if (encoding == Encoding::Utf16 && bytes == 4) out.units = 2;
  return out;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int high = text[at] == '%' && at + 2 < text.size() ? digit_of(text[at + 1]) : -1;
    const int low = high >= 0 ? digit_of(text[at + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

std::string_view encoding_name(Encoding encoding) {
  switch (encoding) {
    case Encoding::Utf8:
      return "utf-8";
    case Encoding::Utf16:
      return "utf-16";
    case Encoding::Utf32:
      return "utf-32";
  }
  return "utf-16";
}

std::uint32_t offset_of(const ir::SourceFile& source, Position position, Encoding encoding) {
  if (position.line >= source.line_count()) return static_cast<std::uint32_t>(source.text().size());
  std::string_view rest = source.line_text(position.line + 1);
  std::uint32_t offset = source.line_start(position.line + 1);
  std::uint32_t units = 0;
  while (!rest.empty()) {
    const Character next = character_of(rest, encoding);
    if (units + next.units > position.character) break;
    units += next.units;
    offset += next.bytes;
    rest.remove_prefix(next.bytes);
  }
  return offset;
}

Position position_of(const ir::SourceFile& source, std::uint32_t offset, Encoding encoding) {
  offset = std::min(offset, static_cast<std::uint32_t>(source.text().size()));
  const std::uint32_t line = source.position(offset).line;
  std::string_view before = source.line_text(line);
  before = before.substr(0, offset - source.line_start(line));
  Position out{line - 1, 0};
  while (!before.empty()) {
    const Character next = character_of(before, encoding);
    out.character += next.units;
    before.remove_prefix(next.bytes);
  }
  return out;
}

std::optional<std::string> path_of_uri(std::string_view uri) {
  constexpr std::string_view scheme = "file://";
  if (!uri.starts_with(scheme)) return std::nullopt;
  uri.remove_prefix(scheme.size());
  if (!uri.starts_with('/')) uri.remove_prefix(std::min(uri.find('/'), uri.size()));  // a host
  if (uri.empty()) return std::nullopt;
  std::string path = std::filesystem::path(decoded(uri)).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string uri_of_path(std::string_view path) {
  constexpr std::string_view plain = "-._~/";
  std::string out = "file://";
  for (const char c : path) {
    const bool kept =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || plain.find(c) != plain.npos;
    out += kept ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Moved::Moved(std::string_view before, std::string_view after) {
  const std::size_t most = std::min(before.size(), after.size());
  same_before_ = static_cast<std::size_t>(
      std::mismatch(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(most), after.begin()).first -
      before.begin());
  // Characters stay whole.
  while (same_before_ > 0 && same_before_ < before.size() && is_continuation(before[same_before_])) --same_before_;
  std::size_t same_behind = 0;
  while (same_behind < most - same_before_ &&
         before[before.size() - 1 - same_behind] == after[after.size() - 1 - same_behind])
    ++same_behind;
  while (same_behind > 0 && is_continuation(before[before.size() - same_behind])) --same_behind;
  end_before_ = before.size() - same_behind;
  end_after_ = after.size() - same_behind;
}

std::optional<ir::Span> Moved::find(ir::Span span) const {
  if (span.end <= same_before_) return span;
  const auto moved = [&](std::uint32_t offset) {
    return static_cast<std::uint32_t>(offset - end_before_ + end_after_);
  };
  if (span.begin >= end_before_) return ir::Span{moved(span.begin), moved(span.end)};
  // The change lies within.
  if (span.begin < same_before_ && span.end > end_before_) return ir::Span{span.begin, moved(span.end)};
  return std::nullopt;
}

std::pair<ir::Span, ir::Span> Moved::changed() const {
  const auto span = [&](std::size_t end) {
    return ir::Span{static_cast<std::uint32_t>(same_before_), static_cast<std::uint32_t>(end)};
  };
  return {span(end_before_), span(end_after_)};
}

const Document& Documents::open(std::string uri, std::string path, std::int64_t version, std::string text) {
  auto source = std::make_shared<const ir::SourceFile>(path, std::move(text));
  Document& place = documents_[uri];
  place = {std::move(uri), std::move(path), version, std::move(source)};
  return place;
}

Result<void> Documents::change(const std::string& uri, std::optional<std::int64_t> version,
                               const std::vector<Change>& changes, Encoding encoding) {
  const auto found = documents_.find(uri);
  if (found == documents_.end())
    return std::unexpected(Error{ErrorKind::Usage, "a change of " + uri + ", which is not open", {}});
  Document& document = found->second;
  if (version && *version <= document.version) {
    return std::unexpected(
        Error{ErrorKind::Usage,
              fmt::format("version {} of {} came after version {}; it is left out", *version, uri, document.version),
              {}});
  }
  for (const Change& change : changes) {
    std::string text = change.text;
    if (change.range) {
      std::uint32_t begin = offset_of(*document.source, change.range->start, encoding);
      std::uint32_t end = offset_of(*document.source, change.range->end, encoding);
      if (begin > end) std::swap(begin, end);
      const std::string_view before = document.source->text();
      text.reserve(before.size() + change.text.size());
      text.insert(0, before.substr(0, begin));
      text.append(before.substr(end));
    }
    document.source = std::make_shared<const ir::SourceFile>(document.path, std::move(text));
  }
  document.version = version.value_or(document.version + 1);
  return {};
}

bool Documents::close(const std::string& uri) {
  return documents_.erase(uri) != 0;
}

const Document* Documents::find(const std::string& uri) const {
  const auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : &found->second;
}

}  // namespace fullgraph::server
