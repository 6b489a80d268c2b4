#include "server/transport.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <utility>

namespace fullgraph::server {

namespace {

constexpr std::string_view length_header = "content-length:";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_with_header(std::string_view text) {
  return text.size() >= length_header.size() &&
         std::ranges::equal(text.substr(0, length_header.size()), length_header, {}, lower);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// The length that a header gives; nothing when it gives none.
std::optional<std::size_t> length_of(std::string_view header) {
  std::optional<std::size_t> out;
  while (!header.empty()) {
    const std::string_view line = header.substr(0, header.find('\n'));
    header.remove_prefix(std::min(header.size(), line.size() + 1));
    if (!starts_with_header(line)) continue;
    const std::string_view digits = trimmed(line.substr(length_header.size()));
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    out = value;
  }
  return out;
}

}  // namespace

// Looks for the next place where a header may begin.
std::optional<Framing::Frame> Framing::lost(std::string error) {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  std::size_t found = rest.size();
  for (std::size_t at = 1; at + length_header.size() <= rest.size(); ++at) {
    if (!starts_with_header(rest.substr(at))) continue;
    found = at;
    break;
  }
  // The beginning of such a word may stand at the end.
  if (found == rest.size()) found -= std::min(found, length_header.size() - 1);
  at_ += std::max<std::size_t>(found, rest.empty() ? 0 : 1);
  if (std::exchange(lost_, true)) return std::nullopt;
  return Frame{{}, std::move(error)};
}

std::optional<Framing::Frame> Framing::content() {
  if (buffer_.size() - at_ < expected_) return std::nullopt;
  Frame out{buffer_.substr(at_, expected_), {}};
  at_ += expected_;
  in_content_ = false;
  return out;
}

std::optional<Framing::Frame> Framing::next() {
  if (at_ > most_header && at_ * 2 > buffer_.size()) buffer_.erase(0, std::exchange(at_, 0));
  if (skip_ > 0) {
    const std::size_t here = std::min(skip_, buffer_.size() - at_);
    at_ += here;
    skip_ -= here;
    if (skip_ > 0) return std::nullopt;
  }
  if (in_content_) return content();
  while (at_ < buffer_.size()) {
    const std::string_view rest = std::string_view(buffer_).substr(at_);
    // Both line ends are understood.
    std::size_t end = rest.find("\r\n\r\n"), length = 4;
    if (const std::size_t bare = rest.substr(0, end).find("\n\n"); bare != std::string_view::npos) {
      end = bare;
      length = 2;
    }
    const bool may_be = rest.size() < length_header.size() || starts_with_header(rest) ||
                        std::ranges::equal(rest.substr(0, 13), std::string_view("content-type:"), {}, lower);
    if (end == std::string_view::npos && may_be && rest.size() <= most_header) return std::nullopt;
    const auto given = may_be && end != std::string_view::npos ? length_of(rest.substr(0, end)) : std::nullopt;
    if (!given) {
      if (auto frame = lost("a header without a valid Content-Length")) return frame;
      if (buffer_.size() - at_ < length_header.size()) return std::nullopt;
      continue;
    }
    at_ += end + length;
    lost_ = false;
    if (*given > most_content) {
      skip_ = *given;
      return Frame{{}, fmt::format("a message of {} bytes; at most {} are read", *given, most_content)};
    }
    expected_ = *given;
    in_content_ = true;
    return content();
  }
  return std::nullopt;
}

Json response(Json id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", std::move(id)}, {"result", std::move(result)}};
}

Json error_response(Json id, RpcError code, std::string message) {
  return {{"jsonrpc", "2.0"},
          {"id", std::move(id)},
          {"error", {{"code", static_cast<int>(code)}, {"message", std::move(message)}}}};
}

std::optional<Json> Transport::read() {
  std::array<char, 64u << 10> bytes;
  while (true) {
    while (auto frame = framing_.next()) {
      if (!frame->error.empty()) {
        fmt::print(stderr, "fullgraph: server: {}\n", frame->error);
        send(error_response(nullptr, RpcError::InvalidRequest, frame->error));
        continue;
      }
      Json message = Json::parse(frame->content, nullptr, false);
      if (message.is_discarded()) {
        send(error_response(nullptr, RpcError::Parse, "the content is no JSON"));
      } else if (!message.is_object()) {
        send(error_response(nullptr, RpcError::InvalidRequest, "a message must be an object"));
      } else {
        return message;
      }
    }
    const ssize_t count = ::read(in_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    framing_.feed({bytes.data(), static_cast<std::size_t>(count)});
  }
}

bool Transport::send(const Json& message) {
  const std::string content = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string bytes = fmt::format("Content-Length: {}\r\n\r\n{}", content.size(), content);
  const std::scoped_lock guard(mutex_);
  for (std::size_t sent = 0; sent < bytes.size() && !closed_;) {
    const ssize_t count = ::write(out_, bytes.data() + sent, bytes.size() - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      closed_ = true;
    } else {
      sent += static_cast<std::size_t>(count);
    }
  }
  return !closed_;
}

}  // namespace fullgraph::server
