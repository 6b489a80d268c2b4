// JSON ↔ results, by the members that fields.h names.
#include "validator/json.h"

#include <array>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>

#include "validator/fields.h"
#include "validator/report.h"

namespace fullgraph::validator {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

template <class T>
concept Enumeration = std::is_enum_v<T>;
template <class T>
concept Structure = std::is_class_v<T> && requires(T value) {
  fields(*static_cast<void (**)(const char*, int&)>(nullptr), value);
};

// -- writing

struct Writer {
  Json out = Json::object();

  template <class T>
  void operator()(const char* name, T& value) {
    out[name] = json_of(value);
  }

  template <class T>
  static Json json_of(T& value) {
    if constexpr (Enumeration<T>) {
      return std::string(name_of(value));
    } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
      return value;
    } else {
      Writer writer;
      fields(writer, value);
      return std::move(writer.out);
    }
  }

  template <class T>
  static Json json_of(std::optional<T>& value) {
    return value ? json_of(*value) : Json(nullptr);
  }

  template <class T>
  static Json json_of(std::vector<T>& list) {
    Json out = Json::array();
    for (T& one : list) out.push_back(json_of(one));
    return out;
  }
};

// -- reading

template <class Enum>
constexpr std::size_t values_of = 0;
template <>
constexpr std::size_t values_of<CaseKind> = 6;
template <>
constexpr std::size_t values_of<FailureKind> = 7;
template <>
constexpr std::size_t values_of<Equality> = 5;
template <>
constexpr std::size_t values_of<Verdict> = 4;

struct Reader {
  const Json& in;
  std::string& wrong;  // the first member that is not as it should be

  template <class T>
  void operator()(const char* name, T& value) {
    const auto found = in.find(name);
    if (found == in.end() || found->is_null()) return;
    if (!read(*found, value) && wrong.empty()) wrong = name;
  }

  bool read(const Json& json, std::string& value) {
    if (!json.is_string()) return false;
    value = json.get<std::string>();
    return true;
  }

  template <class T>
  requires std::is_arithmetic_v<T>
  bool read(const Json& json, T& value) {
    if (std::same_as<T, bool> ? !json.is_boolean() : !json.is_number()) return false;
    value = json.get<T>();
    return true;
  }

  template <Enumeration T>
  bool read(const Json& json, T& value) {
    for (std::size_t i = 0; i < values_of<T>; ++i) {
      if (json != std::string(name_of(static_cast<T>(i)))) continue;
      value = static_cast<T>(i);
      return true;
    }
    return false;
  }

  template <class T>
  bool read(const Json& json, std::optional<T>& value) {
    return read(json, value.emplace());
  }

  template <class T>
  bool read(const Json& json, std::vector<T>& list) {
    if (!json.is_array()) return false;
    list.reserve(json.size());
    for (const Json& one : json) {
      if (!read(one, list.emplace_back())) return false;
    }
    return true;
  }

  template <class T>
  requires std::is_class_v<T>
  bool read(const Json& json, T& value) {
    if (!json.is_object()) return false;
    Reader reader{json, wrong};
    fields(reader, value);
    return wrong.empty();
  }
};

template <class T>
Result<T> read_as(const Json& json, const std::string& what) {
  T out;
  std::string wrong;
  if (Reader{json, wrong}.read(json, out)) return out;
  return std::unexpected(Error{ErrorKind::Syntax, what + ": `" + wrong + "` is not as expected", {}});
}

Result<Json> parse(const std::string& text, const std::string& what) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_object()) return json;
  return std::unexpected(Error{ErrorKind::Syntax, what + " is no JSON object", {}});
}

template <class T>
Result<T> from_text(const std::string& text, const std::string& what) {
  const auto json = parse(text, what);
  return json ? read_as<T>(*json, what) : std::unexpected(json.error());
}

Json summary_of(const ValidationResult& result) {
  std::array<std::size_t, values_of<Verdict>> verdicts{};
  std::size_t runs = 0, failures = 0, problems = 0;
  for (const Case& one : result.cases) {
    runs += one.runs.size();
    failures += has_failure(one) ? 1 : 0;
    problems += problems_of(one).empty() ? 0 : 1;
    for (const FindingVerdict& finding : one.findings) ++verdicts[static_cast<std::size_t>(finding.verdict)];
  }
  Json findings = Json::object();
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    findings[std::string(name_of(static_cast<Verdict>(i)))] = verdicts[i];
  return {{"cases", result.cases.size()},    {"runs", runs},
          {"cases_with_failures", failures}, {"cases_with_problems", problems},
          {"findings", std::move(findings)}, {"exit_status", exit_status_of(result)}};
}

}  // namespace

std::string render_json(const ValidationResult& result) {
  ValidationResult copy = result;
  Json out = {{"schema", schema}};
  out.update(Writer::json_of(copy));
  for (std::size_t i = 0; i < result.cases.size(); ++i) out["cases"][i]["problems"] = problems_of(result.cases[i]);
  out["summary"] = summary_of(result);
  // Output of programs can be anything; what is no UTF-8 becomes a replacement character.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ValidationResult> read_json(const std::string& text, const std::string& file) {
  const auto json = parse(text, file);
  if (!json) return std::unexpected(json.error());
  if (const auto found = json->find("schema"); found == json->end() || *found != schema) {
    return std::unexpected(Error{ErrorKind::Syntax,
                                 "this is no result of `fullgraph validate` in a form that this version knows",
                                 ErrorLocation{file}});
  }
  return read_as<ValidationResult>(*json, file);
}

Result<Side> side_of(const std::string& json, const std::string& what) {
  return from_text<Side>(json, what);
}

Result<Comparison> comparison_of(const std::string& json, const std::string& what) {
  return from_text<Comparison>(json, what);
}

}  // namespace fullgraph::validator
