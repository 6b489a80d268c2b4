"""Time and memory of a call, after warm-up."""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

WARM_UP = 2


def timed(call: Callable[[Any], Any], prepare: Callable[[], Any], repetitions: int, device: str) -> dict[str, Any]:
    """Each repetition gets inputs of its own, made outside of the time. On a GPU its own events are the clock."""
    seconds = []
    for number in range(WARM_UP + repetitions):
        inputs = prepare()
        spent = _on_gpu(call, inputs) if device.startswith("cuda") else _here(call, inputs)
        if number >= WARM_UP:
            seconds.append(spent)
    low, high = (seconds[0], seconds[0]) if len(seconds) < 2 else (statistics.quantiles(seconds, n=4, method="inclusive")[i] for i in (0, 2))
    return {"median_s": statistics.median(seconds), "low_s": low, "high_s": high, "runs": repetitions}


def _here(call, inputs) -> float:
    begin = time.perf_counter()
    call(inputs)
    return time.perf_counter() - begin


def _on_gpu(call, inputs) -> float:
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    call(inputs)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1000


def kernels(call: Callable[[Any], Any], inputs: Any, device: str) -> int | None:
    """How many kernels one call launches on a GPU, by the profiler. None where there is no GPU, or no profiler for it."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    if not device.startswith("cuda") or ProfilerActivity.CUDA not in torch.profiler.supported_activities():
        return None
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        call(inputs)
        torch.cuda.synchronize()
    copies = ("Memcpy", "Memset")
    return sum(1 for event in profiler.events()
               if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith(copies))


class PeakMemory:
    """The most memory in use inside a `with` block: of the GPU what torch allocated, of a CPU what the process held in all.
    `bytes` stays None where the system does not tell."""

    def __init__(self, device: str):
        self._device = device
        self.bytes: int | None = None

    def __enter__(self) -> PeakMemory:
        if self._device.startswith("cuda"):
            import torch

            torch.cuda.reset_peak_memory_stats()
        else:
            try:
                with open("/proc/self/clear_refs", "w") as control:
                    control.write("5")  # the high-water mark begins anew
            except OSError:
                pass
        return self

    def __exit__(self, *error) -> None:
        if self._device.startswith("cuda"):
            import torch

            self.bytes = torch.cuda.max_memory_allocated()
            return
        try:
            with open("/proc/self/status") as status:
                self.bytes = next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:")), None)
        except OSError:
            pass
