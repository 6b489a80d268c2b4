// What the worker is doing, for the case that it does not come back: each stage is a line in a file, and the limit of
// time begins anew with each.
#pragma once

#include <fstream>
#include <string>

namespace fullgraph::libtorch {

class Progress {
 public:
  explicit Progress(const std::string& path) : file_(path) {}
  void enter(const std::string& stage) {
    stage_ = stage;
    file_ << stage << std::endl;  // at once: the next line may never be written
  }
  [[nodiscard]] const std::string& stage() const { return stage_; }

 private:
  std::ofstream file_;
  std::string stage_;
};

}  // namespace fullgraph::libtorch
