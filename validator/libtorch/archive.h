// What a file is, told by what it holds, and whether it is fit to be loaded at all.
#pragma once

#include <string>

namespace fullgraph::libtorch {

enum class ArchiveKind { TorchScript, ExportedProgram, AotInductor };

// Failure: cut, not an archive, of a kind that cannot be run (the message says which), or one that would unpack to far
// more than a model of its size holds.
ArchiveKind identify_archive(const std::string& path);

}  // namespace fullgraph::libtorch
