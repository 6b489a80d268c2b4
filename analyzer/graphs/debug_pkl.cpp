#include "analyzer/graphs/debug_pkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/graphs/lines.h"
#include "analyzer/graphs/pickle.h"

namespace fullgraph::graphs {
namespace {

// Limits that no compiler reaches, so that a small file cannot stand for a large map.
constexpr std::size_t most_kept_bytes = std::size_t{64} << 20;  // of all sources, and of all origins
constexpr std::size_t most_read_bytes = std::size_t{1} << 30;   // of all sources, as often as a part of them is named
constexpr std::size_t longest_name = 4096;
constexpr std::size_t longest_line = 4096;
constexpr std::int64_t last_line = 1 << 30;

// ---------------------------------------------------------------------------------------------------------------------
// Sources
// ---------------------------------------------------------------------------------------------------------------------
struct Frame {
  std::string_view file;
  std::uint32_t line = 0;
  std::string_view function;
};

// "/path/f.py(15): forward", as torch spells a Python frame.
std::optional<Frame> frame_of(std::string_view text) {
  const std::size_t colon = text.rfind("): ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t open = text.rfind('(', colon);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  Frame frame{text.substr(0, open), 0, text.substr(colon + 3)};
  const auto [end, error] = std::from_chars(text.data() + open + 1, text.data() + colon, frame.line);
  if (error != std::errc() || end != text.data() + colon || frame.line == 0) return std::nullopt;
  return frame;
}

// The folder of torch on the recording machine, from files of it that every trace passes through.
std::string_view torch_folder(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames)
    for (const std::string_view file : {"torch/nn/modules/module.py", "torch\\nn\\modules\\module.py",
                                        "torch/jit/_trace.py", "torch\\jit\\_trace.py"})
      if (frame.file.ends_with(file)) return frame.file.substr(0, frame.file.size() - file.size() + sizeof "torch");
  return {};
}

// A text that rows refer to: some function's, or a stack.
struct Source {
  std::string file;
  std::int64_t first_line = 0;
  std::size_t size = 0;
  std::string text;  // empty for a stack
  std::vector<std::size_t> line_starts;
  std::string function;             // the first that the text defines
  std::size_t function_at = 0;      // where its `def` stands
  std::optional<ir::Origin> stack;  // the place that a stack stands for
};

// The innermost frame of the author's own code: what torch's layers do is done for the line that calls them.
std::optional<ir::Origin> place_of_stack(std::string_view text) {
  std::vector<Frame> frames;
  while (!text.empty()) {
    const auto frame = frame_of(next_line(text));
    if (!frame) return std::nullopt;
    frames.push_back(*frame);
  }
  if (frames.empty()) return std::nullopt;
  const std::string_view torch = torch_folder(frames);
  const auto own =
      std::ranges::find_if(frames, [&](const Frame& frame) { return torch.empty() || !frame.file.starts_with(torch); });
  const Frame& frame = own == frames.end() ? frames.front() : *own;
  return ir::Origin{std::string(frame.file), frame.line, 0, std::string(frame.function), ""};
}

bool is_word(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
         static_cast<unsigned char>(byte) >= 0x80;
}

// The name in "  def name(", nothing for another line.
std::string_view defined_function(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.starts_with("async ")) line.remove_prefix(6);
  if (!line.starts_with("def ")) return {};
  line.remove_prefix(4);
  return line.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(line, is_word) - line.begin()));
}

std::vector<std::size_t> line_starts_of(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts.push_back(at + 1);
  return starts;
}

std::string_view line_at(std::string_view text, std::size_t start) {
  return text.substr(start, std::min(text.find('\n', start), text.size()) - start);
}

Source make_source(std::string text, std::string_view file, std::int64_t first_line) {
  Source source{std::string(file), first_line, text.size(), {}, {}, {}, 0, place_of_stack(text)};
  if (source.stack) return source;
  source.line_starts = line_starts_of(text);
  for (const std::size_t start : source.line_starts) {
    const std::string_view name = defined_function(line_at(text, start));
    if (name.empty() || name.size() > longest_name) continue;
    source.function = name;
    source.function_at = start + line_at(text, start).find_first_not_of(" \t");
    break;
  }
  source.text = std::move(text);
  return source;
}

std::size_t kept_bytes(const Source& source) {
  return sizeof(Source) + source.file.size() + source.text.size() + source.line_starts.size() * sizeof(std::size_t) +
         (source.stack ? source.stack->file.size() + source.stack->function.size() : 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows
// ---------------------------------------------------------------------------------------------------------------------
struct Row {
  std::uint32_t offset = 0;
  const Source* source = nullptr;  // null: none is known
  std::size_t start = 0;           // in the source's text
};

class Reader {
 public:
  Reader(const Value& root, std::string_view code) : code_(code), root_(root) {}

  Result<std::vector<Row>> rows() {
    const Value* rows = &root_;
    if (const Value* head = root_.at(0); head != nullptr && head->is(Value::Kind::String)) {
      if (head->text != "FORMAT_WITH_STRING_TABLE") return fail("a layout that is not known");
      table_ = root_.at(1);
      rows = root_.at(2);
    }
    if (rows == nullptr || !is_sequence(*rows) || (table_ != nullptr && !is_sequence(*table_)))
      return fail("no table of rows");
    std::vector<Row> read;
    for (const Value* row : rows->items) {
      auto one = row_of(*row);
      if (!one) return fail(fmt::format("row {}: {}", read.size(), one.error()));
      if (!read.empty() && one->offset < read.back().offset)
        return fail(fmt::format("row {}: the rows are not in order", read.size()));
      read.push_back(*one);
    }
    return read;
  }

 private:
  template <class T>
  using Checked = std::expected<T, std::string>;

  static std::unexpected<Error> fail(std::string what) {
    return std::unexpected(Error{ErrorKind::Syntax, "the source map is damaged: " + std::move(what), {}});
  }
  static std::unexpected<std::string> damaged(std::string what) { return std::unexpected(std::move(what)); }

  static bool is_sequence(const Value& value) { return value.is(Value::Kind::Tuple) || value.is(Value::Kind::List); }

  // Lists of numbers are made by a function of torch's: build_intlist([1, 2]).
  static const Value* number_list(const Value* value) {
    if (value != nullptr && value->is_made_by("torch.jit._pickle.build_intlist")) value = value->argument(0);
    return value != nullptr && is_sequence(*value) ? value : nullptr;
  }

  static std::optional<std::int64_t> number(const Value* value) {
    return value != nullptr && value->is(Value::Kind::Int) ? std::optional(value->integer) : std::nullopt;
  }

  // (offset, range), (offset, range, tag) or, in one old version, (offset, tag, range).
  // range: (source, start, end).
  Checked<Row> row_of(const Value& row) {
    const auto offset = number(row.at(0));
    const Value* range = row.at(1);
    if (range != nullptr && range->is(Value::Kind::Int)) range = row.at(2);
    if (!offset || range == nullptr) return damaged("not a row");
    if (*offset < 0 || static_cast<std::uint64_t>(*offset) > code_.size())
      return damaged(fmt::format("offset {} in a text of {} bytes", *offset, code_.size()));
    const auto start = number(range->at(1));
    if (range->at(0) == nullptr || !start) return damaged("no range of a source");
    auto source = source_of(*range->at(0));
    if (!source) return std::unexpected(source.error());
    if (*source == nullptr) return Row{static_cast<std::uint32_t>(*offset), nullptr, 0};
    if (*start < 0 || static_cast<std::uint64_t>(*start) > (*source)->size)
      return damaged(fmt::format("position {} in a source of {} bytes", *start, (*source)->size));
    return Row{static_cast<std::uint32_t>(*offset), *source, static_cast<std::size_t>(*start)};
  }

  // (text, file, line), where text is a string or a list of places in the table, and file a string, None or such a
  // place. Null: a source without a text or a file.
  Checked<const Source*> source_of(const Value& source) {
    const auto line = number(source.at(2));
    if (source.at(0) == nullptr || source.at(1) == nullptr || !line) return damaged("not a source");
    if (*line < 0 || *line > last_line) return damaged(fmt::format("line {}", *line));
    const auto file = string_of(*source.at(1));
    if (!file) return std::unexpected(file.error());
    if (file->size() > longest_name) return damaged(fmt::format("the name of a file has {} bytes", file->size()));
    const auto parts = parts_of(*source.at(0));
    if (!parts) return std::unexpected(parts.error());
    if (file->empty() || parts->empty() || *line == 0) return nullptr;
    Key key{*parts, file->data(), *line};
    const auto known = sources_.find(key);
    if (known != sources_.end()) return &known->second;
    std::string text;
    for (const Value* part : *parts) {
      read_bytes_ += part->text.size();
      if (read_bytes_ > most_read_bytes || text.size() > most_kept_bytes) return damaged("the sources are too large");
      text += part->text;
    }
    if (text.empty()) return nullptr;
    const auto made = sources_.emplace(std::move(key), make_source(std::move(text), *file, *line)).first;
    kept_bytes_ += kept_bytes(made->second);
    if (kept_bytes_ > most_kept_bytes) return damaged("the sources are too large");
    return &made->second;
  }

  Checked<std::string_view> string_of(const Value& value) {
    if (value.is(Value::Kind::None)) return std::string_view{};
    if (value.is(Value::Kind::String)) return value.text;
    const auto text = table_entry(&value);
    if (!text) return std::unexpected(text.error());
    return (*text)->text;
  }

  Checked<std::vector<const Value*>> parts_of(const Value& value) {
    if (value.is(Value::Kind::String)) return std::vector{&value};
    const Value* const places = number_list(&value);
    if (places == nullptr) return damaged("not the text of a source");
    std::vector<const Value*> parts;
    for (const Value* place : places->items) {
      const auto text = table_entry(place);
      if (!text) return std::unexpected(text.error());
      if (!(*text)->text.empty()) parts.push_back(*text);
    }
    return parts;
  }

  Checked<const Value*> table_entry(const Value* place) {
    const auto index = number(place);
    if (!index || table_ == nullptr) return damaged("not a text");
    const Value* const text = *index < 0 ? nullptr : table_->at(static_cast<std::size_t>(*index));
    if (text == nullptr || !text->is(Value::Kind::String))
      return damaged(fmt::format("text {} of a table of {}", *index, table_->items.size()));
    return text;
  }

  using Key = std::tuple<std::vector<const Value*>, const char*, std::int64_t>;

  std::string_view code_;
  const Value& root_;
  const Value* table_ = nullptr;
  std::size_t read_bytes_ = 0;
  std::size_t kept_bytes_ = 0;
  std::map<Key, Source> sources_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Places
// ---------------------------------------------------------------------------------------------------------------------
std::uint32_t code_points(std::string_view text) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

ir::Origin origin_at(const Source& source, std::size_t at) {
  if (source.stack) return *source.stack;
  const auto after = std::ranges::upper_bound(source.line_starts, at);
  const std::size_t index = static_cast<std::size_t>(after - source.line_starts.begin()) - 1;
  const std::size_t start = source.line_starts[index];
  ir::Origin origin{source.file, static_cast<std::uint32_t>(source.first_line) + static_cast<std::uint32_t>(index), 0,
                    source.function, ""};
  const std::string_view line = line_at(source.text, start);
  if (line.size() > longest_line) return origin;
  origin.column = code_points(line.substr(0, at - start)) + 1;
  origin.code = line;
  return origin;
}

// Puts the map together from the rows, line by line of the code.
class MapMaker {
 public:
  MapMaker(std::string_view code, const std::vector<Row>& rows) : code_(code), rows_(rows) {
    for (std::size_t start = 0; start < code_.size(); start += line_at(code_, start).size() + 1)
      if (!defined_function(line_at(code_, start)).empty()) functions_.push_back(start);
  }

  Result<ir::SourceMap> make() {
    for (std::size_t start = 0; start <= code_.size();) {
      const std::string_view line = line_at(code_, start);
      begin_line(start, line);
      add_rows_before(start + line.size() + 1);
      if (head_ == Head::Found && line.ends_with(':')) head_ = Head::Left;
      if (origin_bytes_ > most_kept_bytes)
        return std::unexpected(Error{ErrorKind::TooLarge, "the source map is too large", {}});
      start += line.size() + 1;
    }
    return std::move(map_);
  }

 private:
  void add(std::size_t offset, const Source* source, std::size_t at) {
    known_ = source != nullptr;
    if (origin_bytes_ > most_kept_bytes) return;
    if (!known_) return map_.add_unknown(static_cast<std::uint32_t>(offset));
    ir::Origin origin = origin_at(*source, at);
    origin_bytes_ += origin.file.size() + origin.function.size() + origin.code.size();
    map_.add(static_cast<std::uint32_t>(offset), std::move(origin));
  }

  void add_rows_before(std::size_t end) {
    for (; next_ < rows_.size() && rows_[next_].offset < end; ++next_)
      if (rows_[next_].offset >= covered_) add(rows_[next_].offset, rows_[next_].source, rows_[next_].start);
  }

  void begin_line(std::size_t start, std::string_view line) {
    const std::size_t content = start + std::min(line.find_first_not_of(' '), line.size());
    if (head_ == Head::Left) {
      head_ = Head::None;
      add(start, nullptr, 0);
    }
    if (const std::string_view function = defined_function(line); !function.empty()) {
      begin_function(content, function);
    } else {
      begin_statement(start, content, line);
    }
  }

  // The head of a function has no row. Its source is that of the rows in its body which stand for the same function;
  // there are others where something was inlined.
  void begin_function(std::size_t content, std::string_view name) {
    const auto following = std::ranges::upper_bound(functions_, content);
    const std::size_t end = following == functions_.end() ? code_.size() : *following;
    for (std::size_t row = next_; row < rows_.size() && rows_[row].offset < end; ++row) {
      const Source* const source = rows_[row].source;
      if (source == nullptr || source->stack || source->function != name) continue;
      add_rows_before(content);
      add(content, source, source->function_at);
      covered_ = content + 1;  // torch writes a row without a source there
      head_ = Head::Found;
      return;
    }
  }

  // What stands before the first row with a source is a part of the same statement.
  void begin_statement(std::size_t start, std::size_t content, std::string_view line) {
    if (known_ && (next_ == rows_.size() || rows_[next_].offset > content)) return;
    for (std::size_t row = next_; row < rows_.size() && rows_[row].offset < start + line.size(); ++row) {
      if (rows_[row].source == nullptr) continue;
      if (rows_[row].offset <= content) return;
      add_rows_before(content);
      add(content, rows_[row].source, rows_[row].start);
      covered_ = rows_[row].offset;
      return;
    }
  }

  enum class Head { None, Found, Left };  // of the function around: mapped, and behind its colon

  std::string_view code_;
  const std::vector<Row>& rows_;
  std::vector<std::size_t> functions_;  // the lines that define one
  std::size_t next_ = 0;                // the first row that is not in the map yet
  std::size_t covered_ = 0;             // rows before this offset give way to the start of their line
  bool known_ = false;                  // whether the place reached has a source
  Head head_ = Head::None;
  std::size_t origin_bytes_ = 0;
  ir::SourceMap map_;
};

}  // namespace

Result<ir::SourceMap> read_debug_pkl(std::string bytes, std::string_view code) {
  const auto pickle = Pickle::read(std::move(bytes));
  if (!pickle) return std::unexpected(pickle.error());
  Reader reader(pickle->root(), code);
  const auto rows = reader.rows();
  if (!rows) return std::unexpected(rows.error());
  return MapMaker(code, *rows).make();
}

}  // namespace fullgraph::graphs
