// Translates the parser's symbol and field numbers by name, once.
#include "analyzer/python/grammar.h"

#include <array>
#include <string_view>
#include <unordered_map>

#include <tree_sitter/api.h>

extern "C" const TSLanguage* tree_sitter_python();

namespace fullgraph::python {
namespace {

constexpr std::size_t most_symbols = 512;
constexpr std::size_t most_fields = 64;

struct Tables {
  std::array<Kind, most_symbols> kinds{};
  std::array<Field, most_fields> fields{};

  Tables() {
#define FULLGRAPH_KIND(name, text) {text, Kind::name},
#define FULLGRAPH_FIELD(name, text) {text, Field::name},
    const std::unordered_map<std::string_view, Kind> nodes = {FULLGRAPH_PYTHON_NODES(FULLGRAPH_KIND)};
    const std::unordered_map<std::string_view, Kind> tokens = {FULLGRAPH_PYTHON_TOKENS(FULLGRAPH_KIND)};
    const std::unordered_map<std::string_view, Field> names = {FULLGRAPH_PYTHON_FIELDS(FULLGRAPH_FIELD)};
#undef FULLGRAPH_KIND
#undef FULLGRAPH_FIELD
    const TSLanguage* const language = tree_sitter_python();
    kinds.fill(Kind::Token);
    for (std::uint16_t symbol = 0; symbol < ts_language_symbol_count(language) && symbol < most_symbols; ++symbol) {
      const auto& known = ts_language_symbol_type(language, symbol) == TSSymbolTypeRegular ? nodes : tokens;
      const auto found = known.find(ts_language_symbol_name(language, symbol));
      if (found != known.end()) kinds[symbol] = found->second;
    }
    for (std::uint16_t field = 1; field <= ts_language_field_count(language) && field < most_fields; ++field) {
      const auto found = names.find(ts_language_field_name_for_id(language, field));
      if (found != names.end()) fields[field] = found->second;
    }
  }
};

const Tables& tables() {
  static const Tables instance;
  return instance;
}

}  // namespace

const TSLanguage* python_language() {
  return tree_sitter_python();
}

Kind kind_of_symbol(std::uint16_t symbol) {
  return symbol < most_symbols ? tables().kinds[symbol] : Kind::Error;
}

Field field_of_id(std::uint16_t field) {
  return field < most_fields ? tables().fields[field] : Field::None;
}

}  // namespace fullgraph::python
