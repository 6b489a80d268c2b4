// Symbols and source positions.
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "analyzer/ir/source.h"
#include "analyzer/ir/symbol.h"

using namespace fullgraph::ir;

TEST_CASE("equal texts are equal symbols") {
  CHECK(Symbol::intern("forward") == Symbol::intern(std::string("for") + "ward"));
  CHECK(Symbol::intern("forward") != Symbol::intern("forwards"));
  CHECK(Symbol::intern("forward").text() == "forward");
  CHECK_FALSE(Symbol::intern(""));
  CHECK(Symbol{}.text().empty());
  const std::string zeros("a\0b", 3);
  CHECK(Symbol::intern(zeros).text() == zeros);
  const std::string large(100000, 'x');
  CHECK(Symbol::intern(large) == Symbol::intern(large));
  CHECK(Symbol::intern(large).text() == large);
}

TEST_CASE("symbols are the same in all threads") {
  constexpr int count = 40000;
  std::vector<std::vector<Symbol>> results(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&result] {
        for (int index = 0; index < count; ++index)
          result.push_back(Symbol::intern("thread-name-" + std::to_string(index)));
      });
    }
  }
  for (const auto& result : results) CHECK(result == results[0]);
  for (int index = 0; index < count; index += 777)
    CHECK(results[0][index].text() == "thread-name-" + std::to_string(index));
}

TEST_CASE("positions count lines and code points") {
  const SourceFile file("a.py", "ab\nx\xC3\xA9y\r\n\r\rz");
  CHECK(file.line_count() == 5);
  const auto at = [&](std::uint32_t offset) {
    const LineColumn place = file.position(offset);
    return std::to_string(place.line) + ":" + std::to_string(place.column);
  };
  CHECK(at(0) == "1:1");
  CHECK(at(2) == "1:3");
  CHECK(at(3) == "2:1");
  CHECK(at(6) == "2:3");  // behind the two bytes of é
  CHECK(at(9) == "3:1");
  CHECK(at(10) == "4:1");
  CHECK(at(11) == "5:1");
  CHECK(at(12) == "5:2");
  CHECK(at(99) == "5:2");
  CHECK(file.line_text(2) == "x\xC3\xA9y");
  CHECK(file.line_text(3).empty());
  CHECK(file.line_text(5) == "z");
  CHECK(file.line_text(6).empty());
  CHECK(file.line_text(0).empty());
  CHECK(file.line_start(2) == 3);
  CHECK(file.text({100, 200}).empty());
}

TEST_CASE("a byte order mark is no column") {
  const SourceFile file("a.py", "\xEF\xBB\xBFx\ny");
  CHECK(file.position(3).column == 1);
  CHECK(file.position(4).column == 2);
  CHECK(file.position(5).column == 1);
}

TEST_CASE("an empty file has one line") {
  const SourceFile file("a.py", "");
  CHECK(file.line_count() == 1);
  CHECK(file.position(0).line == 1);
}
