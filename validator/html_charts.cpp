// Large numbers and bars. A bar's colour says which side it is, and only that; its length is in proportion to the
// longest of its chart, so that runs can be compared as well as sides.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "validator/html_parts.h"

namespace fullgraph::validator {
namespace {

struct Value {
  double size = 0;
  std::optional<double> low, high;  // quartiles
};

using Measure = std::function<std::optional<Value>(const Side&)>;
using Words = std::function<std::string(double)>;

std::optional<Value> breaks_of(const Side& side) {
  if (!side.capture) return std::nullopt;
  return Value{static_cast<double>(side.capture->breaks.size()), {}, {}};
}

std::optional<Value> duration_of(const std::optional<Duration>& time) {
  if (!time) return std::nullopt;
  return Value{time->median, time->low, time->high};
}

std::optional<Value> memory_of(const Side& side) {
  if (!side.peak_memory) return std::nullopt;
  return Value{static_cast<double>(*side.peak_memory), {}, {}};
}

std::string count_words(double number) {
  return fmt::format("{:.0f}", number);
}

std::string percent(double before, double after) {
  if (before <= 0) return "";
  const double change = (after / before - 1) * 100;
  if (std::abs(change) < 0.5) return "±0 %";
  return fmt::format("{}{:.0f} %", change < 0 ? "−" : "+", std::abs(change));
}

std::string bar(const Value& value, double longest, bool after, const Words& words) {
  const auto share = [&](double number) { return longest <= 0 ? 0 : std::clamp(number / longest * 100, 0.0, 100.0); };
  std::string spread;
  if (value.low && value.high)
    spread = fmt::format("<span class=spread style=\"--low:{:.2f};--high:{:.2f}\"></span>", share(*value.low),
                         share(*value.high));
  const std::string body = value.size <= 0 ? ""
                                           : fmt::format("<span class=\"bar{}\" style=\"--size:{:.2f}\"></span>",
                                                         after ? " after" : "", share(value.size));
  return fmt::format("<div class=row><div class=track>{}{}</div><span class=value>{}</span></div>", body, spread,
                     escaped(words(value.size)));
}

std::string chart(const Case& one, std::string_view title, const Measure& measure, const Words& words) {
  double longest = 0;
  for (const Run& run : one.runs) {
    for (const Side* side : {&run.before, run.after ? &*run.after : nullptr}) {
      const auto value = side == nullptr ? std::nullopt : measure(*side);
      if (value) longest = std::max({longest, value->size, value->high.value_or(0)});
    }
  }
  std::string rows;
  for (const Run& run : one.runs) {
    const auto before = measure(run.before);
    const auto after = run.after ? measure(*run.after) : std::nullopt;
    if (!before && !after) continue;
    const std::string change = before && after ? percent(before->size, after->size) : "";
    rows += fmt::format("<div class=pair><div class=label><span>{}</span><span>{}</span></div>", escaped(title_of(run)),
                        change);
    if (before) rows += bar(*before, longest, !run.after, words);
    if (after) rows += bar(*after, longest, true, words);
    rows += "</div>";
  }
  if (rows.empty()) return "";
  return fmt::format("<figure class=chart><figcaption>{}</figcaption>{}</figure>", title, rows);
}

std::string tile(std::string_view label, const std::string& number, std::string_view kind) {
  return fmt::format("<div class=tile><b class=\"verdict {}\">{}</b><span class=label>{}</span></div>", kind, number,
                     label);
}

std::string from_to(const std::string& before, const std::string& after) {
  return fmt::format("<small>{} →</small> {}", escaped(before), escaped(after));
}

// The most of a number over all runs, of either side.
struct Most {
  std::optional<double> before, after;
};

Most most(const Case& one, const Measure& measure) {
  Most out;
  const auto raise = [](std::optional<double>& into, const std::optional<Value>& value) {
    if (value) into = std::max(into.value_or(0), value->size);
  };
  for (const Run& run : one.runs) {
    raise(out.before, measure(run.before));
    if (run.after) raise(out.after, measure(*run.after));
  }
  return out;
}

std::string number_tile(const Case& one, std::string_view label, const Measure& measure, const Words& words,
                        bool zero_is_good) {
  const Most found = most(one, measure);
  const std::optional<double> last = found.after ? found.after : found.before;
  if (!last) return "";
  const std::string_view kind = !zero_is_good ? "none" : *last == 0 ? "" : "bad";
  const bool pair = found.before && found.after;
  return tile(label, pair ? from_to(words(*found.before), words(*found.after)) : escaped(words(*last)), kind);
}

std::string gradient_tile(const Case& one) {
  std::size_t all = 0;
  std::size_t missing = 0;
  for (const Run& run : one.runs) {
    for (const Gradient& gradient : last_side(run).gradients) {
      ++all;
      missing += gradient.norm ? 0 : 1;
    }
  }
  if (all == 0) return "";
  if (missing == 0) return tile("every parameter gets its gradient", "✓", "");
  return tile("gradients are missing", fmt::format("{} <small>of {}</small>", missing, all), "bad");
}

}  // namespace

std::string time_words(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} µs", seconds * 1e6);
}

std::string memory_words(double bytes) {
  constexpr double mebibyte = 1 << 20;
  if (bytes >= 1024 * mebibyte) return fmt::format("{:.2f} GiB", bytes / mebibyte / 1024);
  return fmt::format("{:.0f} MiB", bytes / mebibyte);
}

std::string tiles(const Case& one) {
  const auto compiled = [](const Side& side) { return duration_of(side.compiled_time); };
  const auto eager = [](const Side& side) { return duration_of(side.eager_time); };
  const bool has_compiled = most(one, compiled).before || most(one, compiled).after;
  std::string out = number_tile(one, "graph breaks, most in a run", breaks_of, count_words, true);
  out += has_compiled ? number_tile(one, "compiled step, slowest run", compiled, time_words, false)
                      : number_tile(one, "step, slowest run", eager, time_words, false);
  out += number_tile(one, "peak memory", memory_of, memory_words, false);
  out += gradient_tile(one);
  return out.empty() ? "" : "<div class=tiles>" + out + "</div>";
}

std::string charts(const Case& one) {
  std::string out = chart(one, "Graph breaks", breaks_of, count_words);
  out += chart(
      one, "Latency, eager", [](const Side& side) { return duration_of(side.eager_time); }, time_words);
  out += chart(
      one, "Latency, compiled", [](const Side& side) { return duration_of(side.compiled_time); }, time_words);
  out += chart(one, "Peak memory", memory_of, memory_words);
  if (out.empty()) return "";
  const bool pair = std::ranges::any_of(one.runs, [](const Run& run) { return run.after.has_value(); });
  const std::string legend = pair ? "<p class=legend><span><i></i>before</span><span><i class=after></i>after</span>"
                                    "<span><i class=thin></i>half of the measurements</span></p>"
                                  : "<p class=legend><span><i class=thin></i>half of the measurements</span></p>";
  return "<h3>What it costs</h3>" + legend + "<div class=charts>" + out + "</div>";
}

}  // namespace fullgraph::validator
