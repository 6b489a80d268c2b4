#include "analyzer/graphs/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

namespace fullgraph::graphs {

struct Pickle::Storage {
  std::string bytes;
  std::deque<Value> values;
  std::deque<std::string> texts;  // those that are not spelled in `bytes` as they are
  const Value* root = nullptr;
  std::size_t size = 0;
};

namespace {

// Values and references to them, together. A module of 100,000 parameters comes to two million.
constexpr std::size_t most_values = 6'000'000;

using Fault = std::optional<std::string>;

class Machine {
 public:
  explicit Machine(Pickle::Storage& storage) : storage_(storage), bytes_(storage.bytes) {
    none_ = make(Value::Kind::None);
    false_ = make(Value::Kind::Bool);
    true_ = make(Value::Kind::Bool);
    true_->integer = 1;
    empty_tuple_ = make(Value::Kind::Tuple);
  }

  Fault run() {
    while (!fault_ && storage_.root == nullptr) {
      opcode_at_ = at_;
      if (at_ == bytes_.size()) {
        fail("the pickle ends here without being complete");
      } else {
        step(static_cast<unsigned char>(bytes_[at_++]));
      }
      if (!fault_ && stack_.size() + storage_.values.size() + references_ > most_values)
        fail(fmt::format("the pickle makes more than {} values", most_values));
    }
    storage_.size = at_;
    if (fault_) return fmt::format("byte {}: {}", opcode_at_, *fault_);
    return std::nullopt;
  }

 private:
  // -------------------------------------------------------------------------------------------------------------------
  // What an opcode says. After a fault these return something harmless, and the loop ends.
  // -------------------------------------------------------------------------------------------------------------------
  void fail(std::string what) {
    if (!fault_) fault_ = std::move(what);
  }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) {
      fail(fmt::format("{} bytes are announced and {} follow", size, bytes_.size() - at_));
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }

  std::uint64_t take_number(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view taken = take(size);
    for (std::size_t index = 0; index < taken.size(); ++index)
      value |= std::uint64_t{static_cast<unsigned char>(taken[index])} << (8 * index);
    return value;
  }

  std::string_view take_line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) {
      fail("a line without an end");
      return {};
    }
    const std::string_view line = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }

  // -------------------------------------------------------------------------------------------------------------------
  // The stack. Values between the last mark and the top belong to the opcode that takes the mark away.
  // -------------------------------------------------------------------------------------------------------------------
  Value* make(Value::Kind kind) {
    Value& value = storage_.values.emplace_back();
    value.kind = kind;
    return &value;
  }

  void push(Value* value) { stack_.push_back(value); }

  void push_text(Value::Kind kind, std::string_view text) {
    Value* const value = make(kind);
    value->text = text;
    push(value);
  }

  void push_integer(std::int64_t integer) {
    Value* const value = make(Value::Kind::Int);
    value->integer = integer;
    push(value);
  }

  void push_number(double number) {
    Value* const value = make(Value::Kind::Float);
    value->number = number;
    push(value);
  }

  // Nothing below the last mark can be taken by an opcode that takes no mark.
  Value* pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
      fail("the stack is empty");
      return none_;
    }
    Value* const value = stack_.back();
    stack_.pop_back();
    return value;
  }

  Value* top() {
    Value* const value = pop();
    push(value);
    return value;
  }

  std::vector<const Value*> pop_to_mark() {
    if (marks_.empty()) {
      fail("no mark is set");
      return {};
    }
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<const Value*> taken(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    references_ += taken.size();
    return taken;
  }

  void push_container(Value::Kind kind, std::vector<const Value*> items) {
    Value* const value = make(kind);
    if (kind == Value::Kind::Dict && items.size() % 2 != 0) fail("a key without a value");
    value->items = std::move(items);
    push(value);
  }

  void push_tuple(std::size_t size) {
    std::vector<const Value*> items(size);
    for (std::size_t index = size; index-- > 0;) items[index] = pop();
    references_ += size;
    push_container(Value::Kind::Tuple, std::move(items));
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Names, objects, the memo
  // -------------------------------------------------------------------------------------------------------------------
  void push_global(std::string_view module, std::string_view name) {
    std::string dotted = fmt::format("{}.{}", module, name);
    const auto known = globals_.find(dotted);
    if (known != globals_.end()) return push(known->second);
    Value* const value = make(Value::Kind::Global);
    value->text = storage_.texts.emplace_back(dotted);
    value->integer = static_cast<std::int64_t>(module.size());
    globals_.emplace(std::move(dotted), value);
    push(value);
  }

  void push_stack_global() {
    const Value* const name = pop();
    const Value* const module = pop();
    if (!name->is(Value::Kind::String) || !module->is(Value::Kind::String))
      return fail("a global whose name is no string");
    push_global(module->text, name->text);
  }

  void push_object(const Value* callable, const Value* arguments, bool made_new) {
    Value* const value = make(Value::Kind::Object);
    value->callable = callable;
    value->arguments = arguments;
    value->made_new = made_new;
    push(value);
  }

  void push_call(bool made_new) {
    const Value* const arguments = pop();
    push_object(pop(), arguments, made_new);
  }

  void push_call_with_keywords() {  // which nobody needs
    pop();
    push_call(true);
  }

  void push_instance(std::string_view module, std::string_view name) {  // INST, OBJ: protocol 0
    Value* const arguments = make(Value::Kind::Tuple);
    arguments->items = pop_to_mark();
    push_global(module, name);
    const Value* const callable = pop();
    push_object(callable, arguments, false);
  }

  void push_instance_of_first() {
    std::vector<const Value*> items = pop_to_mark();
    if (items.empty()) return fail("an object without a class");
    Value* const arguments = make(Value::Kind::Tuple);
    arguments->items.assign(items.begin() + 1, items.end());
    push_object(items.front(), arguments, false);
  }

  void build() {
    const Value* const state = pop();
    Value* const object = top();
    if (object->is(Value::Kind::Object)) object->state = state;
  }

  void add_items(std::vector<const Value*> items, bool pairs) {
    Value* const container = top();
    if (pairs && items.size() % 2 != 0) return fail("a key without a value");
    const bool fits = container->is(Value::Kind::Object) ||
                      (pairs ? container->is(Value::Kind::Dict)
                             : container->is(Value::Kind::List) || container->is(Value::Kind::Set));
    if (!fits) return fail("items are added to what is no container");
    container->items.insert(container->items.end(), items.begin(), items.end());
  }

  void add_one(bool pair) {
    std::vector<const Value*> items{pop()};
    if (pair) items.insert(items.begin(), pop());
    references_ += items.size();
    add_items(std::move(items), pair);
  }

  // Indices come in sequence in every pickle that is written; one that does not would only cost memory.
  void remember(std::uint64_t index) {
    if (index >= most_values) return fail(fmt::format("a memo index of {}", index));
    if (memo_.size() <= index) memo_.resize(index + 1);
    memo_[index] = top();
  }

  void recall(std::uint64_t index) {
    if (index >= memo_.size() || memo_[index] == nullptr)
      return fail(fmt::format("nothing is kept under the memo index {}", index));
    push(memo_[index]);
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Numbers and texts of several spellings
  // -------------------------------------------------------------------------------------------------------------------
  void push_long(std::uint64_t size) {
    const std::string_view digits = take(size);
    if (size > 8) return push(make(Value::Kind::LargeInt));
    std::uint64_t value = 0;
    for (std::size_t index = 0; index < digits.size(); ++index)
      value |= std::uint64_t{static_cast<unsigned char>(digits[index])} << (8 * index);
    if (!digits.empty() && digits.size() < 8 && (digits.back() & 0x80) != 0)
      value |= ~std::uint64_t{0} << (8 * digits.size());
    push_integer(static_cast<std::int64_t>(value));
  }

  void push_decimal(std::string_view digits) {
    if (digits.ends_with('L')) digits.remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) return push(make(Value::Kind::LargeInt));
    if (error != std::errc() || end != digits.data() + digits.size()) return fail("not a number");
    push_integer(value);
  }

  void push_int_line() {  // protocol 0 spells the truth values "00" and "01"
    const std::string_view line = take_line();
    if (line == "00" || line == "01") return push(line == "01" ? true_ : false_);
    push_decimal(line);
  }

  void push_float_line() {
    const std::string_view line = take_line();
    double value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error == std::errc::invalid_argument || end != line.data() + line.size()) return fail("not a number");
    push_number(value);
  }

  void push_float() {
    const std::string_view big_endian = take(8);
    std::uint64_t bits = 0;
    for (const char byte : big_endian) bits = bits << 8 | static_cast<unsigned char>(byte);
    push_number(std::bit_cast<double>(bits));
  }

  // Protocol 0 spells strings as Python would. Escapes are kept as they stand: no name or path of torch's has any.
  void push_quoted_line() {
    const std::string_view line = take_line();
    if (line.size() < 2 || (line.front() != '\'' && line.front() != '"') || line.back() != line.front())
      return fail("a string without quotes");
    push_text(Value::Kind::String, line.substr(1, line.size() - 2));
  }

  // What is kept elsewhere. Before 1.6 torch kept classes so, with their sources beside them; those are the class
  // itself.
  void push_persistent(const Value* id) {
    const Value* const what = id->at(0);
    const Value* const type = id->at(1);
    if (what != nullptr && what->is(Value::Kind::String) && what->text == "module" && type != nullptr &&
        type->is(Value::Kind::Global))
      return push_global(type->module(), type->text.substr(type->module().size() + 1));
    Value* const value = make(Value::Kind::Persistent);
    value->arguments = id;
    push(value);
  }

  void step(unsigned char opcode);

  Pickle::Storage& storage_;
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  Fault fault_;
  std::vector<Value*> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Value*> memo_;
  std::size_t references_ = 0;
  std::unordered_map<std::string, Value*> globals_;
  Value* none_ = nullptr;
  Value* false_ = nullptr;
  Value* true_ = nullptr;
  Value* empty_tuple_ = nullptr;
};

// By the opcodes' codes and with their names, as pickletools lists them.
void Machine::step(unsigned char opcode) {
  using Kind = Value::Kind;
  switch (opcode) {
    case 0x80: {  // PROTO
      const std::uint64_t protocol = take_number(1);
      if (protocol > 5) fail(fmt::format("pickle protocol {} is not known", protocol));
      return;
    }
    case 0x95:
      take_number(8);
      return;  // FRAME: for readers from a stream
    case '.':
      storage_.root = pop();
      return;  // STOP

    case '(':
      marks_.push_back(stack_.size());
      return;  // MARK
    case '0':  // POP: a mark counts as a value
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return;
    case '1':
      pop_to_mark();
      return;  // POP_MARK
    case '2':
      push(top());
      return;  // DUP

    case 'N':
      push(none_);
      return;  // NONE
    case 0x88:
      push(true_);
      return;  // NEWTRUE
    case 0x89:
      push(false_);
      return;  // NEWFALSE
    case 'K':
      push_integer(static_cast<std::int64_t>(take_number(1)));
      return;  // BININT1
    case 'M':
      push_integer(static_cast<std::int64_t>(take_number(2)));
      return;  // BININT2
    case 'J':
      push_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(take_number(4))));
      return;  // BININT
    case 0x8A:
      push_long(take_number(1));
      return;  // LONG1
    case 0x8B:
      push_long(take_number(4));
      return;  // LONG4
    case 'I':
      push_int_line();
      return;  // INT
    case 'L':
      push_decimal(take_line());
      return;  // LONG
    case 'F':
      push_float_line();
      return;  // FLOAT
    case 'G':
      push_float();
      return;  // BINFLOAT

    case 'X':
      push_text(Kind::String, take(take_number(4)));
      return;  // BINUNICODE
    case 0x8C:
      push_text(Kind::String, take(take_number(1)));
      return;  // SHORT_BINUNICODE
    case 0x8D:
      push_text(Kind::String, take(take_number(8)));
      return;  // BINUNICODE8
    case 'V':
      push_text(Kind::String, take_line());
      return;  // UNICODE
    case 'T':
      push_text(Kind::String, take(take_number(4)));
      return;  // BINSTRING
    case 'U':
      push_text(Kind::String, take(take_number(1)));
      return;  // SHORT_BINSTRING
    case 'S':
      push_quoted_line();
      return;  // STRING
    case 'B':
      push_text(Kind::Bytes, take(take_number(4)));
      return;  // BINBYTES
    case 'C':
      push_text(Kind::Bytes, take(take_number(1)));
      return;  // SHORT_BINBYTES
    case 0x8E:
      push_text(Kind::Bytes, take(take_number(8)));
      return;  // BINBYTES8
    case 0x96:
      push_text(Kind::Bytes, take(take_number(8)));
      return;  // BYTEARRAY8

    case ')':
      push(empty_tuple_);
      return;  // EMPTY_TUPLE
    case 0x85:
      push_tuple(1);
      return;  // TUPLE1
    case 0x86:
      push_tuple(2);
      return;  // TUPLE2
    case 0x87:
      push_tuple(3);
      return;  // TUPLE3
    case 't':
      push_container(Kind::Tuple, pop_to_mark());
      return;  // TUPLE
    case ']':
      push(make(Kind::List));
      return;  // EMPTY_LIST
    case 'l':
      push_container(Kind::List, pop_to_mark());
      return;  // LIST
    case 'a':
      add_one(false);
      return;  // APPEND
    case 'e':
      add_items(pop_to_mark(), false);
      return;  // APPENDS
    case '}':
      push(make(Kind::Dict));
      return;  // EMPTY_DICT
    case 'd':
      push_container(Kind::Dict, pop_to_mark());
      return;  // DICT
    case 's':
      add_one(true);
      return;  // SETITEM
    case 'u':
      add_items(pop_to_mark(), true);
      return;  // SETITEMS
    case 0x8F:
      push(make(Kind::Set));
      return;  // EMPTY_SET
    case 0x90:
      add_items(pop_to_mark(), false);
      return;  // ADDITEMS
    case 0x91:
      push_container(Kind::FrozenSet, pop_to_mark());
      return;  // FROZENSET

    case 'c': {  // GLOBAL
      const std::string_view module = take_line();
      push_global(module, take_line());
      return;
    }
    case 0x93:
      push_stack_global();
      return;    // STACK_GLOBAL
    case 'i': {  // INST
      const std::string_view module = take_line();
      push_instance(module, take_line());
      return;
    }
    case 'o':
      push_instance_of_first();
      return;  // OBJ
    case 'R':
      push_call(false);
      return;  // REDUCE
    case 0x81:
      push_call(true);
      return;  // NEWOBJ
    case 0x92:
      push_call_with_keywords();
      return;  // NEWOBJ_EX
    case 'b':
      build();
      return;  // BUILD
    case 'P':
      push_text(Kind::String, take_line());
      push_persistent(pop());
      return;  // PERSID
    case 'Q':
      push_persistent(pop());
      return;  // BINPERSID

    case 'p': {  // PUT
      push_decimal(take_line());
      remember(static_cast<std::uint64_t>(pop()->integer));
      return;
    }
    case 'q':
      remember(take_number(1));
      return;  // BINPUT
    case 'r':
      remember(take_number(4));
      return;  // LONG_BINPUT
    case 0x94:
      remember(memo_.size());
      return;    // MEMOIZE
    case 'g': {  // GET
      push_decimal(take_line());
      recall(static_cast<std::uint64_t>(pop()->integer));
      return;
    }
    case 'h':
      recall(take_number(1));
      return;  // BINGET
    case 'j':
      recall(take_number(4));
      return;  // LONG_BINGET

    default:  // EXT1, EXT2, EXT4: a registry of the program's; NEXT_BUFFER: data handed over beside the pickle
      return fail(fmt::format("opcode 0x{:02x}, which no file of torch has", opcode));
  }
}

}  // namespace

const Value* Value::at(std::size_t index) const {
  const bool has_elements = kind == Kind::Tuple || kind == Kind::List;
  return has_elements && index < items.size() ? items[index] : nullptr;
}

const Value* Value::argument(std::size_t index) const {
  return kind == Kind::Object && arguments != nullptr ? arguments->at(index) : nullptr;
}

const Value* Value::find(std::string_view key) const {
  if (kind != Kind::Dict && kind != Kind::Object) return nullptr;
  for (std::size_t index = 0; index + 1 < items.size(); index += 2)
    if (items[index]->kind == Kind::String && items[index]->text == key) return items[index + 1];
  return nullptr;
}

Pickle::Pickle(std::unique_ptr<Storage> storage) : storage_(storage.release()) {}

void Pickle::Free::operator()(Storage* storage) const {
  delete storage;
}

Result<Pickle> Pickle::read(std::string bytes) {
  auto storage = std::make_unique<Storage>();
  storage->bytes = std::move(bytes);
  if (auto fault = Machine(*storage).run())
    return std::unexpected(Error{ErrorKind::Syntax, "the pickle is damaged: " + *fault, {}});
  return Pickle(std::move(storage));
}

const Value& Pickle::root() const {
  return *storage_->root;
}

std::size_t Pickle::size() const {
  return storage_->size;
}

}  // namespace fullgraph::graphs
