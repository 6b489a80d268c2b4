#include "cli/baseline.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/files.h"
#include "cli/settings.h"
#include "rules/fingerprint.h"

namespace fullgraph::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

std::unexpected<Error> corrupt(const std::string& file, const std::string& what) {
  return std::unexpected(Error{ErrorKind::Configuration, "not a baseline file: " + what, ErrorLocation{file, 0, 0}});
}

const std::string* text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

}  // namespace

Result<Baseline> Baseline::read(const std::string& file) {
  auto text = read_file(file);
  if (!text) return std::unexpected(text.error());
  return parse(*text, file);
}

Result<Baseline> Baseline::parse(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return corrupt(file, "no JSON");
  if (!json.is_object()) return corrupt(file, "no JSON object");
  const auto version = json.find("schema");
  if (version == json.end() || !version->is_number_integer()) return corrupt(file, "no `schema`");
  if (*version != schema)
    return corrupt(file, "`schema` is " + version->dump() + ", this version knows " + std::to_string(schema));
  const auto findings = json.find("findings");
  if (findings == json.end() || !findings->is_array()) return corrupt(file, "no list `findings`");

  Baseline out(std::filesystem::path(file).parent_path().string());
  for (std::size_t i = 0; i < findings->size(); ++i) {
    const Json& item = (*findings)[i];
    const std::string where = "finding " + std::to_string(i + 1);
    if (!item.is_object()) return corrupt(file, where + " is no object");
    const std::string *path = text_at(item, "path"), *code = text_at(item, "code"),
                      *function = text_at(item, "function"), *hash = text_at(item, "line_hash");
    if (path == nullptr || code == nullptr || function == nullptr || hash == nullptr) {
      return corrupt(file, where + " lacks one of path, code, function, line_hash");
    }
    const auto count = item.find("count");
    if (count == item.end() || !count->is_number_unsigned() || *count > 1'000'000)
      return corrupt(file, where + " has no count");
    Entry& entry = out.entries_[{*path, *code, *function, *hash}];
    entry.count += count->get<unsigned>();
    if (const std::string* line = text_at(item, "line")) entry.text = *line;
  }
  return out;
}

std::string Baseline::to_json() const {
  Json findings = Json::array();
  for (const auto& [identity, entry] : entries_) {
    const auto& [path, code, function, hash] = identity;
    findings.push_back({{"path", path},
                        {"code", code},
                        {"function", function},
                        {"line_hash", hash},
                        {"count", entry.count},
                        {"line", entry.text}});
  }
  const Json out = {{"schema", schema}, {"findings", std::move(findings)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Baseline::Identity Baseline::identity(const Diagnostic& finding, const std::string& working_directory) const {
  const std::string shown = finding.place.source == nullptr ? std::string() : finding.place.source->path();
  const std::string path =
      std::filesystem::path(absolute_path(shown, working_directory)).lexically_relative(base_).generic_string();
  return {path, finding.code, finding.function, rules::hash_text(rules::normalised_line(finding))};
}

std::string Baseline::absolute(const Identity& identity) const {
  return absolute_path(std::get<0>(identity), base_);
}

void Baseline::add(const Diagnostic& finding, const std::string& working_directory) {
  Entry& entry = entries_[identity(finding, working_directory)];
  ++entry.count;
  entry.text = rules::normalised_line(finding);
}

void Baseline::remove(const Diagnostic& finding, const std::string& working_directory) {
  const auto entry = entries_.find(identity(finding, working_directory));
  if (entry != entries_.end() && --entry->second.count == 0) entries_.erase(entry);
}

std::vector<Diagnostic> Baseline::filter(std::vector<Diagnostic> findings, const std::string& working_directory) {
  std::vector<Diagnostic> out;
  for (Diagnostic& finding : findings) {
    const Identity key = identity(finding, working_directory);
    const auto entry = entries_.find(key);
    unsigned& used = matched_[key];
    if (entry != entries_.end() && used < entry->second.count) {
      ++used;
    } else {
      out.push_back(std::move(finding));
    }
  }
  return out;
}

std::size_t Baseline::stale(const std::function<bool(const std::string&)>& checked) const {
  std::size_t out = 0;
  for (const auto& [identity, entry] : entries_) {
    if (!checked(absolute(identity))) continue;
    const auto used = matched_.find(identity);
    out += entry.count - (used == matched_.end() ? 0 : used->second);
  }
  return out;
}

void Baseline::prune(const std::function<bool(const std::string&)>& checked) {
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (!checked(absolute(at->first))) {
      ++at;
      continue;
    }
    const auto used = matched_.find(at->first);
    at->second.count = used == matched_.end() ? 0 : used->second;
    at = at->second.count == 0 ? entries_.erase(at) : std::next(at);
  }
}

void Baseline::drop(const std::function<bool(const std::string&)>& checked) {
  std::erase_if(entries_, [&](const auto& item) { return checked(absolute(item.first)); });
}

std::size_t Baseline::size() const {
  std::size_t out = 0;
  for (const auto& item : entries_) out += item.second.count;
  return out;
}

}  // namespace fullgraph::cli
