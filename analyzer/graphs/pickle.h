// Pickles, read as data.
//
// A pickle is a program for a small stack machine which imports and calls whatever it names. Here its opcodes are
// followed and what they would make is written down instead: which callable with which arguments, which state was put
// into it. Nothing is imported, constructed or called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/error.h"

namespace fullgraph::graphs {

// What a pickle describes. Values that the pickle refers to several times are one Value; a container may hold itself,
// so whoever walks must remember where he was.
struct Value {
  enum class Kind : std::uint8_t {
    None,
    Bool,
    Int,
    LargeInt,  // more than 64 bits; what it is was not kept
    Float,
    String,
    Bytes,
    Tuple,
    List,
    Dict,
    Set,
    FrozenSet,
    Global,      // something that would be imported; `text` is its dotted name
    Object,      // what `callable` makes of `arguments`
    Persistent,  // kept outside of the pickle; `arguments` is its id
  };

  Kind kind = Kind::None;
  bool made_new = false;  // Object: by __new__ alone, without __init__
  union {
    std::int64_t integer = 0;  // Int, Bool; Global: how much of `text` names the module
    double number;             // Float
  };
  std::string_view text;             // String, Bytes, Global
  const Value* callable = nullptr;   // Object: mostly a Global
  const Value* arguments = nullptr;  // Object: mostly a Tuple; Persistent: any value
  const Value* state = nullptr;      // Object: what was put into it by __setstate__ or as attributes
  // Elements; keys and values by turns in a Dict. An Object has them too: OrderedDict is filled by assigning items.
  std::vector<const Value*> items;

  [[nodiscard]] bool is(Kind other) const { return kind == other; }
  [[nodiscard]] bool is_true() const { return kind == Kind::Bool && integer != 0; }
  [[nodiscard]] bool is_global(std::string_view name) const { return kind == Kind::Global && text == name; }
  // Of a Global.
  [[nodiscard]] std::string_view module() const { return text.substr(0, static_cast<std::size_t>(integer)); }
  // What calling the global `name` made.
  [[nodiscard]] bool is_made_by(std::string_view name) const {
    return kind == Kind::Object && callable != nullptr && callable->is_global(name);
  }
  // Element of a tuple or list; null when there is none.
  [[nodiscard]] const Value* at(std::size_t index) const;
  // Positional argument of an Object; null when there is none.
  [[nodiscard]] const Value* argument(std::size_t index) const;
  // Value of a dict, or of an object that is filled like one, under a string; null when there is none.
  [[nodiscard]] const Value* find(std::string_view key) const;
};

class Pickle {
 public:
  // Reads one pickle from the front of `bytes`. The error says at which byte and what is wrong; who calls knows the
  // file.
  static Result<Pickle> read(std::string bytes);

  [[nodiscard]] const Value& root() const;
  // How many bytes the pickle had: more may follow it.
  [[nodiscard]] std::size_t size() const;

  struct Storage;  // the values and what their texts lie in

 private:
  explicit Pickle(std::unique_ptr<Storage> storage);

  struct Free {
    void operator()(Storage* storage) const;
  };
  std::unique_ptr<Storage, Free> storage_;
};

}  // namespace fullgraph::graphs
