// What the editor was told by its user, and how the command line would have said it.
//
// Each key of configuration files can be given, in the spelling of editors' settings ("torchVersion" for
// "torch-version"); it goes over the files, as a flag of `fullgraph check` does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "server/transport.h"

namespace fullgraph::server {

struct ClientSettings {
  bool whole_workspace = false;              // diagnosticMode: findings of files that are not open, too
  bool fix_all = true;                       // offer source.fixAll
  bool suppressions = true;                  // offer comments that suppress
  unsigned jobs = 0;                         // threads; 0: one for each core
  std::optional<std::string> configuration;  // a file, in place of those that would be found
  Json keys = Json::object();                // the others, by the names of configuration files
  friend bool operator==(const ClientSettings&, const ClientSettings&) = default;
};

// `told` gets one sentence for each value that is not understood, which is left out.
ClientSettings client_settings_of(const Json& given, std::vector<std::string>& told);

// The options of the `check` that the server stands for. `root`: where relative paths belong.
cli::CheckOptions check_options_of(const ClientSettings& settings, const std::string& root,
                                   std::vector<std::string>& told);

}  // namespace fullgraph::server
