"""Which values of its variables a template tells apart, by its source alone.

The source is parsed here, never compiled: constants are not folded, nothing runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser

from prompt_debugger.core.base.types import JSON

_GRADES = ("low", "medium", "high")  # reasoning efforts of the OpenAI API
_GRADED = re.compile("effort|strength|level$")
_STATED_DIFFERENTLY = frozenset({"messages", "tools", "documents", "add_generation_prompt", "continue_final_message"})
_TYPE_TESTS = frozenset({"mapping", "iterable", "sequence", "callable"})
_MAX_VALUES = 6
_BOOLEANS: tuple[JSON, ...] = (True, False)


@dataclass(slots=True)
class _Uses:
    """How one variable is used; grows while the source is walked.

    Attributes:
        literals: Texts and numbers that it is compared with, or falls back to.
        is_tested: It decides a branch.
        is_printed: It is shown, or joined to a text.
        is_structure: It is gone through or looked into.
        is_assigned: The template sets it itself.
        is_optional: The template asks whether it is defined, or sets it from itself.
    """

    literals: list[JSON] = field(default_factory=list)
    is_tested: bool = False
    is_printed: bool = False
    is_structure: bool = False
    is_assigned: bool = False
    is_optional: bool = False


class _GenerationTag(Extension):
    """The reference library's `{% generation %}` block, as a mere block."""

    tags = {"generation"}  # noqa: RUF012  # the library's convention

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        """Return what is between the tags."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def candidate_values(source: str, names: Iterable[str]) -> Mapping[str, tuple[JSON, ...]]:
    """Return the values worth trying for each variable, in the order of the source.

    Args:
        source: Jinja source; one that cannot be parsed gives nothing.
        names: Variables that the template expects from outside.

    Returns:
        Variables by name, only those with values: booleans for one that is merely tested,
        else the literals it is compared with. Lists, objects and free texts are left out.
    """
    try:
        tree = jinja2.Environment(extensions=[loopcontrols, _GenerationTag], autoescape=False).parse(source)
        uses = _uses_by_name(tree)
    except (jinja2.TemplateError, RecursionError):
        return {}
    wanted = sorted(name for name in names if name in uses and name not in _STATED_DIFFERENTLY)
    made = {name: _values(name, uses[name]) for name in wanted}
    return {name: values for name, values in made.items() if values}


def _values(name: str, uses: _Uses) -> tuple[JSON, ...]:
    if uses.is_structure or name.endswith("_token") or (uses.is_assigned and not uses.is_optional):
        return ()
    literals = list(uses.literals)
    if _GRADED.search(name) and (uses.is_printed or literals):
        literals.extend(_GRADES)
    if len(literals) > 1 or (literals and not uses.is_printed and not uses.is_assigned):
        return tuple(dict.fromkeys(literals))[:_MAX_VALUES]
    return _BOOLEANS if uses.is_tested and not uses.is_printed else ()


def _uses_by_name(tree: nodes.Template) -> dict[str, _Uses]:
    """Return the uses of every name, those of other names it was assigned to included."""
    own: dict[str, _Uses] = {}
    sources: dict[str, set[str]] = {}
    for node in _walk(tree):
        _note_use(node, own)
        if isinstance(node, nodes.Assign):
            _note_assignment(node, own, sources)
    for target, origins in _closed(sources).items():
        for origin in origins - {target}:
            _merge(own.setdefault(origin, _Uses()), own.get(target, _Uses()))
    return own


def _walk(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in node.iter_child_nodes():
        yield from _walk(child)


def _closed(sources: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return for each assigned name all names that its value may come from."""
    closed = {target: set(origins) for target, origins in sources.items()}
    for _ in closed:
        for origins in closed.values():
            for origin in list(origins):
                origins |= closed.get(origin, set())
    return closed


def _merge(into: _Uses, other: _Uses) -> None:
    into.literals.extend(other.literals)
    into.is_tested |= other.is_tested
    into.is_printed |= other.is_printed
    into.is_structure |= other.is_structure


def _note_assignment(node: nodes.Assign, uses: dict[str, _Uses], sources: dict[str, set[str]]) -> None:
    target = _name_of(node.target)
    if target is None:
        return
    found = uses.setdefault(target, _Uses())
    found.is_assigned = True
    found.is_optional |= any(name == target for name in _names(node.node))
    for value in _choices(node.node):
        if isinstance(value, nodes.Const):
            _note_literal(found, value)
        elif (origin := _name_of(value)) is not None:
            sources.setdefault(target, set()).add(origin)


def _choices(node: nodes.Node | None) -> Iterator[nodes.Node]:
    """Yield the expressions that an expression may come to be, filters taken off."""
    if isinstance(node, nodes.CondExpr):
        yield from _choices(node.expr1)
        yield from _choices(node.expr2)
    elif isinstance(node, (nodes.Or, nodes.And)):
        yield from _choices(node.left)
        yield from _choices(node.right)
    elif isinstance(node, nodes.Filter):
        if node.name in ("default", "d"):
            yield from node.args[:1]
        yield from _choices(node.node)
    elif node is not None:
        yield node


def _note_use(node: nodes.Node, uses: dict[str, _Uses]) -> None:
    if isinstance(node, (nodes.If, nodes.CondExpr)):
        _note_truth(node.test, uses)
    elif isinstance(node, (nodes.And, nodes.Or)):
        _note_truth(node.left, uses)
        _note_truth(node.right, uses)
    elif isinstance(node, nodes.Not):
        _note_truth(node.node, uses)
    elif isinstance(node, nodes.Test):
        _note_test(node, uses)
    elif isinstance(node, nodes.Compare):
        _note_comparison(node, uses)
    elif isinstance(node, (nodes.For, nodes.Getattr, nodes.Getitem)):
        inner = node.iter if isinstance(node, nodes.For) else node.node
        for name in _names(inner):
            uses.setdefault(name, _Uses()).is_structure = True
    else:
        _note_printing(node, uses)


def _note_printing(node: nodes.Node, uses: dict[str, _Uses]) -> None:
    shown: list[nodes.Expr] = []
    if isinstance(node, (nodes.Output, nodes.Concat)):
        shown = node.nodes
    elif isinstance(node, nodes.Add):
        shown = [node.left, node.right]
    for part in shown:
        for name in _names(part):
            uses.setdefault(name, _Uses()).is_printed = True
        for value in _choices(part):
            if isinstance(value, nodes.Const) and isinstance(part, nodes.Filter):
                for name in _names(part):
                    _note_literal(uses[name], value)


def _note_truth(node: nodes.Node | None, uses: dict[str, _Uses]) -> None:
    for name in _names(node):
        uses.setdefault(name, _Uses()).is_tested = True


def _note_test(node: nodes.Test, uses: dict[str, _Uses]) -> None:
    for name in _names(node.node):
        found = uses.setdefault(name, _Uses())
        if node.name in _TYPE_TESTS:
            found.is_structure = True
        elif node.name != "string":
            found.is_tested = True
        found.is_optional |= node.name in ("defined", "undefined")


def _note_comparison(node: nodes.Compare, uses: dict[str, _Uses]) -> None:
    sides: list[nodes.Node] = [node.expr, *(operand.expr for operand in node.ops)]
    for name in dict.fromkeys(name for side in sides for name in _names(side)):
        found = uses.setdefault(name, _Uses())
        for side in sides:
            for value in side.items if isinstance(side, (nodes.List, nodes.Tuple)) else [side]:
                if isinstance(value, nodes.Const):
                    _note_literal(found, value)


def _note_literal(uses: _Uses, const: nodes.Const) -> None:
    value: object = const.value
    if value is None or isinstance(value, bool):
        uses.is_tested = True
    elif isinstance(value, (str, int)) and value != "":
        uses.literals.append(value)


def _names(node: nodes.Node | None) -> Iterator[str]:
    """Yield the names that an expression may directly be."""
    for value in _choices(node):
        name = _name_of(value)
        if name is not None:
            yield name


def _name_of(node: nodes.Node | None) -> str | None:
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.NSRef):
        return f"{node.name}.{node.attr}"
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name):
        return f"{node.node.name}.{node.attr}"
    return None
