// A rough tokenizer: brackets, strings and comments. It may err on senseless input, since what it makes is used only
// when it parses with fewer errors than the original.
#include "analyzer/python/repair.h"

#include <algorithm>

namespace fullgraph::python {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
}

class Repair {
 public:
  explicit Repair(std::string_view text) : text_(text) { result_.text = text; }

  Repaired run() {
    while (at_ < text_.size()) step();
    return std::move(result_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '#') return comment();
    if (c == '"' || c == '\'') return string();
    if (c == '\n' || c == '\r') {
      if (depth_ > 0) result_.text[at_] = ' ';
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth_;
    } else if (c == ')' || c == ']' || c == '}') {
      depth_ = std::max(depth_ - 1, 0);
    } else if (c == '*' && is_lone_star() && starts_element()) {
      result_.text[at_] = '~';
    }
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f') last_ = at_;
    ++at_;
  }

  void comment() {
    const std::size_t end = std::min(text_.find_first_of("\r\n", at_), text_.size());
    result_.comments.push_back({static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(end)});
    if (depth_ > 0)
      std::fill(result_.text.begin() + static_cast<std::ptrdiff_t>(at_),
                result_.text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    at_ = end;
  }

  void string() {
    const char quote = text_[at_];
    const std::string_view rest = text_.substr(at_);
    const bool triple = rest.size() >= 3 && rest[1] == quote && rest[2] == quote;
    at_ += triple ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\') {
        ++at_;
      } else if (!triple && (c == quote || c == '\n')) {
        break;
      } else if (triple && c == quote && text_.substr(at_, 3) == std::string_view(rest.data(), 3)) {
        at_ += 2;
        break;
      }
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    at_ = std::min(at_, text_.size());
    last_ = at_ - 1;
  }

  // `*` and not `**` or `*=`, in front of something that the grammar does not take behind a star.
  bool is_lone_star() const {
    if (at_ > 0 && text_[at_ - 1] == '*') return false;
    const std::size_t next = text_.find_first_not_of(" \t", at_ + 1);
    return next != std::string_view::npos && std::string_view("([{\"'-~").find(text_[next]) != std::string_view::npos;
  }

  // Behind a comma, an assignment, `return`, `yield` or `in`.
  bool starts_element() const {
    if (last_ == std::string_view::npos) return false;
    const char before = text_[last_];
    if (before == ',') return depth_ == 0;
    if (before == '=')
      return depth_ == 0 && last_ > 0 && std::string_view("=!<>").find(text_[last_ - 1]) == std::string_view::npos;
    std::size_t begin = last_ + 1;
    while (begin > 0 && is_word(text_[begin - 1])) --begin;
    const std::string_view word = text_.substr(begin, last_ + 1 - begin);
    return word == "return" || word == "yield" || word == "in";
  }

  std::string_view text_;
  Repaired result_;
  std::size_t at_ = 0;
  std::size_t last_ = std::string_view::npos;  // the last byte of the token before
  int depth_ = 0;
};

}  // namespace

Repaired repair(std::string_view text) {
  return Repair(text).run();
}

}  // namespace fullgraph::python
