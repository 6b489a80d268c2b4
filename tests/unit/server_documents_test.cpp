// Positions in three encodings, edits, versions, and where things are after an edit.
#include <doctest/doctest.h>

#include <string>

#include "server/documents.h"

using namespace fullgraph;
using namespace fullgraph::server;

namespace {

// a, é (2 bytes), € (3 bytes), 😀 (4 bytes, two units of UTF-16), z
const std::string line = "a\u00e9\u20ac\U0001F600z";
const ir::SourceFile source("m.py", "x\r\n" + line + "\rlast");
constexpr std::uint32_t line_begin = 3;

}  // namespace

TEST_CASE("columns in three encodings, there and back") {
  struct Case {
    std::uint32_t bytes;  // into the line
    std::uint32_t utf8, utf16, utf32;
  };
  for (const Case& at : {Case{0, 0, 0, 0}, {1, 1, 1, 1}, {3, 3, 2, 2}, {6, 6, 3, 3}, {10, 10, 5, 4}, {11, 11, 6, 5}}) {
    const std::uint32_t offset = line_begin + at.bytes;
    CHECK(position_of(source, offset, Encoding::Utf8) == Position{1, at.utf8});
    CHECK(position_of(source, offset, Encoding::Utf16) == Position{1, at.utf16});
    CHECK(position_of(source, offset, Encoding::Utf32) == Position{1, at.utf32});
    CHECK(offset_of(source, {1, at.utf8}, Encoding::Utf8) == offset);
    CHECK(offset_of(source, {1, at.utf16}, Encoding::Utf16) == offset);
    CHECK(offset_of(source, {1, at.utf32}, Encoding::Utf32) == offset);
  }
}

TEST_CASE("positions that are nowhere are somewhere near") {
  CHECK(offset_of(source, {1, 4}, Encoding::Utf16) == line_begin + 6);  // between two surrogates: before the character
  CHECK(offset_of(source, {1, 2}, Encoding::Utf8) == line_begin + 1);   // within é
  CHECK(offset_of(source, {1, 99}, Encoding::Utf16) == line_begin + 11);
  CHECK(offset_of(source, {0, 5}, Encoding::Utf16) == 1);  // in front of the line's end
  CHECK(offset_of(source, {99, 0}, Encoding::Utf16) == source.text().size());
  CHECK(position_of(source, 999, Encoding::Utf16) == Position{2, 4});
}

TEST_CASE("addresses of files") {
  CHECK(path_of_uri("file:///a%20b/%C3%A9.py") == "/a b/\u00e9.py");
  CHECK(path_of_uri("file://localhost/a/../b.py") == "/b.py");
  CHECK(path_of_uri("file:///a/b/") == "/a/b");
  CHECK(!path_of_uri("untitled:Untitled-1"));
  CHECK(uri_of_path("/a b/\u00e9%.py") == "file:///a%20b/%C3%A9%25.py");
  CHECK(path_of_uri(uri_of_path("/x/[y] & z?.py")) == "/x/[y] & z?.py");
}

TEST_CASE("edits are made one after the other, each in the text that the one before left") {
  Documents documents;
  documents.open("file:///m.py", "/m.py", 1, "one\ntwo\n");
  const auto text = [&] { return std::string(documents.find("file:///m.py")->source->text()); };
  REQUIRE(documents.change(
      "file:///m.py", 2,
      {{Range{{0, 3}, {1, 0}}, " "}, {Range{{0, 0}, {0, 3}}, "\U0001F600"}, {Range{{0, 2}, {0, 3}}, "!"}},
      Encoding::Utf16));
  CHECK(text() == "\U0001F600!two\n");
  // The whole text, and a range whose ends are the wrong way round.
  REQUIRE(documents.change("file:///m.py", 5, {{std::nullopt, "abc"}, {Range{{0, 2}, {0, 1}}, "-"}}, Encoding::Utf16));
  CHECK(text() == "a-c");
}

TEST_CASE("what comes too late or is about nothing changes nothing") {
  Documents documents;
  documents.open("u", "/m.py", 4, "x");
  CHECK(!documents.change("u", 4, {{std::nullopt, "y"}}, Encoding::Utf16));
  CHECK(!documents.change("u", 3, {{std::nullopt, "y"}}, Encoding::Utf16));
  CHECK(!documents.change("other", 9, {{std::nullopt, "y"}}, Encoding::Utf16));
  CHECK(documents.find("u")->source->text() == "x");
  REQUIRE(documents.change("u", std::nullopt, {{std::nullopt, "y"}}, Encoding::Utf16));
  CHECK(documents.find("u")->version == 5);
  CHECK(documents.close("u"));
  CHECK(!documents.close("u"));
  CHECK(!documents.change("u", 9, {{std::nullopt, "y"}}, Encoding::Utf16));
  // An opened document starts anew, whatever its version.
  documents.open("u", "/m.py", 1, "z");
  documents.open("u", "/m.py", 1, "w");
  CHECK(documents.find("u")->source->text() == "w");
}

TEST_CASE("spans move with an edit") {
  const std::string before = "aaa bbb ccc";
  const Moved moved(before, "aaa BBBBB ccc");
  CHECK(moved.find({0, 3}) == ir::Span{0, 3});
  CHECK(moved.find({8, 11}) == ir::Span{10, 13});
  CHECK(moved.find({2, 9}) == ir::Span{2, 11});
  CHECK(!moved.find({5, 6}));
  CHECK(!moved.find({5, 11}));
  // Equal bytes of different characters are not taken apart.
  const Moved letter("\u00e9", "\u00e8");
  CHECK(letter.changed() == std::pair{ir::Span{0, 2}, ir::Span{0, 2}});
  const Moved nothing("same", "same");
  CHECK(nothing.find({1, 3}) == ir::Span{1, 3});
}
