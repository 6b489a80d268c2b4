// The hash of names in the profile's tables: computed by the build step that lays the tables out and by the lookups
// that read them, so it may depend on nothing but the text (FNV-1a).
#pragma once

#include <cstdint>
#include <string_view>

namespace fullgraph::profile {

constexpr std::uint32_t hash(std::string_view text) {
  std::uint32_t value = 2166136261U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 16777619U;
  return value ^ value >> 15;
}

}  // namespace fullgraph::profile
