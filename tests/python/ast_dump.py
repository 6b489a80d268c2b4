"""What `fullgraph dump --ir` should print for a file, from Python's own parser.

Lines that `ast` has no position for carry "-", and so do all positions inside f-strings before Python 3.12 (they are
wrong there). `plain` brings the program's dump into the same form.
"""

import ast
import re
import sys

BINARY = {
    "Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**",
    "LShift": "<<", "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^",
}
UNARY = {"Not": "not", "USub": "-", "UAdd": "+", "Invert": "~"}
COMPARE = {
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not",
    "In": "in", "NotIn": "not in",
}
# Kinds without a position in `ast`.
UNPLACED = {"Comparison", "DictItem", "CompFor", "CompIf", "WithItem", "DoubleStarred"}


def quoted(data):
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(b) if 0x20 <= b < 0x7F and b not in (0x22, 0x5C) else f"\\x{b:02x}" for b in data) + '"'


class Dump:
    def __init__(self, text):
        self.lines = re.split("\r\n|\r|\n", text)
        if self.lines and self.lines[0].startswith("\ufeff"):
            self.lines[0] = self.lines[0][1:]
        self.ascii = [line.isascii() for line in self.lines]
        self.text = text
        self.out = []
        self.depth = 0
        self.in_format = 0

    def line(self, text):
        self.out.append("  " * self.depth + text)

    def column(self, line, byte):
        if self.ascii[line - 1]:
            return byte + 1
        return len(self.lines[line - 1].encode()[:byte].decode()) + 1

    def where(self, node):
        if self.in_format and sys.version_info < (3, 12):
            return "-"
        return f"{node.lineno}:{self.column(node.lineno, node.col_offset)}-{self.end(node)}"

    def end(self, node):
        line, byte = node.end_lineno, node.end_col_offset
        # A block ends with its last statement, where `ast` may count a semicolon in.
        while byte > 0 and self.lines[line - 1].encode()[byte - 1:byte] in (b";", b" "):
            byte -= 1
        return f"{line}:{self.column(line, byte)}"

    def source(self, node):
        assert node.lineno == node.end_lineno
        return self.lines[node.lineno - 1].encode()[node.col_offset:node.end_col_offset].decode()

    def module(self, tree):
        self.line("Module m")
        self.block("body", tree.body)

    def block(self, label, statements):
        if not statements:
            return
        self.line(label)
        self.depth += 1
        for statement in statements:
            self.statement(statement)
        self.depth -= 1

    # expressions
    def entry(self, label, kind, where, extra="", *children, items=()):
        self.line(f"{label + ' ' if label else ''}{kind} {where}{' ' + extra if extra else ''}")
        self.depth += 1
        for name, child in zip("abc", children):
            self.expression(name, child)
        for item in items:
            if callable(item):
                item()
            else:
                self.expression("", item)
        self.depth -= 1

    def expression(self, label, node):
        if node is None:
            return
        if callable(node):
            return node(label)
        getattr(self, type(node).__name__)(label, node)

    def Constant(self, label, node):
        value, where = node.value, self.where(node)
        if value is None or value is True or value is False:
            self.entry(label, str(value), where)
        elif value is Ellipsis:
            self.entry(label, "Ellipsis", where)
        elif isinstance(value, str):
            self.entry(label, "String", where, quoted(value))
        elif isinstance(value, bytes):
            self.entry(label, "Bytes", where, quoted(value))
        else:
            kind = {int: "Int", float: "Float", complex: "Imaginary"}[type(value)]
            self.entry(label, kind, where, repr(value) if self.in_format else self.source(node))

    def JoinedStr(self, label, node):
        where = self.where(node)
        if self.in_format:
            where = "-"
        self.in_format += 1
        self.entry(label, "FString", where, "", items=node.values)
        self.in_format -= 1

    def FormattedValue(self, label, node):
        conversion = {-1: "", 115: "!s", 114: "!r", 97: "!a"}[node.conversion]
        self.entry(label, "Formatted", "-", conversion, node.value, node.format_spec)

    def Name(self, label, node):
        self.entry(label, "Name", self.where(node), node.id)

    def bound(self, label, name):
        self.entry(label, "Name", "-", name)

    def Attribute(self, label, node):
        self.entry(label, "Attribute", self.where(node), node.attr, node.value)

    def Subscript(self, label, node):
        self.entry(label, "Subscript", self.where(node), "", node.value, node.slice)

    def Slice(self, label, node):
        self.entry(label, "Slice", self.where(node), "", node.lower, node.upper, node.step)

    def in_order(self, nodes):
        return sorted(nodes, key=lambda node: (node.lineno, node.col_offset))

    def Call(self, label, node):
        self.entry(label, "Call", self.where(node), "", node.func, items=self.in_order(node.args + node.keywords))

    def keyword(self, label, node):
        if node.arg is None:
            self.entry(label, "DoubleStarred", "-", "", node.value)
        else:
            self.entry(label, "Keyword", self.where(node), node.arg, node.value)

    def Starred(self, label, node):
        self.entry(label, "Starred", self.where(node), "", node.value)

    def UnaryOp(self, label, node):
        self.entry(label, "Unary", self.where(node), UNARY[type(node.op).__name__], node.operand)

    def BinOp(self, label, node):
        self.entry(label, "Binary", self.where(node), BINARY[type(node.op).__name__], node.left, node.right)

    def BoolOp(self, label, node):
        self.entry(label, "BoolOp", self.where(node), type(node.op).__name__.lower(), items=node.values)

    def Compare(self, label, node):
        def comparison(op, right):
            return lambda: self.entry("", "Comparison", "-", COMPARE[type(op).__name__], right)
        self.entry(label, "Compare", self.where(node), "", node.left,
                   items=[comparison(op, right) for op, right in zip(node.ops, node.comparators)])

    def IfExp(self, label, node):
        self.entry(label, "Conditional", self.where(node), "", node.test, node.body, node.orelse)

    def Lambda(self, label, node):
        self.line(f"{label + ' ' if label else ''}Lambda {self.where(node)}")
        self.depth += 1
        self.line("function")
        self.arguments(node.args)
        self.expression("result", node.body)
        self.depth -= 1

    def display(self, kind, label, node):
        self.entry(label, kind, self.where(node), "", items=node.elts)

    def List(self, label, node):
        self.display("List", label, node)

    def Tuple(self, label, node):
        self.display("Tuple", label, node)

    def Set(self, label, node):
        self.display("Set", label, node)

    def Dict(self, label, node):
        def item(key, value):
            if key is None:
                return lambda: self.entry("", "DoubleStarred", "-", "", value)
            return lambda: self.entry("", "DictItem", "-", "", key, value)
        self.entry(label, "Dict", self.where(node), "", items=[item(k, v) for k, v in zip(node.keys, node.values)])

    def clauses(self, generators):
        for generator in generators:
            yield lambda generator=generator: self.entry(
                "", "CompFor", "-", "async" if generator.is_async else "", generator.target, generator.iter)
            for test in generator.ifs:
                yield lambda test=test: self.entry("", "CompIf", "-", "", test)

    def ListComp(self, label, node):
        self.entry(label, type(node).__name__, self.where(node), "", node.elt, items=list(self.clauses(node.generators)))

    SetComp = GeneratorExp = ListComp

    def DictComp(self, label, node):
        self.entry(label, "DictComp", self.where(node), "", node.key, node.value,
                   items=list(self.clauses(node.generators)))

    def Await(self, label, node):
        self.entry(label, "Await", self.where(node), "", node.value)

    def Yield(self, label, node):
        self.entry(label, "Yield", self.where(node), "", node.value)

    def YieldFrom(self, label, node):
        self.entry(label, "YieldFrom", self.where(node), "", node.value)

    def NamedExpr(self, label, node):
        self.entry(label, "NamedExpr", self.where(node), "", node.target, node.value)

    # patterns
    def MatchValue(self, label, node):
        self.entry(label, "PatternValue", self.where(node), "", node.value)

    def MatchSingleton(self, label, node):
        self.entry(label, "PatternValue", self.where(node), "", lambda a: self.entry(a, str(node.value), self.where(node)))

    def MatchAs(self, label, node):
        name = (lambda a: self.bound(a, node.name)) if node.name else None
        self.entry(label, "PatternCapture", self.where(node), "", name, node.pattern)

    def capture(self, name):
        return lambda a: self.entry(a, "PatternCapture", "-", "", (lambda b: self.bound(b, name)) if name else None)

    def MatchStar(self, label, node):
        self.entry(label, "Starred", self.where(node), "", self.capture(node.name))

    def MatchSequence(self, label, node):
        self.entry(label, "PatternSequence", self.where(node), "", items=node.patterns)

    def MatchMapping(self, label, node):
        items = [lambda k=k, p=p: self.entry("", "DictItem", "-", "", k, p) for k, p in zip(node.keys, node.patterns)]
        if node.rest:
            items.append(lambda: self.entry("", "DoubleStarred", "-", "", self.capture(node.rest)))
        self.entry(label, "PatternMapping", self.where(node), "", items=items)

    def MatchClass(self, label, node):
        items = list(node.patterns)
        for name, pattern in zip(node.kwd_attrs, node.kwd_patterns):
            items.append(lambda n=name, p=pattern: self.entry("", "Keyword", "-", n, p))
        self.entry(label, "PatternClass", self.where(node), "", node.cls, items=items)

    def MatchOr(self, label, node):
        self.entry(label, "PatternOr", self.where(node), "", items=node.patterns)

    # statements
    def statement(self, node):
        getattr(self, "stmt_" + type(node).__name__)(node)

    def simple(self, node, kind, extra="", items=(), a=None, b=None):
        self.line(f"{kind} {self.where(node)}{extra}")
        self.depth += 1
        for item in items:
            self.expression("item", item)
        self.expression("a", a)
        self.expression("b", b)
        self.depth -= 1

    def compound(self, node, kind, extra="", items=(), a=None, **blocks):
        self.simple(node, kind, extra, items, a)
        self.depth += 1
        for label, block in blocks.items():
            self.block({"orelse": "else"}.get(label, label), block)
        self.depth -= 1

    def stmt_Expr(self, node):
        self.simple(node, "Expression", a=node.value)

    def stmt_Assign(self, node):
        self.simple(node, "Assign", items=node.targets, a=node.value)

    def stmt_AugAssign(self, node):
        self.simple(node, "AugAssign", f" {BINARY[type(node.op).__name__]}=", [node.target], node.value)

    def stmt_AnnAssign(self, node):
        self.simple(node, "AnnAssign", items=[node.target], a=node.value, b=node.annotation)

    def stmt_TypeAlias(self, node):
        self.simple(node, "Assign", items=[node.name], a=node.value)

    def stmt_Return(self, node):
        self.simple(node, "Return", a=node.value)

    def stmt_Raise(self, node):
        self.simple(node, "Raise", a=node.exc, b=node.cause)

    def stmt_Assert(self, node):
        self.simple(node, "Assert", a=node.test, b=node.msg)

    def stmt_Delete(self, node):
        self.simple(node, "Delete", items=node.targets)

    def stmt_Pass(self, node):
        self.simple(node, type(node).__name__)

    stmt_Break = stmt_Continue = stmt_Global = stmt_Nonlocal = stmt_Pass

    def stmt_If(self, node):
        self.compound(node, "If", a=node.test, body=node.body, orelse=node.orelse)

    def stmt_While(self, node):
        self.compound(node, "While", a=node.test, body=node.body, orelse=node.orelse)

    def stmt_For(self, node, extra=""):
        self.compound(node, "For", extra, [node.target], node.iter, body=node.body, orelse=node.orelse)

    def stmt_AsyncFor(self, node):
        self.stmt_For(node, " async")

    def stmt_With(self, node, extra=""):
        items = [lambda label, i=i: self.entry(label, "WithItem", "-", "", i.context_expr, i.optional_vars)
                 for i in node.items]
        self.compound(node, "With", extra, items, body=node.body)

    def stmt_AsyncWith(self, node):
        self.stmt_With(node, " async")

    def stmt_Try(self, node, star=""):
        self.line(f"Try {self.where(node)}")
        self.depth += 1
        self.block("body", node.body)
        for handler in node.handlers:
            self.line(f"except{star} {self.where(handler)}")
            self.depth += 1
            self.expression("type", handler.type)
            if handler.name:
                self.bound("target", handler.name)
            self.block("body", handler.body)
            self.depth -= 1
        self.block("else", node.orelse)
        self.block("finally", node.finalbody)
        self.depth -= 1

    def stmt_TryStar(self, node):
        self.stmt_Try(node, "*")

    def stmt_Match(self, node):
        self.line(f"Match {self.where(node)}")
        self.depth += 1
        self.expression("a", node.subject)
        for case in node.cases:
            self.line("case")
            self.depth += 1
            self.expression("pattern", case.pattern)
            self.expression("guard", case.guard)
            self.block("body", case.body)
            self.depth -= 1
        self.depth -= 1

    def aliases(self, names, whole_path):
        self.depth += 1
        for alias in names:
            renamed = f" as {alias.asname}" if alias.asname else ""
            self.line(f"alias {alias.name} {self.where(alias)}{renamed}")
            if alias.name != "*":
                self.depth += 1
                self.bound("target", alias.asname or (alias.name.split(".")[0] if whole_path else alias.name))
                self.depth -= 1
        self.depth -= 1

    def stmt_Import(self, node):
        self.line(f"Import {self.where(node)}")
        self.aliases(node.names, True)

    def stmt_ImportFrom(self, node):
        self.line(f"ImportFrom {self.where(node)} {'.' * node.level}{node.module or ''}")
        self.aliases(node.names, False)

    def arguments(self, args):
        defaults = [None] * (len(args.posonlyargs) + len(args.args) - len(args.defaults)) + args.defaults
        def param(arg, kind, default=None):
            self.line(f"param {arg.arg} - {kind}")
            self.depth += 1
            self.expression("annotation", arg.annotation)
            self.expression("default", default)
            self.depth -= 1
        for index, arg in enumerate(args.posonlyargs + args.args):
            param(arg, "positional-only" if index < len(args.posonlyargs) else "positional", defaults[index])
        if args.vararg:
            param(args.vararg, "var-args")
        for arg, default in zip(args.kwonlyargs, args.kw_defaults):
            param(arg, "keyword-only", default)
        if args.kwarg:
            param(args.kwarg, "kw-args")

    def definition(self, node, kind, extra):
        # Decorators belong to our statement; `ast` starts at `def` or `class`.
        where = f"-{self.end(node)}"
        self.line(f"{kind} {where}")
        self.depth += 1
        self.bound("name", node.name)
        self.line(f"{extra}")
        for decorator in node.decorator_list:
            self.expression("decorator", decorator)

    def stmt_FunctionDef(self, node, extra=""):
        self.definition(node, "FunctionDef", "function" + extra)
        self.arguments(node.args)
        self.expression("returns", node.returns)
        self.block("body", node.body)
        self.depth -= 1

    def stmt_AsyncFunctionDef(self, node):
        self.stmt_FunctionDef(node, " async")

    def stmt_ClassDef(self, node):
        self.definition(node, "ClassDef", "class")
        for argument in self.in_order(node.bases + node.keywords):
            self.expression("argument", argument)
        self.block("body", node.body)
        self.depth -= 1


def expected(text):
    dump = Dump(text)
    dump.module(ast.parse(text))
    return dump.out


SPAN = r"\d+:\d+-\d+:\d+"
LINE = re.compile(rf"^( *)((?:[a-z]+ )?)([A-Z]\w*)( {SPAN})(.*)$")


def plain(dump):
    """The program's dump without what `ast` does not know."""
    out = []
    formats = []  # indentation of the f-strings that the line is inside
    for line in dump.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        while formats and indent <= formats[-1]:
            formats.pop()
        body = line.strip()
        if body.startswith("locals "):
            continue
        if not body.startswith("alias "):
            line = re.sub(rf" header {SPAN}$", "", line)
        if body.startswith(("function ", "class ")):
            out.append(" " * indent + body.split(" ")[0] + (" async" if re.search(r" async( generator)?$", body) else ""))
            continue
        if body.startswith("param "):
            line = re.sub(rf" {SPAN} ([a-z-]+) slot \d+$", r" - \1", line)
            out.append(line)
            continue
        match = None if body.startswith("alias ") else LINE.match(line)
        if match:
            spaces, label, kind, where, extra = match.groups()
            if kind in ("FunctionDef", "ClassDef"):
                where = " -" + where.split("-")[1]
            if kind == "Name":
                extra = re.sub(r" (local \d+|enclosing|global|class)$", "", extra)
            if kind in UNPLACED or kind == "Formatted":
                where = " -"
            if formats and (sys.version_info < (3, 12) or kind == "FString"):
                where = " -"
            if formats and kind in ("Int", "Float"):
                extra = " " + repr(ast.literal_eval(extra.strip()))
            if kind == "FString":
                formats.append(indent)
            line = f"{spaces}{label}{kind}{where}{extra}"
        out.append(line)
    return out


def same(ours, theirs):
    """Compares line by line; a "-" for a position on Python's side matches any."""
    if ours == theirs:
        return None
    for index, (left, right) in enumerate(zip(ours, theirs)):
        if left == right:
            continue
        if r"\xef\xbf\xbd" in left and left.split('"')[0] == right.split('"')[0]:
            continue  # \N{…}: the program has no table of Unicode names
        if " - " in right + " " and re.sub(rf" {SPAN}", " -", left) == right:
            continue
        return index, left, right
    if len(ours) != len(theirs):
        return min(len(ours), len(theirs)), f"{len(ours)} lines", f"{len(theirs)} lines"
    return None


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        print("\n".join(expected(file.read())))
