// Emits events, and models what a graph break does to the frames around it.
#include <algorithm>
#include <array>
#include <optional>

#include "analyzer/trace/interpreter.h"

namespace fullgraph::trace {

using ir::Span;

Event Interpreter::event(EventKind kind, Span span) const {
  Event result;
  result.kind = kind;
  result.where = {frame_->module, span};
  result.function = frame_->name;
  result.root = root_;
  result.traced = traced();
  result.region = region_;
  for (const Frame* frame = frame_; frame->caller && frame->region && frame->caller->region; frame = frame->caller) {
    result.path.push_back({{frame->caller->module, frame->call}, std::string(frame->caller->name)});
  }
  std::reverse(result.path.begin(), result.path.end());
  result.condition = condition_text(result.needs_training, result.needs_grad);
  result.unusual = unusual_term();
  return result;
}

void Interpreter::emit(Event result) {
  events_.push_back(std::move(result));
}

void Interpreter::graph_break(EventKind kind, Span span, std::string_view gb_id, std::string_view callee,
                              std::string_view subject, std::string_view detail) {
  if (!traced()) return;
  Event result = event(kind, span);
  result.gb_id = gb_id;
  result.callee = callee;
  result.subject = subject;
  result.detail = detail;
  graph_break(std::move(result));
}

void Interpreter::graph_break(Event result) {
  if (!traced()) return;
  ++breaks_;
  emit(std::move(result));
  report_module_constructors();
  leave_frames();
}

// Python:  class Loss(nn.Module):
//              def __init__(self): super().__init__(); self.weight = nn.Buffer(...)      # breaks
// When a module is built in traced code and its constructor breaks, Dynamo compiles the constructor on its own and
// finds a module in it that nn.Module's constructor has not set up yet.
void Interpreter::report_module_constructors() {
  for (Frame* frame = frame_; frame && !frame->boundary; frame = frame->caller) {
    if (frame->module_init.end == 0) continue;
    Frame* innermost = std::exchange(frame_, frame);
    Event found = event(EventKind::Unsupported, std::exchange(frame->module_init, {}));
    found.gb_id = "GB0119";
    found.callee = "nn.Module";
    found.subject = text(found.where.span);
    emit(std::move(found));
    frame_ = innermost;
  }
}

// Python:  for layer in self.layers: x = layer(x)      # layer breaks
// Dynamo resumes a function after a break, but not from inside a loop, a try block or a foreign context manager: such a
// frame runs eagerly to its end. What it calls is compiled on its own.
void Interpreter::leave_frames() {
  for (Frame* frame = frame_; frame; frame = frame->caller) {
    if (frame->unresumable > 0 && frame->traced) heap_.set_flag(frame->traced, false);
    if (frame->boundary) break;
  }
}

// Of a line of the author's what it is about: `x.item()` of "n = x.item()  # how many", `x.any()` of "if x.any():".
static std::string subject_of(std::string_view line) {
  std::size_t end = line.size(), value = 0;
  std::optional<std::size_t> colon;
  int depth = 0;
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == '\\') ++at;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      end = at;
      break;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (depth == 0 && line.substr(at).starts_with(" = ")) {
      value = at + 3;
    } else if (depth == 0 && c == ':' && !colon) {
      colon = at;
    }
  }
  constexpr std::array<std::string_view, 5> headers = {"if ", "elif ", "while ", "assert ", "return "};
  const auto header = std::ranges::find_if(headers, [&](std::string_view word) { return line.starts_with(word); });
  if (header != headers.end()) {
    value = header->size();
    if (colon && *colon < end) end = *colon;
  }
  std::string_view subject = value < end ? line.substr(value, end - value) : line;
  while (subject.ends_with(' ')) subject.remove_suffix(1);
  return std::string(subject.empty() ? line : subject);
}

std::string Interpreter::text(Span span) const {
  // What a recording says there was made up by whoever recorded it; its author knows the line that it came from.
  if (in_recording()) {
    if (const ir::Origin* const origin = origin_at(span); origin && !origin->code.empty())
      return subject_of(origin->code);
  }
  return one_line(*frame_->module, span);
}

std::string one_line(const ir::Module& module, Span span) {
  std::string_view source = module.source->text(span);
  std::string result;
  bool blank = false;
  for (char c : source) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      blank = !result.empty();
      continue;
    }
    if (blank) result += ' ';
    blank = false;
    result += c;
  }
  constexpr std::size_t longest = 80;
  if (result.size() > longest) {
    std::size_t cut = longest;
    while (cut > 0 && (static_cast<unsigned char>(result[cut]) & 0xC0) == 0x80) --cut;
    result.resize(cut);
    result += "…";
  }
  return result;
}

// module.register_full_backward_hook(…): what stands before the method's name
std::string Interpreter::receiver(Span call, std::string_view method) const {
  std::string result = text(call);
  result.resize(std::min(result.size(), result.find("." + std::string(method))));
  return result;
}

}  // namespace fullgraph::trace
