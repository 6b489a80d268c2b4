// Framing of messages: whole, in pieces, and what is none.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "server/transport.h"

using fullgraph::server::Framing;

namespace {

std::string framed(const std::string& content) {
  return "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

// What comes out of the bytes, given in pieces of this size; an error as "!".
std::vector<std::string> frames(const std::string& bytes, std::size_t piece) {
  Framing framing;
  std::vector<std::string> out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    framing.feed(std::string_view(bytes).substr(at, piece));
    while (auto frame = framing.next()) out.push_back(frame->error.empty() ? frame->content : "!");
  }
  return out;
}

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("messages arrive whole however their bytes are cut") {
  const std::string bytes = framed("{}") + "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" +
                            framed("[1]") + "content-length:4\n\nnull";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) CHECK(frames(bytes, piece) == List{"{}", "[1]", "null"});
}

TEST_CASE("an empty message is a message") {
  CHECK(frames(framed("") + framed("1"), 7) == List{"", "1"});
}

TEST_CASE("what is no header is told once and passed over") {
  CHECK(frames("hello\r\n\r\n" + framed("1"), 3) == List{"!", "1"});
  CHECK(frames("Content-Length: many\r\n\r\n" + framed("1"), 64) == List{"!", "1"});
  CHECK(frames("Content-Length: -5\r\n\r\n" + framed("1"), 64) == List{"!", "1"});
  CHECK(frames("Content-Length: 99999999999999999999999\r\n\r\n" + framed("1"), 5) == List{"!", "1"});
  CHECK(frames(std::string(40000, 'x') + framed("1"), 1000) == List{"!", "1"});
  // One mistake after a good message, and then another.
  CHECK(frames(framed("1") + "oops" + framed("2") + "oops\r\n\r\n" + framed("3"), 9) == List{"1", "!", "2", "!", "3"});
}

TEST_CASE("a message that is too large is passed over without being kept") {
  Framing framing;
  framing.feed("Content-Length: " + std::to_string(Framing::most_content + 1) + "\r\n\r\n");
  auto frame = framing.next();
  REQUIRE(frame);
  CHECK(!frame->error.empty());
  const std::string part(1u << 20, ' ');
  for (std::size_t sent = 0; sent < Framing::most_content; sent += part.size()) {
    framing.feed(part);
    CHECK(!framing.next());
  }
  framing.feed(" " + framed("1"));
  frame = framing.next();
  REQUIRE(frame);
  CHECK(frame->content == "1");
}
