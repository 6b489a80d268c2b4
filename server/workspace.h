// What is looked at: for each folder of the workspace the same sources, configuration and analysis as `fullgraph check`
// in that folder would have, with what is open in the editor in the place of what is on the disk.
//
// Lives on one thread. A file that is in no folder of the workspace is looked at as `fullgraph check FILE` would,
// together with the other open ones beside it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/source.h"
#include "fixer/repair.h"
#include "rules/diagnostic.h"
#include "server/client_settings.h"

namespace fullgraph::server {

struct OpenText {
  std::string uri;
  std::int64_t version = 0;
  std::shared_ptr<const ir::SourceFile> source;
};

// What the editor has, at one moment.
struct Snapshot {
  std::uint64_t generation = 0;
  ClientSettings settings;
  std::vector<std::string> folders;      // absolute paths
  std::map<std::string, OpenText> open;  // by absolute path
};

// A finding with the folder that its paths are relative to.
struct Finding {
  Diagnostic diagnostic;
  std::shared_ptr<const std::string> root;
  [[nodiscard]] std::string path_of(const Place& place) const;  // absolute
};

struct Look {
  std::uint64_t generation = 0;
  std::map<std::string, OpenText> open;
  std::map<std::string, std::vector<Finding>> findings;  // by absolute path, sorted by position
};

struct Repairs {
  struct Text {
    std::string before, after;
  };
  std::map<std::string, Text> texts;  // by absolute path
  std::size_t count = 0;
};

class Workspace {
 public:
  struct Hooks {
    std::function<void(std::string_view phase, std::size_t done, std::size_t total)> progress;
    std::function<void(const std::string& message)> warn;  // the user must know
    std::function<void(const std::string& message)> log;
    std::function<void(const std::string& message, const std::string& details)> trace;  // for who wants to know all
  };
  explicit Workspace(Hooks hooks);
  ~Workspace();

  // Files were changed (`content`), or made or removed, by others than the editor.
  void changed_on_disk(const std::string& path, bool content);

  // Nothing: cancelled.
  std::optional<Look> look(const Snapshot& now, const std::function<bool()>& cancelled);

  // Repairs all findings of one source. To be called after a look at the same snapshot.
  Result<Repairs> repair(const Snapshot& now, const std::string& path);

 private:
  struct Project;
  void arrange(const Snapshot& now);
  Project* project_of(const std::string& path) const;
  Hooks hooks_;
  std::map<std::string, std::unique_ptr<Project>> projects_;  // by root; those that are loose by root + "/"
  std::optional<Snapshot> arranged_;                          // for these folders and settings
  std::set<std::string> touched_;                             // on the disk, since
  bool rediscover_ = false;
};

}  // namespace fullgraph::server
