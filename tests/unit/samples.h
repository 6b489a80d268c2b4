// Small findings for the tests of reports, baseline and suppressions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/python/parse.h"
#include "rules/diagnostic.h"

namespace fullgraph::samples {

inline std::shared_ptr<const ir::SourceFile> source(std::string path, std::string text) {
  return std::make_shared<const ir::SourceFile>(std::move(path), std::move(text));
}

inline std::shared_ptr<const ir::Module> module(std::string text, std::string path = "m.py") {
  return python::parse(source(std::move(path), std::move(text)), "m", false);
}

// The place of the first `text` in `source`.
inline Place at(const std::shared_ptr<const ir::SourceFile>& file, std::string_view text) {
  const auto begin = static_cast<std::uint32_t>(file->text().find(text));
  return {file, {begin, begin + static_cast<std::uint32_t>(text.size())}};
}

inline Diagnostic finding(Place place, std::string code = "FG101", std::string message = "it breaks") {
  Diagnostic out;
  out.code = std::move(code);
  out.name = "a-rule";
  out.severity = Severity::Error;
  out.message = std::move(message);
  out.place = std::move(place);
  out.function = "Model.forward";
  return out;
}

}  // namespace fullgraph::samples
