// What the tracer saw: the one language between it and the rules.
//
// An event is a fact about one place of the program under one condition. It is no judgement: whether a fact is a
// finding, of what severity and how it is repaired is the rule's business.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/ir.h"

namespace fullgraph::trace {

enum class EventKind : std::uint8_t {
  // requires_grad
  RequiresGradAssigned,  // t.requires_grad = v in traced code
  RequiresGradCalled,    // t.requires_grad_() in traced code, where Dynamo breaks on it (see gb_id)
  FactoryRequiresGrad,   // torch.zeros(..., requires_grad=True) in traced code
  ParameterBuilt,        // nn.Parameter(...) in traced code, where Dynamo breaks on it
  RequiresGradFlag,      // a workaround flag of a class: `callee` = attribute; places in `related`
  // hooks
  ModuleBackwardHook,  // a backward hook registered on a module, anywhere, that stays; related: call sites that break
  TensorHookBreak,     // a tensor hook in traced code on which Dynamo breaks
  ParameterReplaced,   // a parameter that carries a hook is replaced; `where` = registration, related: replacement
  HookReadsParamGrad,  // a module backward hook that reads `.grad` of a parameter; `where` = registration
  LateHook,            // a hook added to a submodule after the first compiled call
  // checkpointing
  Checkpoint,           // a call of checkpoint() or one that sets checkpointing up; facts in `checkpoint`
  CompiledUnderPolicy,  // a compiled function run under checkpoint(..., context_fn=...)
  // data-dependent
  TensorBranch,           // a branch on a tensor's value
  ScalarRead,             // .item(), int(t), float(t), .tolist(): a tensor's value becomes a Python value
  DynamicShape,           // an operator whose output shape depends on values
  DataDependentOperator,  // an operator that reads values (torch.equal, …)
  // untraceable Python
  Output,         // print, logging, warnings; `callee`
  ExplicitBreak,  // torch._dynamo.graph_break(), skip_frame()
  DisabledCall,   // a call of a torch.compiler.disable()d function
  SkippedCall,    // a call of a function that Dynamo skips; `callee`
  Unsupported,    // anything else that breaks, told apart by gb_id; `callee` and `detail` say what
  // what only a recorded graph shows
  HostCopy,            // a tensor is copied to the host, or the host waits for the device; `callee`
  InputMutated,        // an operator changes one of the graph's inputs; `callee`
  BakedConstant,       // what the recording machine's state was is part of the graph; `callee`, `detail`
  SpecialisedBranch,   // of a branch on a tensor's value only the side that was taken was recorded
  ExportedCheckpoint,  // a reentrant checkpoint, recorded as a region without gradients
  DroppedHook,         // a backward hook that the module had and the archive does not; `subject`
  TorchScriptModule,   // the archive holds a module that Dynamo does not trace
  RecordedBreak,       // a run broke here; `gb_id`, `detail` as it said them
  // what is wrong with libtorch, whether anything is compiled or not
  NestedBackward,       // a backward pass that is started by another one; `callee`
  PersistentHook,       // forward hooks a tensor that outlives it; `subject`
  NonLeafFlag,          // requires_grad is taken from what is no leaf, which throws; `subject`
  CyclicHook,           // the hook of a tensor holds that tensor; `subject`
  DanglingHook,         // a hook refers to variables of a function that has returned when it runs
  SavedInput,           // a tensor that an autograd function was given is kept where autograd does not look; `subject`
  OperatorWithoutFake,  // C++ registers an operator for devices alone; `callee`
  OperatorCallsItself,  // the autograd kernel of an operator calls it through the dispatcher; `callee`
  HiddenAutograd,       // the kernel of an operator for a device has a derivative of its own; `callee`, `subject`
  RetainedGradient,     // forward asks an intermediate to keep its gradient, which throws without one; `subject`
  // training goes silently wrong
  CompileDivergence,  // code under `not is_compiling()` that changes gradients
  Hazard,             // other hazards, told apart by `callee`
  Count_,
};

struct Location {
  const ir::Module* module = nullptr;
  ir::Span span;
  bool operator==(const Location&) const = default;
};

// One call on the way from the root: where the call stands and in which function.
struct Call {
  Location where;
  std::string function;
};

// Where a tensor came from, as far as known.
enum class Origin : std::uint8_t { Unknown, Input, Parameter, Buffer, Intermediate };

enum class Truth : std::uint8_t { No, Yes, Unknown };
// What a root is the code of: a model, or in C++ the kernel of an operator, or what a CUDA graph captures.
enum class Region : std::uint8_t { Model, Kernel, Capture };

struct CheckpointFacts {
  enum class Reentrant : std::uint8_t { No, Yes, Absent, Unknown } reentrant = Reentrant::Unknown;
  bool through_settings = false;               // gradient_checkpointing_enable(...), not a call of checkpoint itself
  bool traced = false;                         // inside compiled code
  Truth inputs_require_grad = Truth::Unknown;  // does any tensor argument require grad?
  bool has_context_fn = false;
  ir::Span argument;  // the value of use_reentrant, when given literally
  const ir::Module* argument_module = nullptr;
};

struct Event {
  EventKind kind = EventKind::Unsupported;
  Location where;
  std::string function;    // qualified name of the function that contains `where`
  std::string root;        // qualified name of the root; empty for code that is not traced
  std::vector<Call> path;  // outermost first
  std::string condition;   // readable; empty: whenever the root runs
  std::string unusual;  // the part of the condition that is false where constructors take their defaults; empty: none
  bool needs_training = false;  // the condition holds only while training
  bool needs_grad = false;      // the condition holds only while grad mode is on
  bool traced = true;           // in compiled code (else in eager code that was looked at)
  Region region = Region::Model;

  std::string gb_id;    // Dynamo's id, empty when it does not break
  std::string callee;   // qualified name or attribute, by kind
  std::string subject;  // source text of the object concerned ("hidden_states")
  std::string detail;   // one more phrase for the message
  Origin origin = Origin::Unknown;
  Truth value = Truth::Unknown;   // the boolean that is set, where one is
  Truth before = Truth::Unknown;  // … and what it was
  CheckpointFacts checkpoint;
  struct RelatedPlace {
    Location where;
    std::string message;
  };
  std::vector<RelatedPlace> related;
  // Of a RequiresGradFlag: the statements that can go together when the marking does; empty when the flag has other
  // uses.
  std::vector<Location> statements;
};

}  // namespace fullgraph::trace
