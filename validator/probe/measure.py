"""One run: a case in one mode with one kind of checkpointing. Eager first, then compiled, then what it costs."""
from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

from . import checkpointing, cost
from .breaks import BreakRecorder
from .cases import Case
from .hooks import HookCounter, RegistrationWatch
from .lines import LineTracer, by_file
from .module_tree import ModuleTree
from .own_compiles import OwnCompiles
from .places import Places
from .subject import DYNAMO_CONFIG, CountingBackend, Subject, error_text, trains
from .tensors import Outcome, gradients_of, named_tensors


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is asked of a run."""

    mode: str
    checkpointing: str = "none"
    device: str = "cpu"
    backend: str = "eager"
    repetitions: int = 0
    whole: bool | None = None  # compile the model as a whole; None: unless the project compiles itself


class Measurement:
    """`side` is filled stage by stage, in the form that reports have; `lines` is for the verdicts on findings."""

    def __init__(self, case: Case, plan: Plan, places: Places, compiles: OwnCompiles, stage: Callable[[str], None]):
        self._case, self._plan, self._places, self._compiles, self._stage = case, plan, places, compiles, stage
        self.side: dict[str, Any] = {"notes": []}
        self.lines: dict[str, Any] = {"executed": {}, "traced": {}}
        self.eager: Outcome | None = None

    def run(self) -> None:
        self._stage("build")
        registered = RegistrationWatch(self._places)
        with registered:
            self._subject = Subject(self._case, self._plan.mode, self._plan.device, weighted=True)
        self.side["registered"] = registered.counts(self._subject.owner)
        try:
            checkpointing.apply(self._subject.owner, self._plan.checkpointing)
        except checkpointing.NotSupported as error:
            self.side["skipped"] = str(error)
            return
        self._own = self._compiles.called if self._plan.whole is None else not self._plan.whole
        if self._own:
            self.side["notes"].append("run as the project compiles it, not compiled as a whole")
        self._state = _State(self._subject.owner)
        self._stage("eager")
        policy = self._eager()
        self._stage("compile")
        compiled = self._compile(policy)
        if not self._own:
            self._stage("fullgraph")
            self._fullgraph()
        if self._plan.repetitions:
            self._stage("timing")
            self._cost(compiled)

    # -- eager

    def _eager(self) -> set[str]:
        subject, tracer = self._subject, LineTracer(self._places)
        with _forced_eager():
            subject.run(subject.model, subject.inputs(), around=tracer)
            self.lines["executed"] = by_file(tracer.seen, self._places)
            hooks, policy = HookCounter(subject.owner, self._places), checkpointing.PolicyWatch()
            checkpoints = checkpointing.CheckpointWatch(self._places)
            with hooks, policy, checkpoints:
                self.eager = self._call(subject.model)
        self.side["hooks"] = hooks.counts()
        self.side["checkpoints"] = checkpoints.counts()
        if trains(self._plan.mode):
            self.side["gradients"] = self.eager.norms()
            if self.eager.backward != "ok":
                self.side["notes"].append(f"no backward pass: {self.eager.backward}")
        return policy.asked

    def _call(self, function) -> Outcome:
        """One call from the state in which the model was built."""
        subject = self._subject
        self._state.restore()
        inputs = subject.inputs()
        out, backward = subject.run(function, inputs, backward=True)
        gradients = gradients_of(subject.owner, inputs) if trains(self._plan.mode) else {}
        return Outcome(named_tensors(out), gradients, backward)

    # -- compiled

    def _compile(self, policy_eager: set[str]):
        import torch
        import torch._dynamo as dynamo

        for option, value in DYNAMO_CONFIG.items():
            setattr(dynamo.config, option, value)
        dynamo.reset()
        backend = self._compiles.backend = CountingBackend(self._plan.backend, faithful=True)
        model = self._subject.model
        compiled = model if self._own else self._compiles.real(model, backend=backend)
        policy = checkpointing.PolicyWatch()
        with BreakRecorder(self._places) as recorder, policy:
            outcome = self._call(compiled)
            self._call(compiled)  # what a second call compiles again is a recompilation
        self.side["compiled"] = self.eager.compare(outcome)
        self.lines["traced"] = by_file(recorder.traced, self._places)
        missed = sorted(policy_eager - policy.asked)
        if missed:
            self.side["notes"].append("the policy of a selective checkpoint is bypassed: compiled code does not ask it about "
                                      + ", ".join(missed))
        tree = ModuleTree(self._subject.owner, self._places)
        self.side["modules"] = tree.nodes()
        self.side["capture"] = {
            "breaks": [_break(item, tree) for item in recorder.breaks],
            "graphs": backend.graphs, "operators": backend.operators, "recompiles": recorder.recompiles,
            "never_called": backend.calls.count(0), "policy_bypassed": missed,
            "bypassed": [self._place(origin) for origin, calls in zip(backend.origins, backend.calls) if not calls]}
        return compiled

    def _place(self, origin: str) -> str:
        name, _, rest = origin.partition(":")
        return f"{self._places.name(name)}:{rest}" if origin else "unknown"

    def _fullgraph(self) -> None:
        import torch._dynamo as dynamo

        capture, subject = self.side["capture"], self._subject
        dynamo.reset()
        self._state.restore()
        try:
            subject.run(self._compiles.real(subject.model, backend=CountingBackend(), fullgraph=True), subject.inputs())
            capture["fullgraph"] = True
        except Exception as error:
            capture |= {"fullgraph": False, "fullgraph_error": error_text(error, self._places)[:700]}

    # -- cost

    def _cost(self, compiled) -> None:
        import torch._dynamo as dynamo

        subject, plan = self._subject, self._plan

        def call_of(function):
            return lambda inputs: subject.run(function, inputs, backward=True)

        self._state.restore()
        with _forced_eager():
            self.side["eager_time"] = cost.timed(call_of(subject.model), subject.inputs, plan.repetitions, plan.device)
            self.side["eager_kernels"] = cost.kernels(call_of(subject.model), subject.inputs(), plan.device)
        dynamo.reset()
        self._compiles.backend = CountingBackend(plan.backend, faithful=True)
        self._state.restore()
        with cost.PeakMemory(plan.device) as memory:
            self.side["compiled_time"] = cost.timed(call_of(compiled), subject.inputs, plan.repetitions, plan.device)
        self.side["peak_memory_bytes"] = memory.bytes
        self.side["compiled_kernels"] = cost.kernels(call_of(compiled), subject.inputs(), plan.device)


def _break(item: dict[str, Any], tree: ModuleTree) -> dict[str, Any]:
    """A break of the recorder in the form of reports."""
    return {"id": item["gb_id"], "type": item["gb_type"], "explanation": item["explanation"], "kind": item["kind"],
            "file": item["file"], "line": item["line"], "function": item["func"], "count": item["count"],
            "module": tree.module_of(item["stack"]),
            "stack": [{"file": name, "line": line, "function": function} for name, line, function in item["stack"]]}


@contextlib.contextmanager
def _forced_eager():
    import torch

    torch.compiler.set_stance("force_eager")
    try:
        yield
    finally:
        torch.compiler.set_stance("default")


class _State:
    """Parameters and buffers as they were built. Calls change buffers, and gradients must not add up."""

    def __init__(self, owner):
        import torch

        self._owner = owner if isinstance(owner, torch.nn.Module) else None
        self._saved = [(tensor, tensor.detach().clone()) for tensor in self._tensors() if not tensor.is_meta]

    def _tensors(self):
        return [] if self._owner is None else [*self._owner.parameters(), *self._owner.buffers()]

    def restore(self) -> None:
        import torch

        if self._owner is None:
            return
        with torch.no_grad():
            for tensor, saved in self._saved:
                tensor.detach().copy_(saved)
        for tensor in self._owner.parameters():
            tensor.grad = None
