// A folder of a run's own, which goes away with it whatever was put into it.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/ir/error.h"

namespace fullgraph::validator {

class TemporaryFolder {
 public:
  // In TMPDIR, readable by this user only.
  static Result<TemporaryFolder> make();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }  // absolute, without links
  // Makes the folders between, too.
  [[nodiscard]] Result<void> write(std::string_view name, std::string_view text) const;
  // Empty: there is none, or something else than a file of a sensible size. What is run can put anything in its place.
  [[nodiscard]] static std::string read(const std::string& path);

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace fullgraph::validator
