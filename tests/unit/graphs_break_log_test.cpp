#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/graphs/break_log.h"

using namespace fullgraph;
using namespace fullgraph::graphs;

namespace {

using Lines = std::vector<std::string>;

// "m.py:12 forward GB0124 reason; way: n.py:3"
Lines read(std::string_view log) {
  Lines out;
  for (const RecordedBreak& one : read_graph_breaks(log)) {
    std::string line =
        fmt::format("{}:{} {} {} {}", one.where.file, one.where.line, one.where.function, one.gb_id, one.reason);
    for (const ir::Origin& frame : one.stack) line += fmt::format("; {}:{}", frame.file, frame.line);
    out.push_back(std::move(line));
  }
  CHECK(holds_graph_breaks(log) == !out.empty());
  return out;
}

Lines record(const std::string& file, int line, const std::string& reason, const std::string& id) {
  return {fmt::format("Graph break in user code at {}:{}", file, line),
          "Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):",
          "",
          reason,
          "  Explanation: what it means",
          "",
          "  For more details about this graph break, please visit: "
          "https://meta-pytorch.github.io/compile-graph-break-site/gb/" +
              id + ".html",
          "",
          "User code traceback:",
          "  File \"/main.py\", line 3, in <module>",
          "    model(x)",
          fmt::format("  File \"{}\", line {}, in forward", file, line),
          "    y = x.item()",
          ""};
}

std::string written(const Lines& lines, const std::string& prefix = "", const std::string& end = "\n") {
  std::string out;
  for (const std::string& line : lines) out += prefix + line + end;
  return out;
}

std::string glog(int process) {
  return fmt::format("V1130 20:55:27.238000 {} torch/_dynamo/symbolic_convert.py:5124] [0/0] [__graph_breaks] ",
                     process);
}

const Lines item_break = record("/m.py", 12, "Unsupported Tensor.item() call", "gb0124");
const std::string item_read = "/m.py:12 forward GB0124 Unsupported Tensor.item() call; /main.py:3";

}  // namespace

TEST_CASE("a record of torch 2.13") {
  CHECK(read(written(item_break)) == Lines{item_read});
  CHECK(read(written(item_break, glog(7))) == Lines{item_read});
  CHECK(read("epoch 1\n" + written(item_break, glog(7)) + "epoch 2\n") == Lines{item_read});
  CHECK(read(written(item_break, glog(7), "\r\n")) == Lines{item_read});
}

TEST_CASE("records of older versions") {
  const std::string frames =
      "  File \"/main.py\", line 3, in <module>\n    model(x)\n  File \"/m.py\", line 12, in forward\n    y = g(x)\n";
  // 2.1 and 2.2
  CHECK(read(written({"Graph break: call_function UserDefinedObjectVariable(g) [] {} from user code at:",
                      "  File \"/main.py\", line 3, in <module>", "    model(x)",
                      "  File \"/m.py\", line 12, in forward", "    y = g(x)", ""},
                     "[2024-01-05 10:00:00,123] [0/0] torch._dynamo.symbolic_convert.__graph_breaks: [DEBUG] ")) ==
        Lines{"/m.py:12 forward  call_function UserDefinedObjectVariable(g) [] {}; /main.py:3"});
  // 2.3 and 2.4: the reason in the traceback of Dynamo itself
  CHECK(read("Graph break: from user code at:\n" + frames +
             "\nTraceback (most recent call last):\n  File \"/d.py\", line 1, in f\n") ==
        Lines{"/m.py:12 forward  ; /main.py:3"});
  // A reason of several lines
  CHECK(read("Graph break: first of\n  many\n\nlines from user code at:\n" + frames) ==
        Lines{"/m.py:12 forward  first of; /main.py:3"});
  // 2.6
  CHECK(read("Graph break in user code at /m.py:12\nReason: Unsupported: call to g\nUser code traceback:\n" + frames) ==
        Lines{"/m.py:12 forward  call to g; /main.py:3"});
}

TEST_CASE("a frame that is skipped as a whole") {
  CHECK(
      read("Graph break: torch.compile cannot properly resume from this graph break, which results in a skip.\n"
           "torch.compile will skip tracing the frame forward (/m.py line 10) and fall back to eager.\n"
           "The graph break occurred in the following user code:\n"
           "  File \"/m.py\", line 12, in forward\n    y = g(x)\n\nTraceback (most recent call last):\n") ==
      Lines{"/m.py:12 forward  torch.compile cannot properly resume from this graph break, which results in a skip."});
}

TEST_CASE("processes write into one log") {
  const Lines other = record("/n.py", 5, "Data-dependent branching", "gb0170");
  std::string log;
  for (std::size_t line = 0; line < item_break.size(); ++line)
    log += glog(7) + item_break[line] + "\n" + "[rank1]:" + glog(8) + other[line] + "\n";
  CHECK(read(log) == Lines{item_read, "/n.py:5 forward GB0170 Data-dependent branching; /main.py:3"});
}

TEST_CASE("each place once, with what says most") {
  const std::string again =
      "Graph break (user stack suppressed due to duplicate graph break) in user code at /m.py:12\nGraph Break Reason: "
      "x\n";
  CHECK(read(written(item_break) + again + written(item_break)) == Lines{item_read});
  const std::string warning =
      "Graph break: from user code at:\n  File \"/m.py\", line 12, in forward\n    y = x.item()\n\n";
  CHECK(read(warning + written(item_break)) == Lines{item_read});
  CHECK(read(written(item_break) + warning) == Lines{item_read});
  // Two different breaks on one line are two.
  CHECK(read(written(item_break) + written(record("/m.py", 12, "Data-dependent branching", "gb0170"))).size() == 2);
}

TEST_CASE("logs that were cut anywhere") {
  const std::string whole =
      written(item_break, glog(7)) + written(record("/n.py", 5, "Data-dependent branching", "gb0170"), glog(7));
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK(read(whole.substr(0, size)).size() <= 2);
}

TEST_CASE("what only looks like a break") {
  for (const std::string_view text :
       {"Graph break in user code at nowhere\n", "Graph break in user code at /m.py:0\n",
        "Graph break in user code at /m.py:x\n", "Graph break in user code at /m.py:99999999999\n",
        "Graph break from `Tensor.item()`, consider setting:\n", "Graph break: from user code at:\nnothing\n",
        "A Graph break in user code at /m.py:3\n", ""})
    CHECK_MESSAGE(read(text).empty(), text);
}

TEST_CASE("logs without breaks are logs all the same") {
  CHECK(is_log_of_torch("epoch 1\n" + glog(7) + "something else\n"));
  CHECK(!is_log_of_torch("epoch 1\nepoch 2\n"));
}

TEST_CASE("structured traces") {
  const std::string record_line =
      "V1130 20:55:26.988000 28349 torch/_dynamo/utils.py:2350] {\"artifact\": {\"name\": \"x\"}}\n";
  std::string trace = record_line;
  for (const std::string& line : item_break) trace += "\t" + line + "\n";
  trace += record_line;
  CHECK(is_structured_trace(trace));
  CHECK(!is_structured_trace(written(item_break, glog(7))));
  CHECK(!is_structured_trace("{\"a\": 1}\n"));
  CHECK(read(payloads_of(trace)) == Lines{item_read});
  CHECK(payloads_of("a\n\tb\nc\n") == "\nb\n\n");
}
