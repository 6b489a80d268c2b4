"""How torch._dynamo.trace_rules classifies a callable, in the words of a profile."""
from __future__ import annotations

import types

import torch
import torch._dynamo.trace_rules as trace_rules
from torch._dynamo import variables
from torch._dynamo.variables import torch as torch_variables


def constants() -> set[int]:
    """Identities of the functions that Dynamo evaluates while tracing."""
    found: set[int] = set()
    for table in ("constant_fold_functions", "constant_fold_functions_need_guards", "tracing_state_functions"):
        value = getattr(torch_variables, table, ())
        found.update(id(function) for function in (value() if callable(value) else value))
    return found


CONSTANTS = constants()


def numpy_treatment(value: object) -> str | None:
    """NumPy calls are traced through torch._numpy where that has a function of the same name."""
    module = getattr(value, "__module__", None) or type(value).__module__
    if not isinstance(module, str) or module.split(".")[0] != "numpy" or not trace_rules.is_numpy(value):
        return None
    import torch._numpy as supported

    name = getattr(value, "__name__", "")
    place = supported
    for part in module.split(".")[1:]:
        place = getattr(place, part, place)
    return "in_graph" if hasattr(place, name) or hasattr(supported, name) else "skipped"


def treatment(value: object) -> str:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, property):
        value = value.fget
    if isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType)):
        return "in_graph" if value.__objclass__.__module__.startswith("torch") else "unknown"
    if isinstance(value, torch.dtype) or id(value) in CONSTANTS:
        return "constant"
    try:
        if (numpy := numpy_treatment(value)) is not None:
            return numpy
        rule = trace_rules.lookup_callable(value) or trace_rules.lookup(value)
    except Exception:  # unusual objects: a profile without them is better than none
        return "unknown"
    if rule is None:
        return "unknown"
    if issubclass(rule, variables.SkipFunctionVariable):
        return "skipped"
    if issubclass(rule, (variables.UserFunctionVariable, variables.BuiltinVariable)) or "Polyfilled" in rule.__name__:
        return "inlined"
    return "in_graph" if "InGraph" in rule.__name__ or "Torch" in rule.__name__ else "inlined"
