// The Python environment that the sources run in, found without running Python: its installed packages and its torch.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fullgraph::cli {

// The site-packages folders of a virtual environment or an installation prefix.
std::vector<std::string> site_packages_of(const std::string& prefix);

// The environment that holds for a project: VIRTUAL_ENV, CONDA_PREFIX, or .venv or venv in `directory` or a folder
// above.
std::optional<std::string> environment_of(const std::string& directory);

// "2.13.0" from the metadata of an installed torch in one of these folders.
std::optional<std::string> installed_torch(const std::vector<std::string>& search_path);

}  // namespace fullgraph::cli
