#include "analyzer/trace/heap.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace fullgraph::trace {

using ir::Symbol;

namespace {
constexpr std::size_t kFew = 16;  // so many places and names are compared faster than hashed
}

std::size_t AttrMap::index_of(Symbol key) const {
  if (table_.empty()) return static_cast<std::size_t>(std::ranges::find(keys_, key) - keys_.begin());
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = std::hash<Symbol>{}(key)&mask; table_[at] != 0; at = (at + 1) & mask) {
    if (keys_[table_[at] - 1] == key) return table_[at] - 1;
  }
  return keys_.size();
}

void AttrMap::enter(std::size_t index) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = std::hash<Symbol>{}(keys_[index]) & mask;
  while (table_[at] != 0) at = (at + 1) & mask;
  table_[at] = static_cast<std::uint32_t>(index + 1);
}

void AttrMap::rebuild() {
  table_.clear();
  if (keys_.size() <= kFew) return;
  table_.resize(std::bit_ceil(keys_.size() * 4));
  for (std::size_t i = 0; i < keys_.size(); ++i) enter(i);
}

Value AttrMap::get(Symbol key) const {
  std::size_t i = index_of(key);
  return i < values_.size() ? values_[i] : nullptr;
}

void AttrMap::set(Symbol key, Value value) {
  std::size_t i = index_of(key);
  if (i < keys_.size()) {
    if (value) {
      values_[i] = value;
    } else {
      keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(i));
      values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(i));
      rebuild();
    }
  } else if (value) {
    keys_.push_back(key);
    values_.push_back(value);
    if (keys_.size() * 2 > table_.size()) {
      rebuild();
    } else {
      enter(i);
    }
  }
}

std::string type_name(const Object& object) {
  switch (object.kind) {
    case Kind::None:
      return "NoneType";
    case Kind::Bool:
      return "bool";
    case Kind::Int:
      return "int";
    case Kind::Float:
      return "float";
    case Kind::Complex:
      return "complex";
    case Kind::Str:
      return "str";
    case Kind::Bytes:
      return "bytes";
    case Kind::Tensor:
      return static_cast<const TensorObject&>(object).numpy ? "numpy.ndarray" : "torch.Tensor";
    case Kind::Tuple:
      return "tuple";
    case Kind::List:
      return "list";
    case Kind::Set:
      return "set";
    case Kind::Dict:
      return "dict";
    case Kind::Function:
      return "function";
    case Kind::Instance:
      return static_cast<const InstanceObject&>(object).cls->name;
    case Kind::Class:
      return "type";
    default:
      return "object";
  }
}

Heap::Heap() : first_block_(1u << 20), arena_(first_block_.data(), first_block_.size()) {
  Persistent lasting(*this);
  none = make<Object>(Kind::None);
  none->known = true;
  yes = make<BoolObject>(true);
  no = make<BoolObject>(false);
  unknown = make<Object>(Kind::Unknown);
  root_argument = make<Object>(Kind::Unknown);
  ellipsis = make<Object>(Kind::Ellipsis);
  not_implemented = make<Object>(Kind::NotImplemented);
  for (std::int64_t i = -8; i <= 256; ++i) small_integers_.push_back(make<IntObject>(i));
}

Value Heap::integer(std::int64_t value) {
  if (value >= -8 && value <= 256) return small_integers_[static_cast<std::size_t>(value + 8)];
  return make<IntObject>(value);
}

Value Heap::real(double value) {
  return make<FloatObject>(value);
}

Value Heap::string(std::string_view value) {
  return make<StrObject>(Kind::Str, std::string(value));
}

Value Heap::typed(Kind kind, const Sym* name) {
  Value value = nullptr;
  switch (kind) {
    case Kind::Bool:
      value = make<BoolObject>(false);
      break;
    case Kind::Int:
      value = make<IntObject>(0);
      break;
    case Kind::Float:
      value = make<FloatObject>(0.0);
      break;
    case Kind::Str:
    case Kind::Bytes:
      value = make<StrObject>(kind, std::string());
      break;
    default:
      value = make<Object>(kind);
      break;
  }
  value->known = false;
  value->sym = name;
  return value;
}

Value Heap::symbolic(const Sym* name) {
  return typed(Kind::Unknown, name);
}

Value Heap::copy_scalar(Value value) {
  switch (value->kind) {
    case Kind::Bool:
      return make<BoolObject>(*as<BoolObject>(value));
    case Kind::Int:
      return make<IntObject>(*as<IntObject>(value));
    case Kind::Float:
      return make<FloatObject>(*as<FloatObject>(value));
    case Kind::Str:
      return make<StrObject>(*as<StrObject>(value));
    case Kind::Unknown:
      return make<Object>(*value);
    default:
      return value;
  }
}

SequenceObject* Heap::sequence(Kind kind, std::vector<Value> items) {
  auto* result = make<SequenceObject>(kind);
  result->items = std::move(items);
  return result;
}

SequenceObject* Heap::some(Kind kind, Value element) {
  auto* result = make<SequenceObject>(kind);
  result->exact = false;
  result->element = element;
  return result;
}

TensorObject* Heap::tensor(Origin origin) {
  auto* result = make<TensorObject>();
  result->origin = origin;
  return result;
}

DictObject* Heap::dict() {
  return make<DictObject>();
}

const Sym* Heap::sym(std::string_view text, Sym::What what) {
  return sym_of(text, text, what);
}

const Sym* Heap::sym_of(std::string_view key, std::string_view text, Sym::What what) {
  auto found = syms_.find(std::string(key));
  if (found == syms_.end()) {
    auto made = std::make_unique<Sym>(Sym{std::string(text), what, static_cast<std::uint32_t>(syms_.size() + 1)});
    found = syms_.emplace(std::string(key), std::move(made)).first;
  }
  return found->second.get();
}

const Sym* Heap::member_sym(const Sym* object, Symbol name) {
  const Sym*& member = member_syms_[std::uint64_t{object->id} << 32 | name.id];
  if (!member) member = sym(object->text + "." + std::string(name.text()));
  return member;
}

// ---------------------------------------------------------------------------------------------------- changes

void Heap::record(Entry entry) {
  journal_.push_back(std::move(entry));
}

void Heap::commit(Mark mark) {
  while (journal_.size() > mark.position) journal_.pop_back();
  open_serial_ = mark.serial;
}

void Heap::set_slot(EnvObject* env, std::size_t slot, Value value) {
  if (!is_new(env)) record({{Place::Kind::Slot, env, slot}, {env->slots[slot]}});
  env->slots[slot] = value;
}

void Heap::set_name(EnvObject* env, Symbol name, Value value) {
  if (!is_new(env)) record({{Place::Kind::Name, env, name.id}, {env->names.get(name)}});
  env->names.set(name, value);
}

void Heap::set_attribute(Object* object, AttrMap& map, Symbol name, Value value) {
  if (!is_new(object)) record({{Place::Kind::Attribute, &map, name.id, object}, {map.get(name)}});
  map.set(name, value);
}

SequenceObject* Heap::change(SequenceObject* sequence) {
  if (!is_new(sequence))
    journal_.push_back(
        {{Place::Kind::Sequence, sequence}, {nullptr, false, std::make_shared<SequenceObject>(*sequence)}});
  return sequence;
}

DictObject* Heap::change(DictObject* dict) {
  if (!is_new(dict))
    journal_.push_back({{Place::Kind::Dict, dict}, {nullptr, false, std::make_shared<DictObject>(*dict)}});
  return dict;
}

TensorObject* Heap::change(TensorObject* tensor) {
  if (!is_new(tensor))
    journal_.push_back({{Place::Kind::Tensor, tensor}, {nullptr, false, std::make_shared<TensorObject>(*tensor)}});
  return tensor;
}

IteratorObject* Heap::change(IteratorObject* iterator) {
  if (!is_new(iterator))
    journal_.push_back(
        {{Place::Kind::Iterator, iterator}, {nullptr, false, std::make_shared<IteratorObject>(*iterator)}});
  return iterator;
}

namespace {
// A copy without attributes: those have journal entries of their own.
std::shared_ptr<InstanceObject> copy_of_state(const InstanceObject& instance) {
  auto copy = std::make_shared<InstanceObject>(instance.cls);
  copy->module = instance.module;
  copy->payload = instance.payload;
  return copy;
}
}  // namespace

InstanceObject* Heap::change_module(InstanceObject* instance) {
  if (!is_new(instance))
    journal_.push_back({{Place::Kind::Module, instance}, {nullptr, false, copy_of_state(*instance)}});
  return instance;
}

Heap::~Heap() {
  clear();
}

bool* Heap::flag(bool value) {
  return &flags_.emplace_back(value);
}

void Heap::set_flag(bool* flag, bool value) {
  if (*flag == value) return;
  record({{Place::Kind::Flag, flag}, {nullptr, *flag}});
  *flag = value;
}

void Heap::set_value(Value* place, Value value) {
  if (*place == value) return;
  record({{Place::Kind::Cell, place}, {*place}});
  *place = value;
}

Heap::Content Heap::content(const Place& place) const {
  switch (place.kind) {
    case Place::Kind::Slot:
      return {static_cast<EnvObject*>(place.object)->slots[place.key]};
    case Place::Kind::Name:
      return {static_cast<EnvObject*>(place.object)->names.get(Symbol{static_cast<std::uint32_t>(place.key)})};
    case Place::Kind::Attribute:
      return {static_cast<AttrMap*>(place.object)->get(Symbol{static_cast<std::uint32_t>(place.key)})};
    case Place::Kind::Sequence:
      return {nullptr, false, std::make_shared<SequenceObject>(*static_cast<SequenceObject*>(place.object))};
    case Place::Kind::Dict:
      return {nullptr, false, std::make_shared<DictObject>(*static_cast<DictObject*>(place.object))};
    case Place::Kind::Tensor:
      return {nullptr, false, std::make_shared<TensorObject>(*static_cast<TensorObject*>(place.object))};
    case Place::Kind::Iterator:
      return {nullptr, false, std::make_shared<IteratorObject>(*static_cast<IteratorObject*>(place.object))};
    case Place::Kind::Module:
      return {nullptr, false, copy_of_state(*static_cast<InstanceObject*>(place.object))};
    case Place::Kind::Flag:
      return {nullptr, *static_cast<bool*>(place.object)};
    case Place::Kind::Cell:
      return {*static_cast<Value*>(place.object)};
  }
  return {};
}

void Heap::put(const Place& place, const Content& content) {
  switch (place.kind) {
    case Place::Kind::Slot:
      static_cast<EnvObject*>(place.object)->slots[place.key] = content.value;
      break;
    case Place::Kind::Name:
      static_cast<EnvObject*>(place.object)->names.set(Symbol{static_cast<std::uint32_t>(place.key)}, content.value);
      break;
    case Place::Kind::Attribute:
      static_cast<AttrMap*>(place.object)->set(Symbol{static_cast<std::uint32_t>(place.key)}, content.value);
      break;
    case Place::Kind::Sequence:
      *static_cast<SequenceObject*>(place.object) = static_cast<SequenceObject&>(*content.copy);
      break;
    case Place::Kind::Dict:
      *static_cast<DictObject*>(place.object) = static_cast<DictObject&>(*content.copy);
      break;
    case Place::Kind::Tensor:
      *static_cast<TensorObject*>(place.object) = static_cast<TensorObject&>(*content.copy);
      break;
    case Place::Kind::Iterator:
      *static_cast<IteratorObject*>(place.object) = static_cast<IteratorObject&>(*content.copy);
      break;
    case Place::Kind::Module: {
      auto& instance = *static_cast<InstanceObject*>(place.object);
      const auto& state = static_cast<const InstanceObject&>(*content.copy);
      instance.module = state.module;
      instance.payload = state.payload;
      break;
    }
    case Place::Kind::Flag:
      *static_cast<bool*>(place.object) = content.flag;
      break;
    case Place::Kind::Cell:
      *static_cast<Value*>(place.object) = content.value;
      break;
  }
}

void Heap::rollback(Mark mark) {
  while (journal_.size() > mark.position) {
    put(journal_.back().place, journal_.back().old);
    journal_.pop_back();
  }
  open_serial_ = mark.serial;
}

Heap::Changes Heap::take(Mark mark) {
  Changes changes;
  changes.list.reserve(std::min(journal_.size() - mark.position, kFew));
  std::unordered_set<Place, PlaceHash> seen;  // used once there are many
  for (std::size_t i = mark.position; i < journal_.size(); ++i) {
    const Place& place = journal_[i].place;
    if (changes.list.size() < kFew ? changes.find(place) != nullptr : !seen.insert(place).second) continue;
    changes.list.push_back({place, std::move(journal_[i].old), content(place)});
    if (changes.list.size() == kFew) {
      for (const auto& change : changes.list) seen.insert(change.place);
    }
  }
  // Back to what was there first; what came between needs no visit.
  for (const auto& change : changes.list) put(change.place, change.before);
  journal_.erase(journal_.begin() + static_cast<std::ptrdiff_t>(mark.position), journal_.end());
  open_serial_ = mark.serial;
  return changes;
}

void Heap::apply(const Changes& changes) {
  for (const auto& change : changes.list) {
    record({change.place, content(change.place)});
    put(change.place, change.after);
  }
}

bool Heap::Changes::affects_control_flow() const {
  return std::any_of(list.begin(), list.end(), [](const Change& change) {
    // A list or table that was filled: what is read out of it is known only now.
    if (change.place.kind == Place::Kind::Sequence) {
      const auto& old = static_cast<const SequenceObject&>(*change.before.copy);
      return old.exact && old.items.empty();
    }
    if (change.place.kind == Place::Kind::Dict) {
      const auto& old = static_cast<const DictObject&>(*change.before.copy);
      return old.exact && old.entries.empty();
    }
    Value before = change.before.value, after = change.after.value;
    if (!before || !after || before == after) return change.before.flag != change.after.flag;
    auto decides = [](Value value) { return value->kind <= Kind::Bytes || value->kind == Kind::Union; };
    if (before->kind == Kind::Unknown && after->kind == Kind::Unknown) return false;
    return decides(before) && before->kind != Kind::Unknown
               ? before->kind != after->kind || before->known || after->known
               : false;
  });
}

const Heap::Changes::Change* Heap::Changes::find(const Place& place) const {
  for (const auto& change : list) {
    if (change.place == place) return &change;
  }
  return nullptr;
}

void Heap::Changes::keep_flags() {
  std::erase_if(list, [](const Change& change) { return change.place.kind != Place::Kind::Flag; });
}

void Heap::Changes::drop(const EnvObject* env) {
  std::erase_if(list, [&](const Change& change) {
    return (change.place.kind == Place::Kind::Slot || change.place.kind == Place::Kind::Name) &&
           change.place.object == env;
  });
}

void Heap::join(const Changes& first, const Changes& second) {
  struct Index {
    explicit Index(const Changes& of) : changes(of) {
      if (of.list.size() < kFew) return;
      for (const auto& change : of.list) places.emplace(change.place, &change);
    }
    const Changes::Change* find(const Place& place) const {
      if (changes.list.size() < kFew) return changes.find(place);
      auto found = places.find(place);
      return found == places.end() ? nullptr : found->second;
    }
    const Changes& changes;
    std::unordered_map<Place, const Changes::Change*, PlaceHash> places;
  };
  const Index in_first(first), in_second(second);
  auto set = [&](const Place& place, Content joined) {
    record({place, content(place)});
    put(place, joined);
  };
  for (const auto& change : first.list) {
    const auto* other = in_second.find(change.place);
    set(change.place, join(change.after, other ? other->after : change.before, change.place));
  }
  for (const auto& change : second.list) {
    if (!in_first.find(change.place)) set(change.place, join(change.before, change.after, change.place));
  }
}

void Heap::weaken(const Changes& changes) {
  for (const auto& change : changes.list) {
    Content now = content(change.place);
    Content joined = join(now, change.after, change.place);
    record({change.place, now});
    put(change.place, joined);
  }
}

void Heap::clear() {
  for (Object* object : passing_) object->~Object();
  passing_.clear();
  arena_.release();
  flags_.clear();
}

// ---------------------------------------------------------------------------------------------------- joins

namespace {

bool same_scalar(const Object& a, const Object& b) {
  if (a.kind != b.kind || !a.known || !b.known) return false;
  switch (a.kind) {
    case Kind::Bool:
      return static_cast<const BoolObject&>(a).value == static_cast<const BoolObject&>(b).value;
    case Kind::Int:
      return static_cast<const IntObject&>(a).value == static_cast<const IntObject&>(b).value;
    case Kind::Float:
      return static_cast<const FloatObject&>(a).value == static_cast<const FloatObject&>(b).value;
    case Kind::Str:
    case Kind::Bytes:
      return static_cast<const StrObject&>(a).value == static_cast<const StrObject&>(b).value;
    case Kind::None:
      return true;
    default:
      return false;
  }
}

bool is_scalar(Kind kind) {
  return kind >= Kind::Bool && kind <= Kind::Bytes;
}

template <class T>
T join_fact(T a, T b, T otherwise) {
  return a == b ? a : otherwise;
}

}  // namespace

Value Heap::join(Value a, Value b) {
  if (a == b) return a;
  if (!a || !b) {  // unbound on one side: whoever reads it there has an error that is not ours
    return a ? a : b;
  }
  if (same_scalar(*a, *b)) return a;
  if (a->kind == Kind::Unknown && b->kind == Kind::Unknown && a->sym && a->sym == b->sym) return a;
  if (a->kind == Kind::Unknown || b->kind == Kind::Unknown) return unknown;
  if (a->kind == Kind::Tensor && b->kind == Kind::Tensor && as<TensorObject>(a)->numpy == as<TensorObject>(b)->numpy) {
    const auto& x = *as<TensorObject>(a);
    const auto& y = *as<TensorObject>(b);
    auto* result = tensor(join_fact(x.origin, y.origin, Origin::Unknown));
    result->numpy = x.numpy;
    result->dtype = join_fact(x.dtype, y.dtype, Dtype::Unknown);
    result->dtype_name = join_fact(x.dtype_name, y.dtype_name, Symbol{});
    result->requires_grad = join_fact(x.requires_grad, y.requires_grad, Truth::Unknown);
    result->parameter = x.parameter && y.parameter;
    result->sparse = x.sparse && y.sparse;
    if (x.shape && y.shape && x.shape->size() == y.shape->size()) {
      result->shape.emplace();
      for (std::size_t i = 0; i < x.shape->size(); ++i)
        result->shape->push_back((*x.shape)[i] == (*y.shape)[i] ? (*x.shape)[i] : -1);
    }
    result->marks = x.marks;
    for (std::uint32_t mark : y.marks) {
      if (std::find(result->marks.begin(), result->marks.end(), mark) == result->marks.end())
        result->marks.push_back(mark);
    }
    result->own_mark = join_fact(x.own_mark, y.own_mark, UINT32_MAX);
    return result;
  }
  if (a->kind == b->kind && is_scalar(a->kind) && (!a->known || !b->known)) {
    Value result = typed(a->kind);
    result->from_tensor = a->from_tensor || b->from_tensor;
    return result;
  }
  if (a->kind == b->kind && (a->kind == Kind::Tuple || a->kind == Kind::List)) {
    const auto& x = *as<SequenceObject>(a);
    const auto& y = *as<SequenceObject>(b);
    if (x.exact && y.exact && x.items.size() == y.items.size()) {
      std::vector<Value> items;
      for (std::size_t i = 0; i < x.items.size(); ++i) items.push_back(join(x.items[i], y.items[i]));
      auto* result = sequence(a->kind, std::move(items));
      result->type_name = join_fact(x.type_name, y.type_name, Symbol{});
      if (result->type_name) result->field_names = x.field_names;
      return result;
    }
  }
  if (a->kind == Kind::Iterator || b->kind == Kind::Iterator) return unknown;
  // A union of the distinct alternatives; too many of them are nothing known.
  constexpr std::size_t most = 5;
  auto* result = make<UnionObject>();
  auto add = [&](Value value) {
    for (Value have : result->alternatives) {
      if (have == value || same_scalar(*have, *value)) return;
      if (have->kind == value->kind &&
          ((have->kind == Kind::Tensor && as<TensorObject>(have)->numpy == as<TensorObject>(value)->numpy) ||
           (is_scalar(have->kind) && (!have->known || !value->known)))) {
        for (Value& place : result->alternatives) {
          if (place == have) place = join(have, value);
        }
        return;
      }
    }
    result->alternatives.push_back(value);
  };
  for (Value side : {a, b}) {
    if (side->kind == Kind::Union) {
      for (Value value : as<UnionObject>(side)->alternatives) add(value);
    } else {
      add(side);
    }
  }
  if (result->alternatives.size() == 1) return result->alternatives.front();
  if (result->alternatives.size() > most) return unknown;
  return result;
}

Heap::Content Heap::join(const Content& a, const Content& b, const Place& place) {
  switch (place.kind) {
    case Place::Kind::Flag:
      return {nullptr, a.flag && b.flag};
    case Place::Kind::Sequence: {
      auto x = std::static_pointer_cast<SequenceObject>(a.copy), y = std::static_pointer_cast<SequenceObject>(b.copy);
      auto joined = std::make_shared<SequenceObject>(*x);
      if (x->exact && y->exact && x->items.size() == y->items.size()) {
        for (std::size_t i = 0; i < x->items.size(); ++i) joined->items[i] = join(x->items[i], y->items[i]);
      } else {
        Value element = nullptr;
        for (const auto& side : {x, y}) {
          for (Value item : side->items) element = element ? join(element, item) : item;
          if (!side->exact && side->element) element = element ? join(element, side->element) : side->element;
        }
        joined->items.clear();
        joined->exact = false;
        joined->element = element;
      }
      return {nullptr, false, joined};
    }
    case Place::Kind::Dict: {
      auto x = std::static_pointer_cast<DictObject>(a.copy), y = std::static_pointer_cast<DictObject>(b.copy);
      auto joined = std::make_shared<DictObject>(*x);
      joined->exact = x->exact && y->exact;
      if (y->element) joined->element = joined->element ? join(joined->element, y->element) : y->element;
      auto same_key = [](Value one, Value two) { return one == two || same_scalar(*one, *two); };
      for (auto& entry : joined->entries) {
        auto other = std::find_if(y->entries.begin(), y->entries.end(),
                                  [&](const auto& e) { return same_key(e.key, entry.key); });
        if (other == y->entries.end()) {
          entry.maybe = true;
        } else {
          entry.value = join(entry.value, other->value);
          entry.maybe = entry.maybe || other->maybe;
        }
      }
      for (const auto& entry : y->entries) {
        if (std::none_of(x->entries.begin(), x->entries.end(),
                         [&](const auto& e) { return same_key(e.key, entry.key); })) {
          joined->entries.push_back({entry.key, entry.value, true});
        }
      }
      return {nullptr, false, joined};
    }
    case Place::Kind::Tensor: {
      Value joined = join(a.copy.get(), b.copy.get());
      if (joined->kind != Kind::Tensor) return b;
      return {nullptr, false, std::make_shared<TensorObject>(*as<TensorObject>(joined))};
    }
    case Place::Kind::Iterator:
      return b;
    case Place::Kind::Module: {
      auto x = std::static_pointer_cast<InstanceObject>(a.copy), y = std::static_pointer_cast<InstanceObject>(b.copy);
      auto joined = std::make_shared<InstanceObject>(*y);
      if (x->payload != y->payload) joined->payload = join(x->payload, y->payload);
      return {nullptr, false, joined};
    }
    default:
      return {join(a.value, b.value)};
  }
}

}  // namespace fullgraph::trace
