// An exported program's graph, made ready to run: operators looked up, names turned into numbered slots, constants
// built.
//
// The wheel of libtorch has no runtime for exported programs that computes gradients, and what AOTInductor makes is for
// inference only. A graph is little more than a list of operator calls, though, and the dispatcher, through which
// they are made here, records what autograd needs.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace fullgraph::libtorch {

using Slot = int;
constexpr Slot no_slot = -1;

// What is handed to an operator: known beforehand, computed by an earlier step, or a list of both.
struct Operand {
  enum class Kind { Constant, Computed, List } kind = Kind::Constant;
  c10::IValue constant;
  Slot slot = no_slot;
  std::vector<Operand> items;
};

// Where a result goes: into a slot, or, for a list of tensors, each into its own.
struct Target {
  std::vector<Slot> slots;
  bool is_list = false;
};

struct Plan;

struct Step {
  std::string name;                                 // as in the archive, for messages
  std::optional<c10::OperatorHandle> call;          // else the name says what it is: see graph_run.cpp
  std::vector<Operand> operands;                    // in the order of the operator's schema
  std::vector<std::shared_ptr<const Plan>> graphs;  // of higher-order operators
  std::vector<Target> targets;
  std::vector<Slot> dead;  // what no later step uses
};

struct Plan {
  std::vector<Slot> inputs;  // no_slot: an input that is a constant
  std::vector<Step> steps;
  std::vector<Operand> outputs;
  std::vector<std::string> output_names;
  std::size_t slot_count = 0;
};

// `graph` as in models/*.json. Devices in it become `device`. Failure: an operator that libtorch does not know, or a
// graph that is not well formed.
std::shared_ptr<const Plan> make_plan(const nlohmann::json& graph, at::Device device);

// A value as the schema of an operator wants it: numbers as tensors where a tensor is meant, and the like.
c10::IValue coerce(c10::IValue value, const c10::Type& type);

// Failure: a step failed; the message names it.
std::vector<c10::IValue> run_plan(const Plan& plan, std::vector<c10::IValue> inputs);

// "_operator.add", "math.trunc", "torch.sym_ite", … on numbers. Failure: no such operator.
c10::IValue apply_scalar_operator(const std::string& name, const std::vector<c10::IValue>& operands);

at::ScalarType exported_scalar_type(int number);

}  // namespace fullgraph::libtorch
