#include "reports/read_json.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "reports/position.h"

namespace fullgraph::reports {
namespace {

using Json = nlohmann::json;

constexpr unsigned most_lines = 5'000'000, most_columns = 100'000'000;  // of a file; of all stand-ins together

// Blanks in the place of a text that cannot be had: just enough of them for the places that are spoken of.
class StandIns {
 public:
  void note(const std::string& file, unsigned line, unsigned column) {
    unsigned& width = widths_[file][line];
    columns_ += std::max(width, column) - width;
    width = std::max(width, column);
    if (line == 0 || column == 0 || line > most_lines || columns_ > most_columns)
      throw Json::other_error::create(501, "a place that no file has", nullptr);
  }

  std::shared_ptr<const ir::SourceFile> make(const std::string& file) {
    std::string text;
    unsigned at = 1;
    for (const auto& [line, width] : widths_[file]) {
      text.append(line - at, '\n');
      text.append(width - std::min(width, 1u), ' ');
      at = line;
    }
    return std::make_shared<const ir::SourceFile>(file, std::move(text));
  }

 private:
  std::map<std::string, std::map<unsigned, unsigned>> widths_;
  std::uint64_t columns_ = 0;
};

class Reader {
 public:
  explicit Reader(const SourceReader& read) : read_(read) {}

  Report report(const Json& json) {
    note_places(json.at("findings"));
    Report report;
    report.version = json.at("version");
    report.torch_version = json.at("torch_version");
    for (const Json& one : json.at("findings")) report.findings.push_back(finding(one));
    for (const Json& one : json.at("errors")) report.errors.push_back(error(one));
    const Json& summary = json.at("summary");
    report.files = summary.at("files");
    report.roots = summary.at("roots");
    report.suppressed = summary.at("suppressed");
    report.baselined = summary.at("baselined");
    if (json.contains("shard")) report.shard = std::pair(json["shard"].at("number"), json["shard"].at("of"));
    return report;
  }

 private:
  void note(const Json& place) {
    stand_ins_.note(place.at("file"), number(place.at("line")), number(place.at("column")));
    stand_ins_.note(place.at("file"), number(place.at("end_line")), number(place.at("end_column")));
  }

  void note_places(const Json& findings) {
    for (const Json& finding : findings) {
      note(finding);
      for (const char* const list : {"path", "related"}) {
        for (const Json& one : finding.at(list)) note(one);
      }
      for (const Json& fix : finding.at("fixes")) {
        for (const Json& edit : fix.at("edits")) note(edit);
      }
      for (const Json& way : finding.value("ways", Json::array())) {
        for (const Json& call : way.at("calls")) note(call);
      }
    }
  }

  // JSON's numbers become unsigned ones whatever they are.
  static unsigned number(const Json& json) {
    const auto out = json.get<std::int64_t>();
    if (!json.is_number_integer() || out < 0 || out > std::numeric_limits<unsigned>::max())
      throw Json::other_error::create(501, "a number that counts nothing", nullptr);
    return static_cast<unsigned>(out);
  }

  Place place(const Json& json) {
    const std::string file = json.at("file");
    if (file.empty()) return {};
    const ir::LineColumn begin{number(json.at("line")), number(json.at("column"))};
    const ir::LineColumn end{number(json.at("end_line")), number(json.at("end_column"))};
    auto [found, added] = sources_.try_emplace(file);
    if (added) found->second = read_(file);
    if (found->second != nullptr) {
      const Place there{found->second, {offset_of(*found->second, begin), offset_of(*found->second, end)}};
      const Position p = position_of(there);
      if (std::tie(p.line, p.column, p.end_line, p.end_column) ==
          std::tie(begin.line, begin.column, end.line, end.column))
        return there;
      found->second = nullptr;  // another text than the one that was linted
    }
    auto& stand_in = stood_in_[file];
    if (stand_in == nullptr) stand_in = stand_ins_.make(file);
    return {stand_in, {offset_of(*stand_in, begin), offset_of(*stand_in, end)}};
  }

  Diagnostic finding(const Json& json) {
    Diagnostic out;
    out.code = json.at("code");
    out.name = json.at("name");
    out.severity = one_of<Severity>(json.at("severity"), severity_name,
                                    {Severity::Error, Severity::Warning, Severity::Hazard, Severity::Info});
    out.message = json.at("message");
    out.place = place(json);
    out.function = json.at("function");
    out.condition = json.at("condition");
    out.gb_id = json.at("gb_id");
    out.url = json.at("url");
    out.roots = json.at("roots").get<std::vector<std::string>>();
    out.path = steps(json.at("path"));
    for (const Json& way : json.value("ways", Json::array()))
      out.ways.push_back({way.at("root"), steps(way.at("calls"))});
    for (const Json& one : json.at("related")) out.related.push_back({place(one), one.at("message")});
    for (const Json& one : json.at("fixes")) out.fixes.push_back(fix(one));
    out.fingerprint = json.at("fingerprint");
    if (json.contains("evidence"))
      out.evidence = json["evidence"] == "confirmed" ? Evidence::Confirmed : Evidence::RunTime;
    return out;
  }

  std::vector<PathStep> steps(const Json& json) {
    std::vector<PathStep> out;
    for (const Json& step : json) out.push_back({place(step), step.at("function")});
    return out;
  }

  Fix fix(const Json& json) {
    Fix out;
    out.applicability = one_of<Applicability>(json.at("applicability"), applicability_name,
                                              {Applicability::Safe, Applicability::Unsafe, Applicability::Display});
    out.message = json.at("message");
    for (const Json& edit : json.at("edits")) out.edits.push_back({place(edit), edit.at("text")});
    return out;
  }

  static Error error(const Json& json) {
    Error out{ErrorKind::Io, json.at("message"), {}};
    if (json.at("file").is_null()) return out;
    out.where = ErrorLocation{json.at("file")};
    if (!json.at("line").is_null()) out.where->line = json.at("line");
    if (!json.at("column").is_null()) out.where->column = json.at("column");
    return out;
  }

  template <class Value>
  static Value one_of(const std::string& name, std::string_view (*name_of)(Value), std::initializer_list<Value> all) {
    for (const Value value : all) {
      if (name_of(value) == name) return value;
    }
    throw Json::other_error::create(501, "unknown value " + name, nullptr);
  }

  const SourceReader& read_;
  StandIns stand_ins_;
  std::map<std::string, std::shared_ptr<const ir::SourceFile>> sources_, stood_in_;
};

}  // namespace

Result<Report> read_json(const std::string& text, const std::string& name, const SourceReader& read) {
  const auto wrong = [&](const std::string& what) {
    return std::unexpected(Error{ErrorKind::Usage, "no report of fullgraph in JSON: " + what, ErrorLocation{name}});
  };
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("schema", 0) != 1) return wrong("it has not the schema 1");
    return Reader(read).report(json);
  } catch (const Json::exception& error) {
    return wrong(error.what());
  }
}

}  // namespace fullgraph::reports
