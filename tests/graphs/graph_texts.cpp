// What the readers of recorded graphs make of a file, as JSON for the Python tests: graph_texts FILE. Exit code 2 and
// the message when it is refused.
#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/graphs/archive.h"
#include "analyzer/graphs/pickled_module.h"
#include "analyzer/graphs/torchscript.h"

namespace {

using namespace fullgraph;
using namespace fullgraph::graphs;
using Json = nlohmann::json;

Json to_json(const ir::Origin& origin) {
  return {{"file", origin.file},
          {"line", origin.line},
          {"column", origin.column},
          {"function", origin.function},
          {"code", origin.code}};
}

// Where each stretch of the text begins that has one origin; null: none is known.
Json to_json(const ir::SourceMap& map, std::size_t size) {
  Json rows = Json::array();
  const ir::Origin* current = nullptr;
  for (std::uint32_t offset = 0; offset <= size; ++offset) {
    const ir::Origin* const origin = map.at(offset);
    if (origin != current) rows.push_back({offset, origin == nullptr ? Json(nullptr) : to_json(*origin)});
    current = origin;
  }
  return rows;
}

Json to_json(const Graphs& graphs) {
  Json texts = Json::array();
  for (const Text& text : graphs.texts)
    texts.push_back({{"module", text.module},
                     {"member", text.member},
                     {"text", text.text},
                     {"map", to_json(text.map, text.text.size())}});
  Json breaks = Json::array();
  for (const RecordedBreak& one : graphs.breaks) {
    Json stack = Json::array();
    for (const ir::Origin& frame : one.stack) stack.push_back(to_json(frame));
    breaks.push_back({{"where", to_json(one.where)}, {"id", one.gb_id}, {"reason", one.reason}, {"stack", stack}});
  }
  return {{"format", static_cast<int>(graphs.format)}, {"entry", graphs.entry}, {"texts", texts}, {"breaks", breaks}};
}

Result<Graphs> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(64, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (is_legacy_save(head)) {
    file.clear();
    file.seekg(0);
    return read_legacy_save({std::istreambuf_iterator<char>(file), {}}, path);
  }
  const auto archive = Archive::open(path, path);
  if (!archive) return std::unexpected(archive.error());
  return archive->names_in("code/").empty() ? read_saved(*archive) : read_torchscript(*archive);
}

// The most memory that was in use. From /proc, since getrusage counts what the parent had when it forked.
long peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  return 0;
}

}  // namespace

int main(int, char** arguments) {
  const auto graphs = read_file(arguments[1]);
  const long peak = peak_kib();
  if (!graphs) {
    fmt::print(stderr, "{}\n", graphs.error().message);
    fmt::print("{}\n", Json{{"peak_kib", peak}}.dump());
    return 2;
  }
  Json out = to_json(*graphs);
  out["peak_kib"] = peak;
  fmt::print("{}\n", out.dump(-1, ' ', false, Json::error_handler_t::replace));
  return 0;
}
