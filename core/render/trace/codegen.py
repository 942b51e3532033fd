"""A Jinja code generator whose templates print traced texts.

It differs from Jinja's in five things: string literals are traced constants with
their place in the source; every output is its own piece, printed by a function that
notes the place; `~` keeps runs; reading a template variable is noted; branches are
counted. Constants are not folded, so compiling a template cannot be made expensive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators
from jinja2.idtracking import VAR_LOAD_ALIAS, VAR_LOAD_RESOLVE

from core.render.trace.branches import reached_slot, runs_slot
from core.render.trace.lexer import Position, extent
from core.render.trace.runs import Run, RunKind, Runs
from core.render.trace.strings import TracedStr, fitting, literal

if TYPE_CHECKING:
    from core.render.trace.environment import TracingEnvironment

_ESCAPE = re.compile(r"\\(?:\n|[\\'\"abfnrtv]|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\})")
_STRING = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)


class TracingCodeGenerator(CodeGenerator):
    """Generates the traced twin of a template."""

    environment: TracingEnvironment

    def __init__(
        self,
        environment: TracingEnvironment,
        name: str | None,
        filename: str | None,
        stream: TextIO | None = None,
        defer_init: bool = False,  # noqa: FBT001, FBT002  # Jinja's signature
        optimized: bool = True,  # noqa: FBT001, FBT002  # Jinja's signature
    ) -> None:
        super().__init__(environment, name, filename, stream, defer_init, optimized)
        self._bodies: dict[int, int] = {}  # index of a branch by the identity of its body, until that is visited
        self._tests: dict[int, int] = {}  # the same of inline conditions, by their test

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
            ("_read", "environment.note_read"),
            ("_counts", "environment.branches.counts"),
            ("_tested", "environment.note_test"),
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
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Name(self, node: nodes.Name, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a variable; reading one that comes from outside is noted."""
        load = frame.symbols.find_load(frame.symbols.ref(node.name)) if node.ctx == "load" else None
        if load is None or load[0] not in (VAR_LOAD_RESOLVE, VAR_LOAD_ALIAS):
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
        super().blockvisit(nodes, frame)

    def visit_If(self, node: nodes.If, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a condition; it and its branches are counted."""
        bodies = [node.body, *(branch.body for branch in node.elif_), *([node.else_] if node.else_ else [])]
        indices = self._announce(node, bodies)
        if indices:
            self.writeline(f"_counts[{reached_slot(indices[0])}] += 1")
        super().visit_If(node, frame)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a loop; its rounds are counted, and how often it had nothing to go through."""
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
        super().visit_Macro(node, frame)

    def visit_CallBlock(self, node: nodes.CallBlock, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write a call block; how often its body is asked for is counted."""
        self._announce(node, [node.body])
        super().visit_CallBlock(node, frame)

    def visit_CondExpr(self, node: nodes.CondExpr, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        """Write an inline condition; both its ways are counted."""
        value, test = extent(node.expr1), extent(node.test)
        if value is not None and test is not None and value[0] < test[0]:
            self._tests[id(node.test)] = self.environment.branches.add_inline(
                self.environment.source, value[1], test[0]
            )
        super().visit_CondExpr(node, frame)

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
            self.visit(child, frame)
            self.write(f", {site})")


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
