// Python's operators on numbers, as they stand in exported graphs between what shapes say and what operators take.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>

#include "validator/libtorch/failure.h"
#include "validator/libtorch/graph_plan.h"

namespace fullgraph::libtorch {
namespace {

using Operands = std::vector<c10::IValue>;

bool whole(const c10::IValue& value) {
  return value.isInt() || value.isBool();
}
std::int64_t integer(const c10::IValue& value) {
  return value.isBool() ? std::int64_t{value.toBool()} : value.toInt();
}
double real(const c10::IValue& value) {
  return whole(value) ? static_cast<double>(integer(value)) : value.toDouble();
}

// Integers stay integers; one float makes the result a float.
template <class Operation>
c10::IValue arithmetic(const Operands& operands, Operation operation) {
  if (whole(operands.at(0)) && whole(operands.at(1)))
    return static_cast<std::int64_t>(operation(integer(operands[0]), integer(operands[1])));
  return static_cast<double>(operation(real(operands[0]), real(operands[1])));
}

template <class Comparison>
c10::IValue comparison(const Operands& operands, Comparison compare) {
  if (whole(operands.at(0)) && whole(operands.at(1))) return compare(integer(operands[0]), integer(operands[1]));
  return compare(real(operands[0]), real(operands[1]));
}

void check_divisor(const c10::IValue& value) {
  if (real(value) == 0) throw Failure("the graph divides by zero");
}

// Rounds towards minus infinity, as Python does.
c10::IValue floor_divide(const Operands& operands) {
  check_divisor(operands.at(1));
  if (!whole(operands[0]) || !whole(operands[1])) return std::floor(real(operands[0]) / real(operands[1]));
  const std::int64_t a = integer(operands[0]);
  const std::int64_t b = integer(operands[1]);
  return a / b - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

c10::IValue modulo(const Operands& operands) {
  check_divisor(operands.at(1));
  if (!whole(operands[0]) || !whole(operands[1])) {
    const double b = real(operands[1]);
    return real(operands[0]) - std::floor(real(operands[0]) / b) * b;
  }
  const std::int64_t b = integer(operands[1]);
  const std::int64_t rest = integer(operands[0]) % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

c10::IValue power(const Operands& operands) {
  if (!whole(operands.at(0)) || !whole(operands.at(1)) || integer(operands[1]) < 0)
    return std::pow(real(operands[0]), real(operands[1]));
  std::int64_t out = 1;
  for (std::int64_t left = integer(operands[1]); left > 0; --left) out *= integer(operands[0]);
  return out;
}

c10::IValue get_item(const Operands& operands) {
  const c10::IValue& container = operands.at(0);
  const auto index = static_cast<std::size_t>(integer(operands.at(1)));
  if (container.isTuple()) return container.toTupleRef().elements().at(index);
  if (container.isList()) return container.toListRef().at(index);
  throw Failure("the graph takes an item of something that has none");
}

using Function = std::function<c10::IValue(const Operands&)>;

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all = {
      {"add", [](const Operands& o) { return arithmetic(o, std::plus<>()); }},
      {"sub", [](const Operands& o) { return arithmetic(o, std::minus<>()); }},
      {"mul", [](const Operands& o) { return arithmetic(o, std::multiplies<>()); }},
      {"floordiv", floor_divide},
      {"mod", modulo},
      {"pow", power},
      {"truediv",
       [](const Operands& o) -> c10::IValue {
         check_divisor(o.at(1));
         return real(o.at(0)) / real(o[1]);
       }},
      {"eq", [](const Operands& o) { return comparison(o, std::equal_to<>()); }},
      {"ne", [](const Operands& o) { return comparison(o, std::not_equal_to<>()); }},
      {"lt", [](const Operands& o) { return comparison(o, std::less<>()); }},
      {"le", [](const Operands& o) { return comparison(o, std::less_equal<>()); }},
      {"gt", [](const Operands& o) { return comparison(o, std::greater<>()); }},
      {"ge", [](const Operands& o) { return comparison(o, std::greater_equal<>()); }},
      {"sym_max", [](const Operands& o) { return arithmetic(o, [](auto a, auto b) { return std::max(a, b); }); }},
      {"sym_min", [](const Operands& o) { return arithmetic(o, [](auto a, auto b) { return std::min(a, b); }); }},
      {"lshift", [](const Operands& o) -> c10::IValue { return integer(o.at(0)) << (integer(o.at(1)) & 63); }},
      {"rshift", [](const Operands& o) -> c10::IValue { return integer(o.at(0)) >> (integer(o.at(1)) & 63); }},
      {"and_",
       [](const Operands& o) -> c10::IValue {
         if (o.at(0).isBool()) return o[0].toBool() && integer(o.at(1)) != 0;
         return integer(o[0]) & integer(o.at(1));
       }},
      {"or_",
       [](const Operands& o) -> c10::IValue {
         if (o.at(0).isBool()) return o[0].toBool() || integer(o.at(1)) != 0;
         return integer(o[0]) | integer(o.at(1));
       }},
      {"neg",
       [](const Operands& o) -> c10::IValue {
         if (whole(o.at(0))) return -integer(o[0]);
         return -real(o[0]);
       }},
      {"pos", [](const Operands& o) -> c10::IValue { return o.at(0); }},
      {"sym_not", [](const Operands& o) -> c10::IValue { return real(o.at(0)) == 0; }},
      {"sym_ite", [](const Operands& o) -> c10::IValue { return real(o.at(0)) != 0 ? o.at(1) : o.at(2); }},
      {"sym_int", [](const Operands& o) -> c10::IValue { return static_cast<std::int64_t>(real(o.at(0))); }},
      {"trunc", [](const Operands& o) -> c10::IValue { return static_cast<std::int64_t>(real(o.at(0))); }},
      {"sym_float", [](const Operands& o) -> c10::IValue { return real(o.at(0)); }},
      {"sym_sqrt", [](const Operands& o) -> c10::IValue { return std::sqrt(real(o.at(0))); }},
      {"getitem", get_item}};
  return all;
}

}  // namespace

c10::IValue apply_scalar_operator(const std::string& name, const std::vector<c10::IValue>& operands) {
  const auto found = functions().find(name.substr(name.rfind('.') + 1));
  if (found == functions().end()) throw Failure(fmt::format("the graph calls `{}`, which is not supported", name));
  try {
    return found->second(operands);
  } catch (const std::out_of_range&) {
    throw Failure(fmt::format("{}: an argument is missing", name));
  }
}

}  // namespace fullgraph::libtorch
