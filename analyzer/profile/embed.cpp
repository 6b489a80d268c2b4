// Build step: turns profiles/torch-<version>.tsv and profiles/version_facts.tsv and profiles/graph_breaks.tsv into
// constexpr tables, so that the program looks names up in its own read-only data and parses nothing when it starts. The
// tables of names are sorted; the two large ones get a hash index as well, since the tracer asks them about every name
// that leaves the program.
//
// embed OUTPUT FACTS VISIBILITIES PROFILE… ; a malformed or unsorted record stops the build with its place.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/profile/hash.h"

namespace {

using Fields = std::vector<std::string>;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", where.c_str(), what.c_str());
  std::exit(1);
}

std::vector<Fields> read(const std::string& path) {
  std::ifstream in(path);
  if (!in) fail(path, "cannot be read");
  std::vector<Fields> out;
  for (std::string line; std::getline(in, line);) {
    Fields fields(1);
    for (char c : line) {
      if (c == '\t')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    out.push_back(std::move(fields));
  }
  return out;
}

std::string literal(std::string_view text) {
  std::string out = "{\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\", " + std::to_string(text.size()) + "}";
}

// The spelling in the file and the enumerator in profile.h.
using Spelling = std::pair<std::string_view, std::string_view>;

constexpr std::array<Spelling, 5> treatments = {{{"unknown", "Unknown"},
                                                 {"in_graph", "InGraph"},
                                                 {"inlined", "Inlined"},
                                                 {"constant", "Constant"},
                                                 {"skipped", "Skipped"}}};
constexpr std::array<Spelling, 12> returns = {{{"unknown", "Unknown"},
                                               {"tensor", "Tensor"},
                                               {"tensors", "Tensors"},
                                               {"tensor_list", "TensorList"},
                                               {"bool", "Bool"},
                                               {"int", "Int"},
                                               {"float", "Float"},
                                               {"string", "String"},
                                               {"size", "Size"},
                                               {"dtype", "Dtype"},
                                               {"device", "Device"},
                                               {"none", "None"}}};

constexpr std::array<Spelling, 6> visibility_words = {{{"source", "Source"},
                                                       {"types", "Types"},
                                                       {"runtime", "Runtime"},
                                                       {"config", "Config"},
                                                       {"invalid", "Invalid"},
                                                       {"retired", "Retired"}}};

template <std::size_t Count>
std::optional<std::string_view> spelled(const std::array<Spelling, Count>& table, std::string_view word) {
  for (const Spelling& entry : table) {
    if (entry.first == word) return entry.second;
  }
  return std::nullopt;
}

std::string callable(const Fields& record, const std::string& where) {
  const auto treatment = spelled(treatments, record[2]);
  const auto result = spelled(returns, record[3]);
  if (!treatment || !result) fail(where, "a word that the program does not know");
  std::string flags;
  for (char letter : std::string_view("dsrv"))
    flags += record[4].find(letter) == std::string::npos ? "false, " : "true, ";
  return literal(record[1]) + ", Treatment::" + std::string(*treatment) + ", Returns::" + std::string(*result) + ", " +
         flags + literal(record[5]);
}

struct Table {
  std::string_view kind;
  std::string_view type;
  std::size_t fields;
  bool indexed;
};

constexpr std::array<Table, 6> tables = {{{"alias", "Alias", 3, true},
                                          {"break", "GraphBreak", 4, false},
                                          {"callable", "Callable", 6, true},
                                          {"config", "Option", 3, false},
                                          {"instance", "Instance", 3, false},
                                          {"module", "std::string_view", 2, false}}};

// Open addressing, at most half full: a slot holds the entry's place counted from 1, or 0.
std::string slots(const Table& table, const std::vector<std::string>& names) {
  const std::size_t size = std::bit_ceil(2 * names.size());
  if (names.size() > UINT16_MAX) fail(std::string(table.kind), "too many names for a slot of 16 bits");
  std::vector<std::size_t> places(size);
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t at = fullgraph::profile::hash(names[i]) % size;
    while (places[at] != 0) at = (at + 1) % size;
    places[at] = i + 1;
  }
  std::string out = "constexpr std::uint16_t " + std::string(table.kind) + "_slots[] = {";
  for (const std::size_t place : places) out += std::to_string(place) + ",";
  return out + "};\n";
}

std::string entry(const Table& table, const Fields& record, const std::string& where) {
  if (record.size() != table.fields) fail(where, "a record with the wrong number of fields");
  if (table.kind == "callable") return "{" + callable(record, where) + "}";
  if (table.kind == "config") return "{" + literal(record[1]) + ", " + (record[2] == "1" ? "true" : "false") + "}";
  if (table.kind == "module") return literal(record[1]);
  std::string out = "{" + literal(record[1]);
  for (std::size_t i = 2; i < record.size(); ++i) out += ", " + literal(record[i]);
  return out + "}";
}

std::string version_of(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  if (!stem.starts_with("torch-")) fail(path.string(), "not named torch-<version>.tsv");
  return stem.substr(6);
}

// One namespace of tables for each profile.
std::string profile(const std::string& path, std::size_t index) {
  const std::vector<Fields> records = read(path);
  std::string out = "namespace profile_" + std::to_string(index) + " {\n";
  for (const Table& table : tables) {
    std::string body;
    std::vector<std::string> names;
    for (std::size_t line = 0; line < records.size(); ++line) {
      const Fields& record = records[line];
      if (record[0] != table.kind) continue;
      const std::string where = path + ":" + std::to_string(line + 1);
      body += "  " + entry(table, record, where) + ",\n";
      if (!names.empty() && names.back() >= record[1]) fail(where, "not sorted, or twice");
      names.push_back(record[1]);
    }
    if (names.empty()) fail(path, "no record of the kind '" + std::string(table.kind) + "'");
    out += "constexpr " + std::string(table.type) + " " + std::string(table.kind) + "_table[] = {\n" + body + "};\n";
    if (table.indexed) out += slots(table, names);
  }
  return out + "}\n";
}

// Hands each record of a sorted file of `fields` fields to `row`, with the place for messages; comments are left out.
template <class Row>
void each_sorted(const std::string& path, std::size_t fields, const Row& row) {
  std::string before;
  std::size_t line = 0;
  for (const Fields& record : read(path)) {
    ++line;
    const std::string where = path + ":" + std::to_string(line);
    if (record[0].starts_with("#")) continue;
    if (record.size() != fields) fail(where, "a record with the wrong number of fields");
    if (before >= record[0]) fail(where, "not sorted, or twice");
    before = record[0];
    row(record, where);
  }
}

std::string facts(const std::string& path) {
  std::string out = "constexpr Fact fact_table[] = {\n";
  each_sorted(path, 4, [&](const Fields& record, const std::string&) {
    out += "  {" + literal(record[0]) + ", " + literal(record[1]) + ", " + literal(record[2]) + "},\n";
  });
  return out + "};\n";
}

std::string visibilities(const std::string& path) {
  std::string out = "constexpr Visible visible_table[] = {\n";
  each_sorted(path, 2, [&](const Fields& record, const std::string& where) {
    const auto word = spelled(visibility_words, record[1]);
    if (!word) fail(where, "a word that the program does not know");
    out += "  {" + literal(record[0]) + ", Visibility::" + std::string(*word) + "},\n";
  });
  return out + "};\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 4) fail("embed", "usage: embed OUTPUT FACTS VISIBILITIES PROFILE...");
  std::string out = "// Generated by analyzer/profile/embed.cpp; included in profile.cpp.\n" + facts(arguments[1]) +
                    visibilities(arguments[2]);
  std::string list;
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    out += profile(arguments[i], i);
    const std::string space = "profile_" + std::to_string(i) + "::";
    list += "  {" + literal(version_of(arguments[i]));
    for (const Table& table : tables) {
      list += ", " + space + std::string(table.kind) + "_table";
      if (table.indexed) list += ", " + space + std::string(table.kind) + "_slots";
    }
    list += "},\n";
  }
  out += "constexpr Data profile_table[] = {\n" + list + "};\n";
  std::ofstream file(arguments[0], std::ios::binary);
  file << out;
  file.close();
  if (!file) fail(arguments[0], "cannot be written");
  return 0;
}
