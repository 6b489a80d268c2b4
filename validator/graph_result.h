// What the libtorch worker says of one model and of two, as the result that reports are made of.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "validator/result.h"

namespace fullgraph::validator {

// What came back of one side: its measurement, a failure, or a reason why it was left out.
struct Measured {
  std::optional<nlohmann::json> result;
  std::optional<Failure> failure;
  std::string skipped;
};

bool has_mode(const Measured& measured, const std::string& mode);
bool ran_in(const Measured& measured, const std::string& mode);  // to the end
Side side_of(const Measured& measured, const std::string& mode);
// `before` and `after` are measurements, `comparison` holds them against each other.
Comparison change_of(const nlohmann::json& before, const nlohmann::json& after, const nlohmann::json& comparison,
                     const std::string& mode);
CaseKind kind_of(const nlohmann::json& measurement);
// Which inputs it had, and what was not tried.
void add_notes(Case& one, const nlohmann::json& measurement);
// That the weights of the side before took the place of others.
void add_weight_notes(Case& one, const nlohmann::json& after);

}  // namespace fullgraph::validator
