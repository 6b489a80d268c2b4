// All modules of a run. Linted files that matter on their own are parsed up front by several threads; what they import
// is parsed by whichever thread asks first, while the others go on: only the look-up in the table is under a lock,
// never the parsing.
#include "analyzer/python/program.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/python/parse.h"
#include "analyzer/python/search_path.h"

namespace fullgraph::python {

namespace fs = std::filesystem;

namespace {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

bool exists_as_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return (error ? fs::path(path) : absolute).lexically_normal().string();
}

// Below the working directory: relative to it.
std::string shown_path(const std::string& absolute) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return absolute;
  const fs::path relative = fs::path(absolute).lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." ? absolute : relative.string();
}

}  // namespace

ModuleName module_name_of(const std::string& path) {
  const fs::path file = fs::path(path).lexically_normal();
  ModuleName result;
  result.is_package = file.filename() == "__init__.py";
  fs::path folder = file.parent_path();
  if (!result.is_package) result.name = file.stem().string();
  while (result.is_package || exists_as_file(folder / "__init__.py")) {
    const std::string component = folder.filename().string();
    if (component.empty() || component == "." || component == "..") break;
    result.name = result.name.empty() ? component : component + "." + result.name;
    folder = folder.parent_path();
    if (!exists_as_file(folder / "__init__.py")) break;
  }
  if (result.name.empty()) result.name = file.stem().string();
  result.search_root = folder.empty() ? "." : folder.string();
  return result;
}

struct Program::Impl {
  // One module that was asked for; parsed by the first thread that needs it.
  struct Entry {
    std::once_flag once;
    std::shared_ptr<const ir::Module> module;
  };

  std::vector<std::string> given_roots;
  SearchPath search_path;
  std::unordered_set<std::string> opaque;
  std::vector<File> files;
  std::vector<std::once_flag> parsed;  // of each file
  TextMap<std::size_t> linted_names;   // indices of files
  std::unordered_map<std::string, std::size_t> linted_paths;
  std::shared_mutex mutex;
  TextMap<std::unique_ptr<Entry>> entries;  // null: opaque
  std::vector<std::string> asked;           // lately
  std::vector<TextMap<std::unique_ptr<Entry>>>
      retired;  // answers given out before the files or the opaque names changed

  bool is_opaque(std::string_view dotted) const {
    return opaque.contains(std::string(dotted.substr(0, dotted.find('.'))));
  }

  std::shared_ptr<const ir::Module> parse_found(const std::string& dotted) {
    const SearchPath::Location& location = search_path.locate(dotted);
    if (location.file.empty()) return nullptr;
    const std::string path = absolute_path(location.file);
    if (const auto same = linted_paths.find(path); same != linted_paths.end()) return linted_module(same->second);
    auto source = read_source(path, shown_path(path));
    if (!source) return nullptr;
    return parse(std::move(*source), dotted, location.kind == SearchPath::Kind::Package);
  }

  void load_file(std::size_t index, const Input& input, const Wanted& wanted) {
    File& file = files[index];
    if (input.module != nullptr) {
      std::call_once(parsed[index], [&] { file.module = input.module; });
      return;
    }
    auto source = input.text != nullptr ? make_source(*input.text, file.shown) : read_source(file.path, file.shown);
    if (!source) {
      file.readable = false;
      file.error = std::move(source.error());
    } else if (input.required || !wanted || wanted((*source)->text())) {
      std::call_once(parsed[index], [&] { parse_file(file, std::move(*source)); });
    }
  }

  static void parse_file(File& file, std::shared_ptr<const ir::SourceFile> source) {
    const ModuleName name = module_name_of(file.path);
    file.module = parse(std::move(source), name.name, name.is_package);
  }

  std::shared_ptr<const ir::Module> linted_module(std::size_t index) {
    File& file = files[index];
    std::call_once(parsed[index], [&] {
      if (auto source = read_source(file.path, file.shown)) parse_file(file, std::move(*source));
    });
    return file.module;
  }

  void register_files() {
    std::vector<std::string> roots;
    std::unordered_set<std::string> known;
    const auto add_root = [&](const std::string& root) {
      if (known.insert(root).second) roots.push_back(root);
    };
    linted_names.clear();
    linted_paths.clear();
    for (std::size_t index = 0; index < files.size(); ++index) {
      ModuleName name = module_name_of(files[index].path);
      if (files[index].module != nullptr) name.name = files[index].module->name;
      add_root(name.search_root);
      if (!files[index].readable) continue;
      linted_names.try_emplace(name.name, index);
      linted_paths.try_emplace(files[index].path, index);
    }
    for (const std::string& root : given_roots) add_root(absolute_path(root));
    search_path.set_roots(std::move(roots));
    forget_answers();
  }

  void forget_answers() {
    if (!entries.empty()) retired.push_back(std::exchange(entries, {}));
  }
};

Program::Program(std::vector<std::string> search_path) : impl_(std::make_unique<Impl>()) {
  impl_->given_roots = std::move(search_path);
  impl_->register_files();
}

Program::~Program() = default;

const std::vector<Program::File>& Program::load(const std::vector<Input>& inputs, unsigned jobs, const Wanted& wanted) {
  std::vector<File>& files = impl_->files;
  files.assign(inputs.size(), {});
  impl_->parsed = std::vector<std::once_flag>(inputs.size());
  // The biggest first, so that no thread is left with a big file at the end.
  std::vector<std::pair<std::uintmax_t, std::size_t>> order;
  order.reserve(inputs.size());
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const Input& input = inputs[index];
    files[index].path = absolute_path(input.path);
    files[index].shown = input.shown;
    std::error_code error;
    const std::uintmax_t size = input.module != nullptr ? 0
                                : input.text != nullptr ? input.text->size()
                                                        : fs::file_size(input.path, error);
    order.emplace_back(error ? 0 : size, index);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, &std::pair<std::uintmax_t, std::size_t>::first);

  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t at = next.fetch_add(1); at < order.size(); at = next.fetch_add(1)) {
      const std::size_t index = order[at].second;
      impl_->load_file(index, inputs[index], wanted);
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t count = std::min<std::size_t>(std::max(jobs, 1u), inputs.size());
    for (std::size_t index = 1; index < count; ++index) threads.emplace_back(work);
    work();
  }
  impl_->register_files();
  return files;
}

const std::vector<Program::File>& Program::files() const {
  return impl_->files;
}

bool Program::replace(const std::string& path, std::shared_ptr<const ir::Module> module) {
  const auto found = impl_->linted_paths.find(path);
  if (found == impl_->linted_paths.end()) return false;
  File& file = impl_->files[found->second];
  std::call_once(impl_->parsed[found->second], [] {});  // nobody parses what is on the disk any more
  const std::shared_ptr<const ir::Module> before = std::exchange(file.module, std::move(module));
  for (auto& [name, entry] : impl_->entries) {
    if (entry != nullptr && entry->module != nullptr && entry->module == before) entry->module = file.module;
  }
  return true;
}

const ir::Module* Program::find(std::string_view dotted) {
  Impl::Entry* entry = nullptr;
  {
    const std::shared_lock lock(impl_->mutex);
    if (const auto found = impl_->entries.find(dotted); found != impl_->entries.end()) {
      if (found->second == nullptr) return nullptr;
      entry = found->second.get();
    }
  }
  if (entry == nullptr) {
    const std::unique_lock lock(impl_->mutex);
    auto& place = impl_->entries.try_emplace(std::string(dotted)).first->second;
    if (impl_->is_opaque(dotted)) return nullptr;
    if (place == nullptr) place = std::make_unique<Impl::Entry>();
    entry = place.get();
  }
  std::call_once(entry->once, [&] {
    const auto linted = impl_->linted_names.find(dotted);
    entry->module = linted != impl_->linted_names.end() ? impl_->linted_module(linted->second)
                                                        : impl_->parse_found(std::string(dotted));
    const std::unique_lock lock(impl_->mutex);
    impl_->asked.emplace_back(dotted);
  });
  return entry->module.get();
}

void Program::set_opaque(std::vector<std::string> packages) {
  const std::unique_lock lock(impl_->mutex);
  impl_->opaque = {packages.begin(), packages.end()};
  impl_->forget_answers();
}

std::vector<std::string> Program::take_asked() {
  const std::unique_lock lock(impl_->mutex);
  return std::exchange(impl_->asked, {});
}

bool Program::is_package(std::string_view dotted) {
  if (impl_->is_opaque(dotted)) return false;
  const auto linted = impl_->linted_names.find(dotted);
  if (linted != impl_->linted_names.end() && impl_->files[linted->second].path.ends_with("/__init__.py")) return true;
  const SearchPath::Kind kind = impl_->search_path.locate(dotted).kind;
  return kind == SearchPath::Kind::Package || kind == SearchPath::Kind::Namespace;
}

bool Program::holds_below(std::string_view dotted) const {
  return std::ranges::any_of(impl_->linted_names, [&](const auto& entry) {
    return entry.first.size() > dotted.size() && entry.first.starts_with(dotted) && entry.first[dotted.size()] == '.';
  });
}

std::string Program::absolute_name(const ir::Module& from, std::string_view module, unsigned level) {
  if (level == 0) return std::string(module);
  std::string_view base = from.name;
  for (unsigned up = from.is_package ? 1 : 0; up < level; ++up) {
    const std::size_t dot = base.rfind('.');
    base = dot == std::string_view::npos ? std::string_view{} : base.substr(0, dot);
    if (base.empty()) return {};
  }
  std::string result(base);
  if (!module.empty()) result.append(1, '.').append(module);
  return result;
}

}  // namespace fullgraph::python
