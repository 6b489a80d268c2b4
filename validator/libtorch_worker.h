// `fullgraph-libtorch`, the program that runs archives and C++ modules: where it is, and asking it something.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "validator/result.h"
#include "validator/temporary_folder.h"

namespace fullgraph::validator {

struct Limits {
  std::chrono::milliseconds timeout{300'000};  // for each stage of a request
  std::optional<std::uint64_t> memory;         // bytes
};

class LibtorchWorker {
 public:
  // $FULLGRAPH_LIBTORCH, beside this program, or in PATH. Error: nowhere; the message says how to get it.
  static Result<LibtorchWorker> find();

  // What it answers to `verb`: its result, which says in "status" what became of the request, and why in "message".
  // Failure: it died, or was ended by a limit. `name` is for files in `folder`, and new for each request.
  [[nodiscard]] std::expected<nlohmann::json, Failure> ask(const std::string& verb, nlohmann::json request,
                                                           const std::string& name, const TemporaryFolder& folder,
                                                           const Limits& limits) const;

 private:
  explicit LibtorchWorker(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// What became of a program that left no result. `what`: "running before.pt". `stage`: what it did last.
struct Finished;
Failure failure_of(const Finished& finished, const std::string& stage, const Limits& limits);

}  // namespace fullgraph::validator
