// `fullgraph server`: a language server on stdin and stdout.
#pragma once

#include <string>

namespace fullgraph::server {

// Until the client says that it is enough, or is gone. The exit status: 0 after a shutdown, else 1.
int serve(const std::string& working_directory);

}  // namespace fullgraph::server
