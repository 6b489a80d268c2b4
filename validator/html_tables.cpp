// What was compared, tensor by tensor, and the verdicts on findings.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "validator/html_parts.h"

namespace fullgraph::validator {
namespace {

constexpr std::string_view gradient_prefix = "grad ";

// One line of a table: an output, or a parameter with its gradient.
struct Row {
  std::string name;
  const Gradient* before = nullptr;
  const Gradient* after = nullptr;
  const Compared* change = nullptr;
  const Compared* compiled = nullptr;

  [[nodiscard]] bool off() const {
    const auto differs = [](const Compared* one) { return one != nullptr && one->equality != Equality::Equal; };
    return differs(change) || differs(compiled);
  }
};

class Rows {
 public:
  explicit Rows(const Run& run) {
    add(run.change, &Row::change, false);
    add(last_side(run).compiled, &Row::compiled, false);
    for (const Gradient& one : run.before.gradients) row(one.name).before = &one;
    if (run.after) {
      for (const Gradient& one : run.after->gradients) row(one.name).after = &one;
    }
    add(run.change, &Row::change, true);
    add(last_side(run).compiled, &Row::compiled, true);
  }
  [[nodiscard]] const std::vector<Row>& all() const { return rows_; }

 private:
  void add(const std::optional<Comparison>& comparison, const Compared* Row::*member, bool gradients) {
    if (!comparison) return;
    for (const Compared& one : comparison->tensors) {
      if (one.gradient != gradients) continue;
      const bool prefixed = one.gradient && one.name.starts_with(gradient_prefix);
      row(prefixed ? one.name.substr(gradient_prefix.size()) : one.name).*member = &one;
    }
  }

  Row& row(const std::string& name) {
    const auto [found, is_new] = places_.emplace(name, rows_.size());
    if (is_new) rows_.push_back({name, nullptr, nullptr, nullptr, nullptr});
    return rows_[found->second];
  }

  std::vector<Row> rows_;
  std::map<std::string, std::size_t> places_;
};

std::string norm_cell(const Gradient* gradient) {
  if (gradient == nullptr) return "<td class=number></td>";
  if (!gradient->norm) return "<td class=number>" + chip("none", "bad") + "</td>";
  return fmt::format("<td class=number>{:.4g}</td>", *gradient->norm);
}

std::string compared_cell(const Compared* one) {
  if (one == nullptr) return "<td></td>";
  if (one->equality == Equality::Equal) return "<td>" + chip("equal", "good") + "</td>";
  std::string words;
  if (one->largest) words = fmt::format(" by {:.3g}", *one->largest);
  if (one->largest && one->allowed) words += fmt::format(", {:.3g} is allowed", *one->allowed);
  return fmt::format("<td>{}{}</td>", chip(name_of(one->equality), "bad"), words);
}

std::string table(const Run& run, const std::vector<Row>& rows) {
  const bool pair = run.after.has_value();
  const bool compiled = std::ranges::any_of(rows, [](const Row& row) { return row.compiled != nullptr; });
  std::string out =
      "<div class=filter hidden><input type=search placeholder=\"parameter or output\" aria-label=\"filter by name\">"
      "<label><input type=checkbox> only what differs</label></div><div class=scroll><table><thead><tr><th>output or "
      "parameter</th>";
  out += pair ? "<th class=number>gradient before</th><th class=number>after</th><th>after against before</th>"
              : "<th class=number>gradient</th>";
  if (compiled) out += "<th>compiled against eager</th>";
  out += "</tr></thead><tbody>";
  for (const Row& row : rows) {
    out += fmt::format("<tr{}><td class=name>{}</td>{}", row.off() ? " class=off" : "", escaped(row.name),
                       norm_cell(row.before));
    if (pair) out += norm_cell(row.after) + compared_cell(row.change);
    if (compiled) out += compared_cell(row.compiled);
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string count_words(const std::vector<Row>& rows) {
  const auto off = std::ranges::count_if(rows, &Row::off);
  return off == 0 ? chip("all equal", "good") : chip(fmt::format("{} not equal", off), "bad");
}

std::string_view verdict_kind(Verdict verdict) {
  switch (verdict) {
    case Verdict::Confirmed:
      return "bad";
    case Verdict::Refuted:
      return "good";
    case Verdict::NotReached:
      return "warn";
    case Verdict::NotChecked:
      return "";
  }
  return "";
}

}  // namespace

std::string chip(std::string_view text, std::string_view kind) {
  return fmt::format("<span class=\"chip {}\">{}</span>", kind, escaped(text));
}

std::string tensor_tables(const Case& one) {
  std::string out;
  for (const Run& run : one.runs) {
    const Rows rows(run);
    if (rows.all().empty()) continue;
    const bool open = std::ranges::any_of(rows.all(), &Row::off);
    const bool compared = run.change || last_side(run).compiled;
    out += fmt::format("<details class=run{}><summary>{} {}</summary>{}</details>", open ? " open" : "",
                       escaped(title_of(run)), compared ? count_words(rows.all()) : "", table(run, rows.all()));
  }
  return out.empty() ? "" : "<h3>Outputs and gradients</h3>" + out;
}

std::string finding_table(const Case& one) {
  if (one.findings.empty()) return "";
  std::string out =
      "<h3>Findings</h3><div "
      "class=scroll><table><thead><tr><th>verdict</th><th>finding</th><th>place</th><th>why</th></tr></thead><tbody>";
  for (const FindingVerdict& finding : one.findings) {
    std::string why = finding.why;
    for (std::size_t i = 0; i < finding.runs.size(); ++i) why += (i == 0 ? " (" : ", ") + finding.runs[i];
    if (!finding.runs.empty()) why += ")";
    out += fmt::format(
        "<tr><td>{}</td><td><b>{}</b> {}<br><span class=quiet>{}</span></td><td "
        "class=name>{}:{}{}</td><td>{}</td></tr>",
        chip(name_of(finding.verdict), verdict_kind(finding.verdict)), escaped(finding.code), escaped(finding.name),
        escaped(finding.message), escaped(finding.file), finding.line, finding.after ? " (after)" : "", escaped(why));
  }
  return out + "</tbody></table></div>";
}

}  // namespace fullgraph::validator
