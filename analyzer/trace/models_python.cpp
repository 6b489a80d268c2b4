// What Python itself provides: builtins, and methods of its containers and strings.
#include <algorithm>
#include <cmath>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"

namespace fullgraph::trace {

using ir::Symbol;

Value Interpreter::call_builtin(std::string_view name, Arguments& arguments) {
  Value first = arguments.get(0, {});
  Value plain = first ? without_none(first) : nullptr;
  bool tensor = plain && plain->kind == Kind::Tensor && !as<TensorObject>(plain)->numpy;
  auto sequence_of = [&](Value value) -> SequenceObject* {
    Value rounds = iterate(value, arguments.span);
    return rounds->kind == Kind::Tuple ? as<SequenceObject>(rounds) : nullptr;
  };
  auto element_of = [&](SequenceObject* sequence) -> Value {
    if (!sequence) return heap_.unknown;
    Value element = sequence->element;
    for (Value item : sequence->items) element = element ? heap_.join(element, item) : item;
    return element ? element : heap_.unknown;
  };

  if (name == "print") {
    if (traced()) {
      Event result = event(EventKind::Output, arguments.span);
      result.gb_id = "GB0059";
      result.callee = "print";
      graph_break(std::move(result));
    }
    return heap_.none;
  }
  if (name == "len") return first ? length(first) : heap_.typed(Kind::Int);
  if (name == "isinstance" && arguments.positional.size() == 2) {
    auto known = is_instance(first, arguments.positional[1]);
    return known ? heap_.boolean(*known) : heap_.typed(Kind::Bool);
  }
  if (name == "issubclass" && arguments.positional.size() == 2) {
    if (first->kind == Kind::Class && arguments.positional[1]->kind == Kind::Class) {
      auto& mro = as<ClassObject>(first)->mro;
      if (std::find(mro.begin(), mro.end(), arguments.positional[1]) != mro.end()) return heap_.yes;
      return as<ClassObject>(first)->unknown_base ? heap_.typed(Kind::Bool) : heap_.no;
    }
    if (first->kind == Kind::Class && arguments.positional[1]->kind == Kind::External)
      return is_subclass(as<ClassObject>(first), as<ExternalObject>(arguments.positional[1])->name)
                 ? heap_.yes
                 : heap_.typed(Kind::Bool);
    return heap_.typed(Kind::Bool);
  }
  if (one_of(name, {"int", "float", "bool", "complex"})) {
    Kind kind = name == "int" ? Kind::Int : name == "float" ? Kind::Float : name == "bool" ? Kind::Bool : Kind::Complex;
    if (!first) return kind == Kind::Int ? heap_.integer(0) : kind == Kind::Float ? heap_.real(0) : heap_.no;
    if (plain->kind == Kind::Tensor && as<TensorObject>(plain)->numpy && kind != Kind::Bool)
      return read_numpy(as<TensorObject>(plain), name, arguments);
    if (tensor) {
      if (!is_fullgraph()) graph_break(EventKind::ScalarRead, arguments.span, "GB0124", name, text(arguments.span));
      Value result = heap_.typed(kind);
      result->from_tensor = true;
      return result;
    }
    if (kind == Kind::Bool) {
      auto known = truth(first);
      if (known) return heap_.boolean(*known);
      Value result = heap_.typed(Kind::Bool, first->sym);
      result->from_tensor = first->from_tensor;
      return result;
    }
    if (plain->known && (plain->kind == Kind::Int || plain->kind == Kind::Bool || plain->kind == Kind::Float)) {
      double value = plain->kind == Kind::Int    ? static_cast<double>(as<IntObject>(plain)->value)
                     : plain->kind == Kind::Bool ? (as<BoolObject>(plain)->value ? 1.0 : 0.0)
                                                 : as<FloatObject>(plain)->value;
      if (kind == Kind::Int && std::isfinite(value) && std::fabs(value) < 9e15)
        return heap_.integer(static_cast<std::int64_t>(value));
      if (kind == Kind::Float) return heap_.real(value);
    }
    if (plain->known && plain->kind == Kind::Str && kind == Kind::Int) {
      const std::string& digits = as<StrObject>(plain)->value;
      if (!digits.empty() && digits.size() < 18 && digits.find_first_not_of("0123456789") == std::string::npos)
        return heap_.integer(std::stoll(digits));
    }
    Value result = heap_.typed(kind, first->sym);
    result->from_tensor = first->from_tensor;
    return result;
  }
  if (one_of(name, {"str", "repr", "format", "ascii"})) {
    if (tensor) {
      graph_break(EventKind::Unsupported, arguments.span, name == "repr" ? "GB0569" : "GB0059", name,
                  text(arguments.span));
    } else if (plain && (plain->kind == Kind::List || plain->kind == Kind::Tuple) && traced() && name != "format") {
      for (Value item : as<SequenceObject>(plain)->items) {
        if (item->kind == Kind::Tensor) {
          graph_break(EventKind::Unsupported, arguments.span, "GB0059", name, text(arguments.span));
          break;
        }
      }
    }
    if (!first) return heap_.string("");
    if (plain->known && plain->kind == Kind::Str && name == "str") return plain;
    if (plain->known && plain->kind == Kind::Int && name != "format")
      return heap_.string(std::to_string(as<IntObject>(plain)->value));
    if (plain->kind == Kind::Instance && name == "str" &&
        class_attribute(as<InstanceObject>(plain)->cls, Symbol::intern("__str__")))
      return call_method(plain, "__str__", {});
    if (plain->kind == Kind::External) return heap_.string(as<ExternalObject>(plain)->name);
    return heap_.typed(Kind::Str);
  }
  if (name == "range") {
    std::int64_t from = 0, to = 0, step = 1;
    bool known = true;
    bool read = false;
    for (std::size_t i = 0; i < arguments.positional.size() && i < 3; ++i) {
      Value value = without_none(arguments.positional[i]);
      if (value->kind == Kind::Tensor && !read) {
        graph_break(EventKind::ScalarRead, arguments.span, "GB0124", "__index__", text(arguments.span));
        read = true;
      }
      if (value->kind != Kind::Int || !value->known) {
        known = false;
        continue;
      }
      std::int64_t number = as<IntObject>(value)->value;
      if (arguments.positional.size() == 1)
        to = number;
      else if (i == 0)
        from = number;
      else if (i == 1)
        to = number;
      else
        step = number;
    }
    if (known && step != 0 && std::llabs((to - from) / step) <= 4096) {
      std::vector<Value> items;
      for (std::int64_t i = from; step > 0 ? i < to : i > to; i += step) items.push_back(heap_.integer(i));
      return heap_.sequence(Kind::Tuple, std::move(items));
    }
    return heap_.some(Kind::Tuple, heap_.typed(Kind::Int));
  }
  if (one_of(name, {"list", "tuple", "set", "frozenset"})) {
    Kind kind = name == "list" ? Kind::List : name == "tuple" ? Kind::Tuple : Kind::Set;
    if (!first) return heap_.sequence(kind, {});
    SequenceObject* items = sequence_of(first);
    if (raised_) return heap_.unknown;
    if (!items) return heap_.some(kind, nullptr);
    auto* result = heap_.make<SequenceObject>(kind);
    result->exact = items->exact;
    result->element = items->element;
    result->items = items->items;
    if (kind == Kind::Set) {
      std::vector<Value> unique;
      for (Value item : items->items) {
        if (std::none_of(unique.begin(), unique.end(),
                         [&](Value have) { return equal(have, item) == std::optional(true); }))
          unique.push_back(item);
      }
      result->items = unique;
    }
    return result;
  }
  if (name == "dict") {
    auto* result = heap_.dict();
    dict_method(result, "update", arguments);
    return result;
  }
  if (name == "enumerate") {
    SequenceObject* items = sequence_of(first ? first : heap_.unknown);
    Value start = arguments.get(1, "start");
    std::int64_t index = start && start->kind == Kind::Int && start->known ? as<IntObject>(start)->value : 0;
    if (!items || !items->exact)
      return heap_.some(Kind::Tuple, heap_.sequence(Kind::Tuple, {heap_.typed(Kind::Int), element_of(items)}));
    std::vector<Value> pairs;
    for (Value item : items->items) pairs.push_back(heap_.sequence(Kind::Tuple, {heap_.integer(index++), item}));
    return heap_.sequence(Kind::Tuple, std::move(pairs));
  }
  if (name == "zip") {
    std::vector<SequenceObject*> columns;
    bool exact = !arguments.more_positional;
    std::size_t shortest = SIZE_MAX;
    for (Value one : arguments.positional) {
      columns.push_back(sequence_of(one));
      exact = exact && columns.back() && columns.back()->exact;
      if (exact) shortest = std::min(shortest, columns.back()->items.size());
    }
    if (columns.empty()) return heap_.some(Kind::Tuple, nullptr);
    if (!exact) {
      std::vector<Value> row;
      for (SequenceObject* column : columns) row.push_back(element_of(column));
      return heap_.some(Kind::Tuple, heap_.sequence(Kind::Tuple, std::move(row)));
    }
    std::vector<Value> rows;
    for (std::size_t i = 0; i < shortest; ++i) {
      std::vector<Value> row;
      for (SequenceObject* column : columns) row.push_back(column->items[i]);
      rows.push_back(heap_.sequence(Kind::Tuple, std::move(row)));
    }
    return heap_.sequence(Kind::Tuple, std::move(rows));
  }
  if (name == "map" && arguments.positional.size() >= 2) {
    SequenceObject* items = sequence_of(arguments.positional[1]);
    if (!items || arguments.positional.size() > 2) return heap_.some(Kind::Tuple, nullptr);
    if (!items->exact) return heap_.some(Kind::Tuple, call_value(first, {element_of(items)}));
    std::vector<Value> results;
    for (Value item : items->items) {
      Arguments one;
      one.positional = {item};
      one.positional_spans = {arguments.span};
      one.span = arguments.span;
      one.module = arguments.module;
      results.push_back(call(first, one));
      if (raised_) return heap_.unknown;
    }
    return heap_.sequence(Kind::Tuple, std::move(results));
  }
  if (name == "filter" && arguments.positional.size() == 2) {
    SequenceObject* items = sequence_of(arguments.positional[1]);
    if (!items || !items->exact) return heap_.some(Kind::Tuple, element_of(items));
    std::vector<Value> kept;
    bool exact = true;
    for (Value item : items->items) {
      auto keep = truth(first->kind == Kind::None ? item : call_value(first, {item}));
      if (!keep) exact = false;
      if (keep != std::optional(false)) kept.push_back(item);
    }
    if (exact) return heap_.sequence(Kind::Tuple, std::move(kept));
    return heap_.some(Kind::Tuple, element_of(heap_.sequence(Kind::Tuple, std::move(kept))));
  }
  if (one_of(name, {"any", "all"})) {
    SequenceObject* items = first ? sequence_of(first) : nullptr;
    if (raised_) return heap_.unknown;
    bool wanted = name == "any";
    bool open = !items || !items->exact;
    if (items) {
      std::vector<Value> looked_at = items->items;
      if (!items->exact && items->element) looked_at.push_back(items->element);
      for (Value item : looked_at) {
        if (without_none(item)->kind == Kind::Tensor && !as<TensorObject>(without_none(item))->numpy) {
          if (traced()) graph_break(EventKind::TensorBranch, arguments.span, "GB0170", name, text(arguments.span));
          return heap_.typed(Kind::Bool);
        }
        auto known = truth(item);
        if (known == std::optional(wanted) && items->exact) return heap_.boolean(wanted);
        if (!known) open = true;
      }
    }
    if (open) return heap_.typed(Kind::Bool);
    return heap_.boolean(!wanted);
  }
  if (one_of(name, {"sum", "max", "min"})) {
    std::vector<Value> values = arguments.positional;
    bool exact = !arguments.more_positional;
    if (name == "sum" || values.size() == 1) {
      SequenceObject* items = first ? sequence_of(first) : nullptr;
      if (raised_ || !items) return heap_.unknown;
      exact = items->exact;
      values = items->items;
      if (!exact) values = {element_of(items)};
    }
    if (values.empty()) {
      Value standard = arguments.keyword("default");
      return name == "sum" ? heap_.integer(0) : standard ? standard : heap_.unknown;
    }
    if (arguments.keyword("key")) return element_of(heap_.sequence(Kind::Tuple, values));
    Value result = values.front();
    if (name == "sum") {
      Value start = arguments.get(1, "start");
      result = start ? start : heap_.integer(0);
      for (Value value : values) result = binary(ir::BinaryOp::Add, result, value, arguments.span);
      return exact || result->kind == Kind::Tensor ? result : result->known ? heap_.typed(result->kind) : result;
    }
    for (std::size_t i = 1; i < values.size(); ++i) {
      Value value = values[i];
      if (result->kind == Kind::Tensor || value->kind == Kind::Tensor) {
        result = heap_.tensor(Origin::Intermediate);
        continue;
      }
      auto less = truth(compare(ir::CompareOp::Less, value, result, arguments.span));
      if (!less) {
        bool scalar = result->kind <= Kind::Bytes;
        result = scalar && result->kind == value->kind ? heap_.join(heap_.typed(result->kind), value) : heap_.unknown;
        result->from_tensor = result != heap_.unknown && (value->from_tensor || values[0]->from_tensor);
      } else if (*less == (name == "min")) {
        result = value;
      }
    }
    return exact                                                      ? result
           : result->kind == Kind::Int || result->kind == Kind::Float ? heap_.typed(result->kind)
                                                                      : result;
  }
  if (one_of(name, {"sorted", "reversed"})) {
    SequenceObject* items = first ? sequence_of(first) : nullptr;
    if (!items) return heap_.some(Kind::List, nullptr);
    if (name == "sorted" && traced()) {
      bool tensors =
          std::any_of(items->items.begin(), items->items.end(), [](Value v) { return v->kind == Kind::Tensor; });
      if (tensors && !arguments.keyword("key")) {
        graph_break(EventKind::Unsupported, arguments.span, "GB0207", "sorted", text(arguments.span));
        return heap_.some(Kind::List, element_of(items));
      }
    }
    if (!items->exact) return heap_.some(Kind::List, element_of(items));
    std::vector<Value> result = items->items;
    if (name == "reversed") {
      std::reverse(result.begin(), result.end());
    } else {
      bool comparable = !arguments.keyword("key") && std::all_of(result.begin(), result.end(), [&](Value v) {
        return v->known && (v->kind == Kind::Int || v->kind == Kind::Str) && v->kind == result.front()->kind;
      });
      if (!comparable) return heap_.some(Kind::List, element_of(items));
      std::stable_sort(result.begin(), result.end(), [&](Value a, Value b) {
        return truth(compare(ir::CompareOp::Less, a, b, arguments.span)) == std::optional(true);
      });
      if (Value reverse = arguments.keyword("reverse"); reverse && truth(reverse) == std::optional(true))
        std::reverse(result.begin(), result.end());
    }
    return heap_.sequence(Kind::List, std::move(result));
  }
  if (name == "iter") {
    if (!first) return heap_.unknown;
    if (first->kind == Kind::Iterator) return first;
    if (first->kind == Kind::Instance && class_attribute(as<InstanceObject>(first)->cls, names::iter))
      return call_method(first, "__iter__", {});
    auto* iterator = heap_.make<IteratorObject>();
    SequenceObject* items = sequence_of(first);
    iterator->sequence = items ? items : heap_.some(Kind::Tuple, nullptr);
    return iterator;
  }
  if (name == "next") {
    if (first && first->kind == Kind::Instance && class_attribute(as<InstanceObject>(first)->cls, names::next))
      return call_method(first, "__next__", {});
    if (!first || first->kind != Kind::Iterator) {
      if (first && first->kind == Kind::Tuple) return element_of(as<SequenceObject>(first));
      return heap_.unknown;
    }
    auto* iterator = as<IteratorObject>(first);
    if (!iterator->sequence->exact) return element_of(iterator->sequence);
    if (iterator->position >= iterator->sequence->items.size()) {
      if (arguments.positional.size() > 1) return arguments.positional[1];
      raise_exception("builtins.StopIteration", arguments.span);
      return heap_.unknown;
    }
    return iterator->sequence->items[heap_.change(iterator)->position++];
  }
  if (one_of(name, {"getattr", "hasattr"}) && arguments.positional.size() >= 2) {
    Value attribute_name = arguments.positional[1];
    bool asks = name == "hasattr";
    if (attribute_name->kind != Kind::Str || !attribute_name->known)
      return asks ? heap_.typed(Kind::Bool) : heap_.unknown;
    Value standard = arguments.get(2, {});
    Value pending = raised_;
    Value found = attribute_or_null(first, Symbol::intern(as<StrObject>(attribute_name)->value), arguments.span);
    if (raised_ != pending) {
      raised_ = pending;
      found = nullptr;
    }
    bool open = first->kind == Kind::Unknown || first->kind == Kind::Union || first->kind == Kind::External ||
                first->kind == Kind::PyModule;
    if (first->kind == Kind::Instance) {
      auto* instance = as<InstanceObject>(first);
      bool own = instance->attributes.get(Symbol::intern(as<StrObject>(attribute_name)->value)) ||
                 class_attribute(instance->cls, Symbol::intern(as<StrObject>(attribute_name)->value));
      open = !own && (instance->opaque || instance->cls->unknown_base);
    }
    if (first->kind == Kind::PyModule && found && found->kind != Kind::Unknown) open = false;
    if (first->kind == Kind::External && as<ExternalObject>(first)->name.starts_with("torch.")) {
      open = !profile_.callable(as<ExternalObject>(first)->name + "." + as<StrObject>(attribute_name)->value);
    }
    if (asks) return open ? heap_.typed(Kind::Bool, heap_.sym(text(arguments.span))) : heap_.boolean(found != nullptr);
    if (!found)
      return standard
                 ? standard
                 : (open ? heap_.unknown : (raise_exception("builtins.AttributeError", arguments.span), heap_.unknown));
    if (open && standard) {
      if (standard->kind == Kind::None || found->kind != Kind::Unknown) return heap_.join(found, standard);
      if (standard->kind == Kind::Bool || standard->kind == Kind::Int || standard->kind == Kind::Float ||
          standard->kind == Kind::Str)
        return heap_.typed(standard->kind, found->sym);
      return heap_.join(found, standard);
    }
    return found;
  }
  if (name == "setattr" && arguments.positional.size() == 3) {
    Value attribute_name = arguments.positional[1];
    if (attribute_name->kind == Kind::Str && attribute_name->known)
      set_attribute(first, Symbol::intern(as<StrObject>(attribute_name)->value), arguments.positional[2],
                    arguments.span,
                    arguments.positional_spans.empty() ? arguments.span : arguments.positional_spans[0]);
    return heap_.none;
  }
  if (name == "callable") {
    if (!first || first->kind == Kind::Unknown || first->kind == Kind::Union) return heap_.typed(Kind::Bool);
    if (first->kind == Kind::Instance)
      return heap_.boolean(as<InstanceObject>(first)->module ||
                           class_attribute(as<InstanceObject>(first)->cls, names::call));
    return heap_.boolean(one_of(type_name(*first), {"function", "type", "object"}));
  }
  if (name == "type" && arguments.positional.size() == 1) {
    if (Value cls = class_of(first)) return cls;
    if (tensor) return external("torch.Tensor");
    if (first->kind == Kind::Unknown || first->kind == Kind::Union) return heap_.unknown;
    return external("builtins." + type_name(*first));
  }
  if (name == "abs" && plain) {
    if (plain->kind == Kind::Tensor) return unary(ir::UnaryOp::Positive, plain, arguments.span);
    if (plain->known && plain->kind == Kind::Int) return heap_.integer(std::llabs(as<IntObject>(plain)->value));
    if (plain->known && plain->kind == Kind::Float) return heap_.real(std::fabs(as<FloatObject>(plain)->value));
    return plain->kind == Kind::Int || plain->kind == Kind::Float ? heap_.typed(plain->kind) : heap_.unknown;
  }
  if (name == "round") return arguments.positional.size() > 1 ? heap_.typed(Kind::Float) : heap_.typed(Kind::Int);
  if (name == "pow" && arguments.positional.size() == 2)
    return binary(ir::BinaryOp::Pow, first, arguments.positional[1], arguments.span);
  if (name == "divmod" && arguments.positional.size() == 2)
    return heap_.sequence(Kind::Tuple, {binary(ir::BinaryOp::FloorDiv, first, arguments.positional[1], arguments.span),
                                        binary(ir::BinaryOp::Mod, first, arguments.positional[1], arguments.span)});
  if (name == "property" || name == "staticmethod" || name == "classmethod") {
    Kind kind = name == "property" ? Kind::Property : name == "staticmethod" ? Kind::StaticMethod : Kind::ClassMethod;
    return first ? static_cast<Value>(heap_.make<PropertyObject>(kind, first)) : heap_.unknown;
  }
  if (name == "super" && arguments.positional.size() == 2) {
    if (first->kind == Kind::Class) return heap_.make<SuperObject>(as<ClassObject>(first), arguments.positional[1]);
    return heap_.unknown;
  }
  if (one_of(name, {"id", "hash", "ord"})) return heap_.typed(Kind::Int);
  if (name == "slice") {
    Value a = arguments.get(0, {}), b = arguments.get(1, {}), c = arguments.get(2, {});
    if (arguments.positional.size() == 1) return heap_.make<SliceObject>(heap_.none, a, heap_.none);
    return heap_.make<SliceObject>(a ? a : heap_.none, b ? b : heap_.none, c ? c : heap_.none);
  }
  if (one_of(name, {"chr", "bin", "hex", "oct", "input"})) return heap_.typed(Kind::Str);
  if (name == "object") return heap_.make<InstanceObject>(external_class("builtins.object"));
  if (external_class("builtins." + std::string(name))->is_exception) {
    auto* exception = heap_.make<InstanceObject>(external_class("builtins." + std::string(name)));
    exception->attributes.set(names::args, heap_.sequence(Kind::Tuple, arguments.positional));
    return exception;
  }
  return heap_.unknown;
}

// ------------------------------------------------------------------------------------------------ strings

Value Interpreter::string_method(StrObject* string, std::string_view name, Arguments& arguments) {
  Value first = arguments.get(0, {});
  auto text_of = [](Value value) -> const std::string* {
    return value && value->kind == Kind::Str && value->known ? &as<StrObject>(value)->value : nullptr;
  };
  if (name == "format") return heap_.typed(Kind::Str);
  if (name == "startswith" || name == "endswith") {
    if (string->known && first && first->kind == Kind::Tuple) {
      for (Value one : as<SequenceObject>(first)->items) {
        const std::string* part = text_of(one);
        if (part && (name == "startswith" ? string->value.starts_with(*part) : string->value.ends_with(*part)))
          return heap_.yes;
      }
      return heap_.no;
    }
    const std::string* part = text_of(first);
    if (!string->known || !part) return heap_.typed(Kind::Bool);
    return heap_.boolean(name == "startswith" ? string->value.starts_with(*part) : string->value.ends_with(*part));
  }
  if (one_of(name, {"isdigit", "isalpha", "isidentifier", "isupper", "islower", "isspace", "isnumeric"}))
    return heap_.typed(Kind::Bool);
  if (one_of(name, {"find", "index", "count", "rfind"})) {
    const std::string* part = text_of(first);
    if (string->known && part && name == "find") {
      auto at = string->value.find(*part);
      return heap_.integer(at == std::string::npos ? -1 : static_cast<std::int64_t>(at));
    }
    return heap_.typed(Kind::Int);
  }
  if (name == "split" || name == "rsplit" || name == "splitlines") {
    const std::string* by = text_of(first);
    if (string->known && by && !by->empty() && arguments.positional.size() == 1 && name == "split") {
      std::vector<Value> parts;
      std::size_t from = 0;
      for (std::size_t at; (at = string->value.find(*by, from)) != std::string::npos; from = at + by->size())
        parts.push_back(heap_.string(string->value.substr(from, at - from)));
      parts.push_back(heap_.string(string->value.substr(from)));
      return heap_.sequence(Kind::List, std::move(parts));
    }
    return heap_.some(Kind::List, heap_.typed(Kind::Str));
  }
  if (string->known && one_of(name, {"lower", "upper", "strip"}) && arguments.positional.empty()) {
    std::string value = string->value;
    if (name == "strip") {
      auto from = value.find_first_not_of(" \t\n\r");
      auto to = value.find_last_not_of(" \t\n\r");
      return heap_.string(from == std::string::npos ? "" : value.substr(from, to - from + 1));
    }
    for (char& c : value)
      c = static_cast<char>(name == "lower" ? std::tolower(static_cast<unsigned char>(c))
                                            : std::toupper(static_cast<unsigned char>(c)));
    return heap_.string(value);
  }
  if (name == "join") {
    Value rounds = first ? iterate(first, arguments.span) : heap_.unknown;
    if (string->known && rounds->kind == Kind::Tuple && as<SequenceObject>(rounds)->exact) {
      std::string value;
      bool known = true;
      for (Value item : as<SequenceObject>(rounds)->items) {
        const std::string* part = text_of(item);
        if (!part) known = false;
        if (part) value += (value.empty() ? "" : string->value) + *part;
      }
      if (known) return heap_.string(value);
    }
    return heap_.typed(Kind::Str);
  }
  if (name == "replace" && string->known) {
    const std::string* from = text_of(first);
    const std::string* to = text_of(arguments.get(1, {}));
    if (from && to && !from->empty()) {
      std::string value = string->value;
      for (std::size_t at = 0; (at = value.find(*from, at)) != std::string::npos; at += to->size())
        value.replace(at, from->size(), *to);
      return heap_.string(value);
    }
  }
  if (name == "encode") return heap_.typed(Kind::Bytes);
  return heap_.typed(Kind::Str);
}

// ------------------------------------------------------------------------------------------------ containers

Value Interpreter::sequence_method(SequenceObject* sequence, std::string_view name, Arguments& arguments) {
  Value first = arguments.get(0, {});
  auto element = [&]() -> Value {
    Value result = sequence->element;
    for (Value item : sequence->items) result = result ? heap_.join(result, item) : item;
    return result;
  };
  auto blur = [&] {
    sequence->element = element();
    sequence->items.clear();
    sequence->exact = false;
  };
  if (hop_serial_ != 0 && one_of(name, {"append", "add", "extend", "update", "insert", "pop", "popleft", "clear",
                                        "reverse", "sort", "remove", "discard"}))
    report_side_effect(sequence, nullptr, arguments.span);
  if (name == "append" || name == "add") {
    if (!first) return heap_.none;
    heap_.change(sequence);
    if (sequence->exact && inexact_loops_ == 0) {
      if (name == "add" && std::any_of(sequence->items.begin(), sequence->items.end(),
                                       [&](Value have) { return equal(have, first) == std::optional(true); }))
        return heap_.none;
      sequence->items.push_back(first);
    } else {
      blur();
      sequence->element = sequence->element ? heap_.join(sequence->element, first) : first;
    }
    return heap_.none;
  }
  if (name == "extend" || name == "update") {
    heap_.change(sequence);
    for (Value source : arguments.positional) {
      Value rounds = iterate(source, arguments.span);
      auto* items = rounds->kind == Kind::Tuple ? as<SequenceObject>(rounds) : nullptr;
      if (sequence->exact && items && items->exact && inexact_loops_ == 0) {
        sequence->items.insert(sequence->items.end(), items->items.begin(), items->items.end());
      } else {
        blur();
        Value more = heap_.unknown;
        if (items) {
          more = items->element;
          for (Value item : items->items) more = more ? heap_.join(more, item) : item;
        }
        if (more) sequence->element = sequence->element ? heap_.join(sequence->element, more) : more;
      }
    }
    return heap_.none;
  }
  if (name == "insert" && arguments.positional.size() == 2) {
    heap_.change(sequence);
    if (sequence->exact && first->kind == Kind::Int && first->known && inexact_loops_ == 0) {
      auto size = static_cast<std::int64_t>(sequence->items.size());
      std::int64_t at = as<IntObject>(first)->value;
      if (at < 0) at = std::max<std::int64_t>(0, at + size);
      sequence->items.insert(sequence->items.begin() + std::min(at, size), arguments.positional[1]);
    } else {
      blur();
      sequence->element =
          sequence->element ? heap_.join(sequence->element, arguments.positional[1]) : arguments.positional[1];
    }
    return heap_.none;
  }
  if (name == "pop" || name == "popleft") {
    if (!sequence->exact || sequence->items.empty() || inexact_loops_ > 0) {
      Value result = element();
      return result ? result : heap_.unknown;
    }
    heap_.change(sequence);
    std::int64_t at = name == "popleft" ? 0 : -1;
    if (first && first->kind == Kind::Int && first->known) at = as<IntObject>(first)->value;
    if (at < 0) at += static_cast<std::int64_t>(sequence->items.size());
    if (at < 0 || at >= static_cast<std::int64_t>(sequence->items.size())) return heap_.unknown;
    Value result = sequence->items[static_cast<std::size_t>(at)];
    sequence->items.erase(sequence->items.begin() + at);
    return result;
  }
  if (one_of(name, {"clear", "reverse", "sort", "remove", "discard"})) {
    heap_.change(sequence);
    if (name == "clear" && inexact_loops_ == 0) {
      sequence->items.clear();
      sequence->exact = true;
      sequence->element = nullptr;
    } else if (name == "reverse" && sequence->exact) {
      std::reverse(sequence->items.begin(), sequence->items.end());
    } else {
      blur();
    }
    return heap_.none;
  }
  if (name == "copy" || name == "union") {
    auto* copy = heap_.make<SequenceObject>(*sequence);
    if (name == "union") sequence_method(copy, "extend", arguments);
    return copy;
  }
  if (name == "index" || name == "count") {
    if (sequence->exact && name == "index" && first) {
      for (std::size_t i = 0; i < sequence->items.size(); ++i) {
        auto same = equal(sequence->items[i], first);
        if (same == std::optional(true)) return heap_.integer(static_cast<std::int64_t>(i));
        if (!same) break;
      }
    }
    return heap_.typed(Kind::Int);
  }
  if (name == "numel" && sequence->type_name.text() == "Size") {
    std::int64_t product = 1;
    for (Value item : sequence->items) {
      if (item->kind != Kind::Int || !item->known) return heap_.typed(Kind::Int);
      product *= as<IntObject>(item)->value;
    }
    return sequence->exact ? heap_.integer(product) : heap_.typed(Kind::Int);
  }
  if (name == "_asdict") {
    auto* dict = heap_.dict();
    for (std::size_t i = 0; i < sequence->field_names.size() && i < sequence->items.size(); ++i)
      dict->entries.push_back({heap_.string(sequence->field_names[i].text()), sequence->items[i], false});
    return dict;
  }
  if (name == "_replace") return sequence;
  if (name == "__len__") return length(sequence);
  if (name == "__getitem__" && first) return subscript(sequence, first, arguments.span, arguments.span);
  if (name == "__iter__") return sequence;
  if (one_of(name, {"issubset", "issuperset", "isdisjoint", "__contains__"})) return heap_.typed(Kind::Bool);
  if (one_of(name, {"difference", "intersection", "symmetric_difference"})) return heap_.some(Kind::Set, element());
  return heap_.unknown;
}

Value Interpreter::dict_method(DictObject* dict, std::string_view name, Arguments& arguments) {
  Value first = arguments.get(0, {});
  auto all_values = [&]() -> Value {
    Value result = dict->exact ? nullptr : dict->element ? dict->element : heap_.unknown;
    for (const auto& entry : dict->entries) result = result ? heap_.join(result, entry.value) : entry.value;
    return result;
  };
  bool sure =
      dict->exact && std::none_of(dict->entries.begin(), dict->entries.end(), [](const auto& e) { return e.maybe; });
  if (name == "get" || name == "pop" || name == "setdefault" || name == "__getitem__") {
    Value standard = arguments.get(1, "default");
    if (!standard) standard = name == "get" ? heap_.none : name == "setdefault" ? heap_.none : nullptr;
    if (!first) return heap_.unknown;
    Value result = nullptr;
    for (std::size_t i = 0; i < dict->entries.size(); ++i) {
      auto same = dict->entries[i].key == first ? std::optional(true) : equal(dict->entries[i].key, first);
      if (same == std::optional(true)) {
        result = dict->entries[i].value;
        bool maybe = dict->entries[i].maybe;
        if (name == "pop") {
          report_side_effect(dict, nullptr, arguments.span);
          heap_.change(dict);
          dict->entries.erase(dict->entries.begin() + static_cast<std::ptrdiff_t>(i));
        }
        return maybe && standard ? heap_.join(result, standard) : result;
      }
      if (!same) result = result ? heap_.join(result, dict->entries[i].value) : dict->entries[i].value;
    }
    if (!dict->exact) {
      Value other = dict->element ? dict->element : nullptr;
      if (!other) {
        // kwargs.get("output_attentions"): whatever the caller passed
        other = first->kind == Kind::Str && first->known ? heap_.symbolic(heap_.sym(as<StrObject>(first)->value))
                                                         : heap_.unknown;
        if (standard && (standard->kind == Kind::Bool || standard->kind == Kind::Int || standard->kind == Kind::Float))
          other = heap_.typed(standard->kind, other->sym);
      }
      if (name == "setdefault") set_subscript(dict, first, standard, arguments.span);
      if (standard && other->kind != standard->kind)
        return other->kind == Kind::Unknown ? other : heap_.join(other, standard);
      return other;
    }
    if (result && standard) return heap_.join(result, standard);
    if (result) return result;
    if (!standard) {
      raise_exception("builtins.KeyError", arguments.span);
      return heap_.unknown;
    }
    if (name == "setdefault") set_subscript(dict, first, standard, arguments.span);
    return standard;
  }
  if (name == "items") {
    if (!sure)
      return heap_.some(Kind::Tuple, heap_.sequence(Kind::Tuple, {heap_.typed(Kind::Str),
                                                                  all_values() ? all_values() : heap_.unknown}));
    std::vector<Value> pairs;
    for (const auto& entry : dict->entries) pairs.push_back(heap_.sequence(Kind::Tuple, {entry.key, entry.value}));
    return heap_.sequence(Kind::Tuple, std::move(pairs));
  }
  if (name == "keys" || name == "__iter__") return iterate(dict, arguments.span);
  if (name == "values") {
    if (!sure) return heap_.some(Kind::Tuple, all_values());
    std::vector<Value> values;
    for (const auto& entry : dict->entries) values.push_back(entry.value);
    return heap_.sequence(Kind::Tuple, std::move(values));
  }
  if (name == "update") {
    for (Value source : arguments.positional) {
      if (source->kind == Kind::Instance && as<InstanceObject>(source)->payload)
        source = as<InstanceObject>(source)->payload;
      if (source->kind == Kind::Dict) {
        for (const auto& entry : std::vector<DictObject::Entry>(as<DictObject>(source)->entries)) {
          set_subscript(dict, entry.key, entry.maybe ? heap_.join(entry.value, heap_.unknown) : entry.value,
                        arguments.span);
        }
        if (!as<DictObject>(source)->exact) {
          heap_.change(dict)->exact = false;
          if (as<DictObject>(source)->element)
            dict->element = dict->element ? heap_.join(dict->element, as<DictObject>(source)->element)
                                          : as<DictObject>(source)->element;
        }
        continue;
      }
      Value rounds = iterate(source, arguments.span);
      if (rounds->kind == Kind::Tuple && as<SequenceObject>(rounds)->exact) {
        for (Value pair : as<SequenceObject>(rounds)->items) {
          if (pair->kind == Kind::Tuple && as<SequenceObject>(pair)->items.size() == 2)
            set_subscript(dict, as<SequenceObject>(pair)->items[0], as<SequenceObject>(pair)->items[1], arguments.span);
        }
      } else {
        heap_.change(dict)->exact = false;
      }
    }
    for (const auto& [key, value] : arguments.keywords)
      set_subscript(dict, heap_.string(key.text()), value, arguments.span);
    if (arguments.more_keywords) heap_.change(dict)->exact = false;
    return heap_.none;
  }
  if (name == "copy") return heap_.make<DictObject>(*dict);
  if (name == "clear") {
    heap_.change(dict)->entries.clear();
    dict->exact = true;
    return heap_.none;
  }
  if (name == "__len__") return length(dict);
  if (name == "__setitem__" && arguments.positional.size() == 2) {
    set_subscript(dict, first, arguments.positional[1], arguments.span);
    return heap_.none;
  }
  if (name == "__contains__" && first) return compare(ir::CompareOp::In, first, dict, arguments.span);
  if (name == "popitem")
    return heap_.sequence(Kind::Tuple, {heap_.unknown, all_values() ? all_values() : heap_.unknown});
  if (name == "move_to_end") return heap_.none;
  return heap_.unknown;
}

}  // namespace fullgraph::trace
