// The protocol: what each message asks for. Runs on the thread that reads; whatever takes time is the worker's.
#include "server/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/client_settings.h"
#include "server/code_actions.h"
#include "server/diagnostics.h"
#include "server/documents.h"
#include "server/progress.h"
#include "server/transport.h"
#include "server/worker.h"

namespace fullgraph::server {

namespace {

constexpr std::string_view apply_fixes_command = "fullgraph.applyAutofix";

// A value deep inside: at(json, "a", "b"); null where there is none.
template <class... Names>
const Json& at(const Json& json, const char* name, Names... rest) {
  static const Json nothing;
  if (!json.is_object()) return nothing;
  const auto found = json.find(name);
  if (found == json.end()) return nothing;
  if constexpr (sizeof...(rest) == 0) {
    return *found;
  } else {
    return at(*found, rest...);
  }
}

bool is_true(const Json& json) {
  return json.is_boolean() && json.get<bool>();
}

std::string text_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

class Server {
 public:
  explicit Server(std::string working_directory)
      : working_directory_(std::move(working_directory)),
        transport_(STDIN_FILENO, STDOUT_FILENO),
        progress_(transport_),
        worker_(
            {.progress = [this](std::string_view phase, std::size_t done,
                                std::size_t total) { progress_.update(phase, done, total); },
             .warn = [this](const std::string& message) { show(message); },
             .log = [this](const std::string& message) { log(message); },
             .trace = [this](const std::string& message, const std::string& details) { log_trace(message, details); }},
            [this](std::shared_ptr<const Look> look) { take(std::move(look)); }) {
    register_methods();
  }

  int run() {
    while (!exited_) {
      auto message = transport_.read();
      if (!message) break;
      handle(*message);
    }
    return shut_down_ ? 0 : 1;
  }

 private:
  using Params = const Json&;
  struct Failure {
    RpcError code;
    std::string message;
  };
  using Answer = std::expected<Json, Failure>;
  static std::unexpected<Failure> invalid(std::string message) {
    return std::unexpected(Failure{RpcError::InvalidParams, std::move(message)});
  }

  // ---- messages
  void register_methods();
  void handle(const Json& message);
  void handle_request(const Json& id, const std::string& method, Params params);
  void handle_response(const Json& message);
  void ask(const std::string& method, Json params, std::function<void(const Json& result)> then);
  void notify(const std::string& method, Json params);
  void show(const std::string& message);
  void log(const std::string& message);
  void log_trace(const std::string& message, const std::string& details);

  // ---- life
  Answer initialize(Params params);
  [[nodiscard]] Json capabilities() const;
  void initialized();
  void set_trace(Params params);
  void cancel(Params params);

  // ---- what is open, and where
  void did_open(Params params);
  void did_change(Params params);
  void did_close(Params params);
  void did_change_folders(Params params);
  void did_change_watched(Params params);
  void did_change_configuration(Params params);
  void use_settings(const Json& given);
  void tell_worker();
  [[nodiscard]] std::string path_of(const std::string& uri) const;

  // ---- what was seen
  void take(std::shared_ptr<const Look> look);
  void publish(const Look& look);
  void answer_pulls(const std::shared_ptr<const Look>& look);
  Json report_of(const Look& look, const std::string& path, const std::string& previous) const;
  Json workspace_report(const Look& look, const Json& params) const;
  void pull(const Json& id, Params params, bool whole_workspace);
  [[nodiscard]] std::shared_ptr<const Look> last_look();

  // ---- what is asked about it
  Answer hover(Params params);
  Answer code_actions(Params params);
  void resolve_action(const Json& id, Params params);
  void execute(const Json& id, Params params);
  void repair(const std::string& uri, const Json& id, std::function<void(std::expected<Json, Failure> edit)> then);

  std::string working_directory_;
  Transport transport_;
  WorkProgress progress_;
  std::unordered_map<std::string, std::function<Answer(Params)>> requests_;
  std::unordered_map<std::string, std::function<void(const Json& id, Params)>> late_requests_;  // answer themselves
  std::unordered_map<std::string, std::function<void(Params)>> notifications_;
  std::map<std::int64_t, std::function<void(const Json&)>> asked_;
  std::int64_t next_id_ = 1;
  bool initialized_ = false, shut_down_ = false, exited_ = false;

  // Of the client
  Abilities abilities_;
  bool pulls_ = false, refreshes_ = false, configures_ = false, watches_ = false;
  bool resolves_ = false, document_changes_ = false, preferred_ = false, versions_ = false;
  bool markdown_ = true;
  enum Trace : std::uint8_t { kOff, kMessages, kVerbose };
  std::atomic<Trace> trace_ = kOff;

  Documents documents_;
  std::vector<std::string> folders_;
  ClientSettings settings_;
  std::uint64_t generation_ = 0;

  // Shared with the worker's thread
  std::mutex mutex_;
  std::shared_ptr<const Look> look_;
  struct Pull {
    Json id;
    Json params;
    bool whole_workspace;
    std::uint64_t generation;  // what it asks about
  };
  std::vector<Pull> waiting_;
  std::vector<Json> cancelled_;                   // ids of repairs that nobody waits for any more
  std::map<std::string, std::string> published_;  // URI → path, with findings shown

  Worker worker_;  // the last: its thread uses the others
};

// ---------------------------------------------------------------------------------------------------- messages

void Server::register_methods() {
  requests_["initialize"] = [this](Params params) { return initialize(params); };
  requests_["shutdown"] = [this](Params) -> Answer {
    shut_down_ = true;
    return Json(nullptr);
  };
  requests_["textDocument/hover"] = [this](Params params) { return hover(params); };
  requests_["textDocument/codeAction"] = [this](Params params) { return code_actions(params); };
  late_requests_["codeAction/resolve"] = [this](const Json& id, Params params) { resolve_action(id, params); };
  late_requests_["workspace/executeCommand"] = [this](const Json& id, Params params) { execute(id, params); };
  late_requests_["textDocument/diagnostic"] = [this](const Json& id, Params params) { pull(id, params, false); };
  late_requests_["workspace/diagnostic"] = [this](const Json& id, Params params) { pull(id, params, true); };

  notifications_["initialized"] = [this](Params) { initialized(); };
  notifications_["exit"] = [this](Params) { exited_ = true; };
  notifications_["$/setTrace"] = [this](Params params) { set_trace(params); };
  notifications_["$/cancelRequest"] = [this](Params params) { cancel(params); };
  notifications_["textDocument/didOpen"] = [this](Params params) { did_open(params); };
  notifications_["textDocument/didChange"] = [this](Params params) { did_change(params); };
  notifications_["textDocument/didClose"] = [this](Params params) { did_close(params); };
  notifications_["textDocument/didSave"] = [](Params) {};
  notifications_["workspace/didChangeWorkspaceFolders"] = [this](Params params) { did_change_folders(params); };
  notifications_["workspace/didChangeWatchedFiles"] = [this](Params params) { did_change_watched(params); };
  notifications_["workspace/didChangeConfiguration"] = [this](Params params) { did_change_configuration(params); };
}

void Server::handle(const Json& message) {
  const Json& id = at(message, "id");
  const Json& method = at(message, "method");
  static const Json no_params = Json::object();
  const Json& params = message.contains("params") ? message["params"] : no_params;
  if (method.is_null() && (message.contains("result") || message.contains("error"))) return handle_response(message);
  if (!method.is_string() || (!id.is_null() && !id.is_number_integer() && !id.is_string())) {
    transport_.send(error_response(id.is_number_integer() || id.is_string() ? id : Json(nullptr),
                                   RpcError::InvalidRequest, "no request, no notification and no response"));
    return;
  }
  const std::string name = method.get<std::string>();
  // What the protocol's library says of a value of another type than expected must not end the session.
  try {
    if (!id.is_null()) {
      handle_request(id, name, params);
    } else if (const auto found = notifications_.find(name);
               found != notifications_.end() && (initialized_ || name == "exit") && (!shut_down_ || name == "exit")) {
      found->second(params);
    }
  } catch (const Json::exception& error) {
    if (id.is_null()) {
      log(fmt::format("{}: {}", name, error.what()));
    } else {
      transport_.send(error_response(id, RpcError::InvalidParams, error.what()));
    }
  }
}

void Server::handle_request(const Json& id, const std::string& method, Params params) {
  const auto fail = [&](RpcError code, std::string text) {
    transport_.send(error_response(id, code, std::move(text)));
  };
  if (shut_down_) return fail(RpcError::InvalidRequest, "the server is shut down");
  if (!initialized_ && method != "initialize")
    return fail(RpcError::NotInitialized, "`initialize` must be the first request");
  if (initialized_ && method == "initialize") return fail(RpcError::InvalidRequest, "`initialize` comes once");
  if (const auto late = late_requests_.find(method); late != late_requests_.end()) return late->second(id, params);
  const auto found = requests_.find(method);
  if (found == requests_.end()) return fail(RpcError::MethodNotFound, "no method `" + method + "`");
  Answer answer = found->second(params);
  if (!answer) return fail(answer.error().code, answer.error().message);
  transport_.send(response(id, std::move(*answer)));
}

void Server::handle_response(const Json& message) {
  const Json& id = at(message, "id");
  if (!id.is_number_integer()) return;
  const auto found = asked_.find(id.get<std::int64_t>());
  if (found == asked_.end()) return;
  const auto then = std::move(found->second);
  asked_.erase(found);
  if (then && message.contains("result")) then(message["result"]);
}

void Server::ask(const std::string& method, Json params, std::function<void(const Json& result)> then) {
  const std::int64_t id = next_id_++;
  asked_[id] = std::move(then);
  transport_.send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}

void Server::notify(const std::string& method, Json params) {
  transport_.send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

void Server::show(const std::string& message) {
  constexpr int warning = 2;
  notify("window/showMessage", {{"type", warning}, {"message", "fullgraph: " + message}});
}

void Server::log(const std::string& message) {
  constexpr int as_log = 4;
  notify("window/logMessage", {{"type", as_log}, {"message", message}});
}

void Server::log_trace(const std::string& message, const std::string& details) {
  if (trace_ == kOff) return;
  Json params = {{"message", message}};
  if (trace_ == kVerbose) params["verbose"] = details;
  notify("$/logTrace", std::move(params));
}

// ---------------------------------------------------------------------------------------------------- life

Server::Answer Server::initialize(Params params) {
  if (!params.is_object()) return invalid("`params` must be an object");
  const Json& client = at(params, "capabilities");
  const Json& document = at(client, "textDocument");
  const Json& workspace = at(client, "workspace");
  // Bytes are what is counted here, so those are preferred.
  const Json& offered = at(client, "general", "positionEncodings");
  if (offered.is_array()) {
    for (const Encoding encoding : {Encoding::Utf32, Encoding::Utf16, Encoding::Utf8}) {
      if (std::ranges::find(offered, Json(encoding_name(encoding))) != offered.end()) abilities_.encoding = encoding;
    }
  }
  const Json& push = at(document, "publishDiagnostics");
  const Json& diagnostic = at(document, "diagnostic");
  pulls_ = diagnostic.is_object();
  abilities_.related = is_true(at(push, "relatedInformation")) || is_true(at(diagnostic, "relatedInformation"));
  abilities_.code_description =
      is_true(at(push, "codeDescriptionSupport")) || is_true(at(diagnostic, "codeDescriptionSupport"));
  abilities_.tags = at(push, "tagSupport").is_object() || at(diagnostic, "tagSupport").is_object();
  versions_ = is_true(at(push, "versionSupport"));
  refreshes_ = is_true(at(workspace, "diagnostics", "refreshSupport"));
  configures_ = is_true(at(workspace, "configuration"));
  watches_ = is_true(at(workspace, "didChangeWatchedFiles", "dynamicRegistration"));
  document_changes_ = is_true(at(workspace, "workspaceEdit", "documentChanges"));
  preferred_ = is_true(at(document, "codeAction", "isPreferredSupport"));
  const Json& resolvable = at(document, "codeAction", "resolveSupport", "properties");
  resolves_ = resolvable.is_array() && std::ranges::find(resolvable, Json("edit")) != resolvable.end() &&
              is_true(at(document, "codeAction", "dataSupport"));
  const Json& formats = at(document, "hover", "contentFormat");
  markdown_ = !formats.is_array() || formats.empty() || std::ranges::find(formats, Json("markdown")) != formats.end();
  progress_.enable(is_true(at(client, "window", "workDoneProgress")));
  set_trace({{"value", at(params, "trace")}});

  const Json& folders = at(params, "workspaceFolders");
  if (folders.is_array() && !folders.empty()) {
    for (const Json& folder : folders) {
      if (auto path = path_of_uri(text_of(at(folder, "uri")))) folders_.push_back(std::move(*path));
    }
  } else if (auto root = path_of_uri(text_of(at(params, "rootUri")))) {
    folders_.push_back(std::move(*root));
  } else if (const std::string path = text_of(at(params, "rootPath")); !path.empty()) {
    folders_.push_back(path);
  }
  const Json& options = at(params, "initializationOptions");
  use_settings(options.is_object() && options.contains("settings") ? options["settings"] : options);
  initialized_ = true;
  return Json{{"capabilities", capabilities()},
              {"serverInfo", {{"name", "fullgraph"}, {"version", FULLGRAPH_VERSION}}}};
}

Json Server::capabilities() const {
  constexpr int incremental = 2;
  Json out = {{"positionEncoding", encoding_name(abilities_.encoding)},
              {"textDocumentSync", {{"openClose", true}, {"change", incremental}, {"save", {{"includeText", false}}}}},
              {"hoverProvider", true},
              {"codeActionProvider",
               {{"codeActionKinds", Json::array({"quickfix", fix_all_kind})}, {"resolveProvider", resolves_}}},
              {"executeCommandProvider", {{"commands", Json::array({apply_fixes_command})}}},
              {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}}};
  if (pulls_)
    out["diagnosticProvider"] = {
        {"identifier", "fullgraph"}, {"interFileDependencies", true}, {"workspaceDiagnostics", true}};
  return out;
}

void Server::initialized() {
  if (watches_) {
    Json watchers = Json::array();
    for (const char* glob :
         {"**/*.py", "**/*.pyi", "**/pyproject.toml", "**/fullgraph.toml", "**/.fullgraph.toml", "**/.gitignore"})
      watchers.push_back({{"globPattern", glob}});
    ask("client/registerCapability",
        {{"registrations", Json::array({{{"id", "fullgraph-files"},
                                         {"method", "workspace/didChangeWatchedFiles"},
                                         {"registerOptions", {{"watchers", std::move(watchers)}}}}})}},
        {});
  }
  if (configures_) did_change_configuration(Json::object());
  tell_worker();
}

void Server::set_trace(Params params) {
  const std::string value = text_of(at(params, "value"));
  trace_ = value == "verbose" ? kVerbose : value == "messages" ? kMessages : kOff;
}

void Server::cancel(Params params) {
  const Json& id = at(params, "id");
  const std::scoped_lock guard(mutex_);
  if (std::erase_if(waiting_, [&](const Pull& pull) { return pull.id == id; }) != 0) {
    transport_.send(error_response(id, RpcError::RequestCancelled, "cancelled"));
  } else {
    cancelled_.push_back(id);
    // Most are answered by now; those of old requests are of no use.
    if (cancelled_.size() > 64) cancelled_.erase(cancelled_.begin());
  }
}

// ---------------------------------------------------------------------------------------------------- documents

std::string Server::path_of(const std::string& uri) const {
  if (auto path = path_of_uri(uri)) return *path;
  // What was never saved ("untitled:Untitled-1") is looked at as if it lay in the first folder.
  std::string name;
  for (const char c : uri) name += c == '/' || c == '\\' || c == ':' ? '-' : c;
  return (folders_.empty() ? working_directory_ : folders_.front()) + "/" + name + (name.ends_with(".py") ? "" : ".py");
}

void Server::did_open(Params params) {
  const Json& document = params.at("textDocument");
  const std::string uri = document.at("uri").get<std::string>();
  const std::string language = text_of(at(document, "languageId"));
  if (!language.empty() && language != "python" && !uri.ends_with(".py")) return;
  const Json& version = at(document, "version");
  documents_.open(uri, path_of(uri), version.is_number_integer() ? version.get<std::int64_t>() : 0,
                  document.at("text").get<std::string>());
  tell_worker();
}

void Server::did_change(Params params) {
  const Json& document = params.at("textDocument");
  const std::string uri = document.at("uri").get<std::string>();
  const Json& version = at(document, "version");
  std::vector<Change> changes;
  for (const Json& given : params.at("contentChanges")) {
    Change change{std::nullopt, given.at("text").get<std::string>()};
    if (const Json& range = at(given, "range"); !range.is_null()) {
      change.range = range_from(range);
      if (!change.range) return log(fmt::format("{}: a change without a valid range", uri));
    }
    changes.push_back(std::move(change));
  }
  auto done =
      documents_.change(uri, version.is_number_integer() ? std::optional(version.get<std::int64_t>()) : std::nullopt,
                        changes, abilities_.encoding);
  if (!done) return log(done.error().message);
  tell_worker();
}

void Server::did_close(Params params) {
  if (documents_.close(params.at("textDocument").at("uri").get<std::string>())) tell_worker();
}

void Server::did_change_folders(Params params) {
  for (const Json& folder : at(params, "event", "removed")) {
    if (const auto path = path_of_uri(text_of(at(folder, "uri")))) std::erase(folders_, *path);
  }
  for (const Json& folder : at(params, "event", "added")) {
    auto path = path_of_uri(text_of(at(folder, "uri")));
    if (path && std::ranges::find(folders_, *path) == folders_.end()) folders_.push_back(std::move(*path));
  }
  tell_worker();
}

void Server::did_change_watched(Params params) {
  constexpr int changed = 2;
  bool any = false;
  for (const Json& change : at(params, "changes")) {
    const auto path = path_of_uri(text_of(at(change, "uri")));
    if (!path) continue;
    // The editor has a newer text of what is open; that it is on the disk now changes nothing.
    const bool open =
        std::ranges::any_of(documents_.all(), [&](const auto& entry) { return entry.second.path == *path; });
    const bool content = at(change, "type") == changed;
    if (open && content) continue;
    worker_.changed_on_disk(*path, content);
    any = true;
  }
  if (any) tell_worker();
}

void Server::did_change_configuration(Params params) {
  if (configures_) {
    ask("workspace/configuration", {{"items", Json::array({{{"section", "fullgraph"}}})}}, [this](const Json& result) {
      if (!result.is_array() || result.empty() || !result[0].is_object()) return;
      use_settings(result[0]);
      tell_worker();
    });
    return;
  }
  const Json& settings = at(params, "settings");
  const Json& own = at(settings, "fullgraph");
  if (!own.is_object() && !settings.is_object()) return;
  use_settings(own.is_object() ? own : settings);
  tell_worker();
}

void Server::use_settings(const Json& given) {
  std::vector<std::string> told;
  settings_ = client_settings_of(given, told);
  for (const std::string& sentence : told) show(sentence);
}

void Server::tell_worker() {
  Snapshot now{++generation_, settings_, folders_, {}};
  for (const auto& [uri, document] : documents_.all())
    now.open[document.path] = {uri, document.version, document.source};
  worker_.update(std::move(now));
}

// ---------------------------------------------------------------------------------------------------- diagnostics

// On the worker's thread.
void Server::take(std::shared_ptr<const Look> look) {
  progress_.end();
  {
    const std::scoped_lock guard(mutex_);
    look_ = look;
  }
  if (pulls_) {
    answer_pulls(look);
  } else {
    publish(*look);
  }
}

void Server::publish(const Look& look) {
  Converter converter(look, abilities_);
  std::map<std::string, std::string> now;  // URI → path
  for (const auto& [path, text] : look.open) now[text.uri] = path;
  for (const auto& [path, findings] : look.findings) now[converter.uri_of(path)] = path;
  for (const auto& [uri, path] : now) {
    Json params = {{"uri", uri}, {"diagnostics", converter.diagnostics_of(path)}};
    if (const auto open = look.open.find(path); open != look.open.end() && versions_)
      params["version"] = open->second.version;
    notify("textDocument/publishDiagnostics", std::move(params));
  }
  for (const auto& [uri, path] : std::exchange(published_, now)) {
    if (!now.contains(uri)) notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
  }
}

void Server::answer_pulls(const std::shared_ptr<const Look>& look) {
  std::vector<Pull> ready;
  bool refresh = false;
  {
    const std::scoped_lock guard(mutex_);
    const auto early =
        std::ranges::stable_partition(waiting_, [&](const Pull& pull) { return pull.generation <= look->generation; });
    ready.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(early.begin()));
    waiting_.erase(waiting_.begin(), early.begin());
    refresh = refreshes_ && ready.empty() && waiting_.empty();
  }
  for (const Pull& pull : ready) {
    if (pull.whole_workspace) {
      transport_.send(response(pull.id, workspace_report(*look, pull.params)));
    } else {
      const std::string path = path_of(text_of(at(pull.params, "textDocument", "uri")));
      transport_.send(response(pull.id, report_of(*look, path, text_of(at(pull.params, "previousResultId")))));
    }
  }
  // Nobody has asked since the edit: what other files show may have changed.
  if (refresh)
    transport_.send({{"jsonrpc", "2.0"},
                     {"id", fmt::format("refresh-{}", look->generation)},
                     {"method", "workspace/diagnostic/refresh"}});
}

Json Server::report_of(const Look& look, const std::string& path, const std::string& previous) const {
  Json items = Converter(look, abilities_).diagnostics_of(path);
  const std::string result =
      fmt::format("{:016x}", std::hash<std::string>{}(items.dump(-1, ' ', false, Json::error_handler_t::replace)));
  if (result == previous) return {{"kind", "unchanged"}, {"resultId", result}};
  return {{"kind", "full"}, {"resultId", result}, {"items", std::move(items)}};
}

Json Server::workspace_report(const Look& look, const Json& params) const {
  const Converter converter(look, abilities_);
  std::map<std::string, std::string> previous;  // result by URI
  for (const Json& one : at(params, "previousResultIds")) previous[text_of(at(one, "uri"))] = text_of(at(one, "value"));
  std::map<std::string, std::string> paths;  // by URI
  for (const auto& [path, findings] : look.findings) paths[converter.uri_of(path)] = path;
  for (const auto& [path, text] : look.open) paths[text.uri] = path;
  for (const auto& [uri, value] : previous) paths.try_emplace(uri, path_of(uri));
  Json items = Json::array();
  for (const auto& [uri, path] : paths) {
    Json report = report_of(look, path, previous.contains(uri) ? previous[uri] : std::string());
    report["uri"] = uri;
    const auto open = look.open.find(path);
    report["version"] = open == look.open.end() ? Json(nullptr) : Json(open->second.version);
    items.push_back(std::move(report));
  }
  return {{"items", std::move(items)}};
}

void Server::pull(const Json& id, Params params, bool whole_workspace) {
  if (!whole_workspace && !at(params, "textDocument", "uri").is_string())
    return void(transport_.send(error_response(id, RpcError::InvalidParams, "`textDocument.uri` is missing")));
  std::shared_ptr<const Look> look;
  {
    const std::scoped_lock guard(mutex_);
    waiting_.push_back({id, params, whole_workspace, generation_});
    if (look_ != nullptr && look_->generation == generation_) look = look_;
  }
  if (look != nullptr) answer_pulls(look);
}

std::shared_ptr<const Look> Server::last_look() {
  const std::scoped_lock guard(mutex_);
  return look_;
}

// ---------------------------------------------------------------------------------------------------- actions

Server::Answer Server::hover(Params params) {
  const auto position = position_from(at(params, "position"));
  if (!position) return invalid("`position` is missing");
  const auto look = last_look();
  const std::string path = path_of(text_of(at(params, "textDocument", "uri")));
  if (look == nullptr || !look->findings.contains(path)) return Json(nullptr);
  Converter converter(*look, abilities_);
  std::string text;
  std::optional<Range> shown;
  for (const Finding& finding : look->findings.at(path)) {
    const auto range = converter.range(finding);
    if (!range || *position < range->start || range->end < *position) continue;
    if (!shown) shown = range;
    text += (text.empty() ? "" : "\n---\n\n") + hover_text(finding.diagnostic);
  }
  if (text.empty()) return Json(nullptr);
  return Json{{"contents", {{"kind", markdown_ ? "markdown" : "plaintext"}, {"value", text}}},
              {"range", to_json(*shown)}};
}

Server::Answer Server::code_actions(Params params) {
  const auto range = range_from(at(params, "range"));
  if (!range) return invalid("`range` is missing");
  const std::string uri = text_of(at(params, "textDocument", "uri"));
  ActionRequest request{.path = path_of(uri),
                        .range = *range,
                        .only = {},
                        .fix_all = settings_.fix_all,
                        .suppressions = settings_.suppressions,
                        .document_changes = document_changes_,
                        .preferred = preferred_};
  for (const Json& kind : at(params, "context", "only")) request.only.push_back(text_of(kind));
  const auto look = last_look();
  if (look == nullptr) return Json::array();
  Json out = quick_fixes(*look, abilities_, request);
  const auto found = look->findings.find(request.path);
  const bool fixable = found != look->findings.end() && std::ranges::any_of(found->second, [](const Finding& finding) {
                         return is_fixable(finding.diagnostic, false);
                       });
  if (request.fix_all && fixable && is_wanted(request.only, fix_all_kind)) {
    Json action = {{"title", "Fix all fullgraph findings"}, {"kind", fix_all_kind}};
    if (resolves_) {
      action["data"] = {{"uri", uri}};
    } else {
      action["command"] = {{"title", "Fix all fullgraph findings"},
                           {"command", apply_fixes_command},
                           {"arguments", Json::array({{{"uri", uri}}})}};
    }
    out.push_back(std::move(action));
  }
  return out;
}

// Repairs take several looks, so that they are the worker's.
void Server::repair(const std::string& uri, const Json& id, std::function<void(std::expected<Json, Failure>)> then) {
  worker_.post([this, path = path_of(uri), id, then = std::move(then)](Workspace& workspace, const Snapshot& now) {
    {
      const std::scoped_lock guard(mutex_);
      if (std::erase(cancelled_, id) != 0)
        return then(std::unexpected(Failure{RpcError::RequestCancelled, "cancelled"}));
    }
    auto repairs = workspace.repair(now, path);
    if (!repairs) return then(std::unexpected(Failure{RpcError::Internal, repairs.error().message}));
    then(edit_of(*repairs, *last_look(), abilities_, document_changes_));
  });
}

void Server::resolve_action(const Json& id, Params params) {
  const Json& uri = at(params, "data", "uri");
  if (!uri.is_string()) return void(transport_.send(response(id, params)));
  repair(uri.get<std::string>(), id, [this, id, action = params](std::expected<Json, Failure> edit) mutable {
    if (!edit) return void(transport_.send(error_response(id, edit.error().code, edit.error().message)));
    action["edit"] = std::move(*edit);
    transport_.send(response(id, std::move(action)));
  });
}

void Server::execute(const Json& id, Params params) {
  const Json& arguments = at(params, "arguments");
  const bool known = text_of(at(params, "command")) == apply_fixes_command;
  if (!known || !arguments.is_array() || arguments.empty() || !at(arguments[0], "uri").is_string()) {
    const char* const why = known ? "the command needs {\"uri\": …}" : "no such command";
    return void(transport_.send(error_response(id, RpcError::InvalidParams, why)));
  }
  repair(arguments[0]["uri"].get<std::string>(), id, [this, id](std::expected<Json, Failure> edit) {
    if (!edit) return void(transport_.send(error_response(id, edit.error().code, edit.error().message)));
    transport_.send({{"jsonrpc", "2.0"},
                     {"id", "apply-" + id.dump()},
                     {"method", "workspace/applyEdit"},
                     {"params", {{"label", "Fix all fullgraph findings"}, {"edit", std::move(*edit)}}}});
    transport_.send(response(id, nullptr));
  });
}

}  // namespace

int serve(const std::string& working_directory) {
  std::signal(SIGPIPE, SIG_IGN);
  return Server(working_directory).run();
}

}  // namespace fullgraph::server
