"""A Jinja code generator whose templates print traced texts.

It differs from Jinja's in five things: string literals are traced constants with
their place in the source; every output is its own piece, printed by a function that
notes the place; `~` and `%` keep runs; reading a template variable is noted; branches are
counted. Constants are not folded, so compiling a template cannot be made expensive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TextIO

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators
from jinja2.environment import Environment
from jinja2.idtracking import VAR_LOAD_ALIAS, VAR_LOAD_RESOLVE

from prompt_debugger.core.render.trace.branches import BranchMap, reached_slot, runs_slot
from prompt_debugger.core.render.trace.lexer import Position, extent
from prompt_debugger.core.render.trace.runs import Run, RunKind, Runs
from prompt_debugger.core.render.trace.strings import TracedStr, fitting, literal

_ESCAPE = re.compile(r"\\(?:\n|[\\'\"abfnrtv]|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\})")
_WORD_FILTERS = frozenset({"tojson", "string", "lower", "upper", "trim", "safe", "e", "escape"})
_STRING = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)


class NotingEnvironment(Environment):
    """What the generator asks of its environment.

    Attributes:
        literals: Its constants, as the generator meets them.
        mentions: Names of the variables from outside that it has.
    """

    source: str
    literals: list[TracedStr]
    mentions: set[str]
    branches: BranchMap


class TracingCodeGenerator(CodeGenerator):
    """Generates the traced twin of a template."""

    environment: NotingEnvironment

    def __init__(
        self,
        environment: NotingEnvironment,
        name: str | None,
        filename: str | None,
        stream: TextIO | None = None,
        defer_init: bool = False,  # noqa: FBT001, FBT002  # Jinja's signature
        optimized: bool = True,  # noqa: FBT001, FBT002  # Jinja's signature
    ) -> None:
        super().__init__(environment, name, filename, stream, defer_init, optimized)
        self._bodies: dict[int, int] = {}  # index of a branch by the identity of its body, until that is visited
        self._tests: dict[int, int] = {}  # the same of inline conditions, by their test
        self._keys: dict[str, str] = {}  # names that hold a loop's value, with the name of its key
        self._keys_of: dict[int, dict[str, str]] = {}  # the same by the identity of a body not yet visited

    def newline(self, node: nodes.Node | None = None, extra: int = 0) -> None:
        """Note the position of every statement, where Jinja notes only new lines."""
        self._last_line = 0
        super().newline(node, extra)
        place = None if node is None else extent(node)
        if place is not None:
            position = Position(self.environment.source.count("\n", 0, place[0]) + 1)
            position.start, position.stop = place
            self._write_debug_info = position

    def write_commons(self) -> None:
        """Give every function the names that the generated code uses."""
        super().write_commons()
        for name, value in (
            ("_literals", "environment.literals"),
            ("_print", "environment.print_value"),
            ("_print_entry", "environment.print_entry"),
            ("_concatenate", "environment.concatenate"),
            ("_modulo", "environment.modulo"),
            ("_read", "environment.note_read"),
            ("_counts", "environment.branches.counts"),
            ("_tested", "environment.note_test"),
            ("_traced_value", "environment.trace_constant"),
            ("_traced_text", "environment.trace_filtered"),
            ("_place_in", "environment.place_in"),
            ("_place_of_key", "environment.place_of_key"),
            ("_place_of_variable", "environment.place_of_variable"),
        ):
            self.writeline(f"{name} = {value}")

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write text outside of tags as a traced constant."""
        self.write(self._constant(node.data, node))

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a string literal as a traced constant."""
        if type(node.value) is str:
            self.write(self._constant(node.value, node))
        else:
            super().visit_Const(node, frame)

    def _constant(self, value: str, node: nodes.Node) -> str:
        source, line = self.environment.source, node.lineno
        if not isinstance(line, Position):
            text = literal(value, RunKind.LITERAL_CHANGED, 0, 0)
        elif isinstance(node, nodes.TemplateData):
            text = literal(value, RunKind.LITERAL, line.start, line.start + len(value))
        else:
            text = _string_literal(source, line.start, value)
        self.environment.literals.append(text)
        return f"_literals[{len(self.environment.literals) - 1}]"

    def visit_Operand(self, node: nodes.Operand, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a comparison; its right side is never printed and needs no trace."""
        self.write(f" {operators[node.op]} ")
        self._untraced(node.expr, frame)

    def _untraced(self, node: nodes.Expr, frame: Frame) -> None:
        if isinstance(node, nodes.Const) and type(node.value) is str:
            self.write(repr(node.value))
        else:
            self.visit(node, frame)

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a subscript; a literal key needs no trace."""
        if isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.getitem(")
        self.visit(node.node, frame)
        self.write(", ")
        self._untraced(node.arg, frame)
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write `a ~ b`."""
        self.write("_concatenate((")
        for part in node.nodes:
            self._shown(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Mod(self, node: nodes.BinExpr, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write `a % b`."""
        self.write("_modulo(")
        self.visit(node.left, frame)
        self.write(", ")
        self.visit(node.right, frame)
        self.write(")")

    # -- booleans and nulls, which cannot carry their origin: it is looked up where they are printed

    def _shown(self, node: nodes.Expr, frame: Frame) -> None:
        """Write an expression whose text alone counts."""
        if isinstance(node, nodes.CondExpr) and node.expr2 is not None:
            self._count_inline(node)
            self.write("(")
            self._shown(node.expr1, frame)
            self.write(" if ")
            self.visit(node.test, frame)
            self.write(" else ")
            self._shown(node.expr2, frame)
            self.write(")")
            return
        value = node.node if isinstance(node, nodes.Filter) and node.name in _WORD_FILTERS else node
        if value is None or not self._is_place(value, frame):
            self.visit(node, frame)
            return
        self.write("_traced_value(" if value is node else "_traced_text(")
        self.visit(node, frame)
        if value is not node:
            self.write(", lambda: ")
            self.visit(value, frame)
        self.write(", lambda: ")
        self._place(value, frame)
        self.write(")")

    def _is_place(self, node: nodes.Expr, frame: Frame) -> bool:
        """Return whether an expression only looks something up, so that it may be written twice."""
        if isinstance(node, nodes.Name):
            return node.name in self._keys or _comes_from_outside(node, frame)
        return isinstance(node, (nodes.Getattr, nodes.Getitem)) and _is_lookup(node)

    def _place(self, node: nodes.Expr, frame: Frame) -> None:
        """Write code that says where in the request a value comes from."""
        if isinstance(node, nodes.Name):
            value = frame.symbols.ref(node.name)
            if node.name in self._keys:
                self.write(f"_place_of_key({frame.symbols.ref(self._keys[node.name])}, {value})")
            else:
                self.write(f"_place_of_variable({node.name!r}, {value})")
            return
        assert isinstance(node, (nodes.Getattr, nodes.Getitem))
        self.write("_place_in(")
        self.visit(node.node, frame)
        self.write(", ")
        if isinstance(node, nodes.Getattr):
            self.write(repr(node.attr))
        else:
            self._untraced(node.arg, frame)
        self.write(")")

    def visit_Name(self, node: nodes.Name, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a variable; reading one that comes from outside is noted."""
        if not _comes_from_outside(node, frame):
            super().visit_Name(node, frame)
            return
        self.environment.mentions.add(node.name)
        self.write(f"(_read({node.name!r}) or ")
        super().visit_Name(node, frame)
        self.write(")")

    # -- branches

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """Count how often a branch is entered."""
        index = self._bodies.pop(id(nodes), None)
        if index is not None:
            self.writeline(f"_counts[{runs_slot(index)}] += 1")
            self.environment.branches.places[index].is_counted = True
        keys, self._keys = self._keys, self._keys_of.pop(id(nodes), self._keys)
        super().blockvisit(nodes, frame)
        self._keys = keys

    def visit_If(self, node: nodes.If, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a condition; it and its branches are counted."""
        bodies = [node.body, *(branch.body for branch in node.elif_), *([node.else_] if node.else_ else [])]
        indices = self._announce(node, bodies)
        if indices:
            self.writeline(f"_counts[{reached_slot(indices[0])}] += 1")
        super().visit_If(node, frame)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a loop; its rounds are counted, and how often it had nothing to go through."""
        self._keys_of[id(node.body)] = _keys_of_loop(node, self._keys)
        indices = self._announce(node, [node.body, *([node.else_] if node.else_ else [])])
        if not indices:
            super().visit_For(node, frame)
            return
        first = indices[0]
        if len(indices) > 1:
            self.writeline(f"_counts[{reached_slot(indices[1])}] += 1")
        self.writeline(f"_before_{first} = _counts[{runs_slot(first)}]")
        super().visit_For(node, frame)
        self.writeline(f"if _counts[{runs_slot(first)}] == _before_{first}:")
        self.indent()
        self.writeline(f"_counts[{reached_slot(first)}] += 1")
        self.outdent()

    def visit_Macro(self, node: nodes.Macro, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a macro; its calls are counted."""
        self._announce(node, [node.body])
        self._keys_of[id(node.body)] = {}
        super().visit_Macro(node, frame)

    def visit_CallBlock(self, node: nodes.CallBlock, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a call block; how often its body is asked for is counted."""
        self._announce(node, [node.body])
        self._keys_of[id(node.body)] = {}
        super().visit_CallBlock(node, frame)

    def visit_CondExpr(self, node: nodes.CondExpr, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write an inline condition; both its ways are counted."""
        self._count_inline(node)
        super().visit_CondExpr(node, frame)

    def _count_inline(self, node: nodes.CondExpr) -> None:
        value, test = extent(node.expr1), extent(node.test)
        if value is not None and test is not None and value[0] < test[0]:
            self._tests[id(node.test)] = self.environment.branches.add_inline(
                self.environment.source, value[1], test[0]
            )

    def visit(self, node: nodes.Node, *arguments: object, **options: object) -> object:
        """Visit a node; the test of an inline condition goes through a function that counts."""
        index = self._tests.pop(id(node), None) if self._tests else None
        if index is None:
            return super().visit(node, *arguments, **options)
        self.write(f"_tested({index}, ")
        super().visit(node, *arguments, **options)
        self.write(")")
        return None

    def _announce(self, node: nodes.Node, bodies: Sequence[list[nodes.Node]]) -> Sequence[int]:
        """Remember which bodies belong to which branches of a statement; return the branches."""
        line: object = node.lineno
        indices = self.environment.branches.by_keyword.get(line.start, ()) if isinstance(line, Position) else ()
        self._bodies.update((id(body), index) for body, index in zip(bodies, indices, strict=False))
        return indices

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write each printed piece on its own, with its place."""
        if frame.require_output_check:
            if self.has_known_extends:
                return
            self.writeline("if parent_template is None:")
            self.indent()
        for child in node.nodes:
            if isinstance(child, nodes.TemplateData) and not child.data:
                continue
            self.writeline("yield " if frame.buffer is None else f"{frame.buffer}.append(", child)
            self._printed(child, frame)
            if frame.buffer is not None:
                self.write(")")
        if frame.require_output_check:
            self.outdent()

    def _printed(self, child: nodes.Expr, frame: Frame) -> None:
        place = extent(child)
        site = place[0] if place is not None else -1
        if isinstance(child, (nodes.TemplateData, nodes.Const)) and isinstance(_content(child), str):
            self.visit(child, frame)
        elif isinstance(child, nodes.Getattr):
            self.write("_print_entry(")
            self.visit(child.node, frame)
            self.write(f", {child.attr!r}, environment.getattr, {site})")
        elif isinstance(child, nodes.Getitem) and not isinstance(child.arg, nodes.Slice):
            self.write("_print_entry(")
            self.visit(child.node, frame)
            self.write(", ")
            self._untraced(child.arg, frame)
            self.write(f", environment.getitem, {site})")
        else:
            self.write("_print(")
            self._shown(child, frame)
            self.write(f", {site})")


def _comes_from_outside(node: nodes.Name, frame: Frame) -> bool:
    """Return whether a name is a template variable, not one that the template made."""
    load = frame.symbols.find_load(frame.symbols.ref(node.name)) if node.ctx == "load" else None
    return load is not None and load[0] in (VAR_LOAD_RESOLVE, VAR_LOAD_ALIAS)


def _is_lookup(node: nodes.Expr) -> bool:
    """Return whether an expression is a name, or entries of one by constant keys or names."""
    while isinstance(node, (nodes.Getattr, nodes.Getitem)):
        if isinstance(node, nodes.Getitem) and not isinstance(node.arg, (nodes.Const, nodes.Name)):
            return False
        node = node.node
    return isinstance(node, nodes.Name)


def _keys_of_loop(node: nodes.For, outer: dict[str, str]) -> dict[str, str]:
    """Return which names hold a value, with the name of its key, inside a loop."""
    stored = [name.name for name in node.find_all(nodes.Name) if name.ctx == "store"]
    kept = {value: key for value, key in outer.items() if value not in stored and key not in stored}
    target = node.target
    if isinstance(target, nodes.Tuple) and len(target.items) == 2:
        names = [item.name for item in target.items if isinstance(item, nodes.Name)]
        if len(names) == 2 and stored.count(names[0]) == stored.count(names[1]) == 1:
            kept[names[1]] = names[0]
    return kept


def _content(node: nodes.TemplateData | nodes.Const) -> object:
    return node.data if isinstance(node, nodes.TemplateData) else node.value


def _string_literal(source: str, start: int, value: str) -> TracedStr:
    """Return the constant of one or several adjacent string literals from offset `start` on."""
    runs: list[Run] = []
    covered, position = 0, start
    while covered < len(value) or not runs:
        match = _STRING.match(source, position)
        if match is None:
            break
        runs.extend(_quoted_runs(source, match.start(1) + 1, match.end(1) - 1))
        covered, position = sum(run.length for run in runs), match.end()
        if not runs:
            break
    text = fitting(value, tuple(runs))
    if value and text._runs[0].kind is RunKind.UNKNOWN:
        return literal(value, RunKind.LITERAL_CHANGED, start, max(position, start + 1))
    return text


def _quoted_runs(source: str, start: int, stop: int) -> Runs:
    """Return the runs of the literal between two quotes."""
    runs: list[Run] = []
    position = start
    for match in _ESCAPE.finditer(source, start, stop):
        if match.start() > position:
            runs.append(Run(match.start() - position, RunKind.LITERAL, None, position, match.start()))
        decoded = match.group().encode("ascii", "backslashreplace").decode("unicode-escape")
        if decoded:
            runs.append(Run(len(decoded), RunKind.LITERAL_CHANGED, None, match.start(), match.end()))
        position = match.end()
    if stop > position:
        runs.append(Run(stop - position, RunKind.LITERAL, None, position, stop))
    return tuple(runs)
