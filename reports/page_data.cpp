#include "reports/page_data.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>

#include "reports/fix_diff.h"
#include "reports/frame.h"
#include "reports/position.h"
#include "reports/width.h"
#include "rules/fingerprint.h"
#include "rules/rule.h"

namespace fullgraph::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned context = 2;
constexpr unsigned most_span_lines = 12;  // of a longer span the first eight and the last two are shown
constexpr std::size_t most_hunks = 12, most_hunk_lines = 60;
constexpr std::size_t most_characters = 240;  // of a line, or of a part of it
constexpr std::size_t lead = 80;              // kept in front of what is marked, where the line is too long
constexpr unsigned excerpt_width = 90;

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) >> 6) != 0x2;
}

std::string from_begin(std::string_view text, std::size_t most) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++count > most) return printable(text.substr(0, at)) + "…";
  }
  return printable(text);
}

std::string from_end(std::string_view text, std::size_t most) {
  std::size_t count = 0;
  for (std::size_t at = text.size(); at > 0; --at) {
    if (begins_character(text[at - 1]) && ++count == most && at > 1) return "…" + printable(text.substr(at - 1));
  }
  return printable(text);
}

// [number, text], or [number, text, marked text, text].
Json row_of(const ir::SourceFile& source, unsigned number, ir::Span span, bool first) {
  const std::string_view whole = source.line_text(number);
  const std::string_view line = without_byte_order_mark(whole, number);
  const auto start = static_cast<std::uint32_t>(source.line_start(number) + (whole.size() - line.size()));
  const auto inside = [&](std::uint32_t offset) {
    return std::min<std::size_t>(offset > start ? offset - start : 0, line.size());
  };
  std::size_t from = inside(span.begin);
  const std::size_t to = std::max(from, inside(span.end));
  // Blanks at the begin of the continued lines of a span are not part of what is meant.
  if (!first) from = std::min(std::max(from, std::min(line.find_first_not_of(" \t\f"), line.size())), to);
  if (from == to && !first) return {number, from_begin(line, most_characters)};
  const bool is_long = line.size() > most_characters;
  return {number, is_long ? from_end(line.substr(0, from), lead) : printable(line.substr(0, from)),
          from_begin(line.substr(from, to - from), most_characters), from_begin(line.substr(to), most_characters)};
}

// Rows; an empty one stands for lines that are left out.
Json frame_of(const Place& place) {
  Json out = Json::array();
  if (place.source == nullptr || place.source->text().empty()) return out;
  const ir::SourceFile& source = *place.source;
  const FrameLines lines = frame_lines(source, place.span, context);
  const bool cut = lines.span_last - lines.span_first + 1 > most_span_lines;
  for (unsigned number = lines.first; number <= lines.last; ++number) {
    if (cut && number == lines.span_first + 8) {
      out.push_back(Json::array());
      number = lines.span_last - 1;
    }
    if (number < lines.span_first || number > lines.span_last) {
      out.push_back({number, from_begin(without_byte_order_mark(source.line_text(number), number), most_characters)});
    } else {
      out.push_back(row_of(source, number, place.span, number == lines.span_first));
    }
  }
  return out;
}

// Texts that occur again and again, by number.
class Table {
 public:
  std::size_t add(std::string_view text) {
    const auto [at, is_new] = numbers_.try_emplace(std::string(text), texts_.size());
    if (is_new) texts_.push_back(printable(text));
    return at->second;
  }
  [[nodiscard]] const Json& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
  Json texts_ = Json::array();
};

class Data {
 public:
  explicit Data(const Report& report) : report_(report) {}

  Json build() {
    const std::vector<std::string> prints = fullgraph::rules::fingerprints(report_.findings);
    Json findings = Json::array();
    for (std::size_t i = 0; i < report_.findings.size(); ++i)
      findings.push_back(finding(report_.findings[i], prints[i]));
    Json errors = Json::array();
    for (const Error& one : report_.errors) errors.push_back(error(one));
    std::size_t fixed = 0;
    for (const Repaired& one : report_.repaired) fixed += one.count;
    return {{"version", report_.version},
            {"torch", report_.torch_version},
            {"files", report_.files},
            {"traced", report_.roots},
            {"suppressed", report_.suppressed},
            {"baselined", report_.baselined},
            {"fixed", fixed},
            {"rules", rules()},
            {"paths", paths_.texts()},
            {"functions", functions_.texts()},
            {"roots", roots_.texts()},
            {"calls", calls_},
            {"findings", std::move(findings)},
            {"errors", std::move(errors)}};
  }

 private:
  Json finding(const Diagnostic& one, const std::string& fingerprint) {
    codes_.emplace(one.code, one.name);
    const Position at = position_of(one.place);
    Json out = {{"code", one.code},
                {"severity", severity_name(one.severity)},
                {"message", printable(one.message)},
                {"path", paths_.add(at.file)},
                {"line", at.line},
                {"column", at.column},
                {"function", functions_.add(one.function)},
                {"fingerprint", fingerprint},
                {"frame", frame_of(one.place)},
                {"ways", ways(one)}};
    if (!one.condition.empty()) out["when"] = printable(one.condition);
    if (!one.gb_id.empty()) out["gb"] = one.gb_id;
    if (!one.url.empty()) out["url"] = printable(one.url);
    if (one.evidence != Evidence::Static) out["evidence"] = one.evidence == Evidence::Confirmed ? "confirmed" : "run";
    for (const Related& related : one.related) {
      const Position there = position_of(related.place);
      out["related"].push_back({{"message", printable(related.message)},
                                {"path", paths_.add(there.file)},
                                {"line", there.line},
                                {"frame", frame_of(related.place)}});
    }
    for (const Fix& fix : one.fixes) {
      out["fixes"].push_back({{"applicability", applicability_name(fix.applicability)},
                              {"message", printable(fix.message)},
                              {"hunks", hunks(fix)}});
    }
    return out;
  }

  // For each root [root, call, call, …]; [root, null] where the way is not known.
  Json ways(const Diagnostic& one) {
    Json out = Json::array();
    auto way = one.ways.begin();
    for (const std::string& root : one.roots) {
      Json entry = {roots_.add(root)};
      while (way != one.ways.end() && way->root < root) ++way;
      if (way != one.ways.end() && way->root == root) {
        for (const PathStep& step : way->calls) entry.push_back(call(step));
      } else if (one.roots.size() == 1) {
        for (const PathStep& step : one.path) entry.push_back(call(step));
      } else {
        entry.push_back(nullptr);
      }
      out.push_back(std::move(entry));
    }
    return out;
  }

  // The number of a call: [path, line, calling function, its text].
  std::size_t call(const PathStep& step) {
    const auto [at, is_new] =
        call_numbers_.try_emplace({step.place.source.get(), step.place.span.begin, step.function}, calls_.size());
    if (!is_new) return at->second;
    const Position there = position_of(step.place);
    calls_.push_back(
        {paths_.add(there.file), there.line, functions_.add(step.function),
         step.place.source == nullptr ? std::string() : excerpt(*step.place.source, step.place.span, excerpt_width)});
    return at->second;
  }

  Json hunks(const Fix& fix) {
    Json out = Json::array();
    for (const Hunk& hunk : diff_of(fix)) {
      if (out.size() == most_hunks) {
        out.push_back(nullptr);
        break;
      }
      Json lines = Json::array();
      for (const DiffLine& line : hunk.lines) {
        if (lines.size() == most_hunk_lines) {
          lines.push_back("…");
          break;
        }
        lines.push_back(line.mark + from_begin(line.text, most_characters));
      }
      out.push_back({{"path", paths_.add(hunk.source->path())}, {"line", hunk.line}, {"lines", std::move(lines)}});
    }
    return out;
  }

  Json error(const Error& one) {
    Json out = {{"message", printable(one.message)}};
    if (one.where) {
      out["path"] = paths_.add(one.where->file);
      out["line"] = one.where->line;
    }
    return out;
  }

  Json rules() const {
    Json out = Json::object();
    for (const auto& [code, name] : codes_) {
      const fullgraph::rules::Rule* rule = fullgraph::rules::find_rule(code);
      out[code] = {{"name", name},
                   {"summary", rule == nullptr ? "" : rule->info.summary},
                   {"documentation", rule == nullptr ? "" : rule->info.documentation}};
    }
    return out;
  }

  const Report& report_;
  Table paths_, functions_, roots_;
  std::map<std::string, std::string> codes_;  // to names
  std::map<std::tuple<const ir::SourceFile*, std::uint32_t, std::string>, std::size_t> call_numbers_;
  Json calls_ = Json::array();
};

}  // namespace

std::string page_data(const Report& report) {
  // Bytes that are no text become replacement characters, and no "<" is left that could begin a tag or a comment.
  const std::string text = Data(report).build().dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace fullgraph::reports
