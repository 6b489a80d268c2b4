// Arguments of exported graphs as Python expressions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace fullgraph::graphs {

// One argument of the schema ({"as_tensor": {"name": "x"}}); "..." for what cannot be written.
std::string python_of_argument(const nlohmann::json& argument);

// The names that an output of a node binds: one, several for a list, none.
std::vector<std::string> names_of_output(const nlohmann::json& output);
// … and whether the node returns them as a list.
bool is_list_output(const nlohmann::json& output);

// `"f32[3, s0]"` of the metadata of a tensor; empty when there is none.
std::string tensor_annotation(const nlohmann::json& meta);

// A callable: "torch.ops.aten.linear.default". Parts that are keywords of Python are looked up with getattr. Empty when
// it is none.
std::string python_of_target(std::string_view target);

}  // namespace fullgraph::graphs
