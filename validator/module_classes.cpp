// Which classes of a C++ source are modules, found in its text: what is compiled is decided by the compiler, this only
// saves people from naming the one module that they mean.
#include <algorithm>
#include <cctype>

#include "validator/cxx_module.h"

namespace fullgraph::validator {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Comments and literals as blanks, so that nothing in them counts.
std::string without_comments(std::string_view text) {
  std::string out(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
    return std::min(to, out.size());
  };
  for (std::size_t i = 0; i < out.size();) {
    if (out.compare(i, 2, "//") == 0) {
      i = blank(i, out.find('\n', i));
    } else if (out.compare(i, 2, "/*") == 0) {
      const std::size_t end = out.find("*/", i + 2);
      i = blank(i, end == std::string::npos ? end : end + 2);
    } else if (out[i] == '"') {
      std::size_t end = i + 1;
      while (end < out.size() && out[end] != '"' && out[end] != '\n') end += out[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && is_word(text[i])) ++i;
    out.emplace_back(text.substr(begin, i - begin));
  }
  return out;
}

struct Found {
  std::string name;
  std::size_t begin = 0;  // of `struct`
  std::size_t end = 0;    // behind the body
};

std::size_t end_of_body(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i + 1;
  }
  return text.size();
}

// `struct Name : … Module …, … {`, where a base is Module or Cloneable<Name>.
std::vector<Found> classes_in(std::string_view text) {
  std::vector<Found> out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool boundary = at == 0 || !is_word(text[at - 1]);
    if (!boundary || (!text.substr(at).starts_with("struct ") && !text.substr(at).starts_with("class "))) continue;
    const std::size_t open = text.find_first_of("{;", at);
    if (open == std::string_view::npos || text[open] == ';') continue;
    const std::string_view head = text.substr(at, open - at);
    const std::size_t colon = head.find(" :");
    const std::size_t single = colon == std::string_view::npos ? head.find(':') : colon;
    if (single == std::string_view::npos) continue;
    auto name = words_of(head.substr(0, single));
    std::erase(name, "final");
    const auto bases = words_of(head.substr(single));
    const bool is_module =
        std::ranges::any_of(bases, [](const std::string& base) { return base == "Module" || base == "Cloneable"; });
    if (!is_module || name.size() < 2) continue;
    out.push_back({name.back(), at, end_of_body(text, open)});
  }
  return out;
}

}  // namespace

std::vector<ModuleClass> module_classes(std::string_view source) {
  const std::string text = without_comments(source);
  const std::vector<Found> found = classes_in(text);
  std::vector<ModuleClass> out;
  for (const Found& one : found) {
    // TORCH_MODULE(Net) makes Net out of NetImpl.
    std::string name = one.name;
    const std::string holder = name.ends_with("Impl") ? name.substr(0, name.size() - 4) : "";
    if (!holder.empty() && text.find("TORCH_MODULE(" + holder + ")") != std::string::npos) name = holder;
    bool used = false;
    for (const Found& other : found) {
      if (other.begin == one.begin) continue;
      const auto words = words_of(std::string_view(text).substr(other.begin, other.end - other.begin));
      used |= std::ranges::find(words, name) != words.end() || std::ranges::find(words, one.name) != words.end();
    }
    out.push_back({std::move(name), used});
  }
  return out;
}

}  // namespace fullgraph::validator
