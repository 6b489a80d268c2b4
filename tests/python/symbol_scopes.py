"""What each name of a file means, from Python's own symbol tables, in the words of `fullgraph dump --ir`."""

import ast
import symtable

COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")


class Scopes(ast.NodeVisitor):
    """Walks the tree in the order in which the symbol tables were made."""

    def __init__(self, text):
        self.meanings = {}  # (line, byte offset in it, name): meaning
        self.chain = [symtable.symtable(text, "file", "exec")]
        self.used = [0]
        self.visit(ast.parse(text))

    def meaning(self, name):
        table = self.chain[-1]
        symbol = table.lookup(name)
        if table.get_type() == "class" and symbol.is_local() and not symbol.is_declared_global():
            return "class"
        crossed = False
        for index in range(len(self.chain) - 1, 0, -1):
            table = self.chain[index]
            if table.get_type() == "class":
                continue  # a class body runs in the frame of the function around it
            try:
                symbol = table.lookup(name)
            except KeyError:
                symbol = None
            if symbol is not None and symbol.is_declared_global():
                return "global"
            if symbol is not None and symbol.is_local():
                holder = index
                while self.chain[holder].get_name() in COMPREHENSIONS:
                    holder -= 1
                if self.chain[holder].get_type() == "module":
                    return "global"
                if self.chain[holder].get_type() == "class":
                    return "global" if crossed else "class"
                return "enclosing" if crossed else "local"
            if table.get_name() not in COMPREHENSIONS:
                crossed = True
        return "global"

    def inside(self, name, nodes):
        table = self.chain[-1].get_children()[self.used[-1]]
        assert table.get_name() in name, (table, name)
        self.used[-1] += 1
        self.chain.append(table)
        self.used.append(0)
        for node in nodes:
            self.visit(node)
        self.chain.pop()
        self.used.pop()

    def visit_Name(self, node):
        try:
            self.meanings[node.lineno, node.col_offset, node.id] = self.meaning(node.id)
        except KeyError:
            pass  # an annotation under `from __future__ import annotations`, a mangled private name

    def visit_all(self, nodes):
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_FunctionDef(self, node):
        args = node.args
        self.visit_all(args.defaults + args.kw_defaults)
        names = args.posonlyargs + args.args + args.kwonlyargs + [args.vararg, args.kwarg]
        self.visit_all([name.annotation for name in names if name is not None] + [node.returns])
        self.visit_all(node.decorator_list)
        self.inside((node.name,), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.visit_all(node.args.defaults + node.args.kw_defaults)
        self.inside(("lambda",), [node.body])

    def visit_ClassDef(self, node):
        self.visit_all(node.bases + node.keywords + node.decorator_list)
        self.inside((node.name,), node.body)

    def visit_ListComp(self, node):
        first, *others = node.generators
        self.visit(first.iter)
        inner = [first.target, *first.ifs]
        for generator in others:
            inner += [generator.target, generator.iter, *generator.ifs]
        inner += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.inside(COMPREHENSIONS, inner)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp


def expected(text):
    return Scopes(text).meanings
