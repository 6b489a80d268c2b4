// Python's `re` on constant strings: libraries choose losses, kernels and layers by patterns over class and module
// names. RE2 reads nearly all of Python's syntax and runs in linear time; a pattern that it rejects gives an unknown
// result.
#include <optional>

#include <re2/re2.h>

#include "analyzer/trace/interpreter.h"

namespace fullgraph::trace {

namespace {

std::optional<std::string_view> constant(Value value) {
  if (!value || value->kind != Kind::Str || !value->known) return std::nullopt;
  return as<StrObject>(value)->value;
}

struct Match {
  std::vector<re2::StringPiece> groups;  // the whole match first
};

std::optional<Match> match_from(const RE2& pattern, re2::StringPiece text, std::size_t from, RE2::Anchor anchor) {
  Match result;
  result.groups.resize(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1);
  if (!pattern.Match(text, from, text.size(), anchor, result.groups.data(), static_cast<int>(result.groups.size())))
    return std::nullopt;
  return result;
}

std::string_view text_of(re2::StringPiece piece) {
  return {piece.data(), piece.size()};
}

}  // namespace

Value Interpreter::call_regex(std::string_view name, const Arguments& arguments) {
  auto pattern_text = constant(arguments.get(0, "pattern"));
  auto text = constant(arguments.get(name == "sub" ? 2 : 1, "string"));
  constexpr std::size_t longest = 4096;
  bool plain = !arguments.more_positional && !arguments.more_keywords && !arguments.keyword("flags");
  if (!pattern_text || !text || !plain || text->size() > longest || pattern_text->size() > longest)
    return heap_.unknown;
  auto [place, fresh] = patterns_.try_emplace(std::string(*pattern_text));
  if (fresh)
    place->second =
        std::make_shared<const RE2>(re2::StringPiece(pattern_text->data(), pattern_text->size()), RE2::Quiet);
  const RE2& pattern = *place->second;
  if (!pattern.ok()) return heap_.unknown;
  re2::StringPiece subject(text->data(), text->size());

  if (name == "search" || name == "match" || name == "fullmatch") {
    RE2::Anchor anchor = name == "search" ? RE2::UNANCHORED : name == "match" ? RE2::ANCHOR_START : RE2::ANCHOR_BOTH;
    if (!match_from(pattern, subject, 0, anchor)) return heap_.none;
    auto* found = heap_.make<InstanceObject>(external_class("re.Match"));
    found->opaque = true;
    return found;
  }
  if (name == "findall") {
    std::vector<Value> found;
    std::size_t from = 0;
    while (from <= subject.size()) {
      auto match = match_from(pattern, subject, from, RE2::UNANCHORED);
      if (!match) break;
      const auto& groups = match->groups;
      if (groups.size() <= 2) {
        found.push_back(heap_.string(text_of(groups.back())));
      } else {
        std::vector<Value> parts;
        for (std::size_t i = 1; i < groups.size(); ++i) parts.push_back(heap_.string(text_of(groups[i])));
        found.push_back(heap_.sequence(Kind::Tuple, std::move(parts)));
      }
      auto end = static_cast<std::size_t>(groups[0].data() - subject.data()) + groups[0].size();
      from = groups[0].empty() ? end + 1 : end;
    }
    return heap_.sequence(Kind::List, std::move(found));
  }
  if (name == "sub") {
    auto replacement = constant(arguments.get(1, "repl"));
    if (!replacement || arguments.get(3, "count")) return heap_.typed(Kind::Str);
    std::string result(*text);
    std::string error;
    re2::StringPiece rewrite(replacement->data(), replacement->size());
    if (!pattern.CheckRewriteString(rewrite, &error)) return heap_.typed(Kind::Str);
    RE2::GlobalReplace(&result, pattern, rewrite);
    return heap_.string(result);
  }
  return heap_.unknown;
}

}  // namespace fullgraph::trace
