"""SGLang, with its own endpoints: its parsers run on a given text, without generating.

    GET  /get_server_info       →  version, tool_call_parser, reasoning_parser
    POST /parse_function_call   text, tools, tool_call_parser   →  normal_text, calls
    POST /separate_reasoning    text, reasoning_parser          →  reasoning_text, text

A call has `tool_index`, `name`, and `parameters` as JSON text. Names of its parsers are written

    sglang:TOOL              a tool parser, on text
    sglang:TOOL+REASONING    its reasoning parser first, then the tool parser on the rest, as its chat does
    sglang:-+REASONING       the reasoning parser alone

Source: SGLang, `srt/entrypoints/http_server.py` and `srt/function_call/core_types.py`, read 2026-11; both endpoints
are documented under "Tool Parser" and "Reasoning Parser" of its manual. What it calls its parsers is in the records
of the families, by its `srt/function_call/function_call_parser.py` at commit 00828e5 and its
`srt/parser/reasoning_parser.py`.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.base.json_values import as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject, Server, ServerOutcome
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.engines._looks import Looks
from prompt_debugger.core.complete.engines._parser_test import ParserTest, write_python_test
from prompt_debugger.core.complete.engines._record import Engine, Marks, OutputToParse, OwnParsers
from prompt_debugger.core.complete.engines._start import NOT_TRIED, Flag, StartCommand, StartWith

_NAME = re.compile(r"sglang:(?P<tool>[^+]+)(?:\+(?P<reasoning>.+))?", re.DOTALL)


class FunctionCalls(NamedTuple):
    """What a tool parser of SGLang made of a text: the text outside the calls, and the calls as a message has them."""

    text: str
    calls: tuple[JSONObject, ...]


class SeparatedReasoning(NamedTuple):
    """What a reasoning parser of SGLang made of a text; `None` where it gave none."""

    reasoning: str | None
    text: str


async def request_function_calls(
    connection: HttpConnection, text: str, parser: str, tools: Sequence[JSONObject]
) -> FunctionCalls:
    """Run a tool parser of the server on a text.

    Raises:
        BackendError: The server does not do that, knows no such parser, or answers in another shape.
    """
    body: JSONObject = {"text": text, "tool_call_parser": parser, "tools": list(tools)}
    path = "/parse_function_call"
    answer = await connection.post_for_json(path, body)
    fields = as_object(answer)
    normal_text = fields.get("normal_text")
    if "calls" not in fields or not isinstance(normal_text, str | None):
        raise _odd(path, answer)
    return FunctionCalls(normal_text or "", tuple(_call(call) for call in objects_in(fields["calls"])))


async def request_separate_reasoning(connection: HttpConnection, text: str, parser: str) -> SeparatedReasoning:
    """Run a reasoning parser of the server on a text.

    Raises:
        BackendError: As for `request_function_calls`.
    """
    path = "/separate_reasoning"
    answer = await connection.post_for_json(path, {"text": text, "reasoning_parser": parser})
    fields = as_object(answer)
    if "reasoning_text" not in fields or not isinstance(fields.get("text"), str | None):
        raise _odd(path, answer)
    return SeparatedReasoning(as_text(fields["reasoning_text"]) or None, as_text(fields.get("text")) or "")


def _call(call: JSONObject) -> JSONObject:
    """Return a call in the shape of a message; SGLang's chat adds its own id to it."""
    return {
        "type": "function",
        "function": {"name": call.get("name"), "arguments": as_text(call.get("parameters")) or ""},
    }


def _odd(path: str, answer: JSON) -> BackendError:
    return BackendError(f"`{path}` answered in a shape that is not SGLang's: {shorten(answer)}.", kind="odd-answer")


async def _add_details(looks: Looks, server: Server) -> Server:
    fields = await looks.fields("/get_server_info")
    reasoning = as_text(fields.get("reasoning_parser"))
    return replace(
        server,
        version=as_text(fields.get("version")),
        tool_parser=as_text(fields.get("tool_call_parser")),
        reasoning_parser=reasoning,
        has_reasoning_parser=reasoning is not None if "reasoning_parser" in fields else None,
    )


def _parsers_of(name: str) -> tuple[str | None, str | None]:
    """Return the tool parser and the reasoning parser that a name stands for, `None` for none."""
    found = _NAME.fullmatch(name)
    tool, reasoning = found.group("tool", "reasoning") if found else ("-", None)
    return None if tool == "-" else tool, reasoning


def _offered(server: Server) -> tuple[str, ...]:
    tool = server.tool_parser if "parse_function_call" in server.features else None
    reasoning = server.reasoning_parser if "separate_reasoning" in server.features else None
    if tool is None and reasoning is None:
        return ()
    return (f"sglang:{tool or '-'}" + (f"+{reasoning}" if reasoning else ""),)


async def _parse(connection: HttpConnection, name: str, output: OutputToParse) -> ServerOutcome:
    """Separate reasoning first, then parse calls, as SGLang's chat does; without tools it parses none."""
    tool, parser = _parsers_of(name)
    reasoning, rest = None, output.text
    if parser is not None:
        reasoning, rest = await request_separate_reasoning(connection, rest, parser)
    calls: tuple[JSONObject, ...] = ()
    if tool is not None and output.tools:
        rest, calls = await request_function_calls(connection, rest, tool, output.tools)
    return ServerOutcome(reasoning, rest or None, calls)


def _start(given: StartWith) -> StartCommand | None:
    if given.tool_name is None:
        return None
    words = ("--tool-call-parser", given.tool_name)
    reason = f"SGLang's name for the calls of `{given.family}`, by its own table; {NOT_TRIED}."
    proved = given.tool_proof.flag(words, "Answers with calls")
    flags = [*given.revision_flags("--revision"), proved if given.is_tried else Flag(words, reason)]
    if given.reasoning_name is not None:
        words = ("--reasoning-parser", given.reasoning_name)
        reason = f"SGLang's name for its reasoning, also {NOT_TRIED}."
        proved = given.reasoning_proof.flag(words, "Answers with reasoning")
        flags.append(proved if given.is_tried else Flag(words, reason))
    flags += given.template_flags("--chat-template")
    return StartCommand(
        ("python", "-m", "sglang.launch_server", "--model-path", given.source),
        tuple(flags),
        is_tried=given.is_tried,
        note=f"The parsers of SGLang {given.release} were run, without its server around them."
        if given.is_tried
        else "SGLang has its own parsers: an answer that vLLM's parsers read proves nothing about them.",
    )


_NOT_RUN = "# Not run: written from a raw output; SGLang was not installed where it was written.\n"
_TEST = '''\
"""What SGLang's tool parser `{parser}` makes of one output; needs no weights and no GPU."""

import json
import unittest

from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.function_call_parser import FunctionCallParser

OUTPUT = {raw}
TOOLS = json.loads{tools}
CALLS = {calls}


class TestOutput(unittest.TestCase):
    def {name}(self):
        parser = FunctionCallParser([Tool(**tool) for tool in TOOLS], "{parser}")
        content, found = parser.parse_non_stream(OUTPUT)
        self.assertEqual([(call.name, json.loads(call.parameters)) for call in found], CALLS, content)


if __name__ == "__main__":
    unittest.main()
'''


def _source(folder: Path, parser: str) -> Path | None:
    """Return the file of a parser's class: by the table of names, then by what the table's file imports."""
    place = folder / "sglang" / "srt" / "function_call"
    table = place / "function_call_parser.py"
    if not table.is_file():
        return None
    tree = ast.parse(table.read_text(encoding="utf-8"))
    made = {
        key.value: ast.unparse(value)
        for one in ast.walk(tree)
        if isinstance(one, ast.Dict)
        for key, value in zip(one.keys, one.values, strict=True)
        if isinstance(key, ast.Constant)
    }
    modules = {
        name.asname or name.name: one.module or ""
        for one in ast.walk(tree)
        if isinstance(one, ast.ImportFrom)
        for name in one.names
    }
    module = modules.get(made.get(parser, ""), "").rpartition(".")[2]
    file = place / f"{module}.py"
    return file if module and file.is_file() else None


ENGINE = Engine(
    kind="sglang",
    title="SGLang",
    takes_several=True,
    marks=Marks(owners=("sglang",), metrics="sglang:", believed_with="", order=20),
    distributions=("sglang",),
    feature_by_path={"/parse_function_call": "parse_function_call", "/separate_reasoning": "separate_reasoning"},
    add_details=_add_details,
    own_parsers=OwnParsers(
        prefix="sglang",
        spellings=("sglang:TOOL", "sglang:TOOL+REASONING", "sglang:-+REASONING"),
        is_name=lambda name: _parsers_of(name) != (None, None),
        offered=_offered,
        run=_parse,
        needs="an SGLang server",
    ),
    needs_tool_parser=True,
    start=_start,
    parser_test=ParserTest(
        functools.partial(write_python_test, _TEST), not_run=_NOT_RUN, package="sglang", source=_source
    ),
)
