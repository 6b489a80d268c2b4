// What is open in the editor: texts, versions, and positions in them.
//
// Editors count columns in units of UTF-8, UTF-16 or UTF-32, whichever was agreed on; everything behind this file
// counts bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ir/error.h"
#include "analyzer/ir/source.h"

namespace fullgraph::server {

enum class Encoding : std::uint8_t { Utf8, Utf16, Utf32 };
std::string_view encoding_name(Encoding encoding);

// Lines and columns count from 0.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t character = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};
struct Range {
  Position start, end;
};

// The byte offset of a position. What lies behind the end of a line or of the text is its end; a position within a
// character is where that begins.
std::uint32_t offset_of(const ir::SourceFile& source, Position position, Encoding encoding);
Position position_of(const ir::SourceFile& source, std::uint32_t offset, Encoding encoding);

// "file:///a%20b.py" → "/a b.py"; nothing for what is no file.
std::optional<std::string> path_of_uri(std::string_view uri);
std::string uri_of_path(std::string_view path);

// Where the bytes of a text are after an edit of it: what is before and behind the changed part is found again.
class Moved {
 public:
  Moved(std::string_view before, std::string_view after);
  // Nothing for what lies in the changed part.
  [[nodiscard]] std::optional<ir::Span> find(ir::Span span) const;
  // The changed part before and after.
  [[nodiscard]] std::pair<ir::Span, ir::Span> changed() const;

 private:
  std::size_t same_before_, end_before_, end_after_;
};

struct Change {
  std::optional<Range> range;  // nothing: the whole text
  std::string text;
};

struct Document {
  std::string uri;
  std::string path;  // absolute; made up for what is on no disk
  std::int64_t version = 0;
  std::shared_ptr<const ir::SourceFile> source;
};

class Documents {
 public:
  // A document that is open already is opened anew.
  const Document& open(std::string uri, std::string path, std::int64_t version, std::string text);
  // Error: it is not open, or has a newer version; nothing is changed then.
  Result<void> change(const std::string& uri, std::optional<std::int64_t> version, const std::vector<Change>& changes,
                      Encoding encoding);
  bool close(const std::string& uri);
  [[nodiscard]] const Document* find(const std::string& uri) const;
  [[nodiscard]] const std::map<std::string, Document>& all() const { return documents_; }  // by URI

 private:
  std::map<std::string, Document> documents_;
};

}  // namespace fullgraph::server
