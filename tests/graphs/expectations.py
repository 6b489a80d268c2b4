"""What is to be found in each file that make_recordings.py writes: the hazards of hazards.py that its format keeps."""
# By file: codes and the marks of their lines. FG705 (a note about TorchScript as such) stands in the head of the class.
EXPECTED = {
    # Non-strict export keeps the lines of functions called `forward`; strict export the line itself.
    "Clean.export.pt2": [],
    "Clean.strict.pt2": [],
    "Marks.export.pt2": [],  # export drops requires_grad_()
    "Reads.export.pt2": [("FG402", "item")],
    "Reads.strict.pt2": [("FG402", "item")],
    "Reads.decomposed.pt2": [("FG402", "item")],
    "Helper.export.pt2": [("FG402", "helper-call")],
    "Helper.strict.pt2": [("FG402", "helper")],
    "Masks.export.pt2": [("FG403", "mask")],
    "Masks.strict.pt2": [("FG403", "mask")],
    "FindsNonzero.export.pt2": [("FG403", "nonzero")],
    "Copies.export.pt2": [("FG601", "copy")],
    "SameDevice.export.pt2": [],
    "ChangesInput.export.pt2": [("FG602", "mutation")],
    "ChangesOwn.export.pt2": [],
    "Counts.export.pt2": [],
    "Drops.export.pt2": [("FG706", "dropout")],
    "Drops_eval.export.pt2": [],
    "WithoutGradients.export.pt2": [],
    "Checkpoints.export.pt2": [("FG702", "reentrant")],
    "CheckpointsWithoutReentry.export.pt2": [],
    "Selects.export.pt2": [],
    "Hooked.export.pt2": [("FG201", "hooked")],
    "HookedForward.export.pt2": [],
    "HooksTensor.export.pt2": [],  # export drops hooks of tensors
    "Chooses.draft.pt2": [("FG703", "branch")],
    # TorchScript
    "Clean.script.pt": [],
    "Marks.script.pt": [],  # of a tensor that requires grad already: nothing changes, and Dynamo traces it
    "MarksFrozen.script.pt": [("FG102", "marks-frozen")],
    "Reads.script.pt": [("FG402", "item")],
    "ReadsCount.script.pt": [("FG402", "count")],
    "Chooses.script.pt": [("FG401", "branch")],
    "Prints.script.pt": [("FG501", "print")],
    "Masks.script.pt": [("FG403", "mask")],
    "Copies.script.pt": [("FG601", "copy")],
    "Hooked.script.pt": [("FG704", "Hooked")],
    "Drops.script.pt": [],  # reads `self.training` when it runs
    "WithoutGradients.script.pt": [],
    "Clean.trace.pt": [],
    "Drops.trace.pt": [("FG706", "dropout")],
    "Drops_eval.trace.pt": [],
    "Masks.trace.pt": [("FG403", "mask")],
    # Pickles: no lines of the author's
    "Clean.pickle.pt": [],
    "Hooked.pickle.pt": [("FG201", None)],
    "Hooked_legacy.pickle.pt": [("FG201", None)],
    "Clean.weights.pt": [],
    "Reads.graph.pt": [("FG402", None)],
    # FX text: symbolic tracing keeps no lines
    "Reads.code.txt": [("FG402", None)],
    "Reads.readable.txt": [("FG402", None)],
    "Reads.lines.txt": [("FG402", None)],
    "Clean.dynamo.txt": [],
    "Checkpoints.dynamo.txt": [("FG301", "reentrant")],
    "CheckpointsWithoutReentry.dynamo.txt": [],
    "Reads.dynamo.txt": [("FG701", "item")],  # the second graph goes on behind the break
    # Logs
    "run.log": [("FG701", "item"), ("FG701", "branch"), ("FG701", "print"), ("FG701", "helper")],
    "structured.log": [("FG701", "item"), ("FG701", "branch"), ("FG701", "print"), ("FG701", "helper")],
}
