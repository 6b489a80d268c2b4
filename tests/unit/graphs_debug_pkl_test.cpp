#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/graphs/debug_pkl.h"
#include "tests/unit/pickles.h"

using namespace fullgraph;
using namespace fullgraph::graphs;

namespace {

using namespace samples::pickles;

// (offset, ((line ids, file id, first line), start, end), tag), as torch 1.11 and later write it.
std::string row(int offset, const std::vector<int>& lines, int file, std::int64_t first_line, int start) {
  std::vector<std::string> ids;
  for (const int line : lines) ids.push_back(number(line));
  const std::string source = tuple({list(ids), number(file), number(first_line)});
  return tuple({number(offset), tuple({source, number(start), number(start)}), number(0)});
}

std::string with_table(const std::vector<std::string>& table, const std::vector<std::string>& rows) {
  std::vector<std::string> texts;
  for (const std::string& one : table) texts.push_back(text(one));
  return tuple({text("FORMAT_WITH_STRING_TABLE"), tuple(texts), tuple(rows)}) + ".";
}

ir::SourceMap read(const std::string& bytes, std::string_view code) {
  auto map = read_debug_pkl(bytes, code);
  if (!map) FAIL(map.error().message);
  return std::move(*map);
}

std::string error_of(const std::string& bytes, std::string_view code) {
  const auto map = read_debug_pkl(bytes, code);
  REQUIRE(!map);
  return map.error().message;
}

std::string place(const ir::SourceMap& map, std::size_t offset) {
  const ir::Origin* origin = map.at(static_cast<std::uint32_t>(offset));
  if (origin == nullptr) return "unknown";
  return fmt::format("{}:{}:{} {} `{}`", origin->file, origin->line, origin->column, origin->function, origin->code);
}

const std::string code =
    "class A(Module):\n"
    "  def forward(self: A,\n"
    "    x: Tensor) -> Tensor:\n"
    "    lin = self.lin\n"
    "    h = torch.relu(x)\n"
    "    return (lin).forward(h, )\n";
const std::vector<std::string> table{"", "  def forward(self, x):\n", "    h = 'ä' + torch.relu(x)\n",
                                     "    return self.lin(h)\n", "/m.py"};

}  // namespace

TEST_CASE("source map: rows with a table of strings") {
  const int relu = static_cast<int>(code.find("torch.relu"));
  const int call = static_cast<int>(code.find("(lin)"));
  // Positions count bytes: "ä" has two. relu stands at byte 14 of its line, character 14 from 1.
  const auto map = read(with_table(table, {row(0, {}, 0, 0, 0), row(relu, {1, 2, 3, 0}, 4, 7, 24 + 15),
                                           row(relu + 14, {}, 0, 0, 0), row(call, {1, 2, 3, 0}, 4, 7, 24 + 29 + 11)}),
                        code);
  CHECK(place(map, relu) == "/m.py:8:15 forward `    h = 'ä' + torch.relu(x)`");
  CHECK(place(map, code.find("h = ")) == place(map, relu));  // the statement's target has no row of its own
  CHECK(place(map, relu + 14) == "unknown");
  CHECK(place(map, call) == "/m.py:9:12 forward `    return self.lin(h)`");
  CHECK(place(map, code.find("return")) == place(map, call));
  CHECK(place(map, 0) == "unknown");
  CHECK(place(map, code.find("lin = ")) == "unknown");
  // The head of the function is where its text begins.
  CHECK(place(map, code.find("def")) == "/m.py:7:3 forward `  def forward(self, x):`");
  CHECK(place(map, code.find("x: Tensor")) == place(map, code.find("def")));
}

TEST_CASE("source map: a function at the top of its text") {
  const std::string function = "def relu(x):\n  return x\n";
  const auto map = read(
      with_table({"", "def relu(x):\n", "  return x\n", "/f.py"}, {row(0, {}, 0, 0, 0), row(22, {1, 2}, 3, 40, 22)}),
      function);
  CHECK(place(map, 0) == "/f.py:40:1 relu `def relu(x):`");
  CHECK(place(map, 15) == "/f.py:41:10 relu `  return x`");
}

TEST_CASE("source map: the three older kinds of rows") {
  const std::string range =
      tuple({tuple({text("def f(x):\n  return x + 1\n"), text("/m.py"), number(3)}), number(19), number(24)});
  const std::string other = tuple({tuple({text("text"), "N", number(0)}), number(0), number(0)});
  for (const std::string& one :
       {tuple({number(4), range}), tuple({number(4), range, number(1)}), tuple({number(4), number(1), range})}) {
    const auto map = read(tuple({one, tuple({number(8), other})}) + ".", "0123456789");
    CHECK(place(map, 4) == "/m.py:4:10 f `  return x + 1`");
    CHECK(place(map, 8) == "unknown");
  }
}

TEST_CASE("source map: traced code stands for the innermost frame outside of torch") {
  const std::vector<std::string> frames{
      "/lib/torch/nn/modules/linear.py(130): forward\n", "/lib/torch/nn/modules/module.py(1789): _call_impl\n",
      "/home/torch/m.py(15): forward\n", "/lib/torch/jit/_trace.py(1022): trace\n", "/lib/torch/nn/modules/linear.py"};
  const auto map = read(with_table(frames, {row(2, {0, 1, 2, 3}, 4, 130, 0)}), "0123456789");
  CHECK(place(map, 2) == "/home/torch/m.py:15:0 forward ``");
  // Nothing but torch: its innermost frame.
  const auto torch = read(with_table(frames, {row(2, {0, 1, 3}, 4, 130, 0)}), "0123456789");
  CHECK(place(torch, 2) == "/lib/torch/nn/modules/linear.py:130:0 forward ``");
}

TEST_CASE("source map: what refers to nothing is damage") {
  CHECK(error_of(with_table(table, {row(900, {1}, 4, 7, 0)}), code).contains("row 0: offset 900 in a text of"));
  CHECK(error_of(with_table(table, {row(-1, {1}, 4, 7, 0)}), code).contains("offset -1"));
  CHECK(error_of(with_table(table, {row(1, {1}, 4, 7, 0), row(0, {1}, 4, 7, 0)}), code)
            .contains("row 1: the rows are not in order"));
  CHECK(error_of(with_table(table, {row(0, {5}, 4, 7, 0)}), code).contains("text 5 of a table of 5"));
  CHECK(error_of(with_table(table, {row(0, {-1}, 4, 7, 0)}), code).contains("text -1"));
  CHECK(error_of(with_table(table, {row(0, {1}, 9, 7, 0)}), code).contains("text 9"));
  CHECK(error_of(with_table(table, {row(0, {1}, 4, 7, 100)}), code).contains("position 100 in a source of 24 bytes"));
  CHECK(error_of(with_table(table, {row(0, {1}, 4, std::int64_t{1} << 31, 0)}), code).contains("line 2147483648"));
  CHECK(error_of(with_table(table, {tuple({})}), code).contains("row 0: not a row"));
  CHECK(error_of(tuple({text("FORMAT_OF_TOMORROW"), tuple({})}) + ".", code).contains("a layout that is not known"));
  CHECK(error_of("N.", code).contains("no table of rows"));
  CHECK(error_of("", code).contains("the pickle is damaged"));
  CHECK(error_of(with_table({"", std::string(5000, 'x')}, {row(0, {1}, 1, 1, 0)}), code)
            .contains("the name of a file has 5000 bytes"));
}
