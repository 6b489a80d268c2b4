"""The part of the standard library and of NumPy that model code calls.

Whether a member may be *run* by the probe is decided here: what looks at values, clocks or paths may; what could reach
processes, files or signals of the machine may not, and is asked about by a call without arguments that is never made.
"""
from __future__ import annotations

import importlib
import inspect
import types
import warnings

MODULES = """
abc ast atexit base64 bisect builtins calendar collections collections.abc concurrent.futures contextlib contextvars copy
copyreg csv ctypes dataclasses datetime decimal difflib enum fnmatch fractions functools gc getpass glob hashlib heapq importlib
importlib.metadata importlib.util inspect io itertools json keyword linecache locale logging logging.handlers math mmap
multiprocessing numbers operator os os.path pathlib pdb pickle pkgutil platform pprint queue random re resource sched secrets select
shelve shutil signal socket sqlite3 stat statistics string struct subprocess sys sysconfig tempfile textwrap threading time timeit
tokenize traceback types typing unicodedata urllib.parse urllib.request uuid warnings weakref zipfile zlib
numpy numpy.linalg numpy.fft numpy.random
""".split()

# Of these the probe runs only what is named.
GUARDED = {
    "os": "getenv getcwd getpid cpu_count urandom fspath listdir getlogin getppid environb uname get_terminal_size",
    "builtins": None,
    "sys": "getsizeof getrefcount getrecursionlimit intern getdefaultencoding exc_info _getframe getfilesystemencoding is_finalizing",
    "gc": "collect disable enable isenabled get_count",
    "signal": "", "resource": "", "socket": "gethostname", "subprocess": "", "shutil": "which disk_usage", "threading": "current_thread get_ident Lock RLock Event active_count local",
    "multiprocessing": "cpu_count current_process", "select": "", "pdb": "", "ctypes": "", "mmap": "", "sched": "", "atexit": "", "urllib.request": "", "sqlite3": "", "concurrent.futures": "",
    "importlib": "import_module reload", "tempfile": "gettempdir mkdtemp TemporaryDirectory NamedTemporaryFile mkstemp", "shelve": "", "timeit": "default_timer", "time": None,
    "io": None, "tokenize": "", "zipfile": "", "multiprocessing.shared_memory": "", "getpass": "getuser", "logging.handlers": "",
}
NEVER_RUN = {
    "builtins.input", "builtins.breakpoint", "builtins.exit", "builtins.quit", "builtins.help", "builtins.copyright", "builtins.credits", "builtins.license",
    "time.sleep", "time.clock_settime", "time.clock_settime_ns", "time.pthread_getcpuclockid", "io.open_code", "logging.shutdown", "logging.basicConfig", "logging.setLoggerClass", "numpy.test", "builtins.exec", "builtins.eval",
}
# Classes whose instances model code calls methods of, and how a profile names them.
CLASSES = """
logging.Logger random.Random pathlib.Path builtins.str builtins.bytes builtins.list builtins.tuple builtins.dict builtins.set builtins.frozenset
builtins.int builtins.float collections.OrderedDict collections.defaultdict collections.deque collections.Counter re.Pattern re.Match
inspect.Signature inspect.Parameter io.BytesIO io.StringIO numpy.ndarray _thread.LockType threading.Event threading.Thread
""".split()
# Of these the tracer has no model: what it knows of an object that it saw being made are the records of its methods.
INSTANCES = """
_thread.LockType contextlib.ExitStack io.BytesIO io.StringIO pathlib.Path random.Random threading.Event threading.Thread
torch.Generator torch.UntypedStorage torch.optim.Optimizer torch.profiler.profile
""".split()
# Functions that make them.
FACTORIES = {"threading.Lock": "_thread.LockType", "torch.Tensor.untyped_storage": "torch.UntypedStorage"}
# Classes that are called on themselves: datetime.datetime.now().
NAMESPACE_CLASSES = "datetime.datetime datetime.date datetime.timedelta itertools.chain collections.OrderedDict builtins.dict builtins.int builtins.str builtins.bytes".split()
BOUND = {  # methods of an object that a module holds
    "os.environ": "get keys items values copy pop setdefault update __getitem__ __contains__ __setitem__".split(),
    "sys.stdout": "write flush isatty".split(),
    "sys.stderr": "write flush isatty".split(),
    "logging.root": "info warning".split(),
}


def members() -> dict[str, tuple[object, bool]]:
    """Name → the object, and whether the probe may run it."""
    found: dict[str, tuple[object, bool]] = {}
    for module_name in MODULES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = importlib.import_module(module_name)
        except Exception:
            continue
        listed = set(getattr(module, "__all__", ()))
        for attribute in sorted(vars(module)):
            value = vars(module)[attribute]
            if attribute.startswith("_") or not callable(value) or isinstance(value, types.ModuleType):
                continue
            home = getattr(value, "__module__", None)
            same = isinstance(home, str) and home.split(".")[0].lstrip("_") == module_name.split(".")[0]
            if not (same or attribute in listed or isinstance(value, types.BuiltinFunctionType)):
                continue
            if module_name == "builtins" and isinstance(value, type) and issubclass(value, BaseException):
                continue
            name = f"{module_name}.{attribute}"
            allowed = GUARDED.get(module_name)
            may_run = name not in NEVER_RUN and (allowed is None or attribute in allowed.split())
            found[name] = (value, may_run)
    for class_name in CLASSES:
        cls = inspect_class(class_name)
        for attribute in sorted(dir(cls)):
            if not attribute.startswith("_"):
                found[f"{class_name}.{attribute}"] = (inspect.getattr_static(cls, attribute), True)
    for class_name in NAMESPACE_CLASSES:
        cls = inspect_class(class_name)
        for attribute in sorted(vars(cls)):
            value = vars(cls)[attribute]
            if not attribute.startswith("_") and isinstance(value, (staticmethod, classmethod, types.ClassMethodDescriptorType)):
                found[f"{class_name}.{attribute}"] = (getattr(cls, attribute), True)
    for owner, attributes in BOUND.items():
        module, _, held = owner.rpartition(".")
        for attribute in attributes:
            found[f"{owner}.{attribute}"] = (getattr(getattr(importlib.import_module(module), held), attribute), True)
    found["sys._getframe"] = (__import__("sys")._getframe, True)
    return found


def instances(objects: dict[str, object]) -> dict[str, str]:
    """Callable → the class in INSTANCES whose object a call of it makes."""
    found = {name: cls for name, cls in FACTORIES.items() if name in objects}
    classes = {inspect_class(name): name for name in INSTANCES}
    for name, value in objects.items():
        if isinstance(value, type):
            known = [classes[base] for base in value.__mro__ if base in classes]
            if known:
                found[name] = known[0]
    return found


def resolve(name: str) -> object | None:
    """The object of a dotted name, whose longest possible front part is a module."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except Exception:
            continue
        for part in parts[length:]:
            value = getattr(value, part, None)
        return value
    return None


def inspect_class(name: str) -> type:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)
