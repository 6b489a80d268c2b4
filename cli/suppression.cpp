#include "cli/suppression.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "cli/nearest.h"
#include "rules/rule.h"

namespace fullgraph::cli {
namespace {

bool blank(char c) {
  return c == ' ' || c == '\t';
}

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && std::ranges::equal(text.substr(0, word.size()), word, {}, lower, lower);
}

// Codes in comments may be written in lower case.
std::string canonical(std::string_view text) {
  std::string upper;
  for (const char c : text) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper.starts_with("FG") || upper == "ALL" ? upper : std::string(text);
}

bool names_a_rule(std::string_view selector) {
  return std::ranges::any_of(rules::all_rules(),
                             [&](const rules::Rule* r) { return rules::matches(selector, r->info) != 0; });
}

// Reads the directives of one comment.
class Scanner {
 public:
  Scanner(std::string_view comment, std::uint32_t base) : text_(comment), base_(base) {}

  // Of a comment in C++: one at most, at its beginning.
  std::vector<Directive> scan_cxx() {
    at_ = 2;  // behind "//" or "/*"
    skip_blanks();
    Directive directive;
    if (!starts_with_word(text_.substr(at_), "NOLINT") ? !directive_at(directive) : !nolint(directive)) return {};
    directive.span = {base_, offset(text_.size())};
    return {std::move(directive)};
  }

  std::vector<Directive> scan() {
    std::vector<Directive> out;
    while (at_ < text_.size()) {
      const std::size_t hash = text_.find('#', at_);
      if (hash == std::string_view::npos) break;
      at_ = hash + 1;
      skip_blanks();
      Directive directive;
      if (!directive_at(directive)) continue;
      directive.span = {offset(hash), offset(at_)};
      out.push_back(std::move(directive));
    }
    // A reason reaches to the next directive, or to the end of the comment.
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i].kind == DirectiveKind::Noqa) continue;
      std::size_t end = text_.find('#', out[i].span.end - base_);
      if (end == std::string_view::npos) end = text_.size();
      while (end > out[i].span.end - base_ && blank(text_[end - 1])) --end;
      out[i].span.end = offset(end);
    }
    return out;
  }

 private:
  std::uint32_t offset(std::size_t at) const { return base_ + static_cast<std::uint32_t>(at); }

  void skip_blanks() {
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
  }

  bool take(std::string_view word) {
    if (!starts_with_word(text_.substr(at_), word)) return false;
    at_ += word.size();
    return true;
  }

  bool directive_at(Directive& out) {
    if (take("noqa")) return noqa(out, DirectiveKind::Noqa);
    if (!take("fullgraph")) return false;
    skip_blanks();
    if (!take(":")) return false;
    skip_blanks();
    if (take("noqa")) return noqa(out, DirectiveKind::IgnoreFile);
    struct Word {
      std::string_view text;
      DirectiveKind kind;
    };
    // Longer words first: "ignore" begins "ignore-file".
    constexpr std::array words = {Word{"ignore-file", DirectiveKind::IgnoreFile},
                                  Word{"file-ignore", DirectiveKind::IgnoreFile}, Word{"ignore", DirectiveKind::Ignore},
                                  Word{"disable", DirectiveKind::Disable}, Word{"enable", DirectiveKind::Enable}};
    for (const Word& word : words) {
      if (!take(word.text)) continue;
      if (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
        return false;
      out.kind = word.kind;
      return brackets(out);
    }
    return false;
  }

  // "[FG101, FG2]" or nothing. Brackets that are not closed make no directive: better none than one for all rules.
  bool brackets(Directive& out) {
    if (at_ >= text_.size() || text_[at_] != '[') return true;
    const std::size_t close = text_.find(']', at_);
    if (close == std::string_view::npos) return false;
    ++at_;
    while (at_ < close) {
      const std::size_t comma = std::min(text_.find(',', at_), close);
      std::size_t begin = at_, end = comma;
      while (begin < end && blank(text_[begin])) ++begin;
      while (end > begin && blank(text_[end - 1])) --end;
      if (begin < end) add_code(out, begin, end);
      at_ = comma + 1;
    }
    at_ = close + 1;
    return !out.codes.empty();
  }

  // "noqa" or "noqa: E501, FG101 the rest". With codes of other tools only it is no directive of ours.
  bool noqa(Directive& out, DirectiveKind kind) {
    out.kind = kind;
    if (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      return false;
    const std::size_t after_word = at_;
    skip_blanks();
    if (!take(":")) {
      at_ = after_word;
      return true;
    }
    bool any = false;
    std::size_t end = at_;
    while (true) {
      while (at_ < text_.size() && (blank(text_[at_]) || text_[at_] == ',')) ++at_;
      const std::size_t begin = at_;
      while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      const std::size_t digits = at_;
      while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      const bool code = digits > begin && at_ > digits &&
                        (at_ == text_.size() || std::isalnum(static_cast<unsigned char>(text_[at_])) == 0);
      if (!code) break;
      any = true;
      end = at_;
      if (starts_with_word(text_.substr(begin), "FG")) {
        add_code(out, begin, at_);
      } else {
        out.foreign = true;
      }
    }
    at_ = end;
    return !any || !out.codes.empty();
  }

  // "NOLINT(fullgraph-FG601, other-check) the reason", NOLINTNEXTLINE, NOLINTBEGIN and NOLINTEND, as clang-tidy has
  // them.
  bool nolint(Directive& out) {
    struct Word {
      std::string_view text;
      DirectiveKind kind;
    };
    constexpr std::array words = {Word{"NOLINTNEXTLINE", DirectiveKind::Ignore},
                                  Word{"NOLINTBEGIN", DirectiveKind::Disable}, Word{"NOLINTEND", DirectiveKind::Enable},
                                  Word{"NOLINT", DirectiveKind::Noqa}};
    const Word* const word = std::ranges::find_if(words, [&](const Word& one) { return take(one.text); });
    if (word == words.end() || at_ >= text_.size() || text_[at_] != '(') return false;  // for all tools: not ours
    out.kind = word->kind;
    constexpr std::string_view ours = "fullgraph-";
    const std::size_t close = text_.find(')', at_);
    if (close == std::string_view::npos) return false;
    while (at_ < close) {
      const std::size_t begin = at_ + 1;
      at_ = std::min(text_.find(',', begin), close);
      std::size_t name = begin;
      while (name < at_ && blank(text_[name])) ++name;
      std::size_t end = at_;
      while (end > name && blank(text_[end - 1])) --end;
      if (text_.substr(name, end - name).starts_with(ours)) {
        add_code(out, name + ours.size(), end);
      } else {
        out.foreign = true;
      }
    }
    return !out.codes.empty();
  }

  void add_code(Directive& out, std::size_t begin, std::size_t end) {
    DirectiveCode code{canonical(text_.substr(begin, end - begin)), {offset(begin), offset(end)}};
    code.known = names_a_rule(code.text);
    out.codes.push_back(std::move(code));
  }

  std::string_view text_;
  std::uint32_t base_;
  std::size_t at_ = 0;
};

// The lines of the simple statements and of the headers of compound ones.
struct Extent {
  unsigned first, last;
};

std::vector<Extent> extents_of(const ir::Module& module) {
  std::vector<Extent> out;
  out.reserve(module.stmts.size());
  for (const ir::Stmt& stmt : module.stmts) {
    const unsigned first = module.source->position(stmt.span.begin).line;
    const std::uint32_t end = std::max(stmt.header.end, stmt.span.begin);
    out.push_back({first, std::max(first, module.source->position(end).line)});
  }
  std::ranges::sort(out, [](const Extent& a, const Extent& b) {
    return std::make_pair(a.first, a.last) < std::make_pair(b.first, b.last);
  });
  return out;
}

// Is there nothing but blanks before the comment?
bool stands_alone(const ir::SourceFile& source, ir::Span comment) {
  std::string_view before = source.text().substr(0, comment.begin);
  before = before.substr(source.line_start(source.position(comment.begin).line));
  if (before.starts_with("\xEF\xBB\xBF")) before.remove_prefix(3);
  return before.find_first_not_of(" \t\f") == std::string_view::npos;
}

std::vector<Directive::Lines> lines_of_trailing(unsigned line, const std::vector<Extent>& extents) {
  unsigned first = line;
  for (const Extent& extent : extents) {
    if (extent.first > line) break;
    if (extent.last == line) first = std::min(first, extent.first);
  }
  return {{first, line}};
}

std::vector<Directive::Lines> lines_of_leading(unsigned line, const std::vector<Extent>& extents, unsigned line_count) {
  // Inside a statement that spans lines, the next line is meant; else the next statement.
  for (const Extent& extent : extents) {
    if (extent.first > line) return {{extent.first, extent.last}};
    if (extent.last > line) return {{std::min(line + 1, line_count), std::min(line + 1, line_count)}};
  }
  return {};
}

bool covers(const Directive& directive, const ir::SourceFile& source, ir::Span span) {
  const unsigned first = source.position(span.begin).line;
  const unsigned last = source.position(span.end).line;
  return std::ranges::any_of(directive.lines,
                             [&](const Directive::Lines& l) { return first <= l.last && l.first <= last; });
}

// Does the directive take in this rule? Gives the code that does, or null for a directive without codes.
bool takes_in(Directive& directive, const rules::RuleInfo& info, DirectiveCode*& by) {
  by = nullptr;
  if (directive.codes.empty()) return true;
  for (DirectiveCode& code : directive.codes) {
    if (rules::matches(code.text, info) == 0) continue;
    by = &code;
    return true;
  }
  return false;
}

// The lines from each `disable` to the `enable` of the same codes. An `enable` without codes ends them all.
void close_blocks(std::vector<Directive>& directives, const ir::SourceFile& source) {
  for (std::size_t i = 0; i < directives.size(); ++i) {
    Directive& begin = directives[i];
    if (begin.kind != DirectiveKind::Disable) continue;
    unsigned last = source.line_count();
    for (std::size_t j = i + 1; j < directives.size(); ++j) {
      const Directive& end = directives[j];
      if (end.kind != DirectiveKind::Enable) continue;
      const bool ends =
          end.codes.empty() || std::ranges::any_of(end.codes, [&](const DirectiveCode& code) {
            return std::ranges::any_of(begin.codes, [&](const DirectiveCode& mine) { return mine.text == code.text; });
          });
      if (!ends) continue;
      last = source.position(end.span.begin).line;
      break;
    }
    begin.lines = {{source.position(begin.span.begin).line, last}};
  }
}

Diagnostic about(const ir::Module& module, std::string_view code, ir::Span span, std::string message) {
  const rules::RuleInfo& info = rules::find_rule(code)->info;
  Diagnostic out;
  out.code = info.code;
  out.name = info.name;
  out.severity = info.severity;
  out.message = std::move(message);
  out.place = {module.source, span};
  return out;
}

// The whole directive goes, a reason included: with its line when nothing else is on it, else with the blanks before
// it. What follows in the same comment behind another '#' stays.
ir::Span removal_of(const ir::SourceFile& source, const Directive& directive) {
  const std::string_view text = source.text().substr(0, directive.comment.end);
  ir::Span out = directive.span;
  const std::size_t next = text.find('#', out.end);
  const bool first = out.begin == directive.comment.begin, last = next == std::string_view::npos;
  if (first && !last) return {out.begin, static_cast<std::uint32_t>(next)};
  if (last) out.end = directive.comment.end;
  while (out.begin > 0 && blank(text[out.begin - 1])) --out.begin;
  if (directive.own_line && first) out.end = source.line_start(source.position(out.end).line + 1);
  return out;
}

// One code goes, with the comma that follows or precedes it.
ir::Span removal_of(const ir::SourceFile& source, const Directive& directive, std::size_t index) {
  const auto& codes = directive.codes;
  if (index + 1 < codes.size()) return {codes[index].span.begin, codes[index + 1].span.begin};
  (void)source;
  return {codes[index - 1].span.end, codes[index].span.end};
}

Fix removal_fix(const ir::Module& module, ir::Span span, std::string message) {
  return {Applicability::Safe, std::move(message), {{{module.source, span}, ""}}};
}

class DirectiveJudge {
 public:
  DirectiveJudge(const ir::Module& module, const std::function<bool(std::string_view)>& enabled)
      : module_(module), enabled_(enabled) {}

  void judge(const Directive& directive) {
    for (const DirectiveCode& code : directive.codes) {
      if (!code.known && enabled_("FG903")) unknown(code);
    }
    if (directive.kind == DirectiveKind::Enable || !enabled_("FG901")) return;
    if (directive.codes.empty()) {
      // A plain `noqa` may be another tool's.
      if (!directive.used && directive.kind != DirectiveKind::Noqa) unused(directive);
      return;
    }
    const auto idle = [&](const DirectiveCode& code) { return code.known && !code.used && matters(code.text); };
    const std::size_t count = static_cast<std::size_t>(std::ranges::count_if(directive.codes, idle));
    if (count == directive.codes.size() && !directive.foreign) return unused(directive);
    for (std::size_t i = 0; i < directive.codes.size(); ++i) {
      if (idle(directive.codes[i])) unused(directive, i);
    }
  }

  std::vector<Diagnostic> take() { return std::move(out_); }

 private:
  // Could the selector have suppressed anything in this run?
  bool matters(const std::string& selector) const {
    bool any = false;
    for (const rules::Rule* rule : rules::all_rules()) {
      if (rules::matches(selector, rule->info) == 0) continue;
      if (rule->info.code == "FG901" || rule->info.code == "FG903") return false;
      any = any || enabled_(rule->info.code);
    }
    return any;
  }

  void unknown(const DirectiveCode& code) {
    Names known;
    for (const rules::Rule* rule : rules::all_rules()) {
      known.emplace_back(rule->info.code);
      known.emplace_back(rule->info.name);
    }
    out_.push_back(
        about(module_, "FG903", code.span, "no rule is called `" + code.text + "`" + suggestion(code.text, known)));
  }

  void unused(const Directive& directive) {
    Diagnostic finding = about(module_, "FG901", directive.span, "this comment suppresses nothing");
    finding.fixes.push_back(removal_fix(module_, removal_of(*module_.source, directive), "remove the comment"));
    out_.push_back(std::move(finding));
  }

  void unused(const Directive& directive, std::size_t index) {
    const DirectiveCode& code = directive.codes[index];
    Diagnostic finding = about(module_, "FG901", code.span, "`" + code.text + "` suppresses nothing here");
    // A comment shared with another tool is never rewritten.
    if (!directive.foreign && directive.codes.size() > 1) {
      finding.fixes.push_back(removal_fix(module_, removal_of(*module_.source, directive, index), "remove the code"));
    }
    out_.push_back(std::move(finding));
  }

  using Names = std::vector<std::string>;
  const ir::Module& module_;
  const std::function<bool(std::string_view)>& enabled_;
  std::vector<Diagnostic> out_;
};

}  // namespace

bool may_direct(std::string_view text) {
  return text.contains("fullgraph") || text.contains("FG");
}

std::vector<Directive> directives_of(const ir::Module& module) {
  std::vector<Directive> out;
  std::vector<Extent> extents;
  for (const ir::Span comment : module.comments) {
    const std::string_view text = module.source->text(comment);
    const bool cxx = module.recording == ir::Recording::Cxx;
    Scanner scanner(text, comment.begin);
    std::vector<Directive> found = cxx ? scanner.scan_cxx() : scanner.scan();
    if (found.empty()) continue;
    if (extents.empty()) extents = extents_of(module);
    const unsigned line = module.source->position(comment.begin).line;
    const bool alone = stands_alone(*module.source, comment);
    for (Directive& directive : found) {
      directive.comment = comment;
      directive.own_line = alone;
      switch (directive.kind) {
        case DirectiveKind::Ignore:
          // Of C++ nothing is known but lines.
          directive.lines = cxx && alone ? std::vector<Directive::Lines>{{line + 1, line + 1}}
                            : alone      ? lines_of_leading(line, extents, module.source->line_count())
                                         : lines_of_trailing(line, extents);
          break;
        case DirectiveKind::Noqa:
          directive.lines = lines_of_trailing(line, extents);
          break;
        case DirectiveKind::IgnoreFile:
          directive.lines = {{1, module.source->line_count()}};
          break;
        case DirectiveKind::Disable:
        case DirectiveKind::Enable:
          break;
      }
      out.push_back(std::move(directive));
    }
  }
  close_blocks(out, *module.source);
  return out;
}

std::vector<Diagnostic> suppress(const ir::Module& module, std::vector<Directive>& directives,
                                 std::vector<Diagnostic> findings) {
  std::vector<Diagnostic> out;
  for (Diagnostic& finding : findings) {
    const rules::Rule* rule = rules::find_rule(finding.code);
    bool suppressed = false;
    // Every directive that would have done counts as used: which of two is the superfluous one is not ours to say.
    for (Directive& directive : directives) {
      DirectiveCode* by = nullptr;
      if (directive.kind == DirectiveKind::Enable || rule == nullptr ||
          !covers(directive, *module.source, finding.place.span) || !takes_in(directive, rule->info, by)) {
        continue;
      }
      suppressed = true;
      (by == nullptr ? directive.used : by->used) = true;
    }
    if (!suppressed) out.push_back(std::move(finding));
  }
  return out;
}

std::vector<Diagnostic> judge_directives(const ir::Module& module, const std::vector<Directive>& directives,
                                         const std::function<bool(std::string_view code)>& enabled) {
  DirectiveJudge judge(module, enabled);
  for (const Directive& directive : directives) judge.judge(directive);
  return judge.take();
}

}  // namespace fullgraph::cli
