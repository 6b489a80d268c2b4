#include "analyzer/graphs/object_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "analyzer/graphs/printable.h"
#include "analyzer/graphs/tensor_text.h"

namespace fullgraph::graphs {
namespace {

using Kind = Value::Kind;

const std::string unknown = "...";

constexpr std::size_t deepest = 200;                          // of objects in objects; models come to twenty
constexpr std::size_t most_elements = 4096;                   // of one container: larger ones are data, as vocabularies
constexpr std::size_t largest_text = std::size_t{128} << 20;  // counted wherever a part of it is put together
constexpr std::size_t longest_name = 1024;

std::string number(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

bool can_be_shared(const Value& value) {
  switch (value.kind) {
    case Kind::Tuple:
    case Kind::List:
    case Kind::Dict:
    case Kind::Set:
    case Kind::FrozenSet:
      return !value.items.empty();
    case Kind::Object:
      return true;
    default:
      return false;
  }
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Values
// ---------------------------------------------------------------------------------------------------------------------
std::string ObjectText::spell(const Value& value) {
  if (depth_ >= deepest || is_full()) return unknown;
  std::string out = spelled(value);
  charge(out.size());
  return out;
}

std::string ObjectText::spelled(const Value& value) {
  switch (value.kind) {
    case Kind::None:
      return "None";
    case Kind::Bool:
      return value.is_true() ? "True" : "False";
    case Kind::Int:
      return fmt::format("{}", value.integer);
    case Kind::Float:
      return number(value.number);
    case Kind::String:
      return value.text.size() > most_elements ? unknown : python_string(value.text);
    case Kind::Global:
      return global(value).value_or(unknown);
    case Kind::Tuple:
    case Kind::List:
    case Kind::Dict:
    case Kind::Set:
    case Kind::FrozenSet:
      return shared(value, [&] { return container(value); });
    case Kind::Object:
      return object(value);
    case Kind::LargeInt:
    case Kind::Bytes:
    case Kind::Persistent:
      return unknown;
  }
  return unknown;
}

std::string ObjectText::elements(const Value& value) {
  std::string out;
  ++depth_;
  const bool pairs = value.is(Kind::Dict) || value.is(Kind::Object);
  for (std::size_t index = 0; index < value.items.size(); ++index) {
    if (index != 0) out += pairs && index % 2 == 1 ? ": " : ", ";
    out += spell(*value.items[index]);
  }
  --depth_;
  return out;
}

std::string ObjectText::container(const Value& value) {
  if (value.items.size() > most_elements) return unknown;
  const std::string inner = elements(value);
  switch (value.kind) {
    case Kind::Tuple:
      return fmt::format("({}{})", inner, value.items.size() == 1 ? "," : "");
    case Kind::List:
      return fmt::format("[{}]", inner);
    case Kind::Set:
      return inner.empty() ? "set()" : fmt::format("{{{}}}", inner);
    case Kind::FrozenSet:
      return fmt::format("frozenset([{}])", inner);
    default:
      return fmt::format("{{{}}}", inner);
  }
}

std::optional<std::string> ObjectText::global(const Value& value) {
  const std::string_view module = value.module();
  const std::string_view name = value.text.substr(std::min(module.size() + 1, value.text.size()));
  for (std::string_view rest = value.text; !rest.empty();) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    if (!is_identifier(rest.substr(0, dot))) return std::nullopt;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  if (name.empty() || value.text.size() > longest_name) return std::nullopt;
  if (module == "builtins" || module == "__builtin__") return std::string(name);
  // Where torch defines its layers is no name that anybody writes. The one class of these modules that torch.nn lacks:
  if (module.starts_with("torch.nn.modules.") && !name.starts_with('_') && name != "NonDynamicallyQuantizableLinear")
    return fmt::format("torch.nn.{}", name);
  if (imports_.find(module) == imports_.end()) imports_.emplace(module);
  return std::string(value.text);
}

std::optional<std::string> ObjectText::tensor(const Value& value) {
  const auto described = describe_tensor(value);
  return described ? std::optional(tensor_expression(*described)) : std::nullopt;
}

// ---------------------------------------------------------------------------------------------------------------------
// What several places refer to
// ---------------------------------------------------------------------------------------------------------------------
void ObjectText::count_references(const Value& root) {
  std::vector<const Value*> open{&root};
  const auto visit = [&](const Value* value) {
    if (value != nullptr && can_be_shared(*value) && references_[value]++ == 0) open.push_back(value);
  };
  while (!open.empty()) {
    const Value* const value = open.back();
    open.pop_back();
    visit(value->arguments);
    visit(value->state);
    for (const Value* item : value->items) visit(item);
  }
}

std::optional<std::string> ObjectText::begin_shared(const Value& value) {
  const auto count = references_.find(&value);
  if (count == references_.end() || count->second < 2) return std::nullopt;
  const auto [entry, is_new] = shared_.try_emplace(&value);
  if (is_new) return std::nullopt;
  return entry->second.empty() ? unknown : entry->second;
}

std::string ObjectText::end_shared(const Value& value, std::string expression) {
  charge(expression.size());
  const auto entry = shared_.find(&value);
  if (entry == shared_.end()) return expression;
  if (expression == unknown) return entry->second = expression;
  entry->second = fmt::format("v{}", names_++);
  write(fmt::format("{} = {}", entry->second, expression));
  return entry->second;
}

// ---------------------------------------------------------------------------------------------------------------------
// Objects
// ---------------------------------------------------------------------------------------------------------------------
std::string ObjectText::object(const Value& value) {
  if (const auto known = made_.find(&value); known != made_.end()) {
    Made& made = known->second;
    if (made.stage == Made::Beginning) return unknown;  // made of itself: nothing can spell that
    if (made.stage == Made::Filling) {
      write(fmt::format("{} = {}", made.name, made.creation));
      made.stage = Made::Created;
    }
    return made.name;
  }
  if (const auto named = begin_shared(value)) return *named;
  ++depth_;
  auto in_place = expression(value);
  --depth_;
  if (in_place) return end_shared(value, std::move(*in_place));
  shared_.erase(&value);

  // References stay valid: the table's nodes do not move.
  Made& made = made_[&value];
  made.name = fmt::format("m{}", made_.size() - 1);
  Lines lines;
  ++depth_;
  made.creation = creation(value);
  made.stage = Made::Filling;
  fill(value, made.name, lines);
  --depth_;
  if (made.stage == Made::Filling) write(fmt::format("{} = {}", made.name, made.creation));
  made.stage = Made::Done;
  std::ranges::move(lines, std::back_inserter(lines_));
  return made.name;
}

std::string ObjectText::call(const Value& object, const std::string& callable) {
  if (object.arguments == nullptr || !object.arguments->is(Kind::Tuple) ||
      object.arguments->items.size() > most_elements)
    return unknown;
  return fmt::format("{}({})", callable, elements(*object.arguments));
}

// The pickle keeps a partial's parts in its state: function, arguments, keywords, attributes.
std::string ObjectText::partial(const Value& object) {
  const Value* const function = object.state == nullptr ? nullptr : object.state->at(0);
  const Value* const arguments = object.state == nullptr ? nullptr : object.state->at(1);
  if (function == nullptr || arguments == nullptr) return unknown;
  std::string out = "functools.partial(" + spell(*function);
  for (const Value* argument : arguments->items) out += ", " + spell(*argument);
  for (const auto& [key, value] : pairs(object.state->at(2))) {
    if (!key->is(Kind::String) || !is_identifier(key->text)) return unknown;
    out += fmt::format(", {}={}", key->text, spell(*value));
  }
  imports_.emplace("functools");
  return out + ")";
}

std::optional<std::string> ObjectText::known_call(const Value& object, std::string_view callable) {
  if (callable == "collections.OrderedDict" || callable == "collections.defaultdict" ||
      callable == "collections.Counter")
    return object.items.size() > most_elements ? unknown : fmt::format("{{{}}}", elements(object));
  if (callable == "torch.device" || callable == "torch.Size" || callable.ends_with(".set") ||
      callable.ends_with(".frozenset"))
    if (const auto name = global(*object.callable)) return call(object, *name);
  if (callable == "functools.partial") return partial(object);
  if (callable == "builtins.getattr" || callable == "__builtin__.getattr") {  // a bound method, a nested class
    const Value* const owner = object.argument(0);
    const Value* const name = object.argument(1);
    if (owner == nullptr || name == nullptr || !name->is(Kind::String) || !is_identifier(name->text)) return unknown;
    return fmt::format("{}.{}", spell(*owner), name->text);
  }
  return std::nullopt;
}

std::optional<std::string> ObjectText::expression(const Value& object) {
  if (auto made = tensor(object)) return made;
  if (object.callable == nullptr || !object.callable->is(Kind::Global)) {
    // A class that is itself looked up, as a nested one: made_new tells that it is one.
    return object.made_new && object.callable != nullptr && object.callable->is(Kind::Object) ? std::nullopt
                                                                                              : std::optional(unknown);
  }
  const std::string_view callable = object.callable->text;
  if (auto known = known_call(object, callable)) return known;
  if (object.made_new || callable == "copyreg._reconstructor" || callable == "copy_reg._reconstructor")
    return std::nullopt;
  // The inner workings of some library: how tensors, arrays and storages are put together again.
  if (callable.substr(object.callable->module().size()).starts_with("._") || !global(*object.callable)) return unknown;
  return std::nullopt;
}

std::string ObjectText::creation(const Value& object) {
  const Value* const reconstructed = object.callable->text.ends_with("._reconstructor") ? object.argument(0) : nullptr;
  if (object.made_new || reconstructed != nullptr)
    return fmt::format("object.__new__({})", spell(reconstructed != nullptr ? *reconstructed : *object.callable));
  return call(object, spell(*object.callable));
}

void ObjectText::fill(const Value& object, const std::string& name, Lines& lines) {
  if (object.state == nullptr) return;
  if (set_state(*object.state, name, lines)) return;
  add(lines, fmt::format("{}.__setstate__({})", name, spell(*object.state)));
}

bool ObjectText::set_state(const Value& state, const std::string& name, Lines& lines) {
  if (state.is(Kind::Tuple) && state.items.size() == 2 &&
      (state.at(0)->is(Kind::None) || state.at(0)->is(Kind::Dict)) &&
      state.at(1)->is(Kind::Dict)) {  // attributes and slots
    set_state(*state.at(0), name, lines);
    return set_state(*state.at(1), name, lines);
  }
  if (state.is(Kind::None)) return true;
  if (!state.is(Kind::Dict)) return false;
  for (const auto& [key, value] : pairs(&state)) {
    if (!key->is(Kind::String)) continue;
    add(lines, set_attribute(name, key->text, spell(*value)));
  }
  return true;
}

std::string ObjectText::set_attribute(std::string_view object, std::string_view name, std::string_view expression) {
  if (is_identifier(name)) return fmt::format("{}.{} = {}", object, name, expression);
  return fmt::format("setattr({}, {}, {})", object, python_string(name), expression);
}

// ---------------------------------------------------------------------------------------------------------------------
// Texts
// ---------------------------------------------------------------------------------------------------------------------
bool ObjectText::is_full() const {
  return size_ > largest_text;
}

std::vector<std::pair<const Value*, const Value*>> ObjectText::pairs(const Value* value) {
  std::vector<std::pair<const Value*, const Value*>> found;
  if (is_full() || value == nullptr || (!value->is(Kind::Dict) && !value->is(Kind::Object))) return found;
  charge(value->items.size());
  for (std::size_t index = 0; index + 1 < value->items.size(); index += 2)
    found.emplace_back(value->items[index], value->items[index + 1]);
  return found;
}

void ObjectText::add(Lines& lines, std::string line) {
  charge(line.size());
  if (!is_full()) lines.push_back(std::move(line));
}

void ObjectText::write(std::string line) {
  add(lines_, std::move(line));
}

Result<std::string> ObjectText::text(std::string_view indent, const std::string& head, const std::string& tail) {
  if (is_full()) return std::unexpected(Error{ErrorKind::TooLarge, "it describes too many objects", {}});
  std::string out;
  for (const std::string& module : imports_) out += fmt::format("import {}\n", module);
  out += head;
  for (const std::string& line : lines_) {
    out += indent;
    out += line;
    out += '\n';
  }
  return out + tail;
}

Result<std::string> ObjectText::load_function(const Value& root) {
  count_references(root);
  ++references_[&root];
  const std::string made = spell(root);
  return text("    ", "\n\ndef load():\n", fmt::format("    return {}\n", made));
}

Result<std::string> ObjectText::variables(const std::vector<const Value*>& values, std::string_view prefix) {
  for (const Value* value : values) count_references(*value);
  std::string tail;
  for (std::size_t index = 0; index < values.size(); ++index)
    tail += fmt::format("{}{} = {}\n", prefix, index, spell(*values[index]));
  return text("", "\n", tail);
}

}  // namespace fullgraph::graphs
