#include "cli/glob.h"

namespace fullgraph::cli {
namespace {

// Matches one "[...]" at the begin of `glob` against `c` and says how long it is; 0 when it is not closed.
std::size_t match_class(std::string_view glob, char c, bool& matched) {
  std::size_t i = 1;
  const bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < glob.size(); first = false) {
    if (glob[i] == ']' && !first) {
      matched = found != negated;
      return i + 1;
    }
    if (i + 2 < glob.size() && glob[i + 1] == '-' && glob[i + 2] != ']') {
      found = found || (glob[i] <= c && c <= glob[i + 2]);
      i += 3;
    } else {
      found = found || glob[i] == c;
      ++i;
    }
  }
  return 0;
}

bool match_braces(std::string_view glob, std::string_view text) {
  std::size_t depth = 0, close = std::string_view::npos;
  std::string alternatives;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '{') ++depth;
    if (glob[i] == '}' && --depth == 0) {
      close = i;
      break;
    }
  }
  if (close == std::string_view::npos)
    return !text.empty() && text[0] == '{' && glob_matches(glob.substr(1), text.substr(1));
  const std::string_view rest = glob.substr(close + 1);
  std::size_t begin = 1;
  depth = 0;
  for (std::size_t i = 1; i <= close; ++i) {
    if (glob[i] == '{') ++depth;
    const bool last = i == close;
    if (!last && glob[i] == '}') --depth;
    if ((glob[i] == ',' && depth == 0) || last) {
      if (glob_matches(std::string(glob.substr(begin, i - begin)).append(rest), text)) return true;
      begin = i + 1;
    }
  }
  return false;
}

}  // namespace

bool glob_matches(std::string_view glob, std::string_view text) {
  // Plain characters and single-character wildcards need no recursion; a star remembers where to try again.
  std::size_t star_glob = std::string_view::npos, star_text = 0;
  std::size_t g = 0, t = 0;
  const auto retry = [&]() {
    if (star_glob == std::string_view::npos || star_text >= text.size() || text[star_text] == '/') return false;
    t = ++star_text;
    g = star_glob;
    return true;
  };
  while (true) {
    if (g < glob.size()) {
      const char c = glob[g];
      if (glob.substr(g).starts_with("**")) {
        std::string_view rest = glob.substr(g + 2);
        const bool whole = rest.starts_with('/');
        if (whole && glob_matches(rest.substr(1), text.substr(t))) return true;
        for (std::size_t i = t; i <= text.size(); ++i) {
          if (glob_matches(rest, text.substr(i))) return true;
        }
        return false;
      }
      if (c == '{') {
        if (match_braces(glob.substr(g), text.substr(t))) return true;
        if (retry()) continue;
        return false;
      }
      if (c == '*') {
        star_glob = ++g;
        star_text = t;
        continue;
      }
      if (t < text.size()) {
        bool matched = false;
        if (c == '[') {
          const std::size_t length = text[t] == '/' ? 0 : match_class(glob.substr(g), text[t], matched);
          if (length != 0 && matched) {
            g += length;
            ++t;
            continue;
          }
          if (length == 0 && text[t] == '[') {
            ++g;
            ++t;
            continue;
          }
        } else if ((c == '?' && text[t] != '/') || c == text[t]) {
          ++g;
          ++t;
          continue;
        }
      }
    } else if (t == text.size()) {
      return true;
    }
    if (!retry()) return false;
  }
}

bool matches_path(const Pattern& pattern, std::string_view path) {
  std::string_view glob = pattern.glob;
  while (glob.size() > 1 && glob.ends_with('/')) glob.remove_suffix(1);
  if (glob.starts_with("./")) glob.remove_prefix(2);
  if (glob.find('/') == std::string_view::npos) {
    const std::size_t slash = path.rfind('/');
    if (glob_matches(glob, slash == std::string_view::npos ? path : path.substr(slash + 1))) return true;
  }
  if (glob.starts_with('/')) return glob_matches(glob, path);
  std::string_view base = pattern.base;
  while (base.ends_with('/')) base.remove_suffix(1);
  if (!path.starts_with(base) || path.size() <= base.size() || path[base.size()] != '/') return false;
  return glob_matches(glob, path.substr(base.size() + 1));
}

}  // namespace fullgraph::cli
