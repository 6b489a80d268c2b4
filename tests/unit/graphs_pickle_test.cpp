#include <doctest/doctest.h>

#include <string>

#include "analyzer/graphs/pickle.h"

using namespace fullgraph;
using namespace fullgraph::graphs;
using namespace std::string_literals;

namespace {

using Kind = Value::Kind;

Pickle read(std::string bytes) {
  auto pickle = Pickle::read(std::move(bytes));
  if (!pickle) FAIL(pickle.error().message);
  return std::move(*pickle);
}

std::string error_of(std::string bytes) {
  const auto pickle = Pickle::read(std::move(bytes));
  REQUIRE(!pickle);
  return pickle.error().message;
}

std::int64_t integer(const std::string& bytes) {
  const Pickle pickle = read(bytes + ".");
  REQUIRE(pickle.root().is(Kind::Int));
  return pickle.root().integer;
}

}  // namespace

// Spelled as pickle.dumps spells them (pickletools.dis).
TEST_CASE("pickle: scalars in every spelling") {
  CHECK(read("N.").root().is(Kind::None));
  CHECK(read("\x88.").root().is_true());
  CHECK(!read("\x89.").root().is_true());
  CHECK(read("I01\n.").root().is_true());
  CHECK(integer("K\xFF") == 255);
  CHECK(integer("M\xFF\xFF") == 65535);
  CHECK(integer("J\xFE\xFF\xFF\xFF") == -2);
  CHECK(integer("I-7\n") == -7);
  CHECK(integer("L9223372036854775807L\n") == INT64_MAX);
  CHECK(integer("\x8A\x00"s) == 0);
  CHECK(integer("\x8A\x01\xFF") == -1);
  CHECK(integer("\x8A\x08\x00\x00\x00\x00\x00\x00\x00\x80"s) == INT64_MIN);
  CHECK(integer("\x8B\x02\x00\x00\x00\x00\x01"s) == 256);
  CHECK(read("\x8A\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s).root().is(Kind::LargeInt));
  CHECK(read("L99999999999999999999L\n.").root().is(Kind::LargeInt));
  CHECK(read("G\x3F\xF8\x00\x00\x00\x00\x00\x00."s).root().number == 1.5);
  CHECK(read("F1.5\n.").root().number == 1.5);
  for (const auto& text : {"X\x02\x00\x00\x00hi."s, "\x8C\x02hi."s, "\x8D\x02\x00\x00\x00\x00\x00\x00\x00hi."s,
                           "Vhi\n."s, "S'hi'\n."s, "U\x02hi."s}) {
    const Pickle pickle = read(text);
    CHECK(pickle.root().is(Kind::String));
    CHECK(pickle.root().text == "hi");
  }
  CHECK(read("C\x02hi."s).root().is(Kind::Bytes));
}

TEST_CASE("pickle: containers, and what is kept in the memo is one value") {
  const Pickle pickle = read(
      "\x80\x02}q\x00(X\x01\x00\x00\x00"
      "aq\x01]q\x02(K\x01K\x02"
      "eX\x01\x00\x00\x00"
      "bh\x02u."s);
  const Value& dict = pickle.root();
  REQUIRE(dict.is(Kind::Dict));
  REQUIRE(dict.find("a") != nullptr);
  CHECK(dict.find("a") == dict.find("b"));
  CHECK(dict.find("c") == nullptr);
  CHECK(dict.find("a")->at(1)->integer == 2);
  CHECK(dict.find("a")->at(2) == nullptr);
  const Pickle tuples = read("K\x01K\x02K\x03\x87\x85."s);
  CHECK(tuples.root().at(0)->at(2)->integer == 3);
}

TEST_CASE("pickle: a list may hold itself") {
  const Pickle pickle = read(
      "]q\x00h\x00"
      "a."s);
  CHECK(pickle.root().at(0) == &pickle.root());
}

TEST_CASE("pickle: objects are written down and not made") {
  // os.system("x"), then a state and an item put into what it would return.
  const Pickle pickle = read("cos\nsystem\nX\x01\x00\x00\x00x\x85R}X\x01\x00\x00\x00yK\x05sbK\x01K\x02s."s);
  const Value& object = pickle.root();
  CHECK(object.is_made_by("os.system"));
  CHECK(!object.made_new);
  CHECK(object.callable->module() == "os");
  CHECK(object.argument(0)->text == "x");
  CHECK(object.argument(1) == nullptr);
  REQUIRE(object.state != nullptr);
  CHECK(object.state->find("y")->integer == 5);
  CHECK(object.items.size() == 2);
  CHECK(read("ca.b\nC\n)\x81.").root().made_new);
  CHECK(read("\x8C\x03"
             "a.b\x8C\x03"
             "C.D\x93.")
            .root()
            .text == "a.b.C.D");
  CHECK(read("(ia\nb\n.").root().is_made_by("a.b"));
  CHECK(read("(ca\nb\nK\x01o.").root().argument(0)->integer == 1);
  CHECK(read("K\x07Q.").root().arguments->integer == 7);
}

TEST_CASE("pickle: what follows is not read") {
  CHECK(read("K\x01.rest").size() == 3);
}

TEST_CASE("pickle: damage is said with its byte") {
  CHECK(error_of("") == "the pickle is damaged: byte 0: the pickle ends here without being complete");
  CHECK(error_of("K") == "the pickle is damaged: byte 0: 1 bytes are announced and 0 follow");
  CHECK(error_of("N\x8B\xFF\xFF\xFF\x7F"s) ==
        "the pickle is damaged: byte 1: 2147483647 bytes are announced and 0 follow");
  CHECK(error_of("\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF").contains("are announced"));
  CHECK(error_of(".").contains("the stack is empty"));
  CHECK(error_of("h\x05.").contains("nothing is kept under the memo index 5"));
  CHECK(error_of("Nr\xFF\xFF\xFF\xFF.").contains("a memo index of 4294967295"));
  CHECK(error_of("t.").contains("no mark is set"));
  CHECK(error_of("N(R.").contains("the stack is empty"));
  CHECK(error_of("(Nd.").contains("a key without a value"));
  CHECK(error_of("NNa.").contains("no container"));
  CHECK(error_of("N\x93.").contains("the stack is empty"));
  CHECK(error_of("NN\x93.").contains("a global whose name is no string"));
  CHECK(error_of("\x80\x09").contains("protocol 9"));
  CHECK(error_of("\x82").contains("opcode 0x82"));
  CHECK(error_of("cos").contains("a line without an end"));
}

TEST_CASE("pickle: deep nesting costs no stack, and many values are refused") {
  CHECK(error_of(std::string(100'000, '(')).contains("without being complete"));
  CHECK(read(std::string(100'000, '(') + std::string(100'000, 't') + ".").root().is(Kind::Tuple));
  std::string deep = "N";
  deep.append(100'000, '\x85');
  CHECK(read(deep + ".").root().is(Kind::Tuple));
  CHECK(error_of("(" + std::string(7'000'000, ']')).contains("more than 6000000 values"));
  CHECK(error_of(std::string(7'000'000, 'N')).contains("more than 6000000 values"));
}
