#include "server/client_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/nearest.h"

namespace fullgraph::server {

namespace {

// "torchVersion" → "torch-version"
std::string with_dashes(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      out += '-';
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<cli::Names> names_of(const Json& list) {
  cli::Names out;
  for (const Json& item : list) {
    if (!item.is_string()) return std::nullopt;
    out.push_back(item.get<std::string>());
  }
  return out;
}

std::optional<cli::Value> value_of(const Json& json) {
  cli::Value out;
  if (json.is_boolean()) {
    out.boolean = json.get<bool>();
  } else if (json.is_string()) {
    out.text = json.get<std::string>();
  } else if (json.is_array()) {
    out.list = names_of(json);
    if (!out.list) return std::nullopt;
  } else if (json.is_object()) {
    for (const auto& [name, item] : json.items()) {
      if (item.is_string()) {
        out.texts.emplace_back(name, item.get<std::string>());
      } else if (auto list = item.is_array() ? names_of(item) : std::nullopt) {
        out.table.emplace_back(name, std::move(*list));
      } else {
        return std::nullopt;
      }
    }
  } else {
    return std::nullopt;
  }
  return out;
}

const cli::Key* key_of(std::string_view name) {
  const auto found = std::ranges::find(cli::keys(), name, &cli::Key::name);
  return found == cli::keys().end() ? nullptr : &*found;
}

// One of the server's own settings; false when the name is none of them.
bool take_own(ClientSettings& out, const std::string& name, const Json& value, std::vector<std::string>& told) {
  const auto wrong = [&](std::string_view wanted) { told.push_back(fmt::format("`{}` must be {}", name, wanted)); };
  const auto take = [&](bool& place) { value.is_boolean() ? void(place = value.get<bool>()) : wrong("true or false"); };
  if (name == "diagnostic-mode") {
    if (value == "openFilesOnly" || value == "workspace") {
      out.whole_workspace = value == "workspace";
    } else {
      wrong("openFilesOnly or workspace");
    }
  } else if (name == "fix-all") {
    take(out.fix_all);
  } else if (name == "suppression-actions") {
    take(out.suppressions);
  } else if (name == "jobs") {
    value.is_number_unsigned() && value <= 64 ? void(out.jobs = value.get<unsigned>()) : wrong("a number of threads");
  } else if (name == "configuration") {
    value.is_string() ? void(out.configuration = value.get<std::string>()) : wrong("a file");
  } else {
    return false;
  }
  return true;
}

}  // namespace

ClientSettings client_settings_of(const Json& given, std::vector<std::string>& told) {
  ClientSettings out;
  if (!given.is_object()) return out;
  for (const auto& [name, value] : given.items()) {
    if (value.is_null()) continue;
    const std::string key = with_dashes(name);
    if (take_own(out, key, value, told)) continue;
    if (key_of(key) != nullptr) {
      out.keys[key] = value;
      continue;
    }
    cli::Names known = {"diagnostic-mode", "fix-all", "suppression-actions", "jobs", "configuration"};
    for (const cli::Key& one : cli::keys()) known.emplace_back(one.name);
    told.push_back(fmt::format("`{}` is no setting{}", name, cli::suggestion(key, known)));
  }
  return out;
}

cli::CheckOptions check_options_of(const ClientSettings& settings, const std::string& root,
                                   std::vector<std::string>& told) {
  cli::CheckOptions out;
  out.paths = {root};
  out.quiet = 2;
  out.progress = false;
  out.jobs = settings.jobs != 0 ? settings.jobs : std::max(1u, std::thread::hardware_concurrency());
  if (settings.configuration) out.config_file = cli::absolute_path(*settings.configuration, root);
  for (const auto& [name, json] : settings.keys.items()) {
    auto value = value_of(json);
    const Result<void> done =
        value ? cli::set(out.flags, *key_of(name), std::move(*value), root)
              : std::unexpected(Error{ErrorKind::Configuration, "`" + name + "` has no such value", {}});
    if (!done) told.push_back(done.error().message);
  }
  return out;
}

}  // namespace fullgraph::server
