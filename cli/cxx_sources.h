// One look at C++ and CUDA sources: the worker spells each as Python text, which is traced and judged like any other;
// what is found there is told where the author wrote it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/ir/error.h"
#include "analyzer/ir/ir.h"
#include "cli/discovery.h"
#include "cli/native_names.h"
#include "rules/diagnostic.h"

namespace fullgraph::cli {

struct Environment;  // analysis.h

// By its name: C++ and CUDA have no other mark.
bool is_cxx(const std::string& path);
// A source, no header, that includes a header of libtorch or names something of it: what is looked at in folders.
bool is_libtorch_source(const std::string& path);

struct CxxFindings {
  std::vector<Diagnostic> list;
  // Text and comments of the files that were looked at, headers of the project included.
  std::vector<std::shared_ptr<const ir::Module>> sources;
  std::vector<CxxRegistration> registrations;
  std::string first;  // of the files, as shown: its settings hold for what is in headers
  std::vector<std::string> notes;
  std::vector<Error> errors;
  std::size_t roots = 0;
};

// `texts` take the place of what is on the disk, by absolute path.
CxxFindings look_at_cxx(const std::vector<const SourcePath*>& files, const std::map<std::string, std::string>& texts,
                        const std::string& working_directory, const Environment& environment, const Settings& settings,
                        unsigned jobs);

// The Python text that stands for a source.
Result<std::string> text_of_cxx(const std::string& path, const Environment& environment, const Settings& settings);

}  // namespace fullgraph::cli
