// JSON-RPC over a pair of pipes, as the Language Server Protocol frames it.
//
// A peer's mistake must not end a session: what is no message is answered or told on stderr, and reading goes on with
// the next one.
#pragma once

#include <cstddef>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fullgraph::server {

using Json = nlohmann::json;

enum class RpcError : int {
  Parse = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  Internal = -32603,
  NotInitialized = -32002,
  RequestCancelled = -32800,
  ContentModified = -32801,
  ServerCancelled = -32802,
};

// Cuts a stream of bytes into the contents of messages.
class Framing {
 public:
  static constexpr std::size_t most_content = 256u << 20;
  static constexpr std::size_t most_header = 16u << 10;

  void feed(std::string_view bytes) { buffer_.append(bytes); }

  struct Frame {
    std::string content;
    std::string error;  // not empty: what was wrong; the next frame begins where one may begin
  };
  // Nothing: more bytes are needed.
  std::optional<Frame> next();

 private:
  std::optional<Frame> content();
  std::optional<Frame> lost(std::string error);
  std::string buffer_;
  std::size_t at_ = 0;        // what is before was taken
  std::size_t expected_ = 0;  // bytes of content
  std::size_t skip_ = 0;      // bytes of a message that is too large
  bool in_content_ = false;
  bool lost_ = false;  // told already
};

Json response(Json id, Json result);
Json error_response(Json id, RpcError code, std::string message);

class Transport {
 public:
  Transport(int in, int out) : in_(in), out_(out) {}
  // The next message, an object; nothing at the end of the input.
  std::optional<Json> read();
  // From any thread. False once nobody reads any more.
  bool send(const Json& message);

 private:
  int in_, out_;
  Framing framing_;
  std::mutex mutex_;
  bool closed_ = false;
};

}  // namespace fullgraph::server
