"""Classes of faults of parsers, each with the edits of a source that may mend it; none is proved here.

Each edit is one of the text, without knowledge of any parser: of a regular expression, of one call, or of the beginning
of a function. What is not proved to help and to harm nothing is not offered (`upstream_diff`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Repair:
    """A class of faults and its edit.

    Attributes:
        says: What the changed parser does, for anyone who reads the diff.
        edits: Yields changed sources, the likeliest first.
        siblings: Returns outputs that the change could harm, made from the one that is not read.
    """

    name: str
    says: str
    edits: Callable[[str], Iterator[str]]
    siblings: Callable[[str], Iterator[str]]


_INDEX = re.compile(r":(?:\(\?P<\w+>\\d\+\)|\(\\d\+\)|\\d\+)")
# A number alone is a counter, and `name.0` an index that is written wrong: neither is a name.
_NOT_A_NUMBER = r"(?!\s*(?:[\w.-]*\.)?\d+(?!\s*:|[\w.-]))"
_INT_OF_GROUP = re.compile(r"int\((\w+\.group\([^()]*\))\)")
_BODY = re.compile(r"\(\.\*\?\)")
_BODY_WITH_STRINGS = r'((?:"(?:[^"\\]|\\.)*"|[^"])*?)'
_LITERAL = re.compile(r"(?P<kind>[rR]?[fF]?[rR]?)(?P<quote>\"\"\"|'''|\"|')")


_INDEX_ADDED = """\
{indent}if any({name}.removeprefix("functions.") == {tool} for tool in tools or ()):
{indent}    {name} += ":0"  # the model left the index out
"""


def _index_left_out(source: str) -> Iterator[str]:
    """Take a declared tool's name without `:0` where the parser knows the tools, else any name."""
    known = tuple(_index_added(source))
    yield from known or _index_optional(source)


def _index_added(source: str) -> Iterator[str]:
    """Add `:0` to the name of a declared tool, in each function that matches a header and knows the tools."""
    if not any(_INDEX.search(source[start:end]) for start, end in _literals(source)):
        return
    matching = [
        (one, name)
        for one in ast.walk(ast.parse(source))
        if isinstance(one, ast.FunctionDef) and (name := _header_of(one)) is not None
    ]
    if not matching:
        return
    for tool in ("tool.function.name", 'tool["function"]["name"]'):
        lines = source.splitlines(keepends=True)
        for function, name in sorted(matching, key=lambda one: -one[0].lineno):
            at = function.body[1 if ast.get_docstring(function) is not None else 0]
            added = _INDEX_ADDED.format(indent=" " * at.col_offset, name=name, tool=tool)
            lines.insert(at.lineno - 1, added)
        yield "".join(lines)


def _header_of(function: ast.FunctionDef) -> str | None:
    """Return the argument that a function matches with a pattern, if it has the tools as another."""
    names = {one.arg for one in function.args.args}
    if "tools" not in names or len(function.body) < 2:
        return None
    matched = (
        one.args[0].id
        for one in ast.walk(function)
        if isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr in ("match", "fullmatch")
        and one.args
        and isinstance(one.args[0], ast.Name)
    )
    return next((name for name in matched if name in names), None)


def _index_optional(source: str) -> Iterator[str]:
    """Make `:0` after a name optional in a pattern that wants it, and read a number that is not there as 0."""
    for start, end in _literals(source):
        text = source[start:end]
        if _INDEX.search(text) is None:
            continue
        changed = _INDEX.sub(lambda found: f"(?:{found.group()})?", text)
        head = re.match(r"[rR]?[\"'](?:\^(?:\\s\*)?)?", changed)
        if head is None:
            continue
        changed = changed[: head.end()] + _NOT_A_NUMBER + changed[head.end() :]
        yield _INT_OF_GROUP.sub(r"int(\1 or 0)", source[:start] + changed + source[end:])


def _marker_in_a_string(source: str) -> Iterator[str]:
    """Read a body up to a closing marker that is outside of its JSON strings."""
    for start, end in _literals(source):
        text = source[start:end]
        opened = _LITERAL.match(text)
        if opened is None or "r" not in opened["kind"].lower() or not _BODY.search(text):
            continue
        body = _BODY_WITH_STRINGS
        if opened["quote"] == '"':  # the body has quotes of its own
            body = body.replace('"', r"\x22")
        yield source[:start] + _BODY.sub(lambda _, body=body: body, text) + source[end:]  # type: ignore[misc]


def _split_after_json(source: str) -> Iterator[str]:
    """Read the JSON value that a text begins with, and leave what follows it."""
    for start, end in _calls(source, "json.loads"):
        (argument,) = _inner(source, start, end)
        yield f"{source[:start]}json.JSONDecoder().raw_decode({argument}.lstrip())[0]{source[end:]}"


def _text_before(source: str) -> Iterator[str]:
    """Look for a pattern anywhere instead of only at the beginning."""
    for found in re.finditer(r"\.match\(", source):
        yield f"{source[: found.start()]}.search({source[found.end() :]}"
    for start, end in _literals(source):
        text = source[start:end]
        if re.match(r"r[\"']\^(?![\"'])", text):
            yield source[:start] + text.replace("^", "", 1) + source[end:]


def _line_break_at_a_marker(source: str) -> Iterator[str]:
    r"""Take whitespace where a pattern wants one `\n`, or a marker without the line break next to it."""
    for start, end in _literals(source):
        text = source[start:end]
        if r"\n" in text and "(" in text:
            yield source[:start] + text.replace(r"\n", r"\s*") + source[end:]
        elif re.fullmatch(r"[\"']<[^\s<>]+>\\n[\"']|[\"']\\n<[^\s<>]+>[\"']", text):
            yield source[:start] + text.replace(r"\n", "") + source[end:]


def _set_index(raw: str) -> Iterator[str]:
    yield re.sub(r"(<\|tool_call_begin\|>.*<\|tool_call_end\|>)", r"\1\1", raw, flags=re.DOTALL)
    headers = re.compile(r"(<\|tool_call_begin\|>\s*)([\w.-]+)(?=\s*<)")
    yield headers.sub(r"\1functions.\2:0", raw)
    yield headers.sub(r"\1\2:3", raw)
    yield headers.sub(r"\g<1>3", raw)


def _plain_strings(raw: str) -> Iterator[str]:
    yield re.sub(r'"(?:[^"\\]|\\.)*?<(?:[^"\\]|\\.)*"', '"plain"', raw)


def _none(_: str) -> Iterator[str]:
    return iter(())


REPAIRS = (
    Repair("header-without-index", "a call whose header has a name and no index is read", _index_left_out, _set_index),
    Repair(
        "marker-inside-a-string",
        "a closing marker inside a JSON string does not end the call",
        _marker_in_a_string,
        _plain_strings,
    ),
    Repair("text-behind-the-call", "text after the JSON of a call does not lose the call", _split_after_json, _none),
    Repair("text-before-the-call", "text before a call does not lose the call", _text_before, _none),
    Repair("line-break-at-a-marker", "a marker is read with or without a line break", _line_break_at_a_marker, _none),
)


def _literals(source: str) -> Iterator[tuple[int, int]]:
    """Yield where string literals of a source are, each written in one piece; documentation is left out."""
    tree = ast.parse(source)
    docstrings = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    inside = {id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in ast.walk(one)}
    for one in ast.walk(tree):
        if not isinstance(one, ast.JoinedStr | ast.Constant) or id(one) in docstrings:
            continue
        if isinstance(one, ast.Constant) and (not isinstance(one.value, str) or id(one) in inside):
            continue
        start, end = _span(source, one)
        if _is_one_piece(source[start:end]):
            yield start, end


def _is_one_piece(text: str) -> bool:
    opened = _LITERAL.match(text)
    return opened is not None and text.count(opened["quote"]) == 2 + text.count("\\" + opened["quote"])


def _calls(source: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a function is called with one argument."""
    for one in ast.walk(ast.parse(source)):
        if isinstance(one, ast.Call) and ast.unparse(one.func) == name and len(one.args) == 1 and not one.keywords:
            yield _span(source, one)


def _inner(source: str, start: int, end: int) -> tuple[str]:
    call = ast.parse(source[start:end].strip(), mode="eval").body
    assert isinstance(call, ast.Call)
    return (ast.unparse(call.args[0]),)


def _span(source: str, node: ast.Constant | ast.JoinedStr | ast.Call) -> tuple[int, int]:
    lines = source.splitlines(keepends=True)

    def at(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
