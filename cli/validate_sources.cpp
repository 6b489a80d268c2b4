#include "cli/validate_sources.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "cli/files.h"
#include "cli/fix.h"
#include "validator/process.h"

namespace fullgraph::cli {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_below(const std::string& path, const std::string& folder) {
  return path.starts_with(folder == "/" ? folder : folder + "/");
}

Error bad_patch(const std::string& patch, const std::string& why) {
  return {ErrorKind::Usage, "the patch cannot be made: " + why, ErrorLocation{patch}};
}

// The files that must be there for a patch: those that it changes, deletes, renames or copies.
std::vector<std::string> changed_by(std::string_view patch) {
  std::vector<std::string> out;
  while (!patch.empty()) {
    std::string_view line = patch.substr(0, patch.find('\n'));
    patch.remove_prefix(std::min(patch.size(), line.size() + 1));
    for (const std::string_view head : {"--- a/", "rename from ", "copy from "}) {
      if (!line.starts_with(head)) continue;
      line.remove_prefix(head.size());
      out.emplace_back(line.substr(0, line.find_first_of("\t\r")));
      break;
    }
  }
  return out;
}

bool stays_inside(const fs::path& name) {
  return name.is_relative() && std::ranges::find(name, fs::path("..")) == name.end();
}

}  // namespace

Result<std::unique_ptr<Looked>> Looked::at(const Project& project, const std::vector<std::string>& files,
                                           const std::string& entry, bool whole) {
  std::unique_ptr<Looked> out(new Looked(project));
  out->options_ = project.options.check;
  out->options_.paths = files;
  out->settings_ = project.settings;
  out->settings_.entry.reset();
  if (!entry.empty()) out->settings_.entry = Names{entry};
  if (whole && !out->settings_.roots) out->settings_.roots = "modules";
  for (const std::string& file : files) {
    auto config = project.configs.find(fs::path(file).parent_path().string());
    if (!config) return std::unexpected(config.error());
    out->sources_.push_back({file, shown_path(file, project.working_directory), *config, true});
  }
  std::ranges::sort(out->sources_, {}, &SourcePath::path);
  out->analysis_ = std::make_unique<Analysis>(out->options_, project.working_directory, out->settings_, out->sources_,
                                              project.environment, out->progress_, out->timing_);
  out->found_ = out->analysis_->run({}, out->options_.jobs);
  out->findings = out->found_.list;
  return out;
}

std::string Looked::path_of(const std::string& shown) const {
  return absolute_path(shown, project_.working_directory);
}

Result<ChangedFiles> Looked::repaired(
    const std::function<std::vector<Diagnostic>(const std::vector<Diagnostic>&)>& wanted) {
  const FixTask task{options_, project_.working_directory, *analysis_, {}, wanted, project_.options.unsafe_fixes};
  Findings left = found_;
  auto outcome = repair(task, left);
  if (!outcome) return std::unexpected(outcome.error());
  ChangedFiles out;
  for (auto& [shown, text] : outcome->after) out[path_of(shown)] = std::move(text);
  return out;
}

std::string deepest(const std::vector<std::string>& folders, const std::string& path) {
  std::string out;
  for (const std::string& folder : folders) {
    if (is_below(path, folder) && folder.size() > out.size()) out = folder;
  }
  return out;
}

std::vector<std::string> import_roots(const Project& project) {
  std::vector<std::string> out;
  for (const std::string& folder :
       project.settings.src.value_or(Names{project.config.directory, project.config.directory + "/src"})) {
    std::error_code error;
    if (fs::is_directory(folder, error)) out.push_back(folder);
  }
  for (const std::string& folder : project.settings.python_path.value_or(Names{})) {
    std::error_code error;
    if (fs::is_directory(folder, error) && !fs::exists(folder + "/pyvenv.cfg", error)) out.push_back(folder);
  }
  return out;
}

Result<ChangedFiles> patched_files(const Project& project, const std::string& patch,
                                   const validator::TemporaryFolder& folder) {
  auto text = read_file(patch);
  if (!text) return std::unexpected(text.error());
  // The files that it names are copied, and git makes the change in the copies.
  const std::string place = folder.path() + "/patched";
  ChangedFiles out;
  for (const std::string& name : changed_by(*text)) {
    if (!stays_inside(name))
      return std::unexpected(bad_patch(patch, "`" + name + "` is outside of the working folder"));
    const std::string path = absolute_path(name, project.working_directory);
    auto original = read_file(path);
    if (!original) return std::unexpected(original.error());
    if (auto done = folder.write("patched/" + name, *original); !done) return std::unexpected(done.error());
    out[path] = std::nullopt;  // until it is seen that it is still there
  }
  std::error_code error;
  fs::create_directories(place, error);
  validator::Command command;
  command.arguments = {"git", "apply", "--whitespace=nowarn", patch};
  command.directory = place;
  command.unset = {"GIT_*"};
  command.set = {{"GIT_CEILING_DIRECTORIES", folder.path()}};
  const auto done = validator::run(command);
  if (!done) return std::unexpected(done.error());
  if (done->end != validator::End::Exited || done->status != 0)
    return std::unexpected(bad_patch(patch, done->output.substr(0, 400)));
  for (const auto& entry : fs::recursive_directory_iterator(place, error)) {
    if (entry.is_symlink()) return std::unexpected(bad_patch(patch, "it makes a link, which is not followed"));
    if (!entry.is_regular_file()) continue;
    auto changed = read_file(entry.path().string());
    if (!changed) return std::unexpected(changed.error());
    const std::string relative = entry.path().lexically_relative(place).string();
    out[absolute_path(relative, project.working_directory)] = std::move(*changed);
  }
  return out;
}

Result<validator::PythonSide> changed_side(const Project& project, const ChangedFiles& changed,
                                           const validator::TemporaryFolder& folder) {
  const std::vector<std::string> roots = import_roots(project);
  std::vector<std::string> all = roots;
  all.insert(all.end(), project.environment.packages.begin(), project.environment.packages.end());
  std::map<std::string, ChangedFiles> by_root;
  for (const auto& [path, text] : changed) {
    const std::string root = deepest(all, path);
    if (root.empty()) {
      return std::unexpected(Error{
          ErrorKind::Usage, "a changed file lies in no folder in which modules are looked for; name it with --src",
          ErrorLocation{path}});
    }
    by_root[root][path] = text;
    // A folder within another one ("." and "src") is also seen through the outer one.
    for (const std::string& outer : all) {
      if (outer != root && is_below(path, outer)) by_root[outer][path] = text;
    }
  }
  validator::PythonSide out{"after", {}, {}, {}};
  unsigned number = 0;
  const auto add = [&](const std::string& root, bool is_package_folder) -> Result<void> {
    const auto files = by_root.find(root);
    if (files == by_root.end()) {
      if (!is_package_folder) out.path.push_back(root);
      return {};
    }
    const std::string target = folder.path() + "/after-" + std::to_string(++number);
    if (auto done = make_shadow_tree(root, files->second, target, is_package_folder); !done) return done;
    out.path.push_back(target);
    return {};
  };
  for (const std::string& root : roots) {
    if (auto done = add(root, false); !done) return std::unexpected(done.error());
  }
  for (const std::string& root : project.environment.packages) {
    if (std::ranges::find(roots, root) != roots.end()) continue;
    if (auto done = add(root, true); !done) return std::unexpected(done.error());
  }
  for (const auto& entry : changed) out.replaced.push_back(entry.first);
  return out;
}

std::string entry_on(const validator::PythonSide& side, const std::string& entry,
                     const std::vector<std::string>& roots) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string::npos || !entry.substr(0, colon).ends_with(".py")) return entry;
  const std::string file = entry.substr(0, colon), root = deepest(roots, file);
  if (root.empty()) return entry;
  for (const std::string& folder : side.path) {
    const std::string there = folder + file.substr(root.size());
    if (is_file(there)) return there + entry.substr(colon);
  }
  return entry;
}

}  // namespace fullgraph::cli
