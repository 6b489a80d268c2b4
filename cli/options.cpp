// The command line as CLI11 parses it.
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <thread>

#include "cli/command_tree.h"
#include "cli/completion.h"
#include "cli/config.h"
#include "cli/files.h"
#include "cli/manual.h"
#include "cli/nearest.h"
#include "cli/validate.h"
#include "rules/rule.h"

namespace fullgraph::cli {
namespace {

std::unexpected<Error> usage(std::string message) {
  return std::unexpected(Error{ErrorKind::Usage, std::move(message), {}});
}

// What flags of `check` leave behind; turned into CheckOptions when all are known.
struct CheckFlags {
  std::vector<std::pair<std::string, Names>> lists;  // by key, in the order given
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::string> configs;
  std::string color = "auto";
  std::string jobs = "0";
  std::optional<bool> force_exclude, respect_gitignore, fullgraph, fix, fix_only, unsafe_fixes, show_fixes, unusual;
  std::string output_file, stdin_filename, diff_base, shard;
};

// A flag that takes a list: repeatable, and its values may be separated by commas.
void add_list(CLI::App& app, CheckFlags& flags, const std::string& names, const std::string& key,
              const std::string& value, const std::string& help, bool split = true) {
  CLI::Option* option = app.add_option_function<Names>(
      names, [&flags, key](const Names& list) { flags.lists.emplace_back(key, list); }, help);
  option->type_name(value)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (split) option->delimiter(',');
}

void add_text(CLI::App& app, CheckFlags& flags, const std::string& names, const std::string& key,
              const std::string& value, const std::string& help) {
  app.add_option_function<std::string>(
         names, [&flags, key](const std::string& text) { flags.texts.emplace_back(key, text); }, help)
      ->type_name(value)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_switch(CLI::App& app, std::optional<bool>& into, const std::string& name, const std::string& help) {
  // CLI11 calls back once with the last of the two.
  app.add_flag_function(
         "--" + name + ",!--no-" + name, [&into](std::int64_t count) { into = count > 0; }, help)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

// How a report is delivered, whoever made it.
void add_output(CLI::App& command, CheckFlags& flags, CheckOptions& out) {
  add_text(command, flags, "--output-format", "output-format", "FORMAT",
           "full, concise, grouped, json, json-lines, sarif, github, gitlab, junit, pylint, rdjson or html");
  command.add_option("-o,--output-file", flags.output_file, "Write the report to this file")->type_name("FILE");
  command.add_flag("--statistics", out.statistics, "Print counts by rule instead of findings");
  command.add_flag("--exit-zero", out.exit_zero, "Exit with 0 even if there are findings");
  command.add_option("--color", flags.color, "auto, always or never")->type_name("WHEN");
  command.add_flag("-q,--quiet", out.quiet, "No closing line; twice: nothing but errors");
}

void add_check(CLI::App& check, CheckFlags& flags, CheckOptions& out) {
  check.add_option("paths", out.paths, "Files and folders; - reads a source from stdin (default: .)")
      ->type_name("PATH");

  check.option_defaults()->group("Rules");
  add_list(check, flags, "--select", "select", "RULE,…", "Rules to report: codes, prefixes, names or ALL");
  add_list(check, flags, "--extend-select", "extend-select", "RULE,…", "Rules to report in addition");
  add_list(check, flags, "--ignore", "ignore", "RULE,…", "Rules not to report");
  add_list(check, flags, "--per-file-ignores", "per-file-ignores", "GLOB:RULE,…", "Rules not to report in some files",
           true);
  check.add_flag("--ignore-noqa", out.ignore_noqa, "Report what comments suppress, too");
  check.add_flag("--error-on-warning", out.error_on_warning, "Treat warnings as errors");

  check.option_defaults()->group("Fixes");
  add_switch(check, flags.fix, "fix", "Repair what can be repaired");
  add_switch(check, flags.unsafe_fixes, "unsafe-fixes", "Make fixes that change behaviour, too");
  add_switch(check, flags.fix_only, "fix-only", "Repair, and do not report what is left");
  check.add_flag("--diff", out.diff, "Print the fixes as a patch and write nothing; exit with 1 unless it is empty");
  add_switch(check, flags.show_fixes, "show-fixes", "List what was repaired");
  add_switch(check, flags.unusual, "unusual", "Also report what needs an argument against its default");
  add_list(check, flags, "--fixable", "fixable", "RULE,…", "Rules whose fixes may be made (default: ALL)");
  add_list(check, flags, "--unfixable", "unfixable", "RULE,…", "Rules whose fixes are only shown");
  add_list(check, flags, "--extend-fixable", "extend-fixable", "RULE,…", "Rules whose fixes may be made in addition");
  check.add_flag("--exit-non-zero-on-fix", out.exit_non_zero_on_fix,
                 "Exit with 1 if something was repaired, even if nothing is left");

  check.option_defaults()->group("Analysis");
  add_text(check, flags, "--mode", "mode", "any|train|eval", "Drop findings that need the other mode (default: any)");
  add_list(check, flags, "--entry", "entry", "FILE:FUNCTION",
           "Function that returns what is compiled, and its arguments", false);
  add_text(check, flags, "--roots", "roots", "auto|compiled|modules", "What is traced");
  add_switch(check, flags.fullgraph, "fullgraph", "Assume fullgraph=True where a compile call does not say");
  add_text(check, flags, "--torch-version", "torch-version", "VERSION", "Release of PyTorch to predict");
  add_list(check, flags, "--python-path", "python-path", "DIR",
           "Folder or virtual environment in which imports are looked for", false);
  add_text(check, flags, "-p,--compile-commands", "compile-commands", "DIR",
           "Folder of the compile_commands.json that C++ sources are compiled with (default: the nearest)");
  add_list(check, flags, "--extra-arg", "extra-arg", "ARG", "One more argument for the compiler of C++ sources", false);
  check.add_option("-j,--jobs", flags.jobs, "Threads; 0: one for each core")->type_name("N");
  check.add_flag("--no-cache", out.no_cache, "Use no cache (there is none yet)");

  check.option_defaults()->group("Files");
  add_list(check, flags, "--exclude", "exclude", "GLOB,…", "Files and folders to leave out");
  add_list(check, flags, "--extend-exclude", "extend-exclude", "GLOB,…", "Files and folders to leave out in addition");
  add_switch(check, flags.force_exclude, "force-exclude", "Apply exclusions to files given by name, too");
  add_switch(check, flags.respect_gitignore, "respect-gitignore", "Leave out what git ignores (default)");
  check.add_option("--stdin-filename", flags.stdin_filename, "The name of the source on stdin")->type_name("FILE");
  check
      .add_option("--diff-base", flags.diff_base,
                  "Report only what is on lines that changed since this revision of git")
      ->type_name("REV");
  check
      .add_option("--shard", flags.shard,
                  "Report only the Kth of N parts of the files; `fullgraph merge` joins the parts")
      ->type_name("K/N");
  check.add_flag("--show-files", out.show_files, "List the files that would be linted, and stop");

  check.option_defaults()->group("Configuration");
  check.add_option("--config", flags.configs, "A configuration file, or one KEY=VALUE in TOML")
      ->type_name("FILE|KEY=VALUE")
      ->allow_extra_args(false);
  check.add_flag("--isolated", out.isolated, "Read no configuration files");
  check.add_flag("--show-settings", out.show_settings, "Print the settings in effect, and stop");

  check.option_defaults()->group("Baseline");
  add_text(check, flags, "--baseline", "baseline", "FILE", "Accept the findings in this file");
  check.add_flag("--update-baseline", out.update_baseline, "Write the present findings to the baseline file");
  check.add_flag("--prune-baseline", out.prune_baseline, "Remove what is not found any more from the baseline file");

  check.option_defaults()->group("Output");
  add_output(check, flags, out);
  check.add_flag("-v,--verbose", out.verbose, "Say what is being done");
  check.add_flag("--timing", out.timing, "Print how long each phase took");
  check.add_flag("!--no-progress,--progress", out.progress, "Show a progress bar on a terminal (default)");
}

void add_merge(CLI::App& merge, CheckFlags& flags, Command& out) {
  merge.add_option("files", out.files, "Reports in JSON (check --output-format json)")->type_name("FILE")->required();
  add_output(merge, flags, out.check);
}

// What flags of `validate` leave behind besides ValidateOptions.
struct ValidateFlags {
  CheckFlags check;
  std::string before, after, patch, output_file, python;
  std::string timeout = "300", memory_limit, shard = "1/1", processes = "0", repetitions = "5";
};

// A repeatable flag whose values may be separated by commas.
void add_names(CLI::App& app, Names& into, const std::string& name, const std::string& value, const std::string& help,
               bool split = true) {
  CLI::Option* option = app.add_option(name, into, help);
  option->type_name(value)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (split) option->delimiter(',');
}

void add_validate(CLI::App& validate, ValidateFlags& flags, ValidateOptions& out) {
  validate.add_option("paths", out.paths, "An archive (.pt, .pt2) or C++ source; two: before and after a change")
      ->type_name("PATH");

  // Of a flag that is given twice the later one counts.
  validate.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  validate.option_defaults()->group("Cases");
  add_names(validate, out.entries, "--entry", "FILE:FUNCTION",
            "A function (also pkg.module:function) that returns (module or callable, args, kwargs[, loss])", false);
  add_names(validate, out.transformers, "--transformers", "MODEL_TYPE,…",
            "A small model of the installed transformers with random weights");
  add_names(validate, out.only, "--case", "NAME,…", "Only these cases of the configuration");
  add_names(validate, out.inputs, "--input", "SPEC", "Input of an archive: f32[2,16000], or a file of tensors", false);
  validate.add_option("--module", out.module, "Expression that makes the module of C++ sources: \"Net(16)\"")
      ->type_name("CODE");
  add_names(validate, out.link, "--link", "LIBRARY", "Library of C++ sources: a file, or the name as in -lNAME", false);
  validate.add_option("--shard", flags.shard, "Run the Kth of N parts of the cases")->type_name("K/N");
  validate.add_flag("--list", out.list, "List the cases, and stop");

  validate.option_defaults()->group("Before and after");
  validate.add_option("--before", flags.before, "Folder of the sources before a change")->type_name("DIR");
  validate.add_option("--after", flags.after, "Folder of the sources after it")->type_name("DIR");
  validate.add_option("--patch", flags.patch, "The change as a patch; it is made in a copy")->type_name("FILE");
  validate.add_flag("--fix", out.fix, "The change is what `check --fix` would do; it is made in a copy");
  validate.add_flag("--unsafe-fixes", out.unsafe_fixes, "The same with fixes that change behaviour");

  validate.option_defaults()->group("Runs");
  add_names(validate, out.modes, "--modes", "MODE,…", "train, eval, decode (default: train,eval)");
  add_names(validate, out.checkpointing, "--checkpointing", "KIND,…",
            "none, non-reentrant, reentrant (default: none); for models with gradient_checkpointing_enable");
  validate.add_option("--device", out.device, "auto, cpu or cuda (default: auto)")->type_name("DEVICE");
  validate.add_option("--backend", out.backend, "Backend of torch.compile (default: eager)")->type_name("NAME");
  validate.add_option("--nproc", flags.processes, "Run under torchrun with N processes")->type_name("N");
  validate.add_option("--repeat", flags.repetitions, "How often calls are timed; 0: not at all (default: 5)")
      ->type_name("N");
  validate.add_option("--timeout", flags.timeout, "Seconds for each run (default: 300)")->type_name("S");
  validate.add_option("--memory-limit", flags.memory_limit, "As 8G; default: half of the machine's")->type_name("SIZE");
  validate.add_option("--python", flags.python, "The interpreter; default: that of the project's environment")
      ->type_name("PROGRAM");
  add_list(validate, flags.check, "--src", "src", "DIR", "Folders of own sources (default: . and src)", false);

  validate.option_defaults()->group("Findings");
  add_list(validate, flags.check, "--select", "select", "RULE,…", "Rules whose findings are checked and repaired");
  add_list(validate, flags.check, "--ignore", "ignore", "RULE,…", "Rules to leave out");
  add_text(validate, flags.check, "--baseline", "baseline", "FILE", "Accept the findings in this file");
  validate.add_flag("--update-baseline", out.check.update_baseline, "Take what was refuted out of the baseline file");

  validate.option_defaults()->group("Configuration");
  validate.add_option("--config", flags.check.configs, "A configuration file, or one KEY=VALUE in TOML")
      ->type_name("FILE|KEY=VALUE")
      ->allow_extra_args(false);
  validate.add_flag("--isolated", out.check.isolated, "Read no configuration files");

  validate.option_defaults()->group("Output");
  validate.add_option("--output-format", out.format, "text, json or html")->type_name("FORMAT");
  validate.add_option("-o,--output-file", flags.output_file, "Write the report to this file")->type_name("FILE");
  validate.add_option("--merge", out.merge, "Join results in JSON into one report, and run nothing")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  validate.add_option("--color", flags.check.color, "auto, always or never")->type_name("WHEN");
  validate.add_flag("-q,--quiet", out.check.quiet, "Say nothing while it runs");
  validate.add_flag("-v,--verbose", out.check.verbose, "Say what is being done");
}

Result<void> set_key(Settings& settings, const std::string& name, Value value, const std::string& base) {
  const auto key = std::ranges::find(keys(), name, &Key::name);
  if (key == keys().end()) return usage("unknown key `" + name + "`");
  auto done = set(settings, *key, std::move(value), base);
  if (!done) return usage("--" + name + ": " + done.error().message);
  return {};
}

// "*.py:FG1" → the same as in a file. Values with the same glob are joined.
Result<Value> per_file_ignores(const Names& pairs) {
  Value out;
  for (const std::string& pair : pairs) {
    const std::size_t colon = pair.rfind(':');
    if (colon == std::string::npos) return usage("--per-file-ignores: `" + pair + "` must be GLOB:RULE");
    const std::string glob = pair.substr(0, colon);
    const auto known = std::ranges::find(out.table, glob, [](const auto& entry) { return entry.first; });
    if (known != out.table.end()) {
      known->second.push_back(pair.substr(colon + 1));
    } else {
      out.table.emplace_back(glob, Names{pair.substr(colon + 1)});
    }
  }
  return out;
}

Result<void> take_config(CheckOptions& out, const std::string& text, const std::string& working_directory) {
  const std::string path = absolute_path(text, working_directory);
  std::error_code error;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || std::filesystem::exists(path, error)) {
    if (out.config_file) return usage("--config: only one file can be given");
    out.config_file = path;
    return {};
  }
  auto settings = parse_config(text, "--config", working_directory);
  if (!settings) return usage("--config `" + text + "`: " + settings.error().message);
  overlay(out.flags, *settings);
  return {};
}

Result<unsigned> number_of(const std::string& flag, const std::string& text, unsigned least) {
  unsigned out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < least)
    return usage(fmt::format("{}: `{}` is no whole number from {} on", flag, text, least));
  return out;
}

Result<Shard> shard_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const auto number = number_of("--shard", text.substr(0, slash), 1);
    const auto of = number_of("--shard", text.substr(slash + 1), 1);
    if (number && of && *number <= *of) return Shard{*number, *of};
  }
  return usage("--shard: `" + text + "` is not K/N with K from 1 to N");
}

Result<void> finish(CheckOptions& out, const CheckFlags& flags, const std::string& working_directory) {
  for (const std::string& config : flags.configs) {
    if (auto done = take_config(out, config, working_directory); !done) return done;
  }
  for (const auto& [key, list] : flags.lists) {
    Value value;
    if (key == "per-file-ignores") {
      auto table = per_file_ignores(list);
      if (!table) return std::unexpected(table.error());
      value = std::move(*table);
    } else {
      value.list = list;
    }
    if (auto done = set_key(out.flags, key, std::move(value), working_directory); !done) return done;
  }
  for (const auto& [key, text] : flags.texts) {
    Value value;
    value.text = text;
    if (auto done = set_key(out.flags, key, std::move(value), working_directory); !done) return done;
  }
  if (flags.force_exclude) out.flags.force_exclude = flags.force_exclude;
  if (flags.respect_gitignore) out.flags.respect_gitignore = flags.respect_gitignore;
  if (flags.fullgraph) out.flags.fullgraph = flags.fullgraph;
  if (flags.fix) out.flags.fix = flags.fix;
  if (flags.fix_only) out.flags.fix_only = flags.fix_only;
  if (flags.unsafe_fixes) out.flags.unsafe_fixes = flags.unsafe_fixes;
  if (flags.show_fixes) out.flags.show_fixes = flags.show_fixes;
  if (flags.unusual) out.flags.unusual = flags.unusual;
  if (!flags.output_file.empty() && flags.output_file != "-")
    out.output_file = absolute_path(flags.output_file, working_directory);
  if (!flags.stdin_filename.empty()) out.stdin_filename = flags.stdin_filename;

  const Names colors = {"auto", "always", "never"};
  const auto color = std::ranges::find(colors, flags.color);
  if (color == colors.end())
    return usage("--color: `" + flags.color + "` is no value" + suggestion(flags.color, colors) +
                 " (one of: auto, always, never)");
  out.color = static_cast<Color>(color - colors.begin());

  const bool number = !flags.jobs.empty() && flags.jobs.size() <= 4 &&
                      std::ranges::all_of(flags.jobs, [](char c) { return c >= '0' && c <= '9'; });
  if (!number) return usage("--jobs: `" + flags.jobs + "` is no number of threads");
  out.jobs = static_cast<unsigned>(std::stoul(flags.jobs));
  if (out.jobs == 0) out.jobs = std::max(1u, std::thread::hardware_concurrency());

  if (!flags.diff_base.empty()) out.diff_base = flags.diff_base;
  if (!flags.shard.empty()) {
    const auto shard = shard_of(flags.shard);
    if (!shard) return std::unexpected(shard.error());
    out.shard = *shard;
  }
  if (out.diff_base || out.shard) {
    const std::string flag = out.diff_base ? "--diff-base" : "--shard";
    const bool fixes = out.flags.fix.value_or(false) || out.flags.fix_only.value_or(false) || out.diff;
    if (fixes)
      return usage(flag + " reports a part of the findings, and no part is repaired: leave out the flags of fixes");
    if (out.update_baseline || out.prune_baseline)
      return usage(flag + " and changes of the baseline exclude each other");
  }

  if ((out.update_baseline || out.prune_baseline) && out.update_baseline == out.prune_baseline) {
    return usage("--update-baseline and --prune-baseline exclude each other");
  }
  if (out.paths.empty()) out.paths = {"."};
  const bool has_stdin = std::ranges::find(out.paths, "-") != out.paths.end();
  if (has_stdin && out.paths.size() != 1) return usage("`-` cannot be combined with other paths");
  if (out.stdin_filename && !has_stdin) return usage("--stdin-filename needs the path `-`");
  return {};
}

// "1.5" in seconds.
Result<std::chrono::milliseconds> seconds_of(const std::string& flag, const std::string& text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || !(out > 0) || out > 1e7)
    return usage(flag + ": `" + text + "` is no number of seconds");
  return std::chrono::milliseconds(static_cast<std::int64_t>(out * 1000));
}

// "512M" in bytes.
Result<std::uint64_t> bytes_of(const std::string& flag, const std::string& text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const std::string_view unit(end, text.data() + text.size());
  const std::size_t power = unit.empty() ? 0 : std::string_view("BKMGT").find(unit[0]);
  if (error != std::errc() || unit.size() > 1 || power == std::string_view::npos || !(out > 0))
    return usage(flag + ": `" + text + "` is no size (as 512M or 8G)");
  return static_cast<std::uint64_t>(out * static_cast<double>(std::uint64_t{1} << (10 * power)));
}

Result<void> all_of(const std::string& flag, const Names& given, const Names& allowed) {
  for (const std::string& name : given) {
    if (std::ranges::find(allowed, name) != allowed.end()) continue;
    std::string list;
    for (const std::string& value : allowed) list += (list.empty() ? "" : ", ") + value;
    return usage(flag + ": `" + name + "` is no value" + suggestion(name, allowed) + " (one of: " + list + ")");
  }
  return {};
}

// Options that say nothing of what is run: silence about them would be taken for an effect.
Result<void> check_use(const CLI::App& validate, bool archives) {
  static constexpr std::initializer_list<const char*> of_archives = {"--input", "--module", "--link"};
  static constexpr std::initializer_list<const char*> of_python = {
      "--case", "--shard",        "--list",          "--before",   "--after",          "--patch",
      "--fix",  "--unsafe-fixes", "--checkpointing", "--backend",  "--nproc",          "--python",
      "--src",  "--select",       "--ignore",        "--baseline", "--update-baseline"};
  for (const char* name : archives ? of_python : of_archives) {
    if (validate.get_option(name)->count() == 0) continue;
    return usage(fmt::format("{} is for {}", name, archives ? "Python models" : "archives and C++ sources"));
  }
  return {};
}

// Which options exclude each other, and which need one another.
Result<void> check_combination(const ValidateOptions& out) {
  const bool repairs = out.fix || out.unsafe_fixes;
  if (out.after.has_value() + out.patch.has_value() + repairs > 1)
    return usage("--after, --patch and --fix exclude each other: each says what the change is");
  if (out.before && !out.after) return usage("--before needs --after");
  if (!out.paths.empty() && (!out.entries.empty() || !out.transformers.empty()))
    return usage("archives and Python models cannot be validated in one run");
  for (const auto& [flag, folder] : {std::pair{"--before", &out.before}, std::pair{"--after", &out.after}}) {
    std::error_code error;
    if (*folder && !std::filesystem::is_directory(**folder, error))
      return usage(fmt::format("{}: there is no folder {}", flag, **folder));
  }
  return {};
}

Result<void> finish(ValidateOptions& out, const ValidateFlags& flags, const std::string& working_directory) {
  if (auto done = finish(out.check, flags.check, working_directory); !done) return done;
  for (const auto& [text, path] : {std::pair{&flags.before, &out.before}, std::pair{&flags.after, &out.after},
                                   std::pair{&flags.patch, &out.patch}}) {
    if (!text->empty()) *path = absolute_path(*text, working_directory);
  }
  if (!flags.output_file.empty() && flags.output_file != "-")
    out.output_file = absolute_path(flags.output_file, working_directory);
  if (!flags.python.empty()) out.python = flags.python;
  for (const auto& [flag, text, least, into] : {std::tuple{"--nproc", &flags.processes, 0u, &out.processes},
                                                std::tuple{"--repeat", &flags.repetitions, 0u, &out.repetitions}}) {
    const auto number = number_of(flag, *text, least);
    if (!number) return std::unexpected(number.error());
    *into = *number;
  }
  const auto timeout = seconds_of("--timeout", flags.timeout);
  if (!timeout) return std::unexpected(timeout.error());
  out.timeout = *timeout;
  if (!flags.memory_limit.empty()) {
    const auto limit = bytes_of("--memory-limit", flags.memory_limit);
    if (!limit) return std::unexpected(limit.error());
    out.memory_limit = *limit;
  }
  const auto shard = shard_of(flags.shard);
  if (!shard) return std::unexpected(shard.error());
  out.shard = *shard;
  for (const auto& [flag, given, allowed] :
       {std::tuple{"--modes", out.modes, Names{"train", "eval", "decode"}},
        std::tuple{"--checkpointing", out.checkpointing, Names{"none", "non-reentrant", "reentrant"}},
        std::tuple{"--output-format", Names{out.format}, Names{"text", "json", "html"}},
        std::tuple{"--device", Names{out.device}, Names{"auto", "cpu", "cuda"}}}) {
    if (auto checked = all_of(flag, given, allowed); !checked) return checked;
  }
  return check_combination(out);
}

// All names of the options of `app`, with their dashes.
Names option_names(const CLI::App& app) {
  Names out;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    for (const std::string& name : option->get_snames()) out.push_back("-" + name);
    for (const std::string& name : option->get_fnames()) {
      if (name.size() > 1) out.push_back("--" + name);
    }
  }
  return out;
}

// The error for arguments that CLI11 did not take.
// What no option and no argument took. `--`, behind which everything is an argument, is among it for CLI11.
std::vector<std::string> left_over(const CLI::App& app) {
  std::vector<std::string> out = app.remaining(true);
  std::erase(out, "--");
  return out;
}

std::unexpected<Error> unknown(const CLI::App& app) {
  const CLI::App* used = &app;
  for (const CLI::App* command : app.get_subcommands()) used = command;
  for (const std::string& argument : left_over(app)) {
    if (argument.starts_with('-')) {
      const std::string name = argument.substr(0, argument.find('='));
      return usage("unknown option `" + name + "`" + suggestion(name, option_names(*used)));
    }
  }
  const std::vector<std::string> rest = left_over(app);
  const std::string first = rest.empty() ? std::string() : rest.front();
  if (used == &app) {
    Names commands;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      commands.push_back(command->get_name());
    return usage("unknown command `" + first + "`" + suggestion(first, commands));
  }
  return usage("unexpected argument `" + first + "`");
}

Result<std::vector<std::string>> expand_argument_files(std::vector<std::string> arguments) {
  std::vector<std::string> out;
  for (std::string& argument : arguments) {
    if (argument.size() < 2 || argument[0] != '@') {
      out.push_back(std::move(argument));
      continue;
    }
    auto text = read_file(argument.substr(1));
    if (!text) return std::unexpected(text.error());
    std::string_view rest = *text;
    while (!rest.empty()) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) out.emplace_back(line);
    }
  }
  return out;
}

// `fix` is `check --fix-only`; with --validate it runs models, as `validate` does.
enum class Fix : std::uint8_t { No, Plain, Validated };

Fix resolve_fix(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] != "fix") return Fix::No;
  const auto flag = std::ranges::find(arguments, "--validate");
  if (flag == arguments.end()) {
    arguments.insert(arguments.begin() + 1, "--fix-only");
    return Fix::Plain;
  }
  arguments.erase(flag);
  return Fix::Validated;
}

Result<bool> is_json(const std::string& format) {
  if (format == "json" || format == "text") return format == "json";
  return usage("--output-format: `" + format + "` is no value" + suggestion(format, Names{"text", "json"}) +
               " (one of: text, json)");
}

Result<std::string> completion_of(const CommandInfo& tree, const std::string& shell) {
  RuleNames rules;
  for (const rules::Rule* rule : rules::all_rules()) rules.emplace_back(rule->info.code, rule->info.summary);
  if (shell == "bash") return bash_completion(tree, rules);
  if (shell == "zsh") return zsh_completion(tree, rules);
  if (shell == "fish") return fish_completion(tree, rules);
  const Names shells = {"bash", "zsh", "fish"};
  return usage("no completion for `" + shell + "`" + suggestion(shell, shells) + " (one of: bash, zsh, fish)");
}

}  // namespace

Result<Command> parse_command_line(std::vector<std::string> arguments, const std::string& working_directory) {
  auto expanded = expand_argument_files(std::move(arguments));
  if (!expanded) return std::unexpected(expanded.error());

  const Fix fix = resolve_fix(*expanded);
  Command out;
  CheckFlags flags;
  CLI::App app("Predicts torch.compile graph breaks and training hazards in PyTorch code, without running it.",
               "fullgraph");
  app.require_subcommand(0, 1);
  app.set_version_flag("-V,--version", std::string("fullgraph " FULLGRAPH_VERSION));
  std::string explain, format = "text", rule;
  app.add_option("--explain", explain, "Print a rule's documentation")->type_name("RULE");
  app.get_formatter()->column_width(38);

  constexpr const char* about_fix =
      "Repair (`check --fix-only`); with --validate, keep what running the models confirms (`fix --validate --help`)";
  CLI::App* check =
      fix == Fix::Plain ? app.add_subcommand("fix", about_fix) : app.add_subcommand("check", "Lint files and folders");
  add_check(*check, flags, out.check);
  ValidateFlags validate_flags;
  auto validate_options = std::make_shared<ValidateOptions>();
  CLI::App* validate = fix == Fix::Validated
                           ? app.add_subcommand("fix", "Repair, and keep what running the models confirms")
                           : app.add_subcommand("validate", "Run models, and see what holds of findings and repairs");
  add_validate(*validate, validate_flags, *validate_options);
  CheckFlags unused_flags;
  CheckOptions unused;
  if (fix == Fix::No) {
    // Never parsed (see resolve_fix); it is there for --help, completions and the manual page.
    CLI::App* shown = app.add_subcommand("fix", about_fix);
    add_check(*shown, unused_flags, unused);
    const std::string about_validation = "Keep what running the models confirms";
    shown->add_flag("--validate", about_validation)->group("Fixes");
  }
  CLI::App* rule_command = app.add_subcommand("rule", "Print the documentation of a rule, or list the rules");
  rule_command->add_option("rule", rule, "Code or name")->type_name("RULE");
  rule_command->add_flag("--all", out.all, "All rules");
  rule_command->add_flag("--coverage", out.coverage, "Which of Dynamo's graph breaks are covered by which rule");
  CLI::App* config_command = app.add_subcommand("config", "List the keys of configuration files");
  CLI::App* dump = app.add_subcommand("dump", "Print the intermediate representation of a file");
  bool ir = false;
  dump->add_flag("--ir", ir, "The program representation (default)");
  dump->add_flag("--text", out.dump_text, "The Python text that the file is, or that stands for it");
  dump->add_option("file", out.file, "Python source, recorded graph or C++ source")->type_name("FILE")->required();
  CLI::App* version = app.add_subcommand("version", "Print the version");
  for (CLI::App* command : {rule_command, config_command, version}) {
    command->add_option("--output-format", format, "text or json")->type_name("FORMAT");
  }
  app.add_subcommand("clean", "Remove caches");
  CLI::App* merge = app.add_subcommand("merge", "Join the reports of `check --shard` into one");
  add_merge(*merge, flags, out);
  CLI::App* server = app.add_subcommand("server", "Serve an editor: the Language Server Protocol on stdin and stdout");
  server->alias("lsp");
  bool stdio = true;
  server->add_flag("--stdio", stdio, "How it is spoken to; there is no other way yet");
  std::string shell;
  CLI::App* completion = app.add_subcommand("completion", "Print the completion script of a shell");
  completion->add_option("shell", shell, "bash, zsh or fish")->type_name("SHELL")->required();
  CLI::App* manual = app.add_subcommand("man", "Print the manual page, fullgraph(1)");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) command->allow_extras();
  app.allow_extras();

  try {
    std::vector<std::string> reversed(expanded->rbegin(), expanded->rend());
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    const CLI::App* used = &app;
    for (const CLI::App* command : app.get_subcommands()) used = command;
    out.text = used->help();
    return out;
  } catch (const CLI::CallForVersion& call) {
    out.text = std::string(call.what()) + "\n";
    return out;
  } catch (const CLI::ParseError& error) {
    if (!left_over(app).empty()) return unknown(app);
    return usage(error.what());
  }
  if (!left_over(app).empty()) return unknown(app);

  auto json = is_json(format);
  if (!json) return std::unexpected(json.error());
  out.json = *json;
  if (check->parsed()) {
    out.kind = Command::Kind::Check;
    if (auto done = finish(out.check, flags, working_directory); !done) return std::unexpected(done.error());
  } else if (validate->parsed()) {
    out.kind = fix == Fix::Validated ? Command::Kind::FixValidated : Command::Kind::Validate;
    if (auto done = finish(*validate_options, validate_flags, working_directory); !done)
      return std::unexpected(done.error());
    if (auto done = check_use(*validate, !validate_options->paths.empty()); !done) return std::unexpected(done.error());
    out.validate = std::move(validate_options);
  } else if (rule_command->parsed() || !explain.empty()) {
    out.kind = Command::Kind::Rule;
    if (!rule.empty()) out.rule = rule;
    if (!explain.empty()) out.rule = explain;
  } else if (config_command->parsed()) {
    out.kind = Command::Kind::Config;
  } else if (dump->parsed()) {
    out.kind = Command::Kind::Dump;
  } else if (version->parsed()) {
    out.kind = Command::Kind::Version;
  } else if (server->parsed()) {
    out.kind = Command::Kind::Server;
  } else if (completion->parsed()) {
    auto script = completion_of(tree_of(app), shell);
    if (!script) return std::unexpected(script.error());
    out.text = std::move(*script);
  } else if (manual->parsed()) {
    out.text = manual_page(tree_of(app), FULLGRAPH_VERSION);
  } else if (merge->parsed()) {
    out.kind = Command::Kind::Merge;
    if (auto done = finish(out.check, flags, working_directory); !done) return std::unexpected(done.error());
  } else if (app.got_subcommand("clean")) {
    out.kind = Command::Kind::Clean;
  } else {
    out.text = app.help();
  }
  return out;
}

}  // namespace fullgraph::cli
