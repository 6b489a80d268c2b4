// "Did you mean …": the known name that is nearest to a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fullgraph::cli {

// Edits (insertion, deletion, replacement, exchange of neighbours) from `a` to `b`.
unsigned distance(std::string_view a, std::string_view b);

// The nearest of `known`, unless it is so far that the guess would be silly. Ties: the first.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> known);

// ", did you mean `x`?" or nothing.
std::string suggestion(std::string_view name, std::span<const std::string> known);

}  // namespace fullgraph::cli
