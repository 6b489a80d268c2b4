// Objects that a pickle describes, spelled as Python statements that make them.
//
//     m1 = object.__new__(torch.nn.Linear)
//     m1.training = True
//     m1.weight = torch.nn.Parameter(torch.empty([4, 4]), requires_grad=True)
//
// An object is spelled once, before what refers to it; what is not understood is spelled `...`. What a class does with
// its state is up to the readers of the formats, which derive from this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/graphs/pickle.h"
#include "analyzer/ir/error.h"

namespace fullgraph::graphs {

class ObjectText {
 public:
  using Lines = std::vector<std::string>;

  virtual ~ObjectText() = default;
  ObjectText(const ObjectText&) = delete;
  ObjectText& operator=(const ObjectText&) = delete;

  // A module with a function `load` that makes `root` and returns it.
  Result<std::string> load_function(const Value& root);
  // A module with a variable for each of the values, named by `prefix` and its number.
  Result<std::string> variables(const std::vector<const Value*>& values, std::string_view prefix);

 protected:
  ObjectText() = default;

  // An expression for a value. Statements that must come first are appended to what is written.
  std::string spell(const Value& value);
  // The name of something importable, whose module is noted for import; nothing when it cannot be spelled.
  std::optional<std::string> global(const Value& value);
  // A tensor of the same shape, type and device; nothing for what is no tensor or of an unusual kind.
  std::optional<std::string> tensor(const Value& value);
  // Spells as `expression` says, under a name of its own where several places refer to `value`.
  template <class Spelling>
  std::string shared(const Value& value, Spelling expression) {
    const auto named = begin_shared(value);
    return named ? *named : end_shared(value, expression());
  }

  // A small pickle can describe a text without bounds, as parts of it may be shared by everything. So all that is
  // looked at or spelled is counted, and beyond a limit nothing is added any more.
  void charge(std::size_t bytes) { size_ += bytes; }
  [[nodiscard]] bool is_full() const;
  // The pairs of a dict or of an object that is filled like one.
  std::vector<std::pair<const Value*, const Value*>> pairs(const Value* value);
  // Appends to what an object is filled with.
  void add(Lines& lines, std::string line);

  static std::string set_attribute(std::string_view object, std::string_view name, std::string_view expression);

  // An object that is an expression of its own; nothing for one that statements make. What every format has is known
  // here.
  virtual std::optional<std::string> expression(const Value& object);
  // How an object comes into being, before it has a state.
  virtual std::string creation(const Value& object);
  // What follows once it is there. `name` is its variable.
  virtual void fill(const Value& object, const std::string& name, Lines& lines);

  // Attributes from a state: a dict, or a pair of them. False: the state is something else.
  bool set_state(const Value& state, const std::string& name, Lines& lines);

  std::set<std::string, std::less<>> imports_{"torch"};

 private:
  struct Made {
    std::string name;
    std::string creation;
    enum { Beginning, Filling, Created, Done } stage = Beginning;
  };

  void count_references(const Value& root);
  std::optional<std::string> begin_shared(const Value& value);
  std::string end_shared(const Value& value, std::string expression);
  std::string spelled(const Value& value);
  std::string object(const Value& value);
  std::string container(const Value& value);
  std::string elements(const Value& value);
  std::string call(const Value& object, const std::string& callable);
  std::optional<std::string> known_call(const Value& object, std::string_view callable);
  std::string partial(const Value& object);
  void write(std::string line);
  Result<std::string> text(std::string_view indent, const std::string& head, const std::string& tail);

  std::unordered_map<const Value*, std::uint32_t> references_;  // to what may be shared
  std::unordered_map<const Value*, Made> made_;
  std::unordered_map<const Value*, std::string> shared_;  // empty: being spelled
  Lines lines_;
  std::size_t names_ = 0;  // given to what is shared
  std::size_t size_ = 0;   // of all that was spelled, in bytes
  std::size_t depth_ = 0;
};

}  // namespace fullgraph::graphs
