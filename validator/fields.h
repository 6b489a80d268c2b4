// The members of a result under the names that they have in JSON, once for writing and reading.
//
// A visitor is called with the name and the member. What the Python worker writes has the same form.
#pragma once

#include "validator/result.h"

namespace fullgraph::validator {

template <class Visitor>
void fields(Visitor& visit, Failure& it) {
  visit("kind", it.kind);
  visit("stage", it.stage);
  visit("message", it.message);
  visit("where", it.where);
  visit("output", it.output);
}

template <class Visitor>
void fields(Visitor& visit, Frame& it) {
  visit("file", it.file);
  visit("line", it.line);
  visit("function", it.function);
}

template <class Visitor>
void fields(Visitor& visit, GraphBreak& it) {
  visit("id", it.id);
  visit("type", it.type);
  visit("explanation", it.explanation);
  visit("kind", it.kind);
  visit("file", it.file);
  visit("line", it.line);
  visit("function", it.function);
  visit("stack", it.stack);
  visit("count", it.count);
  visit("module", it.module);
}

template <class Visitor>
void fields(Visitor& visit, ModuleNode& it) {
  visit("name", it.name);
  visit("type", it.type);
  visit("count", it.count);
  visit("depth", it.depth);
}

template <class Visitor>
void fields(Visitor& visit, Capture& it) {
  visit("breaks", it.breaks);
  visit("graphs", it.graphs);
  visit("operators", it.operators);
  visit("never_called", it.never_called);
  visit("bypassed", it.bypassed);
  visit("policy_bypassed", it.policy_bypassed);
  visit("recompiles", it.recompiles);
  visit("fullgraph", it.fullgraph);
  visit("fullgraph_error", it.fullgraph_error);
}

template <class Visitor>
void fields(Visitor& visit, Duration& it) {
  visit("median_s", it.median);
  visit("low_s", it.low);
  visit("high_s", it.high);
  visit("runs", it.runs);
}

template <class Visitor>
void fields(Visitor& visit, HookCount& it) {
  visit("kind", it.kind);
  visit("module", it.module);
  visit("place", it.place);
  visit("calls", it.calls);
}

template <class Visitor>
void fields(Visitor& visit, Gradient& it) {
  visit("name", it.name);
  visit("norm", it.norm);
}

template <class Visitor>
void fields(Visitor& visit, Compared& it) {
  visit("name", it.name);
  visit("gradient", it.gradient);
  visit("equality", it.equality);
  visit("largest", it.largest);
  visit("allowed", it.allowed);
}

template <class Visitor>
void fields(Visitor& visit, Comparison& it) {
  visit("tensors", it.tensors);
  visit("others", it.others);
  visit("note", it.note);
}

template <class Visitor>
void fields(Visitor& visit, Side& it) {
  visit("failure", it.failure);
  visit("skipped", it.skipped);
  visit("capture", it.capture);
  visit("modules", it.modules);
  visit("gradients", it.gradients);
  visit("hooks", it.hooks);
  visit("registered", it.registered);
  visit("checkpoints", it.checkpoints);
  visit("compiled", it.compiled);
  visit("single_process", it.single_process);
  visit("eager_time", it.eager_time);
  visit("compiled_time", it.compiled_time);
  visit("peak_memory_bytes", it.peak_memory);
  visit("eager_kernels", it.eager_kernels);
  visit("compiled_kernels", it.compiled_kernels);
  visit("notes", it.notes);
}

template <class Visitor>
void fields(Visitor& visit, Run& it) {
  visit("mode", it.mode);
  visit("checkpointing", it.checkpointing);
  visit("before", it.before);
  visit("after", it.after);
  visit("change", it.change);
}

template <class Visitor>
void fields(Visitor& visit, FindingVerdict& it) {
  visit("after", it.after);
  visit("code", it.code);
  visit("name", it.name);
  visit("severity", it.severity);
  visit("message", it.message);
  visit("file", it.file);
  visit("line", it.line);
  visit("function", it.function);
  visit("condition", it.condition);
  visit("gb_id", it.gb_id);
  visit("verdict", it.verdict);
  visit("why", it.why);
  visit("runs", it.runs);
}

template <class Visitor>
void fields(Visitor& visit, Case& it) {
  visit("name", it.name);
  visit("kind", it.kind);
  visit("device", it.device);
  visit("processes", it.processes);
  visit("failure", it.failure);
  visit("runs", it.runs);
  visit("findings", it.findings);
  visit("notes", it.notes);
}

template <class Visitor>
void fields(Visitor& visit, ErrorLocation& it) {
  visit("file", it.file);
  visit("line", it.line);
  visit("column", it.column);
}

template <class Visitor>
void fields(Visitor& visit, Error& it) {
  visit("message", it.message);
  visit("where", it.where);
}

template <class Visitor>
void fields(Visitor& visit, ValidationResult& it) {
  visit("version", it.version);
  visit("torch", it.torch);
  visit("python", it.python);
  visit("before", it.before);
  visit("after", it.after);
  visit("cases", it.cases);
  visit("errors", it.errors);
}

}  // namespace fullgraph::validator
