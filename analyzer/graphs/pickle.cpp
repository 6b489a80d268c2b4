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

// Named as pickletools names them.
enum class Opcode : unsigned char {
  Proto = 0x80,
  Frame = 0x95,
  Stop = '.',
  Mark = '(',
  Pop = '0',
  PopMark = '1',
  Dup = '2',
  None = 'N',
  NewTrue = 0x88,
  NewFalse = 0x89,
  BinInt1 = 'K',
  BinInt2 = 'M',
  BinInt = 'J',
  Long1 = 0x8A,
  Long4 = 0x8B,
  Int = 'I',
  Long = 'L',
  Float = 'F',
  BinFloat = 'G',
  BinUnicode = 'X',
  ShortBinUnicode = 0x8C,
  BinUnicode8 = 0x8D,
  Unicode = 'V',
  BinString = 'T',
  ShortBinString = 'U',
  String = 'S',
  BinBytes = 'B',
  ShortBinBytes = 'C',
  BinBytes8 = 0x8E,
  ByteArray8 = 0x96,
  EmptyTuple = ')',
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  Tuple = 't',
  EmptyList = ']',
  List = 'l',
  Append = 'a',
  Appends = 'e',
  EmptyDict = '}',
  Dict = 'd',
  SetItem = 's',
  SetItems = 'u',
  EmptySet = 0x8F,
  AddItems = 0x90,
  FrozenSet = 0x91,
  Global = 'c',
  StackGlobal = 0x93,
  Inst = 'i',
  Obj = 'o',
  Reduce = 'R',
  NewObj = 0x81,
  NewObjEx = 0x92,
  Build = 'b',
  PersId = 'P',
  BinPersId = 'Q',
  Put = 'p',
  BinPut = 'q',
  LongBinPut = 'r',
  Memoize = 0x94,
  Get = 'g',
  BinGet = 'h',
  LongBinGet = 'j',
};

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
        step(Opcode{static_cast<unsigned char>(bytes_[at_++])});
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

  void skip(std::uint64_t size) { take(size); }

  void check_protocol(std::uint64_t protocol) {
    if (protocol > 5) fail(fmt::format("pickle protocol {} is not known", protocol));
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

  void pop_value_or_mark() {
    if (!marks_.empty() && marks_.back() == stack_.size()) return marks_.pop_back();
    pop();
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

  void push_named_global() {
    const std::string_view module = take_line();
    push_global(module, take_line());
  }

  void push_instance() {  // INST, OBJ: protocol 0
    push_named_global();
    const Value* const callable = pop();
    Value* const arguments = make(Value::Kind::Tuple);
    arguments->items = pop_to_mark();
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

  std::uint64_t take_index_line() {
    push_decimal(take_line());
    return static_cast<std::uint64_t>(pop()->integer);
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

  void step(Opcode opcode);

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

void Machine::step(Opcode opcode) {
  using Kind = Value::Kind;
  switch (opcode) {
    case Opcode::Proto:
      return check_protocol(take_number(1));
    case Opcode::Frame:
      return skip(8);  // for readers from a stream
    case Opcode::Stop:
      storage_.root = pop();
      return;
    case Opcode::Mark:
      return marks_.push_back(stack_.size());
    case Opcode::Pop:
      return pop_value_or_mark();
    case Opcode::PopMark:
      pop_to_mark();
      return;
    case Opcode::Dup:
      return push(top());
    case Opcode::None:
      return push(none_);
    case Opcode::NewTrue:
      return push(true_);
    case Opcode::NewFalse:
      return push(false_);
    case Opcode::BinInt1:
      return push_integer(static_cast<std::int64_t>(take_number(1)));
    case Opcode::BinInt2:
      return push_integer(static_cast<std::int64_t>(take_number(2)));
    case Opcode::BinInt:
      return push_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(take_number(4))));
    case Opcode::Long1:
      return push_long(take_number(1));
    case Opcode::Long4:
      return push_long(take_number(4));
    case Opcode::Int:
      return push_int_line();
    case Opcode::Long:
      return push_decimal(take_line());
    case Opcode::Float:
      return push_float_line();
    case Opcode::BinFloat:
      return push_float();
    case Opcode::BinUnicode:
    case Opcode::BinString:
      return push_text(Kind::String, take(take_number(4)));
    case Opcode::ShortBinUnicode:
    case Opcode::ShortBinString:
      return push_text(Kind::String, take(take_number(1)));
    case Opcode::BinUnicode8:
      return push_text(Kind::String, take(take_number(8)));
    case Opcode::Unicode:
      return push_text(Kind::String, take_line());
    case Opcode::String:
      return push_quoted_line();
    case Opcode::BinBytes:
      return push_text(Kind::Bytes, take(take_number(4)));
    case Opcode::ShortBinBytes:
      return push_text(Kind::Bytes, take(take_number(1)));
    case Opcode::BinBytes8:
    case Opcode::ByteArray8:
      return push_text(Kind::Bytes, take(take_number(8)));
    case Opcode::EmptyTuple:
      return push(empty_tuple_);
    case Opcode::Tuple1:
      return push_tuple(1);
    case Opcode::Tuple2:
      return push_tuple(2);
    case Opcode::Tuple3:
      return push_tuple(3);
    case Opcode::Tuple:
      return push_container(Kind::Tuple, pop_to_mark());
    case Opcode::EmptyList:
      return push(make(Kind::List));
    case Opcode::List:
      return push_container(Kind::List, pop_to_mark());
    case Opcode::Append:
      return add_one(false);
    case Opcode::Appends:
    case Opcode::AddItems:
      return add_items(pop_to_mark(), false);
    case Opcode::EmptyDict:
      return push(make(Kind::Dict));
    case Opcode::Dict:
      return push_container(Kind::Dict, pop_to_mark());
    case Opcode::SetItem:
      return add_one(true);
    case Opcode::SetItems:
      return add_items(pop_to_mark(), true);
    case Opcode::EmptySet:
      return push(make(Kind::Set));
    case Opcode::FrozenSet:
      return push_container(Kind::FrozenSet, pop_to_mark());
    case Opcode::Global:
      return push_named_global();
    case Opcode::StackGlobal:
      return push_stack_global();
    case Opcode::Inst:
      return push_instance();
    case Opcode::Obj:
      return push_instance_of_first();
    case Opcode::Reduce:
      return push_call(false);
    case Opcode::NewObj:
      return push_call(true);
    case Opcode::NewObjEx:
      return push_call_with_keywords();
    case Opcode::Build:
      return build();
    case Opcode::PersId:
      push_text(Kind::String, take_line());
      return push_persistent(pop());
    case Opcode::BinPersId:
      return push_persistent(pop());
    case Opcode::Put:
      return remember(take_index_line());
    case Opcode::BinPut:
      return remember(take_number(1));
    case Opcode::LongBinPut:
      return remember(take_number(4));
    case Opcode::Memoize:
      return remember(memo_.size());
    case Opcode::Get:
      return recall(take_index_line());
    case Opcode::BinGet:
      return recall(take_number(1));
    case Opcode::LongBinGet:
      return recall(take_number(4));
  }
  // EXT1, EXT2, EXT4: a registry of the program's; NEXT_BUFFER: data handed over beside the pickle.
  fail(fmt::format("opcode 0x{:02x}, which no file of torch has", static_cast<unsigned>(opcode)));
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
