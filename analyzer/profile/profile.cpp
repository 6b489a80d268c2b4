// Lookups in the compiled tables: by hash where the tracer asks all the time, else by binary search. Only the objects
// that stand for asked-for versions are made at run time, one for each.
#include "analyzer/profile/profile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "analyzer/profile/hash.h"

namespace fullgraph::profile {

namespace {

struct Alias {
  std::string_view name;
  std::string_view canonical;
};

struct Instance {
  std::string_view callable;
  std::string_view cls;
};

struct Option {
  std::string_view name;
  bool value;
};

struct Visible {
  std::string_view id;
  Visibility visibility;
};

// From version `since` on, to before version `until`; an empty end is open.
struct Fact {
  std::string_view feature;
  std::string_view since;
  std::string_view until;
};

}  // namespace

struct Data {
  std::string_view version;
  std::span<const Alias> aliases;
  std::span<const std::uint16_t> alias_slots;
  std::span<const GraphBreak> breaks;
  std::span<const Callable> callables;
  std::span<const std::uint16_t> callable_slots;
  std::span<const Option> options;
  std::span<const Instance> instances;
  std::span<const std::string_view> modules;
};

namespace {

#include "profile_tables.inc"

using Version = std::array<unsigned, 3>;

// "2.13.0+cpu", "2.14.0a0", "2.9" → the numbers in front; none when the text does not begin with one.
std::optional<Version> parse(std::string_view text) {
  Version version{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < version.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, version[i]);
    if (error != std::errc{}) return std::nullopt;
    at = next;
    if (at == end || *at != '.' || at + 1 == end || at[1] < '0' || at[1] > '9') break;
    ++at;
  }
  const std::string_view rest(at, static_cast<std::size_t>(end - at));
  const bool suffix = rest.empty() || rest.starts_with(".dev") || rest.starts_with(".post") ||
                      (std::string_view("+abr").contains(rest.front()) && rest.size() > 1);
  return suffix ? std::optional(version) : std::nullopt;
}

const Data& nearest(const Version& asked) {
  const Data* found = &profile_table[0];
  for (const Data& data : profile_table) {
    if (parse(data.version).value_or(Version{}) <= asked) found = &data;
  }
  return *found;
}

template <class Entry>
const Entry* search(std::span<const Entry> table, std::string_view key, std::string_view Entry::*column) {
  const auto at = std::ranges::lower_bound(table, key, {}, column);
  return at != table.end() && std::invoke(column, *at) == key ? &*at : nullptr;
}

template <class Entry>
const Entry* look_up(std::span<const Entry> table, std::span<const std::uint16_t> slots, std::string_view key) {
  const std::size_t mask = slots.size() - 1;
  for (std::size_t at = hash(key) & mask; slots[at] != 0; at = (at + 1) & mask) {
    const Entry& entry = table[slots[at] - 1];
    if (entry.name == key) return &entry;
  }
  return nullptr;
}

}  // namespace

Result<const Profile*> Profile::find(std::string_view version) {
  static std::mutex mutex;
  static std::map<Version, std::unique_ptr<const Profile>> made;
  const std::optional<Version> asked = parse(version);
  if (!asked) {
    return std::unexpected(
        Error{.kind = ErrorKind::Usage,
              .message = fmt::format("'{}' is not a version of torch, such as {}", version, versions().back()),
              .where = std::nullopt});
  }
  const std::scoped_lock lock(mutex);
  std::unique_ptr<const Profile>& profile = made[*asked];
  if (!profile) {
    const auto& [major, minor, patch] = *asked;
    profile.reset(new Profile(nearest(*asked), fmt::format("{}.{}.{}", major, minor, patch)));
  }
  return profile.get();
}

std::span<const std::string_view> Profile::versions() {
  static constexpr auto all = [] {
    std::array<std::string_view, std::size(profile_table)> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = profile_table[i].version;
    return out;
  }();
  return all;
}

const Callable* Profile::callable(std::string_view qualified_name) const {
  return look_up(data_->callables, data_->callable_slots, canonical(qualified_name));
}

std::string_view Profile::canonical(std::string_view qualified_name) const {
  const Alias* alias = look_up(data_->aliases, data_->alias_slots, qualified_name);
  return alias ? alias->canonical : qualified_name;
}

bool Profile::is_module_class(std::string_view qualified_name) const {
  return std::ranges::binary_search(data_->modules, qualified_name);
}

bool Profile::knows_package(std::string_view name) const {
  const std::string prefix = fmt::format("{}.", name);
  const auto at = std::ranges::lower_bound(data_->callables, std::string_view(prefix), {}, &Callable::name);
  return at != data_->callables.end() && at->name.starts_with(prefix);
}

std::string_view Profile::instance_class(std::string_view qualified_name) const {
  const Instance* found = search(data_->instances, qualified_name, &Instance::callable);
  return found ? found->cls : std::string_view();
}

const GraphBreak* Profile::graph_break(std::string_view id) const {
  return search(data_->breaks, id, &GraphBreak::id);
}

Visibility Profile::visibility(std::string_view id) {
  const Visible* found = search(std::span<const Visible>(visible_table), id, &Visible::id);
  return found ? found->visibility : Visibility::Unknown;
}

std::span<const GraphBreak> Profile::graph_breaks() const {
  return data_->breaks;
}

bool Profile::config(std::string_view option) const {
  const Option* found = search(data_->options, option, &Option::name);
  return found && found->value;
}

bool Profile::behaves(std::string_view feature) const {
  const Fact* fact = search(std::span<const Fact>(fact_table), feature, &Fact::feature);
  if (!fact) return false;
  const Version own = parse(version_).value_or(Version{});
  const auto since = parse(fact->since);
  const auto until = parse(fact->until);
  return (!since || own >= *since) && (!until || own < *until);
}

std::string graph_break_url(std::string_view id) {
  std::string page(id);
  std::ranges::transform(page, page.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return "https://meta-pytorch.github.io/compile-graph-break-site/gb/" + page + ".html";
}

}  // namespace fullgraph::profile
