// From events to findings: each event goes to the rules that want its kind, and what several roots say about one place
// becomes one finding.
//
// A line of a layer is traced once for each model that uses it. Users want to hear of it once, with all the roots, and
// with the weakest condition: a break that one root reaches unconditionally is unconditional.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "rules/rule.h"

namespace fullgraph::rules {
namespace {

constexpr std::size_t kind_count = static_cast<std::size_t>(trace::EventKind::Count_);

Place place_of(const trace::Location& location) {
  return {.source = location.module == nullptr ? nullptr : location.module->source, .span = location.span};
}

// The first address under "## References": the page of a rule that is about no registry entry.
std::string reference_url(std::string_view documentation) {
  const std::size_t heading = documentation.find("## References");
  if (heading == std::string_view::npos) return {};
  const std::size_t begin = documentation.find("https://", heading);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = documentation.find_first_of(" \t\r\n)>`\"'", begin);
  return std::string(documentation.substr(begin, end == std::string_view::npos ? end : end - begin));
}

// Where a finding is, for sorting and for telling findings apart.
std::string_view path_of(const Diagnostic& diagnostic) {
  return diagnostic.place.source == nullptr ? std::string_view() : std::string_view(diagnostic.place.source->path());
}

auto order(const Diagnostic& d) {
  return std::make_tuple(path_of(d), d.place.span.begin, d.place.span.end, std::string_view(d.code));
}

bool same_place(const Diagnostic& a, const Diagnostic& b) {
  return a.code == b.code && a.place.span == b.place.span && path_of(a) == path_of(b);
}

// Ties between equally short texts are broken by content, so that the result does not depend on the roots' order.
bool weaker(const std::string& a, const std::string& b) {
  return std::make_pair(a.size(), a) < std::make_pair(b.size(), b);
}

bool shorter(const std::vector<PathStep>& a, const std::vector<PathStep>& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto key = [](const PathStep& step) {
      return std::make_tuple(
          step.place.source == nullptr ? std::string_view() : std::string_view(step.place.source->path()),
          step.place.span.begin, std::string_view(step.function));
    };
    if (key(a[i]) != key(b[i])) return key(a[i]) < key(b[i]);
  }
  return false;
}

// What is said for the same reason makes all of its edits: a flag goes from each class that has it. Where one of
// several findings has advice only, the edits would not be right for it.
void absorb_fixes(std::vector<Fix>& into, std::vector<Fix>&& other) {
  const auto applicable = [](const std::vector<Fix>& fixes) {
    return std::ranges::any_of(fixes, [](const Fix& fix) { return !fix.edits.empty(); });
  };
  if (other.empty() || (!into.empty() && !applicable(into))) return;
  if (into.empty() || !applicable(other)) {
    into = std::move(other);
    return;
  }
  for (Fix& fix : other) {
    const auto same = std::ranges::find(into, fix.message, &Fix::message);
    if (same == into.end()) continue;
    for (Edit& edit : fix.edits) {
      const bool known = std::ranges::any_of(same->edits, [&](const Edit& one) {
        return one.place.source == edit.place.source && one.place.span == edit.place.span && one.text == edit.text;
      });
      if (!known) same->edits.push_back(std::move(edit));
    }
  }
}

// Events of one root come one after the other.
void absorb_ways(std::vector<Way>& into, std::vector<Way>&& other) {
  for (Way& way : other) {
    if (into.empty() || into.back().root != way.root) {
      into.push_back(std::move(way));
    } else if (shorter(way.calls, into.back().calls)) {
      into.back() = std::move(way);
    }
  }
}

void absorb(Diagnostic& into, Diagnostic&& other) {
  into.severity = std::min(into.severity, other.severity);  // the enumerators go from strongest to weakest
  into.unusual = into.unusual && other.unusual;
  if (weaker(other.condition, into.condition)) into.condition = std::move(other.condition);
  absorb_ways(into.ways, std::move(other.ways));
  if (weaker(other.message, into.message)) into.message = std::move(other.message);
  if (into.gb_id.empty()) {
    into.gb_id = std::move(other.gb_id);
    if (!into.gb_id.empty()) into.url = std::move(other.url);
  }
  for (std::string& root : other.roots) into.roots.push_back(std::move(root));
  for (Related& related : other.related) {
    const auto known = std::ranges::any_of(into.related, [&](const Related& r) {
      return r.place.source == related.place.source && r.place.span == related.place.span &&
             r.message == related.message;
    });
    if (!known) into.related.push_back(std::move(related));
  }
  absorb_fixes(into.fixes, std::move(other.fixes));
}

void finish(Diagnostic& diagnostic) {
  std::erase(diagnostic.roots, std::string());
  std::ranges::sort(diagnostic.roots);
  diagnostic.roots.erase(std::ranges::unique(diagnostic.roots).begin(), diagnostic.roots.end());
  const auto shortest =
      std::ranges::min_element(diagnostic.ways, [](const Way& a, const Way& b) { return shorter(a.calls, b.calls); });
  if (shortest != diagnostic.ways.end()) diagnostic.path = shortest->calls;
  std::erase_if(diagnostic.ways, [](const Way& way) { return way.root.empty(); });
  std::ranges::sort(diagnostic.ways, [](const Way& a, const Way& b) {
    return a.root != b.root ? a.root < b.root : shorter(a.calls, b.calls);
  });
  const auto longer = std::ranges::unique(diagnostic.ways, {}, &Way::root);
  diagnostic.ways.erase(longer.begin(), longer.end());
  std::ranges::stable_sort(diagnostic.related, [](const Related& a, const Related& b) {
    const auto key = [](const Related& r) {
      return std::make_tuple(r.place.source == nullptr ? std::string_view() : std::string_view(r.place.source->path()),
                             r.place.span.begin, std::string_view(r.message));
    };
    return key(a) < key(b);
  });
}

}  // namespace

Diagnostic Context::diagnostic(const RuleInfo& info, const trace::Event& event) const {
  Diagnostic out;
  out.code = info.code;
  out.name = info.name;
  out.severity = info.severity == Severity::Error && !event.condition.empty() ? Severity::Warning : info.severity;
  // What the defaults of the constructors leave out breaks nothing for most users, who still may want to know.
  out.unusual = !event.unusual.empty();
  if (out.unusual) out.severity = std::max(out.severity, Severity::Info);
  out.place = place_of(event.where);
  out.function = event.function;
  out.condition = event.condition;
  if (!is_cxx(event)) out.gb_id = event.gb_id;
  out.url = out.gb_id.empty() ? reference_url(info.documentation) : profile::graph_break_url(out.gb_id);
  if (!event.root.empty()) out.roots.push_back(event.root);
  out.path.reserve(event.path.size());
  for (const trace::Call& call : event.path) out.path.push_back({place_of(call.where), call.function});
  out.related.reserve(event.related.size());
  for (const auto& related : event.related) out.related.push_back({place_of(related.where), related.message});
  return out;
}

namespace {

// A finding, and the first event that it was made from.
struct Raw {
  Diagnostic diagnostic;
  std::size_t event;
};

// Findings of one rule at one place, while they come in: thousands of roots may reach one line.
class Collected {
 public:
  void add(Diagnostic&& diagnostic, std::size_t event) {
    Key key{diagnostic.code, diagnostic.place.source.get(), diagnostic.place.span.begin, diagnostic.place.span.end};
    const auto [known, added] = places_.try_emplace(std::move(key), found_.size());
    if (added) {
      found_.push_back({std::move(diagnostic), event});
    } else {
      absorb(found_[known->second].diagnostic, std::move(diagnostic));
    }
  }
  std::vector<Raw> take() { return std::move(found_); }

 private:
  using Key = std::tuple<std::string, const void*, std::uint32_t, std::uint32_t>;
  std::map<Key, std::size_t> places_;
  std::vector<Raw> found_;
};

std::vector<Raw> raw_findings(std::span<const trace::Event> events, const profile::Profile& profile,
                              const std::function<bool(const trace::Event&)>& wanted) {
  static const auto rules_of = [] {
    std::array<std::vector<const Rule*>, kind_count> out;
    for (const Rule* rule : all_rules()) {
      for (const trace::EventKind kind : rule->events) out[static_cast<std::size_t>(kind)].push_back(rule);
    }
    return out;
  }();
  Collected collected;
  std::vector<Diagnostic> made;
  Context context(profile, made);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const trace::Event& event = events[i];
    if (!wanted(event)) continue;
    for (const Rule* rule : rules_of[static_cast<std::size_t>(event.kind)]) {
      if (!is_cxx(event) || rule->speaks_of_cxx) rule->check(event, rule->info, context);
    }
    for (Diagnostic& diagnostic : made) {
      // While findings come together, `path` is among the ways, so that none is copied.
      diagnostic.ways.push_back({event.root, std::move(diagnostic.path)});
      if (!event.unusual.empty()) diagnostic.message += "; by default it does not: `" + event.unusual + "` is false";
      collected.add(std::move(diagnostic), i);
    }
    made.clear();
  }
  return collected.take();
}

// Rules look at one event after the other and remember places only, so each thread takes the events of some places.
std::vector<std::vector<Raw>> raw_findings(std::span<const trace::Event> events, const profile::Profile& profile,
                                           unsigned threads) {
  constexpr std::size_t few = 1000;
  if (events.size() < few) threads = 1;
  std::vector<std::vector<Raw>> raw(threads);
  const auto judge_share = [&](unsigned share) {
    raw[share] = raw_findings(events, profile, [&](const trace::Event& event) {
      const std::size_t module = std::hash<const void*>{}(event.where.module) / sizeof(std::max_align_t);
      return (module + event.where.span.begin) % threads == share;
    });
  };
  std::vector<std::jthread> others;
  for (unsigned share = 1; share < threads; ++share) others.emplace_back(judge_share, share);
  judge_share(0);
  others.clear();
  return raw;
}

}  // namespace

std::vector<Diagnostic> judge(std::span<const trace::Event> events, const profile::Profile& profile, unsigned threads) {
  std::vector<std::vector<Raw>> raw = raw_findings(events, profile, std::max(threads, 1U));
  std::vector<Raw*> sorted;  // the findings themselves are large
  for (std::vector<Raw>& share : raw) {
    for (Raw& one : share) sorted.push_back(&one);
  }
  std::ranges::stable_sort(sorted, [](const Raw* a, const Raw* b) {
    const auto key_a = order(a->diagnostic), key_b = order(b->diagnostic);
    return key_a != key_b ? key_a < key_b : a->event < b->event;
  });
  std::vector<Diagnostic> out;
  for (Raw* one : sorted) {
    if (!out.empty() && same_place(out.back(), one->diagnostic)) {
      absorb(out.back(), std::move(one->diagnostic));
    } else {
      out.push_back(std::move(one->diagnostic));
    }
  }
  for (Diagnostic& diagnostic : out) finish(diagnostic);
  return out;
}

}  // namespace fullgraph::rules
