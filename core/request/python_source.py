"""A Python snippet as pasted: its syntax tree, and where each part is in the paste."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.request.places import Place
from prompt_debugger.core.request.python_values import Unreadable

_PROMPT = re.compile(r"(?m)^[ \t]*(?:>>>|\.\.\.)(?: |$)")
_MAGIC = re.compile(r"(?m)^([ \t]*)[!%]")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed snippet.

    Attributes:
        text: As pasted.
        lines: The lines that were parsed, line ends kept.
        margin: How many characters of common indentation were taken off before parsing.
    """

    text: str
    tree: ast.Module
    lines: tuple[str, ...]
    margin: int

    def place(self, node: ast.expr) -> Place:
        """Return where an expression begins in the pasted text."""
        return Place(node.lineno, self._column(node.lineno, node.col_offset) + 1)

    def error(self, unreadable: Unreadable, field_path: str | None) -> RequestError:
        """Return the error to show for a value that `field_path` needs."""
        line, column = self.place(unreadable.node)
        hint = "Write the value itself there; the snippet is read, never run."
        return RequestError(unreadable.message, hint, line=line, column=column, field=field_path)

    def _column(self, line: int, byte_column: int) -> int:
        """Turn the tree's column, in UTF-8 bytes, into characters of the pasted line."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return self.margin + len(text.encode("utf-8")[:byte_column].decode("utf-8", "ignore"))


def parse_source(text: str) -> Source:
    """Parse a snippet; prompts and notebook commands are blanked out, a common margin is taken off.

    Raises:
        RequestError: It is not Python.
    """
    source = " " + text[1:] if text.startswith("\ufeff") else text
    if source.lstrip().startswith(">>>"):
        source = _PROMPT.sub(lambda match: " " * len(match[0]), source)
    source = _MAGIC.sub(r"\1#", source)
    margin = _margin(source)
    if margin:
        source = "".join(line[margin:] if line.strip() else line.lstrip(" \t") for line in _LINE.findall(source))
    return Source(text, _parse(source, margin), tuple(_LINE.findall(source)), margin)


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the simple statements in the order in which they are written, those of functions last."""
    later: list[ast.stmt] = []
    stack = list(reversed(tree.body))
    while stack:
        statement = stack.pop()
        yield statement
        inner = [child for handler in getattr(statement, "handlers", []) for child in handler.body]
        inner += [child for name in ("body", "orelse", "finalbody") for child in getattr(statement, name, [])]
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            later += inner
        else:
            stack += reversed(inner)
        if not stack:
            stack, later = list(reversed(later)), []


def expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement in source order, without those of statements inside it."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, (ast.stmt, ast.ExceptHandler))]
        stack += reversed(inner)


def _margin(source: str) -> int:
    lines = [line for line in source.split("\n") if line.strip()]
    return len(lines[0]) - len(textwrap.dedent("\n".join(lines)).split("\n", 1)[0]) if lines else 0


def _parse(source: str, margin: int) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        column = max(error.offset or 1, 1) + margin
        raise RequestError(
            f"The text cannot be read as Python: {error.msg}.", line=error.lineno or 1, column=column
        ) from None
    except (ValueError, RecursionError, MemoryError):
        raise RequestError(
            "The text cannot be read as Python: it is nested too deeply, or contains invalid characters."
        ) from None
