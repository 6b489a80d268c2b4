// Python's path finder: a regular package or a module in the first folder that has one; failing that, all folders of
// that name together are a namespace package.
#include "analyzer/python/search_path.h"

#include <filesystem>
#include <mutex>

namespace fullgraph::python {

namespace fs = std::filesystem;

void SearchPath::set_roots(std::vector<std::string> roots) {
  roots_ = std::move(roots);
  locations_.clear();
}

const SearchPath::Location& SearchPath::locate(std::string_view dotted) {
  const std::string name(dotted);
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = locations_.find(name); found != locations_.end()) return found->second;
  }
  const std::unique_lock lock(mutex_);
  return locate_locked(name);
}

const SearchPath::Location& SearchPath::locate_locked(const std::string& dotted) {
  if (const auto found = locations_.find(dotted); found != locations_.end()) return found->second;
  const std::size_t dot = dotted.rfind('.');
  Location location;
  if (dot == std::string::npos) {
    location = find_in(roots_, dotted);
  } else {
    const Location& parent = locate_locked(dotted.substr(0, dot));
    if (!parent.folders.empty()) location = find_in(parent.folders, dotted.substr(dot + 1));
  }
  return locations_.emplace(dotted, std::move(location)).first->second;
}

SearchPath::Location SearchPath::find_in(const std::vector<std::string>& folders, const std::string& name) {
  Location namespace_package;
  if (name.empty() || name.find('/') != std::string::npos) return namespace_package;
  for (const std::string& folder : folders) {
    const Listing& here = listing(folder);
    const std::string path = (fs::path(folder) / name).string();
    const bool is_folder = here.folders.contains(name);
    if (is_folder && listing(path).files.contains("__init__.py")) {
      return {Kind::Package, (fs::path(path) / "__init__.py").string(), {path}};
    }
    if (here.files.contains(name + ".py")) return {Kind::File, path + ".py", {}};
    if (is_folder) {
      namespace_package.kind = Kind::Namespace;
      namespace_package.folders.push_back(path);
    }
  }
  return namespace_package;
}

const SearchPath::Listing& SearchPath::listing(const std::string& folder) {
  const auto [place, fresh] = listings_.try_emplace(folder);
  if (!fresh) return place->second;
  std::error_code error;
  fs::directory_iterator entries(folder.empty() ? "." : folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    auto& kind = entries->is_directory(ignored) ? place->second.folders : place->second.files;
    kind.insert(entries->path().filename().string());
  }
  return place->second;
}

}  // namespace fullgraph::python
