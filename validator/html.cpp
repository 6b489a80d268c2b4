// A result as one page: it needs nothing but itself, loads nothing, and reads as well without its script.
#include <fmt/format.h>

#include <algorithm>

#include "page/document.h"
#include "validator/html_parts.h"
#include "validator/report.h"

namespace fullgraph::embedded {
extern const std::string_view page_style;
extern const std::string_view page_script;
}  // namespace fullgraph::embedded

namespace fullgraph::validator {
namespace {

std::string counted(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

struct Verdicts {
  std::size_t problems = 0;
  std::size_t failures = 0;
  bool only_skipped = true;
};

Verdicts count(const ValidationResult& result) {
  Verdicts out;
  out.failures = result.errors.size();
  for (const Case& one : result.cases) {
    out.problems += problems_of(one).size();
    out.failures += has_failure(one) ? 1 : 0;
    out.only_skipped &= was_skipped(one);
  }
  return out;
}

std::string headline(const Verdicts& verdicts) {
  if (verdicts.failures != 0) return "<h1 class=\"verdict bad\">Could not be run to the end</h1>";
  if (verdicts.problems != 0) {
    return fmt::format("<h1 class=\"verdict bad\">{}</h1>", counted(verdicts.problems, "problem"));
  }
  if (verdicts.only_skipped) return "<h1 class=\"verdict none\">Nothing was run</h1>";
  return "<h1 class=verdict>All is well</h1>";
}

std::string page_header(const ValidationResult& result) {
  std::string about;
  const auto add = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) about += fmt::format("{}{} {}", about.empty() ? "" : " · ", what, escaped(value));
  };
  add("fullgraph", result.version);
  add("torch", result.torch);
  add("Python", result.python);
  std::string sides = fmt::format("<code>{}</code>", escaped(result.before));
  if (!result.after.empty()) sides += fmt::format(" → <code>{}</code>", escaped(result.after));
  std::string out = fmt::format("<header><div>{}<div>{}</div><div class=quiet>{}</div>", headline(count(result)),
                                result.before.empty() ? "" : sides, about);
  if (result.cases.size() > 1) {
    out += "<nav>";
    for (std::size_t i = 0; i < result.cases.size(); ++i) {
      const Case& one = result.cases[i];
      const bool bad = has_failure(one) || !problems_of(one).empty();
      out += fmt::format("<a href=\"#case{}\"><span class=\"verdict{}\">{}</span> {}</a>", i, bad ? " bad" : "",
                         bad ? "✗" : "✓", escaped(one.name));
    }
    out += "</nav>";
  }
  return out + "</div><button class=theme type=button>light / dark</button></header>";
}

std::string failure_text(const Failure& failure, std::string_view where) {
  std::string out =
      fmt::format("<div class=failure>{} {}{}", chip(name_of(failure.kind), "bad"), where, escaped(failure.message));
  if (!failure.stage.empty()) out += fmt::format(" <span class=quiet>({})</span>", escaped(failure.stage));
  if (!failure.where.empty()) out += fmt::format(" <code>{}</code>", escaped(failure.where));
  if (!failure.output.empty()) out += fmt::format("<pre>{}</pre>", escaped(failure.output));
  return out + "</div>";
}

// Failures, and what is to be known of runs, each said once.
std::string run_notes(const Case& one) {
  std::vector<std::string> failures;
  std::vector<std::string> notes;
  const auto add_once = [](std::vector<std::string>& list, std::string text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
  };
  for (const Run& run : one.runs) {
    for (const Side* side : {&run.before, run.after ? &*run.after : nullptr}) {
      if (side == nullptr) continue;
      const std::string where = fmt::format("{}{}: ", escaped(title_of(run)),
                                            !run.after            ? ""
                                            : side == &run.before ? ", before"
                                                                  : ", after");
      if (side->failure) add_once(failures, failure_text(*side->failure, where));
      if (!side->skipped.empty()) add_once(notes, where + "skipped, " + escaped(side->skipped));
      for (const std::string& note : side->notes) add_once(notes, where + escaped(note));
    }
  }
  for (const std::string& note : one.notes) add_once(notes, escaped(note));
  std::string out;
  for (const std::string& failure : failures) out += failure;
  if (notes.empty()) return out;
  out += "<ul class=notes>";
  for (const std::string& note : notes) out += "<li>" + note + "</li>";
  return out + "</ul>";
}

std::string case_section(const Case& one, std::size_t index) {
  const auto problems = problems_of(one);
  const bool failed = has_failure(one);
  const std::string verdict = failed              ? chip("not run to the end", "bad")
                              : !problems.empty() ? chip(counted(problems.size(), "problem"), "bad")
                              : was_skipped(one)  ? chip("skipped")
                                                  : chip("all is well", "good");
  std::string out =
      fmt::format("<section class=case id=case{}><header><h2>{}</h2>{}<span class=quiet>{}, {}{}</span></header>",
                  index, escaped(one.name), verdict, name_of(one.kind), escaped(one.device),
                  one.processes > 1 ? fmt::format(", {} processes", one.processes) : "");
  if (one.failure) out += failure_text(*one.failure, "");
  if (!problems.empty()) {
    out += "<ul class=problems>";
    for (const std::string& problem : problems) out += "<li>" + escaped(problem) + "</li>";
    out += "</ul>";
  }
  out += tiles(one) + run_notes(one) + charts(one) + call_tree(one) + finding_table(one) + tensor_tables(one);
  return out + "</section>";
}

}  // namespace

std::string render_html(const ValidationResult& result) {
  std::string out = page_header(result) + "<main>";
  for (const Error& error : result.errors) {
    const std::string place = error.where ? error.where->file + ": " : "";
    out += fmt::format("<div class=failure>{} {}</div>", chip("error", "bad"), escaped(place + error.message));
  }
  for (std::size_t i = 0; i < result.cases.size(); ++i) out += case_section(result.cases[i], i);
  out += fmt::format("</main><footer>Made by fullgraph {}.</footer>", escaped(result.version));
  return page::document({.title = (result.before.empty() ? "Result" : result.before) + " · fullgraph validate",
                         .style = embedded::page_style,
                         .body = out,
                         .scripts = {embedded::page_script}});
}

}  // namespace fullgraph::validator
