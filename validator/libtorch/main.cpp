// fullgraph-libtorch: runs models for `fullgraph validate`, which starts it and reads what it writes. Not for people.
//
//     fullgraph-libtorch measure REQUEST.json RESULT.json     run one model
//     fullgraph-libtorch compare REQUEST.json RESULT.json     hold two runs against each other
//     fullgraph-libtorch describe REQUEST.json RESULT.json    which libtorch this is
//
// Exit status 0: the result was written, whatever it says. Anything else is a crash.
#include <sys/prctl.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/version.h>
#include <csignal>

#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "validator/libtorch/compare.h"
#include "validator/libtorch/failure.h"
#include "validator/libtorch/measure.h"

namespace {

using namespace fullgraph::libtorch;
using Json = nlohmann::ordered_json;

Json describe_libtorch() {
  Json includes = Json::array();
  std::istringstream list(FULLGRAPH_TORCH_INCLUDES);
  for (std::string folder; std::getline(list, folder, '|');) includes.push_back(folder);
  return {{"status", "described"},
          {"torch_version", TORCH_VERSION},
          {"include_folders", includes},
          {"cxx11_abi", _GLIBCXX_USE_CXX11_ABI},
          {"cuda", at::hasCUDA()}};
}

Json failed(const std::string& message) {
  return {{"status", "failed"}, {"message", message}};
}

template <class Work>
Json result_of(Work work) {
  try {
    return work();
  } catch (const Skipped& skipped) {
    return {{"status", "skipped"}, {"message", skipped.what()}};
  } catch (const std::bad_alloc&) {
    return failed("more memory is needed than there is, or than the limit allows");
  } catch (const std::exception& error) {
    return failed(message_of(error));
  }
}

Json read_request(const char* path) {
  std::ifstream file(path);
  if (!file) throw Failure(fmt::format("{}: cannot be read", path));
  return Json::parse(file);
}

bool write_result(const char* path, const Json& result) {
  std::ofstream file(path);
  file << result.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  return static_cast<bool>(file.flush());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if ((verb != "measure" && verb != "compare" && verb != "describe") || argc != 4) {
    fmt::print(stderr, "fullgraph-libtorch: started by `fullgraph validate`; there is nothing to call by hand\n");
    return 2;
  }
  // Should `fullgraph` be killed without a chance to put things away, this process goes as well.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::optional<Progress> progress;
  Json result = result_of([&] {
    const Json request = read_request(argv[2]);
    progress.emplace(request.value("progress", ""));
    if (verb == "describe") return describe_libtorch();
    return verb == "measure" ? measure(request, *progress) : compare(request);
  });
  if (progress) result["stage"] = progress->stage();
  return write_result(argv[3], result) ? 0 : 2;
}
