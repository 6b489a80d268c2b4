// The commands that only look something up.
#include "cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "analyzer/graphs/graph.h"
#include "analyzer/profile/profile.h"
#include "analyzer/python/parse.h"
#include "analyzer/python/program.h"
#include "cli/analysis.h"
#include "cli/cxx_sources.h"
#include "cli/discovery.h"
#include "cli/nearest.h"
#include "cli/recordings.h"
#include "reports/report.h"
#include "rules/rule.h"

namespace fullgraph::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (space != 0) out.emplace_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

std::string_view availability_name(rules::FixAvailability availability) {
  switch (availability) {
    case rules::FixAvailability::None:
      return "none";
    case rules::FixAvailability::Sometimes:
      return "sometimes";
    case rules::FixAvailability::Always:
      return "always";
  }
  return "none";
}

Json rule_json(const rules::RuleInfo& info) {
  return {{"code", info.code},
          {"name", info.name},
          {"summary", info.summary},
          {"severity", reports::severity_name(info.severity)},
          {"gb_ids", words(info.gb_ids)},
          {"fix", availability_name(info.fix)},
          {"since", info.since},
          {"documentation", info.documentation}};
}

std::string rule_text(const rules::RuleInfo& info) {
  std::string out =
      fmt::format("# {} ({})\n\n{}.\n\nSeverity: {}. Fix: {}. Since {}.\n", info.name, info.code, info.summary,
                  reports::severity_name(info.severity), availability_name(info.fix), info.since);
  for (const std::string& id : words(info.gb_ids))
    out += fmt::format("Dynamo: {}  {}\n", id, profile::graph_break_url(id));
  out += fmt::format("\n{}", info.documentation);
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

std::string rule_list() {
  std::size_t width = 0;
  for (const rules::Rule* rule : rules::all_rules()) width = std::max(width, rule->info.name.size());
  std::string out;
  for (const rules::Rule* rule : rules::all_rules()) {
    out += fmt::format("{}  {:<{}}  {}\n", rule->info.code, rule->info.name, width, rule->info.summary);
  }
  return out;
}

int print_json(const Json& json) {
  return print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n") ? exit_clean : exit_error;
}

// Which rule speaks of a registry id.
std::string rules_of(std::string_view id) {
  std::string out;
  for (const rules::Rule* rule : rules::all_rules()) {
    const auto ids = words(rule->info.gb_ids);
    if (std::ranges::find(ids, id) != ids.end()) out += (out.empty() ? "" : " ") + std::string(rule->info.code);
  }
  return out;
}

// What is to be said of a registry id: a rule covers it, it cannot be seen in source (and why), or it is open.
std::string_view status(std::string_view id, bool covered) {
  if (covered) return "covered";
  switch (profile::Profile::visibility(id)) {
    case profile::Visibility::Runtime:
      return "needs-runtime";
    case profile::Visibility::Config:
      return "off-by-default";
    case profile::Visibility::Invalid:
      return "invalid-in-eager";
    case profile::Visibility::Retired:
      return "retired";
    default:
      return "open";
  }
}

std::string_view visibility_name(std::string_view id) {
  constexpr std::array<std::string_view, 7> names = {"unknown", "source",  "types",  "runtime",
                                                     "config",  "invalid", "retired"};
  return names[static_cast<std::size_t>(profile::Profile::visibility(id))];
}

struct Share {
  std::size_t covered = 0;
  std::size_t of = 0;
};

std::string in_words(const Share& share) {
  const double percent =
      share.of == 0 ? 100.0 : 100.0 * static_cast<double>(share.covered) / static_cast<double>(share.of);
  return fmt::format("{} of {} ({:.0f} %)", share.covered, share.of, percent);
}

int show_coverage(bool json) {
  const auto versions = profile::Profile::versions();
  const auto profile = profile::Profile::find(versions.empty() ? "0" : versions.back());
  if (!profile) {
    print_error(profile.error());
    return exit_error;
  }
  Json list = Json::array();
  std::string text;
  std::map<std::string_view, std::size_t> counts;
  std::map<profile::Visibility, Share> shares;
  for (const profile::GraphBreak& entry : (*profile)->graph_breaks()) {
    const std::string by = rules_of(entry.id);
    const std::string_view state = status(entry.id, !by.empty());
    Share& share = shares[profile::Profile::visibility(entry.id)];
    ++share.of;
    if (!by.empty()) ++share.covered;
    ++counts[state];
    list.push_back({{"gb_id", entry.id},
                    {"type", entry.type},
                    {"status", state},
                    {"visibility", visibility_name(entry.id)},
                    {"rules", words(by)}});
    text += fmt::format("{}  {:<16}  {:<11}  {}\n", entry.id, state, by.empty() ? "-" : by, entry.type);
  }
  const Share& source = shares[profile::Visibility::Source];
  const Share& types = shares[profile::Visibility::Types];
  if (json) {
    Json summary = {{"torch_version", (*profile)->version()}, {"ids", list.size()}};
    for (const auto& [state, count] : counts) summary[std::string(state)] = count;
    summary["source"] = {{"covered", source.covered}, {"of", source.of}};
    summary["types"] = {{"covered", types.covered}, {"of", types.of}};
    return print_json({{"graph_breaks", std::move(list)}, {"summary", std::move(summary)}});
  }
  text += fmt::format("{} graph breaks of torch {}:", list.size(), (*profile)->version());
  for (const auto& [state, count] : counts) text += fmt::format(" {} {},", count, state);
  text.back() = '\n';
  text += fmt::format("covered of those that names and syntax show: {}; of those that need types as well: {}\n",
                      in_words(source), in_words(types));
  return print(text) ? exit_clean : exit_error;
}

}  // namespace

void print_error(const Error& error) {
  std::string place;
  if (error.where) {
    place = error.where->file;
    if (error.where->line != 0) place += ":" + std::to_string(error.where->line);
    if (error.where->line != 0 && error.where->column != 0) place += ":" + std::to_string(error.where->column);
    place += ": ";
  }
  fmt::print(stderr, "fullgraph: error: {}{}\n", place, error.message);
}

bool print(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

int show_rule(const Command& command) {
  if (command.coverage) return show_coverage(command.json);
  if (command.rule) {
    const rules::Rule* rule = rules::find_rule(*command.rule);
    if (rule == nullptr) {
      Names known;
      for (const rules::Rule* r : rules::all_rules()) {
        known.emplace_back(r->info.code);
        known.emplace_back(r->info.name);
      }
      print_error({ErrorKind::Usage, "unknown rule `" + *command.rule + "`" + suggestion(*command.rule, known), {}});
      return exit_error;
    }
    if (command.json) return print_json(rule_json(rule->info));
    return print(rule_text(rule->info)) ? exit_clean : exit_error;
  }
  if (command.json) {
    Json list = Json::array();
    for (const rules::Rule* rule : rules::all_rules()) list.push_back(rule_json(rule->info));
    return print_json(list);
  }
  if (!command.all) return print(rule_list()) ? exit_clean : exit_error;
  std::string out;
  for (const rules::Rule* rule : rules::all_rules()) out += (out.empty() ? "" : "\n") + rule_text(rule->info);
  return print(out) ? exit_clean : exit_error;
}

int show_config(const Command& command) {
  if (command.json) {
    Json list = Json::array();
    for (const Key& key : keys())
      list.push_back({{"name", key.name}, {"default", key.default_value}, {"summary", key.summary}});
    return print_json(list);
  }
  std::string out;
  for (const Key& key : keys())
    out += fmt::format("{}\n    {}\n    Default: {}\n", key.name, key.summary, key.default_value);
  return print(out) ? exit_clean : exit_error;
}

int show_version(const Command& command) {
  if (command.json) {
    Json versions = Json::array();
    for (const std::string_view version : profile::Profile::versions()) versions.push_back(version);
    return print_json({{"version", FULLGRAPH_VERSION}, {"torch_versions", std::move(versions)}});
  }
  return print("fullgraph " FULLGRAPH_VERSION "\n") ? exit_clean : exit_error;
}

namespace {

std::string as_dumped(const std::shared_ptr<const ir::Module>& module, bool text) {
  return text ? std::string(module->source->text()) : ir::dump(*module);
}

// Each text that stands for a part of the recording, under its name.
Result<std::string> dump_recording(const SourcePath& file, bool text) {
  auto graphs = graphs::read(file.path, file.shown);
  if (!graphs) return std::unexpected(graphs.error());
  std::string out;
  for (graphs::Text& part : graphs->texts) {
    const std::string shown = part.member.empty() ? file.shown : file.shown + "/" + part.member;
    auto source = python::make_source(std::move(part.text), shown);
    if (!source) return std::unexpected(source.error());
    if (graphs->texts.size() > 1) out += "# " + shown + "\n";
    out += as_dumped(python::parse(std::move(*source), part.module, false), text);
  }
  return out;
}

// As if nothing were configured: by the nearest compile_commands.json.
Result<std::string> dump_cxx(const SourcePath& file, bool text) {
  const Settings settings;
  const auto environment = environment_for(settings, std::filesystem::path(file.path).parent_path().string());
  if (!environment) return std::unexpected(environment.error());
  auto stands_for_it = text_of_cxx(file.path, *environment, settings);
  if (!stands_for_it) return std::unexpected(stands_for_it.error());
  auto source = python::make_source(std::move(*stands_for_it), file.shown);
  if (!source) return std::unexpected(source.error());
  return as_dumped(python::parse(std::move(*source), "", false), text);
}

Result<std::string> dump_file(const SourcePath& file, bool text) {
  if (is_cxx(file.path)) return dump_cxx(file, text);
  const auto recorded = is_recording(file);
  if (!recorded) return std::unexpected(recorded.error());
  if (*recorded) return dump_recording(file, text);
  auto source = python::read_source(file.path, file.shown);
  if (!source) return std::unexpected(source.error());
  const python::ModuleName name = python::module_name_of(file.path);
  return as_dumped(python::parse(std::move(*source), name.name, name.is_package), text);
}

}  // namespace

int dump(const Command& command, const std::string& working_directory) {
  const std::string path = absolute_path(command.file, working_directory);
  const auto out = dump_file({.path = path, .shown = shown_path(path, working_directory)}, command.dump_text);
  if (out) return print(*out) ? exit_clean : exit_error;
  print_error(out.error());
  return exit_error;
}

}  // namespace fullgraph::cli
