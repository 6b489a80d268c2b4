"""Writes each of hazards.py's models in the formats that take it. `python make_recordings.py FOLDER`."""
from __future__ import annotations

import logging
import pathlib
import sys
import warnings

import hazards
import torch
import torch.export
import torch.fx

warnings.filterwarnings("ignore")


def example():
    return torch.rand(3, 4)


def export(model, path, *arguments, strict=False):
    program = torch.export.export(model, arguments or (example(),), strict=strict)
    torch.export.save(program, path)


def exported(folder):
    plain = ["Clean", "Marks", "Masks", "FindsNonzero", "Copies", "ChangesInput", "ChangesOwn", "Counts", "Drops",
             "WithoutGradients", "Checkpoints", "CheckpointsWithoutReentry", "Selects", "Hooked", "HookedForward",
             "HooksTensor", "Reads", "Helper", "AsksPython", "FindsUnique", "ReadsUnderAutocast", "Loops", "TrainsTheSame",
             "Recurs"]
    for name in plain:
        model = getattr(hazards, name)()
        export(model, folder / f"{name}.export.pt2")
    export(hazards.SameDevice(), folder / "SameDevice.export.pt2", example(), example())
    export(hazards.Drops().eval(), folder / "Drops_eval.export.pt2")
    for name in ["Clean", "Reads", "Helper", "Masks"]:
        export(getattr(hazards, name)(), folder / f"{name}.strict.pt2", strict=True)
    torch.export.save(torch.export.draft_export(hazards.Chooses(), (example(),)), folder / "Chooses.draft.pt2")
    decomposed = torch.export.export(hazards.Reads(), (example(),), strict=False).run_decompositions()
    torch.export.save(decomposed, folder / "Reads.decomposed.pt2")


def scripted_and_traced(folder):
    for name in ["Clean", "Marks", "MarksFrozen", "Reads", "ReadsCount", "Chooses", "Prints", "Masks", "Copies", "Hooked", "Drops",
                 "WithoutGradients", "AsksPython", "TrainsTheSame", "Recurs", "FindsUnique"]:
        torch.jit.script(getattr(hazards, name)()).save(str(folder / f"{name}.script.pt"))
    torch.jit.freeze(torch.jit.script(hazards.AsksPython().eval())).save(str(folder / "AsksPython_frozen.script.pt"))
    for name in ["Clean", "Drops", "Masks", "AsksPython", "TrainsTheSame", "Recurs", "FindsUnique"]:
        torch.jit.trace(getattr(hazards, name)(), example(), check_trace=False).save(str(folder / f"{name}.trace.pt"))
    torch.jit.trace(hazards.Drops().eval(), example()).save(str(folder / "Drops_eval.trace.pt"))


def pickled(folder):
    torch.save(hazards.Hooked(), folder / "Hooked.pickle.pt")
    torch.save(hazards.Clean(), folder / "Clean.pickle.pt")
    torch.save(hazards.Hooked(), folder / "Hooked_legacy.pickle.pt", _use_new_zipfile_serialization=False)
    torch.save(hazards.Clean().state_dict(), folder / "Clean.weights.pt")
    torch.save(torch.fx.symbolic_trace(hazards.Reads()), folder / "Reads.graph.pt")


def graph_texts(folder):
    traced = torch.fx.symbolic_trace(hazards.Reads())
    (folder / "Reads.code.txt").write_text(traced.code)
    (folder / "Reads.readable.txt").write_text(traced.print_readable(print_output=False))
    (folder / "Reads.lines.txt").write_text(str(traced.graph))

    def captured(name):
        texts = []

        def backend(graph, inputs):
            texts.append(graph.print_readable(print_output=False))
            return graph.forward

        torch._dynamo.reset()
        torch.compile(getattr(hazards, name)(), backend=backend)(example())
        (folder / f"{name}.dynamo.txt").write_text("\n\n".join(texts))

    for name in ["Clean", "Checkpoints", "CheckpointsWithoutReentry", "Reads"]:
        captured(name)


def logs(folder):
    """What TORCH_LOGS=graph_breaks,graph_code and TORCH_TRACE write, with the formatters that torch itself sets up."""
    import os
    import subprocess

    program = (
        "import sys, torch; sys.path.insert(0, sys.argv[1]); import hazards\n"
        "for name in ['Reads', 'Chooses', 'Prints', 'Helper', 'Clean']:\n"
        "    torch._dynamo.reset()\n"
        "    torch.compile(getattr(hazards, name)(), backend='eager')(torch.rand(3, 4))\n"
    )
    here = str(pathlib.Path(__file__).resolve().parent)
    trace = folder / "trace"
    environment = {**os.environ, "TORCH_LOGS": "graph_breaks,graph_code", "TORCH_TRACE": str(trace)}
    done = subprocess.run([sys.executable, "-c", program, here], env=environment, capture_output=True, text=True, check=True)
    (folder / "run.log").write_text(done.stderr)
    (folder / "structured.log").write_bytes(next(trace.glob("*.log")).read_bytes())


def main():
    logging.disable(logging.WARNING)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (exported, scripted_and_traced, pickled, graph_texts, logs):
        make(folder)


if __name__ == "__main__":
    main()
