// Interned identifiers.
//
// Names are compared, hashed and stored millions of times while a program is lowered and traced, so every identifier
// becomes a 4-byte Symbol once. The table is process-wide, append-only and safe to use from several threads; each
// thread keeps a cache in front of it, so that lowering files in parallel hardly ever takes the lock.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace fullgraph::ir {

// An interned string. `Symbol{}` is the empty string and means "no name".
struct Symbol {
  std::uint32_t id = 0;

  // Interns `text`; equal texts give equal symbols in all threads.
  static Symbol intern(std::string_view text);

  // The text; valid for the life of the process.
  [[nodiscard]] std::string_view text() const;

  explicit operator bool() const { return id != 0; }
  friend bool operator==(Symbol, Symbol) = default;
  friend auto operator<=>(Symbol, Symbol) = default;
};
static_assert(sizeof(Symbol) == 4);

}  // namespace fullgraph::ir

template <>
struct std::hash<fullgraph::ir::Symbol> {
  std::size_t operator()(fullgraph::ir::Symbol symbol) const noexcept {
    return static_cast<std::size_t>(symbol.id) * 0x9E3779B97F4A7C15ull >> 7;
  }
};
