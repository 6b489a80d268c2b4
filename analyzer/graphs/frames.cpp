#include "analyzer/graphs/frames.h"

#include <array>
#include <charconv>
#include <optional>

#include "analyzer/graphs/lines.h"

namespace fullgraph::graphs {
namespace {

std::optional<std::uint32_t> number(std::string_view digits) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value == 0) return std::nullopt;
  return value;
}

// File "m.py", line 5, in forward
std::optional<ir::Origin> frame(std::string_view line) {
  constexpr std::string_view start = "File \"", before_line = "\", line ", before_name = ", in ";
  if (!line.starts_with(start)) return std::nullopt;
  const std::size_t name = line.rfind(before_name);
  if (name == std::string_view::npos) return std::nullopt;
  const std::size_t at = line.substr(0, name).rfind(before_line);
  if (at == std::string_view::npos || at < start.size()) return std::nullopt;
  const auto value = number(line.substr(at + before_line.size(), name - at - before_line.size()));
  if (!value) return std::nullopt;
  ir::Origin out;
  out.file = line.substr(start.size(), at - start.size());
  out.line = *value;
  out.function = line.substr(name + before_name.size());
  return out;
}

bool is_carets(std::string_view line) {
  return !line.empty() && line.find_first_not_of("^~ ") == std::string_view::npos;
}

}  // namespace

std::vector<ir::Origin> frames_of(std::string_view traceback) {
  std::vector<ir::Origin> out;
  bool code_may_follow = false;
  while (!traceback.empty()) {
    const std::string_view line = trimmed(next_line(traceback));
    if (auto found = frame(line)) {
      out.push_back(std::move(*found));
      code_may_follow = true;
    } else {
      if (code_may_follow && !is_carets(line)) out.back().code = line;
      code_may_follow = false;
    }
  }
  return out;
}

bool is_torch_source(std::string_view path) {
  constexpr std::array<std::string_view, 10> folders = {
      "site-packages/torch/", "dist-packages/torch/", "/torch/nn/", "/torch/utils/",  "/torch/autograd/",
      "/torch/_dynamo/",      "/torch/_functorch/",   "/torch/fx/", "/torch/export/", "/torch/_higher_order_ops/"};
  for (const std::string_view folder : folders) {
    if (path.find(folder) != std::string_view::npos) return true;
  }
  return false;
}

bool read_file_comment(std::string_view comment, ir::Origin& origin) {
  constexpr std::string_view file = "File: ", in = " in ", code = ", code: ";
  const std::size_t start = comment.find(file);
  if (start == std::string_view::npos) return false;
  comment.remove_prefix(start + file.size());
  const std::size_t at_code = comment.find(code);
  const std::string_view place = comment.substr(0, at_code);
  const std::size_t at_in = place.rfind(in);
  if (at_in == std::string_view::npos) return false;
  const std::size_t colon = place.substr(0, at_in).rfind(':');
  if (colon == std::string_view::npos) return false;
  const auto line = number(place.substr(colon + 1, at_in - colon - 1));
  if (!line) return false;
  origin = {};
  origin.file = place.substr(0, colon);
  origin.line = *line;
  origin.function = place.substr(at_in + in.size());
  if (at_code != std::string_view::npos) origin.code = trimmed(comment.substr(at_code + code.size()));
  return true;
}

}  // namespace fullgraph::graphs
