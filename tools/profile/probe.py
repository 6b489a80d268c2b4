"""Asks the real Dynamo what it does with a plain call.

The rules in torch._dynamo.trace_rules say how Dynamo *classifies* a callable; what happens in the end also depends on
special cases all over its source. So each callable is called in a function under torch.compile, and the first graph
break is noted. The calls are those written in calls.txt and, for every other name, simple arguments that eager mode
accepts.

Calls are made in forked processes, a batch in each: many change global state (torch.set_default_dtype), some crash,
some wait for ever. After one that may have changed state the process ends.
"""
from __future__ import annotations

import ast
import gc
import json
import os
import re
import select
import signal
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import signatures

CALLS = Path(__file__).with_name("calls.txt")
LINK = re.compile(r"/gb/gb(\d{4})\.html")
SECONDS = 30  # between two reports of a process, before it counts as waiting for ever
ACCEPTED = 3  # so many calls, and of so many numbers of arguments, must all break before a break is the callable's own
BATCH = 60
SKIPPED = ("GB0007", "GB0008", "GB0009")
CHANGES_STATE = re.compile(
    r"(^|[._])(set|enable|enabled|disable|use|register|init|push|pop|reset|seed|enter|exit|quit|abort|compile|install|patch|seterr|"
    r"settrace|setprofile|chdir|umask|setLevel|setlocale|basicConfig|shutdown|reload|freeze|simplefilter|filterwarnings|"
    r"resetwarnings|addHandler|addFilter|removeHandler|removeFilter|import|mode|autocast|grad|stance|close|start|stop|begin|end)(_|$|\.)"
)

# What the probed functions can name. x: floats; i: integers; m: booleans; v: a vector; w: wants a gradient; a: NumPy.
SIGNATURE = "x, i, m, v, w, a"
LOCALS = {
    "c": "torch.complex(x, x)", "g": "x * w", "h": "x + 1", "n": "i + 1", "b": "m & m", "u": "v * 2", "im": "x.view(1, 1, 4, 4)",
}

TORCH_ARGUMENTS = [
    "h", "h, h", "h, 1", "h, 0, n", "u", "u, u", "h, u", "n", "n, n", "n, 1", "b", "b, b", "h, b", "h, b, 1.0", "b, h, h",
    "h, 0.5", "h, 0, 1", "h, 1, 1", "h, 1, n", "h, (4, 4)", "h, (0, 1)", "h, [2, 2]", "h, 0, 0, 1", "h, 0, n, h[:3]", "h, h, h",
    "im", "im, im", "im, 2", "im, (2, 2)", "c", "c, c", "g", "g.sum()", "[h, h]", "(u, u)", "h, [0, 1], [1, 0]",
    "'ij,jk->ik', h, h", "h, n", "u, n", "n, h", "h, u, u", "u, 2, 0", "h, torch.float32", "h, 'cpu'", "h, 1, 0, 2", "", "4",
    "4, 4", "(4, 4)", "(4, 4), 1.0", "0, 4", "0, 1, 4", "1.0", "True", "'cpu'", "torch.float32", "[1.0, 2.0]", "a",
    "h.unsqueeze(0)", "h.unsqueeze(0), h.unsqueeze(0)", "h.unsqueeze(0), h.unsqueeze(0), h.unsqueeze(0)", "h, u, u, u, u",
    "h, n.clamp(max=3)", "n.clamp(max=3), h", "h.unsqueeze(0), h.unsqueeze(0), 1", "h[0], h[1], h[2]", "h, 2.0, 1.0", "lambda: 1",
    "lambda x: x, h", "lambda x: x", "layer", "h, [4]", "im, [4, 4]", "2, 2, 2", "2, 2, 1", "2, 2", "[layer]", "'name'", "'name', h",
    "layer, 'weight'", "[torch.nn.Parameter(x)], 1.0", "[torch.nn.Parameter(x)]", "layer, h", "lambda x: x * 2, h",
]
METHOD_ARGUMENTS = [
    "", "h", "1", "u", "0, n", "n", "b", "b, 1.0", "0, 1", "0.5", "1, 1", "4, 4", "(4, 4)", "(0, 1)", "[2, 2]", "h, h", "0, 0, 1",
    "2", "0, n, h", "1, n", "torch.float32", "'cpu'", "16", "2, 2", "u, u", "b, h", "lambda t: t * 2", "lambda t: None",
    "lambda s, t: None", "0, 1, 2", "h, 1", "1, 0, 2, 1", "0, n, 1.0", "'weight'", "'name', None", "'name', torch.nn.Parameter(x)",
    "'name', x", "'name', layer", "True", "[h, h]", "[layer]", "{}", "n, 1.0", "(n, n), u", "c", "(n,), h",
]
LIBRARY_ARGUMENTS = [
    "", "1", "'a'", "[3, 1, 2]", "1.5", "'a', 'b'", "1, 2", "h", "layer", "[1, 2], 1", "function", "int", "{'a': 1}", "(1, 2)", "1, 'a'",
    "'a', 1", "b'ab'", "layer, 'weight'", "layer, 'training', True", "[1, 2], [3, 4]", "None", "'%Y'", "int, 1", "function, [1, 2]",
    "1.5, 2.0", "(1, 2), 0", "0, 1, 2", "'a', 'b', 'c'", "sum, [1, 2]", "2, 'b'", "'a', 'b', ''", "max, [1, 2]",
    "{'a': 1}, 'a'", "[1, 2], 0, 1", "int, str", "'{}', 1", "a", "record", "[[1, 2], [3, 4]]", "ValueError",
    "exc", "'[1]'", "'{\"a\": 1}'", "os", "moment", "1, 0, 2", "'Point', 'x y'", "Data",
]
NUMPY_ARGUMENTS = [
    "a", "a, a", "", "3", "(3, 3)", "[1.0, 2.0]", "0, 3", "a, 1", "a, 0", "a, a, a", "a > 0, a, a", "[a, a]", "a, (4, 4)", "a, (0, 1)",
    "a, 2.0", "(4,), 1.0", "a[0], a[0]", "a, 0, 1", "a, [1, 2]", "'ij->ji', a", "a.astype('int64')", "a[0].astype('int64')",
    "a, 'float32'", "'float32'", "1.5", "a, a[0]", "0, 1, 5", "a, 0, 2", "5, 2", "1, 2, 3",
]
RECEIVERS = {  # what a method is called on
    "torch.Tensor": ["h", "u", "n", "b", "c", "g", "h[0, 0]", "im"],
    "torch.nn.Parameter": ["torch.nn.Parameter(x)"],
    "torch.nn.Module": ["layer"],
    "torch.nn.ModuleList": ["modules"],
    "torch.nn.Sequential": ["sequence"],
    "torch.Generator": ["generator"],
    "torch.Size": ["h.shape"],
    "torch.device": ["h.device"],
    "torch.dtype": ["h.dtype"],
    "torch.finfo": ["torch.finfo(torch.float32)"],
    "torch.iinfo": ["torch.iinfo(torch.int32)"],
    "torch.UntypedStorage": ["h.untyped_storage()"],
    "torch.optim.Optimizer": ["optimizer"],
    "torch.nn.utils.rnn.PackedSequence": ["packed"],
    "logging.Logger": ["log"],
    "random.Random": ["dice"],
    "pathlib.Path": ["pathlib_path"],
    "numpy.ndarray": ["a", "(a + 1)"],
    "builtins.str": ["'ab'"],
    "builtins.bytes": ["b'ab'"],
    "builtins.list": ["[1, 2]"],
    "builtins.tuple": ["(1, 2)"],
    "builtins.dict": ["{'a': 1}"],
    "builtins.set": ["{1, 2}"],
    "builtins.frozenset": ["frozenset((1, 2))"],
    "builtins.int": ["(3)"],
    "builtins.float": ["(1.5)"],
    "collections.OrderedDict": ["collections.OrderedDict(a=1)"],
    "collections.defaultdict": ["collections.defaultdict(list)"],
    "collections.deque": ["collections.deque([1, 2])"],
    "collections.Counter": ["collections.Counter('aab')"],
    "re.Pattern": ["pattern"],
    "re.Match": ["pattern.match('ab')"],
    "inspect.Signature": ["signature"],
    "inspect.Parameter": ["parameter"],
    "io.StringIO": ["stream"],
    "io.BytesIO": ["buffer"],
    "_thread.LockType": ["lock"],
    "threading.Event": ["happening"],
    "threading.Thread": ["thread"],
}

IMPORTED = """array ast asyncio atexit base64 bisect collections concurrent.futures contextlib copy csv ctypes dataclasses
datetime decimal difflib enum fractions functools gc glob hashlib heapq importlib.metadata importlib.util inspect io
itertools json logging math multiprocessing numpy operator os pathlib pickle platform pprint queue random re secrets
shutil signal socket statistics string struct subprocess sys tempfile textwrap threading time traceback types typing uuid
warnings weakref zlib torch torch.nn.functional torch.distributed torch.fx torch.utils.checkpoint torch.utils.dlpack
torch.utils.data torch.func torch.hub torch.export torch.testing torch.profiler""".split()

PREPARED = """
class cls:
    def __init__(self):
        self.a = 1
@dataclasses.dataclass
class Data:
    a: int = 1
def function(value=None):
    return value
def hook(*args):
    return None
async def coroutine():
    return 1
obj = cls()
data = Data()
exc = ValueError("a")
log = logging.getLogger("fullgraph.probe")
dice = random.Random(0)
time_tuple = time.localtime()
random_state = random.getstate()
numpy_state = numpy.random.get_state()
rng_state = torch.get_rng_state()
pickled = pickle.dumps({"a": 1})
pathlib_path = pathlib.Path(path)
pattern = re.compile("a(b?)")
stream = io.StringIO()
buffer = io.BytesIO(b"text")
lock = threading.Lock()
happening = threading.Event()
thread = threading.Thread(target=function)
def entered(manager):
    with manager as value:
        return value
@contextlib.contextmanager
def entering():
    yield 1
def profiled():
    with torch.profiler.profile() as profiler:
        pass
    return profiler
moment = datetime.datetime(2020, 1, 1)
record = collections.namedtuple("record", "left right")(1, 2)
signature = inspect.signature(function)
parameter = signature.parameters["value"]
layer = torch.nn.Linear(4, 4)
net = torch.nn.Linear(3, 3)
modules = torch.nn.ModuleList([layer])
sequence = torch.nn.Sequential(layer)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
generator = torch.Generator()
state = net.state_dict()
p = torch.nn.Parameter(torch.ones(3))
packed = torch.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 1), [3, 2], batch_first=True)
"""
# Only for calls.txt, whose functions take x alone.
WRITTEN = """
n = numpy.eye(4)
i = torch.tensor([0, 1, 2, 3])
m = torch.tensor([[True, False, True]] * 4)
"""


@dataclass
class Question:
    name: str
    expressions: list[str]  # candidates, tried in this order
    eager: bool = True      # may be run; if not, only "is a call without arguments skipped?" is asked
    written: bool = False   # the expressions are from calls.txt: each of them counts


@dataclass
class Answer:
    returns: str = ""
    tags: list[str] = field(default_factory=list)
    gb_id: str = ""       # of every call that was tried
    traced: bool = False  # Dynamo got through at least one of them
    tried: list[str] = field(default_factory=list)


def written_calls() -> dict[str, list[str]]:
    calls: dict[str, list[str]] = {}
    for line in CALLS.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, arrow, expression = line.partition(" <- ")
        if not arrow:
            node = ast.parse(line, mode="eval").body
            name, expression = ast.unparse(node.func if isinstance(node, ast.Call) else node), line
        calls.setdefault(name, []).append(expression)
    return calls


def question(name: str, is_property: bool, eager: bool, calls: dict[str, list[str]]) -> Question:
    if name in calls:
        return Question(name, calls[name], eager, written=True)
    owner, _, plain = name.rpartition(".")
    receivers = RECEIVERS.get(owner)
    if name.startswith("torch."):
        arguments = METHOD_ARGUMENTS if receivers else TORCH_ARGUMENTS
    else:
        arguments = NUMPY_ARGUMENTS if name.startswith("numpy.") else LIBRARY_ARGUMENTS
    if receivers and is_property:
        return Question(name, [f"{receiver}.{plain}" for receiver in receivers], eager)
    if receivers:
        return Question(name, [f"{receiver}.{plain}({given})" for given in arguments for receiver in receivers], eager)
    return Question(name, [f"{name.removeprefix('builtins.')}({given})" for given in arguments], eager)


# ----------------------------------------------------------------------------------------------------------------------
# In the forked process
# ----------------------------------------------------------------------------------------------------------------------
class Observer(TorchDispatchMode):
    """Collects the tags of the operators that really run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.tags.update(text for tag in func.tags if (text := str(tag).rpartition(".")[2]) in signatures.TAGS)
        return func(*args, **(kwargs or {}))


class Stop(BaseException):
    """Ends a probed call at its first graph break: what follows need not be run."""


class Breaks:
    """Notes the breaks that Dynamo reports, by the two functions that every report goes through."""

    def __init__(self) -> None:
        import torch._dynamo.convert_frame as convert_frame
        import torch._dynamo.symbolic_convert as symbolic_convert

        self.found: list[str] = []
        self.wrap(symbolic_convert.InstructionTranslatorBase, "log_graph_break")
        if hasattr(convert_frame, "format_error_msg"):
            self.wrap(convert_frame, "format_error_msg")

    def wrap(self, owner: object, name: str) -> None:
        def wrapped(*args, **kwargs):
            ids = LINK.findall(" ".join(str(value) for value in (*args, *kwargs.values())))
            self.found.append(f"GB{ids[0]}" if ids else "unnamed")
            raise Stop

        setattr(owner, name, wrapped)


def prepare(question: Question) -> dict:
    space: dict = {"__name__": "probe"}
    for module in IMPORTED:
        exec(f"import {module}", space)
    for module in {question.name.rpartition(".")[0], question.name.partition(".")[0]}:
        if module in sys.modules:
            exec(f"import {module}", space)
    folder = os.getcwd()
    path = os.path.join(folder, "file.txt")
    Path(path).write_text("text")
    os.makedirs(os.path.join(folder, "empty"), exist_ok=True)
    space.update(folder=folder, path=path, torch_file=os.path.join(folder, "t.pt"), numpy_file=os.path.join(folder, "n.npy"))
    exec(PREPARED + (WRITTEN if question.written else ""), space)
    if any("_file" in expression for expression in question.expressions):
        exec("torch.save({'a': 1}, torch_file); numpy.save(numpy_file, numpy.eye(2))", space)
    if any(word in expression for word in ("work.", "isend", "irecv", "transfers") for expression in question.expressions):
        exec("if not torch.distributed.is_initialized():\n"
             "    torch.distributed.init_process_group('gloo', rank=0, world_size=1, store=torch.distributed.HashStore())\n"
             "work = torch.distributed.all_reduce(torch.ones(3), async_op=True)\n"
             "transfers = [torch.distributed.P2POp(torch.distributed.isend, torch.ones(3), 0)]", space)
    return space


def build(question: Question, expression: str, space: dict, result: str):
    if question.written:
        source = f"def probed(x):\n    y = x + 1\n    result = {expression}\n    return {result}\n"
    else:
        used = set(re.findall(r"[a-z]+", re.sub(r"'[^']*'", "", expression)))
        needed = "".join(f"    {name} = {value}\n" for name, value in LOCALS.items() if name in used)
        source = f"def probed({SIGNATURE}):\n{needed}    result = {expression}\n    return {result}\n"
    exec(compile(source, "<probe>", "exec"), space)
    return space["probed"]


BASES: list = []


def inputs(question: Question) -> tuple:
    import numpy

    if not BASES:
        x = torch.arange(16, dtype=torch.float32).reshape(4, 4) % 7 / 8 + 0.1
        BASES.extend([x, torch.tensor([0, 1, 2, 1]), x > 0.5, torch.arange(4, dtype=torch.float32) / 8 + 0.1, x.flip(0),
                      numpy.arange(16, dtype="float64").reshape(4, 4) + 1, x[:, :3].contiguous()])
    if question.written:
        return (BASES[6].clone(),)
    x, i, m, v, w, a, _ = BASES
    return (x.clone(), i.clone(), m.clone(), v.clone(), w.clone().requires_grad_(), a.copy())


def arity(expression: str) -> int:
    node = ast.parse(expression, mode="eval").body
    return len(node.args) if isinstance(node, ast.Call) else 0


def run_eagerly(question: Question, report, restore) -> list[str]:
    """The candidates that eager mode accepts: the first few, and the first of each other number of arguments. What they
    return is reported as well, since it may depend on the arguments."""
    accepted: list[str] = []
    arities: set[int] = set()
    space = None
    for index, expression in enumerate(question.expressions):
        report({"trying": index})
        restore()
        observer = Observer()
        try:
            given = inputs(question)
            if space is None:
                space = prepare(question)
            probed = build(question, expression, space, "result")
            with observer:
                value = probed(*given)
            kind = signatures.observed(value)
        except BaseException:
            continue
        if value is NotImplemented:
            continue
        if len(accepted) >= ACCEPTED and arity(expression) in arities:
            continue
        space = None if not question.name.startswith("torch.") else space  # a call may have changed what it was given
        arities.add(arity(expression))
        accepted.append(expression)
        report({"accepted": expression, "returns": kind, "tags": sorted(observer.tags)})
        if len(accepted) >= ACCEPTED and len(arities) >= ACCEPTED:
            break
    return accepted


def run_compiled(question: Question, expression: str, breaks: Breaks) -> str:
    """The id of the first break, "traced", or "" when it cannot be told."""
    graphs = 0

    def backend(graph, example_inputs):
        nonlocal graphs
        graphs += 1
        return graph.forward

    breaks.found.clear()
    torch.manual_seed(0)
    torch._dynamo.reset()
    try:
        probed = build(question, expression, prepare(question), "x * 2")
        torch.compile(probed, backend=backend)(*inputs(question))
    except BaseException:
        return breaks.found[0] if breaks.found else ""
    return breaks.found[0] if breaks.found else "traced" if graphs else ""


def answer_one(question: Question, report, restore, breaks: Breaks) -> None:
    if question.eager or question.written:
        expressions = question.expressions
        if question.eager:
            accepted = run_eagerly(question, report, restore)
            expressions = expressions if question.written else accepted
    else:
        # Dynamo decides before the call is made: a skipped callable breaks whatever its arguments are.
        expressions = [re.sub(r"\(.*\)$", "()", question.expressions[0])]
    for expression in expressions:
        restore()
        report({"compiling": expression})
        result = run_compiled(question, expression, breaks)
        if not question.eager and not question.written and result not in SKIPPED:
            result = ""
        report({"result": result, "of": expression})
        if result == "traced" and not question.written:
            break


def answer_batch(questions: list[Question], report) -> None:
    breaks = Breaks()
    home = os.getcwd()
    environment = dict(os.environ)

    def restore() -> None:
        os.chdir(home)
        if os.environ != environment:
            os.environ.clear()
            os.environ.update(environment)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)

    for index, one in enumerate(questions):
        report({"question": index})
        answer_one(one, report, restore, breaks)
        report({"done": index})
        if CHANGES_STATE.search(one.name):
            return


# ----------------------------------------------------------------------------------------------------------------------
# In the process that forks
# ----------------------------------------------------------------------------------------------------------------------
def in_child(work) -> tuple[list[dict], bool]:
    """Runs work(report) in a forked process: what it reported before its end, and whether it had to be ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.setsid()
            quiet = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(quiet, descriptor)
            os.chdir(tempfile.mkdtemp(dir=os.environ["PROBE_FOLDER"]))
            warnings.simplefilter("ignore")
            work(lambda record: os.write(writer, (json.dumps(record) + "\n").encode()))
        finally:
            os._exit(0)
    os.close(writer)
    data = b""
    hung = True
    while select.select([reader], [], [], SECONDS)[0]:
        chunk = os.read(reader, 65536)
        if not chunk:
            hung = False
            break
        data += chunk
    os.close(reader)
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    os.waitpid(child, 0)
    return [json.loads(line) for line in data.decode().splitlines() if line.endswith("}")], hung


def conclude(question: Question, records: list[dict]) -> Answer:
    answer = Answer()
    kinds = {record["returns"] for record in records if "returns" in record}
    answer.returns = kinds.pop() if len(kinds) == 1 else "?" if kinds else ""
    answer.tags = sorted({tag for record in records for tag in record.get("tags", ())})
    answer.tried = [record["of"] for record in records if "result" in record]
    results = [record["result"] for record in records if record.get("result")]
    answer.traced = "traced" in results
    if results and not answer.traced and results[0] != "unnamed":
        # calls.txt has typical calls only, the shortest first; among candidates the ids may differ as well
        answer.gb_id = results[0]
    return answer


def ask(questions: list[Question], tell) -> None:
    """Batch after batch; a batch whose process ended early goes on after what ended it."""
    pending = list(questions)
    earlier: list[dict] = []  # records of the first pending question, from processes that it ended
    while pending:
        batch = pending[:BATCH]
        records, hung = in_child(lambda report: answer_batch(batch, report))
        if not any("question" in record for record in records):
            tell(pending.pop(0).name, Answer())
            continue
        of: dict[int, list[dict]] = {0: earlier}
        current = -1
        finished = 0
        for record in records:
            if "question" in record:
                current = record["question"]
                of.setdefault(current, [])
            elif "done" in record:
                finished = current + 1
                tell(batch[current].name, conclude(batch[current], of[current]))
            else:
                of[current].append(record)
        pending = pending[finished:]
        earlier = []
        if current >= finished:  # it ended in the middle of this one
            left = of[current]
            trying = [record["trying"] for record in left if "trying" in record]
            compiling = any("compiling" in record for record in left)
            if trying and not compiling and not hung and trying[-1] + 1 < len(pending[0].expressions):
                one = pending[0]
                pending[0] = Question(one.name, one.expressions[trying[-1] + 1:], one.eager, one.written)
                earlier = [record for record in left if "accepted" in record]
            else:
                tell(pending[0].name, conclude(pending[0], left))
                pending.pop(0)


def warm_up() -> None:
    """Loads what the forked processes would otherwise all load for themselves."""
    import numpy

    torch.set_num_threads(1)
    space: dict = {"torch": torch, "numpy": numpy}
    for expression in ("x + 1", "x.nonzero()", "numpy.arange(3)", "print(x)", "torch.nn.Linear(2, 2)(x)", "len([1])", "str(1)"):
        exec(f"def probed(x):\n    result = {expression}\n    return x * 2\n", space)
        try:
            torch.compile(space["probed"], backend="eager")(torch.rand(2, 2))
        except Exception:
            pass
    torch._dynamo.reset()
    for module in IMPORTED:
        __import__(module)
    gc.collect()
    gc.freeze()


def ask_all(questions: list[Question], lanes: int, progress) -> dict[str, Answer]:
    """Answers by name. The lanes are processes; each forks one more for every batch."""
    quiet, saved = os.open(os.devnull, os.O_RDWR), os.dup(2)
    sys.stdout.flush()
    saved_out = os.dup(1)
    os.dup2(quiet, 2), os.dup2(quiet, 1)
    warm_up()
    os.dup2(saved, 2), os.dup2(saved_out, 1)
    answers: dict[str, Answer] = {}
    with tempfile.TemporaryDirectory(prefix="probe", ignore_cleanup_errors=True) as folder:
        os.environ["PROBE_FOLDER"] = folder
        pipes: dict[int, int] = {}
        for lane in range(lanes):
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(reader)
                try:
                    ask(questions[lane::lanes],
                        lambda name, answer: os.write(writer, (json.dumps({"name": name, **vars(answer)}) + "\n").encode()))
                except BaseException as error:
                    print(f"probe: {error!r}", file=sys.stderr)
                finally:
                    os._exit(0)
            os.close(writer)
            pipes[reader] = pid
        buffers = {reader: b"" for reader in pipes}
        while pipes:
            ready, _, _ = select.select(list(pipes), [], [])
            for reader in ready:
                chunk = os.read(reader, 65536)
                buffers[reader] += chunk
                *lines, buffers[reader] = buffers[reader].split(b"\n")
                for line in lines:
                    fields = json.loads(line)
                    name = fields.pop("name")
                    answers[name] = Answer(**fields)
                    progress(len(answers), len(questions))
                if not chunk:
                    os.close(reader)
                    os.waitpid(pipes.pop(reader), 0)
    return answers
