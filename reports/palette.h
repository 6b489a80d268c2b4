// The colours of the text formats. Without colour every member is empty, so that renderers never ask.
#pragma once

#include <string_view>

#include "rules/diagnostic.h"

namespace fullgraph::reports {

struct Palette {
  std::string_view error, warning, hazard, info;  // by severity
  std::string_view gutter;                        // line numbers, arrows, bars
  std::string_view bold, dim, help, reset;

  static constexpr Palette of(bool color) {
    if (!color) return {};
    return {.error = "\x1b[1;31m",
            .warning = "\x1b[1;33m",
            .hazard = "\x1b[1;35m",
            .info = "\x1b[1;36m",
            .gutter = "\x1b[1;34m",
            .bold = "\x1b[1m",
            .dim = "\x1b[2m",
            .help = "\x1b[1;32m",
            .reset = "\x1b[0m"};
  }

  [[nodiscard]] constexpr std::string_view severity(Severity severity) const {
    switch (severity) {
      case Severity::Error:
        return error;
      case Severity::Warning:
        return warning;
      case Severity::Hazard:
        return hazard;
      case Severity::Info:
        return info;
    }
    return error;
  }
};

}  // namespace fullgraph::reports
