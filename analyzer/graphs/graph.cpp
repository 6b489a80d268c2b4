// Which reader a file is for.
#include "analyzer/graphs/graph.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <sys/stat.h>

#include "analyzer/graphs/archive.h"
#include "analyzer/graphs/break_log.h"
#include "analyzer/graphs/exported_program.h"
#include "analyzer/graphs/fx_text.h"
#include "analyzer/graphs/pickled_module.h"
#include "analyzer/graphs/torchscript.h"
#include "analyzer/python/parse.h"

namespace fullgraph::graphs {
namespace {

constexpr std::string_view old_document = "serialized_exported_program.json";

// The first bytes of a file; fewer where it has no more or cannot be read.
std::string start_of(const std::string& path, std::size_t most) {
  std::string bytes(most, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

enum class Container { Archive, LegacySave, Text };

Container container_of(const std::string& path) {
  struct stat status {};
  // A pipe has no start that could be read twice.
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return Container::Text;
  const std::string start = start_of(path, 64);
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06")) return Container::Archive;
  return is_legacy_save(start) ? Container::LegacySave : Container::Text;
}

std::vector<std::string> documents_of(const Archive& archive) {
  if (archive.has(old_document)) return {std::string(old_document)};
  std::vector<std::string> out;
  for (std::string& name : archive.names_in("models/")) {
    if (name.ends_with(".json")) out.push_back(std::move(name));
  }
  return out;
}

Result<Format> format_of_archive(const Archive& archive) {
  if (!documents_of(archive).empty()) return Format::ExportedProgram;
  if (!archive.names_in("data/aotinductor/").empty()) return Format::CompiledPackage;
  if (archive.has("constants.pkl") && !archive.names_in("code/").empty()) return Format::TorchScript;
  if (archive.has("data.pkl")) return Format::PickledModule;
  return std::unexpected(archive.error("", ErrorKind::Syntax, "is an archive, but none that torch has written"));
}

Result<Format> format_of_text(std::string_view text, const std::string& shown) {
  if (is_structured_trace(text)) return Format::StructuredTrace;
  if (holds_graph_breaks(text)) return Format::GraphBreakLog;
  if (holds_fx_text(text)) return Format::FxText;
  // A run that broke no graph has written anything, or nothing.
  if (is_log_of_torch(text) || shown.ends_with(".log")) return Format::GraphBreakLog;
  return std::unexpected(
      Error{ErrorKind::Syntax, "holds neither a graph nor a log of graph breaks", ErrorLocation{.file = shown}});
}

Result<Graphs> read_exported_archive(const Archive& archive, const std::string& shown) {
  Graphs out;
  out.format = Format::ExportedProgram;
  for (const std::string& member : documents_of(archive)) {
    auto document = archive.read(member);
    if (!document) return std::unexpected(document.error());
    auto text = read_exported_program(*document, shown, member);
    if (!text) return std::unexpected(text.error());
    // Several models of one archive are modules of their own.
    if (!out.texts.empty()) text->module += "_" + std::to_string(out.texts.size());
    out.texts.push_back(std::move(*text));
  }
  return out;
}

Result<Graphs> read_archive(const std::string& path, const std::string& shown) {
  auto archive = Archive::open(path, shown);
  if (!archive) return std::unexpected(archive.error());
  const auto format = format_of_archive(*archive);
  if (!format) return std::unexpected(format.error());
  switch (*format) {
    case Format::ExportedProgram:
      return read_exported_archive(*archive, shown);
    case Format::TorchScript:
      return read_torchscript(*archive);
    case Format::PickledModule:
      return read_saved(*archive);
    default:
      break;
  }
  Graphs nothing;
  nothing.format = *format;
  return nothing;
}

Result<Graphs> read_text(const std::string& path, const std::string& shown) {
  const auto source = python::read_source(path, shown);
  if (!source) return std::unexpected(source.error());
  std::string_view text = (*source)->text();
  const auto format = format_of_text(text, shown);
  if (!format) return std::unexpected(format.error());
  std::string payloads;
  if (*format == Format::StructuredTrace) text = payloads = payloads_of(text);
  Graphs out = read_fx_text(text);
  out.format = *format;
  // What a log says of a break is more than what the graphs show.
  std::vector<RecordedBreak> said = read_graph_breaks(text);
  for (RecordedBreak& shown_by_graph : out.breaks) {
    const bool known = std::ranges::any_of(said, [&](const RecordedBreak& one) {
      return one.where.file == shown_by_graph.where.file && one.where.line == shown_by_graph.where.line;
    });
    if (!known) said.push_back(std::move(shown_by_graph));
  }
  out.breaks = std::move(said);
  return out;
}

}  // namespace

Result<Format> format_of(const std::string& path, const std::string& shown) {
  switch (container_of(path)) {
    case Container::LegacySave:
      return Format::PickledModule;
    case Container::Archive: {
      auto archive = Archive::open(path, shown);
      if (!archive) return std::unexpected(archive.error());
      return format_of_archive(*archive);
    }
    case Container::Text:
      break;
  }
  const auto source = python::read_source(path, shown);
  if (!source) return std::unexpected(source.error());
  return format_of_text((*source)->text(), shown);
}

Result<Graphs> read(const std::string& path, const std::string& shown) {
  constexpr std::size_t objects = std::size_t{64} << 20;  // they come first, the weights behind them
  switch (container_of(path)) {
    case Container::Archive:
      return read_archive(path, shown);
    case Container::LegacySave:
      return read_legacy_save(start_of(path, objects), shown);
    case Container::Text:
      break;
  }
  return read_text(path, shown);
}

bool is_log(Format format) {
  return format == Format::GraphBreakLog || format == Format::StructuredTrace;
}

std::string_view name_of(Format format) {
  switch (format) {
    case Format::ExportedProgram:
      return "an exported program";
    case Format::TorchScript:
      return "a TorchScript archive";
    case Format::PickledModule:
      return "a pickled module";
    case Format::StateDict:
      return "a state dict";
    case Format::CompiledPackage:
      return "an AOTInductor package";
    case Format::FxText:
      return "FX text";
    case Format::GraphBreakLog:
      return "a log of graph breaks";
    case Format::StructuredTrace:
      return "a structured trace";
  }
  return "";
}

std::string_view blind_spots_of(Format format) {
  switch (format) {
    case Format::ExportedProgram:
      return "torch.export keeps no requires_grad calls, no tensor hooks, no non-reentrant checkpoints and nothing "
             "that Python did beside the tensors; data-dependent branches it refused";
    case Format::TorchScript:
      return "TorchScript keeps no backward hooks and no checkpoints; a traced archive keeps only the operators of one "
             "run, without branches, calls of requires_grad_ or no_grad";
    case Format::PickledModule:
      return "a pickle keeps the objects and their hooks, and of the code only names; hooks on tensors are not kept";
    case Format::StateDict:
      return "holds tensors and no model";
    case Format::CompiledPackage:
      return "holds machine code; lint the exported program that it was made from";
    case Format::FxText:
      return "a graph shows what was recorded, not what ended the recording or happened beside it";
    case Format::GraphBreakLog:
    case Format::StructuredTrace:
      return "a log shows what this run reached, under its inputs and its mode";
  }
  return "";
}

}  // namespace fullgraph::graphs
