// The formats for people and for tools that read lines: full, concise, grouped, pylint.
#include <fmt/format.h>

#include <algorithm>

#include "reports/formats.h"
#include "reports/frame.h"
#include "reports/palette.h"
#include "reports/position.h"
#include "reports/width.h"

namespace fullgraph::reports {
namespace {

constexpr std::size_t most_roots = 3;  // named in a finding; the others are counted

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string location(const Place& place) {
  const Position p = position_of(place);
  return fmt::format("{}:{}:{}", printable(p.file), p.line, p.column);
}

std::string hyperlink(const std::string& url, const Style& style) {
  if (!style.hyperlinks) return url;
  return fmt::format("\x1b]8;;{}\x1b\\{}\x1b]8;;\x1b\\", url, url);
}

// One finding in the format "full".
class Section {
 public:
  Section(const Diagnostic& finding, const Style& style)
      : finding_(finding), style_(style), palette_(Palette::of(style.color)) {
    widen(finding.place, 2);
    for (const Related& related : finding.related) widen(related.place, 0);
  }

  std::string render() {
    header();
    source(finding_.place, 2, '^', palette_.severity(finding_.severity));
    if (!finding_.condition.empty()) note("when", palette_.bold, finding_.condition);
    path();
    if (!finding_.gb_id.empty()) {
      note("dynamo", palette_.bold,
           finding_.gb_id + (finding_.url.empty() ? "" : "  " + hyperlink(finding_.url, style_)));
    } else if (!finding_.url.empty()) {
      note("see", palette_.bold, hyperlink(finding_.url, style_));
    }
    fixes();
    for (const Related& related : finding_.related) {
      out_ += fmt::format("{}note{}: {}\n", palette_.info, palette_.reset, printable(related.message));
      source(related.place, 0, '-', palette_.info);
    }
    return std::move(out_);
  }

 private:
  void widen(const Place& place, unsigned context) {
    if (place.source != nullptr) gutter_ = std::max(gutter_, gutter_width(*place.source, place.span, context));
  }

  void header() {
    out_ += fmt::format("{0}{1}[{2}]{6}{3}{4}: {5}{3}\n", palette_.severity(finding_.severity),
                        severity_name(finding_.severity), finding_.code, palette_.reset, palette_.bold,
                        printable(finding_.message), fix_mark(finding_, style_));
  }

  void source(const Place& place, unsigned context, char mark, std::string_view emphasis) {
    if (place.source == nullptr) return;
    out_ += fmt::format("{}{:>{}}-->{} {}\n", palette_.gutter, "", gutter_, palette_.reset, location(place));
    if (place.source->text().empty()) return;
    out_ += frame(*place.source, place.span,
                  {.context = context, .gutter = gutter_, .mark = mark, .emphasis = emphasis}, palette_);
  }

  // "   = when: training"; further lines of the text stand under its first.
  void note(std::string_view title, std::string_view emphasis, std::string_view text) {
    std::string body;
    for (const char c : printable(text)) {
      body += c;
      if (c == '\n') body.append(gutter_ + 3 + title.size() + 2, ' ');
    }
    out_ += fmt::format("{}{:>{}} ={} {}{}{}: {}\n", palette_.gutter, "", gutter_, palette_.reset, emphasis, title,
                        palette_.reset, body);
  }

  void path() {
    if (finding_.roots.empty() && finding_.path.empty()) return;
    std::string text;
    for (std::size_t i = 0; i < finding_.roots.size() && i < most_roots; ++i) {
      text += fmt::format("{}`{}`", i == 0 ? "" : ", ", finding_.roots[i]);
    }
    if (finding_.roots.size() > most_roots) {
      text += fmt::format(" and {}", plural(finding_.roots.size() - most_roots, "more root"));
    }
    if (text.empty()) text = "the caller";
    if (finding_.path.empty()) return note("root", palette_.bold, text);
    note("root", palette_.bold, text + ", through");
    std::size_t place_width = 0, function_width = 0;
    for (const PathStep& step : finding_.path) {
      place_width = std::max<std::size_t>(place_width, display_width(location(step.place)));
      function_width = std::max<std::size_t>(function_width, display_width(step.function));
    }
    for (const PathStep& step : finding_.path) {
      const std::string where = location(step.place);
      out_ += fmt::format("{}{:>{}}  {}   {}{}", palette_.gutter, "", gutter_, palette_.reset, where,
                          std::string(place_width - display_width(where), ' '));
      out_ += fmt::format("  {}{}", step.function, std::string(function_width - display_width(step.function), ' '));
      if (step.place.source != nullptr) {
        out_ += fmt::format("  {}{}{}", palette_.dim, excerpt(*step.place.source, step.place.span, 60), palette_.reset);
      }
      out_ += '\n';
    }
  }

  void fixes() {
    for (const Fix& fix : finding_.fixes) {
      std::string text = fix.message;
      if (fix.applicability == Applicability::Unsafe) text += " (unsafe: changes behaviour)";
      note("help", palette_.help, text);
    }
  }

  const Diagnostic& finding_;
  const Style& style_;
  Palette palette_;
  unsigned gutter_ = 1;
  std::string out_;
};

std::string condition_suffix(const Diagnostic& finding) {
  return finding.condition.empty() ? std::string() : fmt::format(" (when {})", finding.condition);
}

}  // namespace

std::string render_full(const Report& report, const Style& style) {
  std::string out;
  for (const Diagnostic& finding : report.findings) {
    out += Section(finding, style).render();
    out += '\n';
  }
  if (style.summary) out += summary(report, style);
  return out;
}

std::string render_concise(const Report& report, const Style& style) {
  const Palette palette = Palette::of(style.color);
  std::string out;
  for (const Diagnostic& finding : report.findings) {
    const Position p = position_of(finding.place);
    out += fmt::format("{}{}{}:{}:{}: {}{}{}{} {}{}\n", palette.bold, printable(p.file), palette.reset, p.line,
                       p.column, palette.severity(finding.severity), finding.code, palette.reset,
                       fix_mark(finding, style), printable(finding.message), printable(condition_suffix(finding)));
  }
  if (style.summary) out += summary(report, style);
  return out;
}

std::string render_grouped(const Report& report, const Style& style) {
  const Palette palette = Palette::of(style.color);
  std::string out;
  for (std::size_t i = 0; i < report.findings.size();) {
    const std::string_view file = position_of(report.findings[i].place).file;
    std::size_t end = i;
    std::size_t width = 0;
    for (; end < report.findings.size() && position_of(report.findings[end].place).file == file; ++end) {
      const Position p = position_of(report.findings[end].place);
      width = std::max(width, fmt::format("{}:{}", p.line, p.column).size());
    }
    out += fmt::format("{}{}{}:\n", palette.bold, printable(file), palette.reset);
    for (; i < end; ++i) {
      const Diagnostic& finding = report.findings[i];
      const Position p = position_of(finding.place);
      out += fmt::format("  {:<{}}  {}{}{}{} {}{}\n", fmt::format("{}:{}", p.line, p.column), width,
                         palette.severity(finding.severity), finding.code, palette.reset, fix_mark(finding, style),
                         printable(finding.message), printable(condition_suffix(finding)));
    }
    out += '\n';
  }
  if (style.summary) out += summary(report, style);
  return out;
}

std::string render_pylint(const Report& report) {
  std::string out;
  for (const Diagnostic& finding : report.findings) {
    const Position p = position_of(finding.place);
    out += fmt::format("{}:{}: [{}] {}{}\n", printable(p.file), p.line, finding.code, printable(finding.message),
                       printable(condition_suffix(finding)));
  }
  return out;
}

}  // namespace fullgraph::reports
