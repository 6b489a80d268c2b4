#include "analyzer/ir/source_map.h"

#include <algorithm>
#include <utility>

namespace fullgraph::ir {

void SourceMap::add(std::uint32_t offset, Origin origin) {
  if (origins_.empty() || origins_.back() != origin) origins_.push_back(std::move(origin));
  rows_.push_back({offset, static_cast<std::uint32_t>(origins_.size() - 1)});
}

void SourceMap::add_unknown(std::uint32_t offset) {
  rows_.push_back({offset, UINT32_MAX});
}

const Origin* SourceMap::at(std::uint32_t offset) const {
  const auto after = std::ranges::upper_bound(rows_, offset, {}, &Row::offset);
  if (after == rows_.begin()) return nullptr;
  const std::uint32_t origin = std::prev(after)->origin;
  return origin == UINT32_MAX ? nullptr : &origins_[origin];
}

}  // namespace fullgraph::ir
