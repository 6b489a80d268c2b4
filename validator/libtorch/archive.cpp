#include "validator/libtorch/archive.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "validator/libtorch/failure.h"

namespace fullgraph::libtorch {
namespace {

// Tensors are stored as they are; only code is compressed, to a fifth or so. What claims more than this is made to fill
// the memory.
constexpr std::uint64_t harmless_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t harmless_ratio = 16;

void check_size(caffe2::serialize::PyTorchStreamReader& reader, const std::vector<std::string>& records,
                std::uint64_t file_size) {
  std::uint64_t total = 0;
  for (const std::string& record : records) total += reader.getRecordSize(record);
  if (total > harmless_bytes && total / harmless_ratio > file_size)
    throw Failure(fmt::format("the archive has {} bytes and would unpack to {}; it was not loaded", file_size, total));
}

bool any_starts_with(const std::vector<std::string>& records, std::string_view prefix) {
  return std::ranges::any_of(records, [&](const std::string& record) { return record.starts_with(prefix); });
}

bool holds(const std::vector<std::string>& records, std::string_view name) {
  return std::ranges::find(records, name) != records.end();
}

// Until torch 2.7 exported programs had their members at the top, where libtorch's reader refuses them.
bool has_old_export_layout(const std::string& path) {
  constexpr std::streamoff directory = 1 << 20;  // the names stand at the end of the file
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  file.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(file.tellg()) - directory));
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.find("serialized_exported_program.json") != std::string::npos;
}

}  // namespace

ArchiveKind identify_archive(const std::string& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) throw Failure(error.message());
  std::vector<std::string> records;
  try {
    caffe2::serialize::PyTorchStreamReader reader(path);
    records = reader.getAllRecords();
    check_size(reader, records, size);
  } catch (const c10::Error&) {
    if (has_old_export_layout(path))
      throw Failure(
          "an exported program in the layout of torch 2.7 and older; load it in Python and save it again with "
          "`torch.export.save`");
    throw Failure("not an archive that torch saved, or only a part of one");
  }
  if (any_starts_with(records, "data/aotinductor/")) return ArchiveKind::AotInductor;
  if (any_starts_with(records, "models/")) return ArchiveKind::ExportedProgram;
  if (holds(records, "constants.pkl") && any_starts_with(records, "code/")) return ArchiveKind::TorchScript;
  if (holds(records, "data.pkl"))
    throw Failure(
        "saved with `torch.save`: values without code that could be run; save the model with "
        "`torch.jit.save` or `torch.export.save`, or name its Python sources with `--entry`");
  throw Failure("an archive that holds neither TorchScript nor an exported program");
}

}  // namespace fullgraph::libtorch
