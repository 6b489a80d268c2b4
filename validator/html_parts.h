// The parts of the page that a case consists of; html.cpp puts them together.
#pragma once

#include <string>
#include <string_view>

#include "page/foreign_text.h"
#include "validator/result.h"

namespace fullgraph::validator {

using page::escaped;

std::string chip(std::string_view text, std::string_view kind = "");  // kind: "good", "bad", "warn"
std::string time_words(double seconds);
std::string memory_words(double bytes);

// What a case comes to in a few large numbers.
std::string tiles(const Case& one);
// Bars before and after: breaks, latency, memory.
std::string charts(const Case& one);
// How the model's code calls itself, with the breaks on it. Empty: Dynamo did not run.
std::string call_tree(const Case& one);
// Every output and every parameter's gradient, run by run.
std::string tensor_tables(const Case& one);
std::string finding_table(const Case& one);

}  // namespace fullgraph::validator
