// Running a plan: operators through the dispatcher, which records gradients as it does for any caller; higher-order
// operators by running their graphs.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "validator/libtorch/failure.h"
#include "validator/libtorch/graph_plan.h"

namespace fullgraph::libtorch {
namespace {

using Values = std::vector<c10::IValue>;

// A number where a tensor is wanted follows the rules of Python numbers: it does not decide the type of the result.
at::Tensor number_as_tensor(const c10::IValue& value) {
  const at::Scalar scalar = value.toScalar();
  at::Tensor out = at::scalar_tensor(scalar, at::TensorOptions(scalar.type()));
  out.unsafeGetTensorImpl()->set_wrapped_number(true);
  return out;
}

c10::IValue coerce_list(const c10::IValue& value, const c10::ListType& type) {
  const c10::Type& element = *type.getElementType();
  if (value.isInt()) return c10::List<std::int64_t>({value.toInt()});
  if (!value.isList()) return value;
  c10::impl::GenericList out(type.getElementType());
  for (const c10::IValue& item : value.toListRef()) out.push_back(coerce(item, element));
  return out;
}

c10::IValue list_of(Values values) {
  c10::impl::GenericList out(c10::AnyType::get());
  for (c10::IValue& value : values) out.push_back(std::move(value));
  return out;
}

class Run {
 public:
  explicit Run(const Plan& plan) : plan_(plan), slots_(plan.slot_count) {}

  Values operator()(Values inputs) {
    if (inputs.size() != plan_.inputs.size())
      throw Failure(fmt::format("the graph takes {} inputs and was given {}", plan_.inputs.size(), inputs.size()));
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      if (plan_.inputs[index] != no_slot)
        slots_[static_cast<std::size_t>(plan_.inputs[index])] = std::move(inputs[index]);
    }
    for (const Step& step : plan_.steps) {
      store(step, results(step));
      for (const Slot slot : step.dead) slots_[static_cast<std::size_t>(slot)] = {};
    }
    return values(plan_.outputs);
  }

 private:
  c10::IValue value(const Operand& operand) const {
    if (operand.kind == Operand::Kind::Constant) return operand.constant;
    if (operand.kind == Operand::Kind::Computed) return slots_[static_cast<std::size_t>(operand.slot)];
    return list_of(values(operand.items));
  }

  Values values(const std::vector<Operand>& operands) const {
    Values out;
    out.reserve(operands.size());
    for (const Operand& operand : operands) out.push_back(value(operand));
    return out;
  }

  Values results(const Step& step) const {
    try {
      if (step.call) return call(step);
      if (!step.graphs.empty() || step.name.find("higher_order") != std::string::npos) return higher_order(step);
      return {apply_scalar_operator(step.name, values(step.operands))};
    } catch (const c10::Error& error) {
      throw Failure(fmt::format("{}: {}", step.name, error.what_without_backtrace()));
    }
  }

  Values call(const Step& step) const {
    const auto& arguments = step.call->schema().arguments();
    Values stack;
    stack.reserve(arguments.size());
    for (std::size_t index = 0; index < arguments.size(); ++index)
      stack.push_back(coerce(value(step.operands[index]), *arguments[index].type()));
    step.call->callBoxed(stack);
    return stack;
  }

  Values higher_order(const Step& step) const {
    const std::string name = step.name.substr(step.name.rfind('.') + 1);
    Values operands = values(step.operands);
    const auto graph = [&](std::size_t index) -> const Plan& {
      if (index >= step.graphs.size()) throw Failure(fmt::format("{}: a graph is missing", step.name));
      return *step.graphs[index];
    };
    const auto take_first = [&] {
      if (operands.empty()) throw Failure(fmt::format("{}: an argument is missing", step.name));
      c10::IValue first = operands.front();
      operands.erase(operands.begin());
      return first;
    };
    if (name == "wrap_with_set_grad_enabled") {
      const at::AutoGradMode mode(take_first().toBool());
      return run_plan(graph(0), std::move(operands));
    }
    // Recomputing saves memory and changes no value.
    if (name == "tag_activation_checkpoint" || name == "invoke_subgraph") {
      if (!operands.empty() && operands.front().isString()) take_first();
      return run_plan(graph(0), spread(std::move(operands)));
    }
    if (name == "wrap_with_autocast") return autocast(graph(0), std::move(operands));
    if (name == "cond") {
      const bool condition = truth(take_first());
      return run_plan(graph(condition ? 0 : 1), spread(std::move(operands)));
    }
    if (name == "while_loop") return while_loop(graph(0), graph(1), operands);
    throw Failure(fmt::format("the higher-order operator `{}` is not supported", name));
  }

  // wrap_with_autocast(device_type, dtype, enabled, cache_enabled, graph, …)
  static Values autocast(const Plan& graph, Values operands) {
    if (operands.size() < 4) throw Failure("wrap_with_autocast: an argument is missing");
    const at::DeviceType device = at::Device(operands[0].toStringRef()).type();
    const bool was_enabled = at::autocast::is_autocast_enabled(device);
    const at::ScalarType type_before = at::autocast::get_autocast_dtype(device);
    at::autocast::set_autocast_enabled(device, operands[2].toBool());
    if (!operands[1].isNone())
      at::autocast::set_autocast_dtype(device, static_cast<at::ScalarType>(operands[1].toInt()));
    operands.erase(operands.begin(), operands.begin() + 4);
    Values out = run_plan(graph, std::move(operands));
    at::autocast::set_autocast_enabled(device, was_enabled);
    at::autocast::set_autocast_dtype(device, type_before);
    return out;
  }

  // while_loop(condition, body, carried, additional)
  static Values while_loop(const Plan& condition, const Plan& body, const Values& operands) {
    Values carried = operands.empty() ? Values{} : spread({operands[0]});
    const Values additional = operands.size() < 2 ? Values{} : spread({operands[1]});
    const auto with_additional = [&] {
      Values all = carried;
      all.insert(all.end(), additional.begin(), additional.end());
      return all;
    };
    while (truth(run_plan(condition, with_additional()).at(0))) carried = run_plan(body, with_additional());
    return carried;
  }

  static bool truth(const c10::IValue& value) {
    return value.isTensor() ? value.toTensor().item().toBool() : value.toScalar().toBool();
  }

  // Operands of a graph come one by one or as one list.
  static Values spread(Values operands) {
    Values out;
    for (c10::IValue& operand : operands) {
      if (operand.isList()) {
        for (const c10::IValue& item : operand.toListRef()) out.push_back(item);
      } else {
        out.push_back(std::move(operand));
      }
    }
    return out;
  }

  void store(const Step& step, const Values& results) {
    std::size_t next = 0;
    const auto take = [&]() -> const c10::IValue& {
      if (next >= results.size()) throw Failure(fmt::format("{}: fewer results than the graph names", step.name));
      return results[next++];
    };
    for (const Target& target : step.targets) {
      // A list of tensors may come as one value or, from a graph, one by one.
      if (target.is_list && next < results.size() && results[next].isList()) {
        const auto list = take().toListRef();
        for (std::size_t index = 0; index < target.slots.size() && index < list.size(); ++index)
          put(target.slots[index], list[index]);
        continue;
      }
      for (const Slot slot : target.slots) put(slot, take());
    }
  }

  void put(Slot slot, const c10::IValue& value) {
    if (slot != no_slot) slots_[static_cast<std::size_t>(slot)] = value;
  }

  const Plan& plan_;
  Values slots_;
};

}  // namespace

c10::IValue coerce(c10::IValue value, const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::OptionalType:
      return value.isNone() ? value : coerce(std::move(value), *type.expectRef<c10::OptionalType>().getElementType());
    case c10::TypeKind::TensorType:
      return value.isScalar() ? c10::IValue(number_as_tensor(value)) : value;
    case c10::TypeKind::FloatType:
      return value.isInt() ? c10::IValue(static_cast<double>(value.toInt())) : value;
    case c10::TypeKind::ListType:
      return coerce_list(value, type.expectRef<c10::ListType>());
    default:
      return value;
  }
}

std::vector<c10::IValue> run_plan(const Plan& plan, std::vector<c10::IValue> inputs) {
  return Run(plan)(std::move(inputs));
}

}  // namespace fullgraph::libtorch
