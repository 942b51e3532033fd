"""A script that gives an output to a parser of vLLM or SGLang by hand, as reports to their trackers do.

    output = '<tool_call>…</tool_call>'
    parser.extract_tool_calls(output, request)

The text that the parser is given is the raw output; the script is read, never run.
"""

from __future__ import annotations

import ast
import re
import warnings

from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader

_MAX_CHARS = 40_000
_METHODS = (
    "extract_tool_calls",
    "extract_tool_calls_streaming",
    "detect_and_parse",
    "parse_streaming_increment",
    "parse_non_stream",
    "parse_tool_call",
)
_CALL = re.compile(rf"\b(?:{'|'.join(_METHODS)})\(")
_NOTE = "The raw output is the text that the script gives to a parser; what the parser made of it is not read."


def _finds(paste: Paste) -> float:
    return 0.9 if paste.value is None and _output(paste.text) is not None else 0.0


def _output(text: str) -> str | None:
    """Return the literal text that a script gives to a parser; `None` where there is none."""
    if len(text) > _MAX_CHARS or _CALL.search(text) is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    texts: dict[str, str] = {}
    given: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and (value := _literal(node.value)) is not None:
            texts |= {target.id: value for target in node.targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            named = (one.value for one in node.keywords if one.arg in ("model_output", "text"))
            given += [*node.args[:1], *named][:1]
    known = (_literal(one) or (texts.get(one.id) if isinstance(one, ast.Name) else None) for one in given)
    return next((one for one in known if one and one.strip()), None)


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _read(paste: Paste) -> Evidence:
    raw = _output(paste.text) or ""
    words = f"a script with a raw output of {len(raw):,} characters"
    return Evidence(Form.OUTPUT, words, raw=raw, notes=(_NOTE,))


READER = Reader(Form.OUTPUT, _finds, _read)
