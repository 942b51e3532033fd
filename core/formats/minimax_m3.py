r"""MiniMax M3: invocations whose every tag has a prefix, values nested as elements.

    <mm:think>REASONING</mm:think>CONTENT
    ]<]minimax[>[<tool_call>\n
    ]<]minimax[>[<invoke name="NAME">]<]minimax[>[<KEY>TEXT]<]minimax[>[</KEY>
    ]<]minimax[>[<KEY>]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[</KEY>
    ]<]minimax[>[</invoke>\n
    ]<]minimax[>[</tool_call>

An element with elements in it is an object, or a list where the schema says so
or its elements are all called `item`. Text is typed by the tool's schema.

Source: vLLM 0.32 `parser/minimax_m3.py`, `reasoning/minimax_m3_reasoning_parser.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import JSON, CallStatus, JSONObject, Span, ToolCallAttempt
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames, ThinkingSwitch
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.arguments import Arguments
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import Header, build_call
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.scan import PatternFinder, QuoteGuard, skip_space, trim_span
from prompt_debugger.core.parse.tools import parameter_schemas
from prompt_debugger.core.parse.typed_values import branch_for, schema_types, value_from_text

_PREFIX = "]<]minimax[>["
_P = re.escape(_PREFIX)
_WRAPPER = re.compile(rf"{_P}</?tool_call>|</?tool_call>(?=\s|{_P}|\Z)")
_OPENER = re.compile(rf"{_P}<invoke name=[\"']?(?P<name>[^\"'>\n]{{0,256}})[\"']?(?:/?>|\Z)")
_CLOSER = re.compile(rf"{_P}</invoke>")
_TAG = re.compile(rf"{_P}<(?P<slash>/?)(?P<key>[^<>\n]{{1,200}})>")
_STOP = re.compile(rf"{_P}</?(?:invoke|tool_call)\b|</mm:think>|\[e~\[")
_MAX_DEPTH = 100


@dataclass(slots=True)
class _Element:
    """An element being read.

    Attributes:
        key: Its name.
        text_start: Where its text or its first child begins.
        children: Name and value of each child. Until a schema gives it a type, a value is a text, or its own children
            as a list of lists `[name, value]`.
    """

    key: str
    text_start: int
    children: list[tuple[str, JSON]]


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the invocations of a stretch."""
    finder = PatternFinder(raw, region.stop)
    guard = QuoteGuard(raw, region.start, region.stop)
    calls: list[ToolCallAttempt] = []
    markup: list[Span] = []
    position = region.start
    while True:
        opener, wrapper = finder.next(_OPENER, position), finder.next(_WRAPPER, position)
        if wrapper is not None and (opener is None or wrapper.start() < opener.start()):
            if wrapper.group().startswith(_PREFIX) and not guard.is_quoted(Span(*wrapper.span())):
                markup.append(Span(*wrapper.span()))
            position = wrapper.end()
            continue
        if opener is None:
            return Scan(tuple(calls), tuple(markup))
        call = _read_call(raw, region.stop, finder, opener, context)
        position = max(call.char_span.stop, opener.end())
        if not guard.is_quoted(call.char_span):
            guard.skip(position)
            calls.append(call)


def _read_call(
    raw: str, stop: int, finder: PatternFinder, opener: re.Match[str], context: ReadContext
) -> ToolCallAttempt:
    name_span = Span(*opener.span("name"))
    header = Header(opener.group("name") or None, name_span if opener.group("name") else None)
    closer, limit = finder.next(_CLOSER, opener.end()), finder.next(_STOP, opener.end())
    end = stop if limit is None else limit.start()
    is_closed = closer is not None and closer.start() == end
    span = trim_span(raw, opener.end(), end)
    children, problem = _read_elements(raw, span)
    value = _typed_object(children, {"properties": parameter_schemas(context.tools, header.name or "")})
    status = CallStatus.COMPLETE
    if problem is not None:
        status = CallStatus.MALFORMED if is_closed or limit is not None else CallStatus.TRUNCATED
    elif not is_closed:
        status = CallStatus.TRUNCATED if limit is None else CallStatus.COMPLETE
        problem = "its closing tag is missing"
    after = closer.end() if closer is not None and is_closed else span.stop
    decoded = value if status is not CallStatus.TRUNCATED else None
    return build_call(raw, opener.start(), header, Arguments(span, decoded, status, problem, after))


def _read_elements(raw: str, span: Span) -> tuple[list[tuple[str, JSON]], str | None]:
    """Read nested elements; return the outermost ones and what is wrong."""
    root = _Element("", span.start, [])
    stack = [root]
    position = span.start
    stray: str | None = None
    while (tag := _TAG.search(raw, position, span.stop)) is not None:
        between, position = raw[position : tag.start()].strip(), tag.end()
        if len(stack) == 1 and between:
            stray = stray or f"stray text between its values: {between[:40]!r}"
        if not tag.group("slash"):
            if len(stack) > _MAX_DEPTH:
                return root.children, "nested too deeply"
            stack.append(_Element(tag.group("key"), tag.end(), []))
            continue
        element = stack.pop()
        if not stack or element.key != tag.group("key"):
            return root.children, f"</{tag.group('key')}> closes nothing"
        text = raw[element.text_start : tag.start()]
        stack[-1].children.append((element.key, [[*child] for child in element.children] or text))
    if len(stack) > 1:
        return root.children, f"the value of {stack[1].key!r} is not closed"
    rest = skip_space(raw, position, span.stop)
    return root.children, stray if rest >= span.stop else f"stray text: {raw[rest : rest + 40]!r}"


def _typed_object(children: list[tuple[str, JSON]], schema: JSONObject) -> JSONObject:
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    result: JSONObject = {}
    for key, child in children:
        value = _typed(child, known.get(key))
        earlier = result.get(key)
        result[key] = value if key not in result else [*(earlier if isinstance(earlier, list) else [earlier]), value]
    return result


def _typed(value: JSON, schema: JSON) -> JSON:
    types = schema_types(schema)
    if isinstance(value, str):
        if not value.strip() and "string" not in types and types & {"array", "object"}:
            return [] if "array" in types else {}
        return value_from_text(value, schema)
    pairs = [(str(pair[0]), pair[1]) for pair in value if isinstance(pair, list)] if isinstance(value, list) else []
    has_items = all(key == "item" for key, _ in pairs)
    if ("array" in types and (has_items or "object" not in types)) or (not types and has_items):
        return [_typed(item, branch_for(schema, "array").get("items")) for _, item in pairs]
    return _typed_object(list(pairs), dict(branch_for(schema, "object")))


FORMAT: ModelFormat = TextFormat(
    name="minimax_m3",
    marks=(Mark(_PREFIX, 0.97), Mark("<mm:think>"), Mark("</mm:think>")),
    conventions=Conventions(
        turns=("]~b]",),
        reasoning=ReasoningTags(("<mm:think>",), ("</mm:think>",)),
        ends=frozenset({"[e~["}),
        cut_texts=frozenset(_PREFIX + tag for tag in ("<tool_call>", "</tool_call>", "<invoke name=", "</invoke>")),
        before_call=1,
    ),
    scan=scan_calls,
    facts=FamilyFacts(
        markers_are_plain_words=True,
        tool_parsers=("minimax_m3",),
        reasoning_parsers=("minimax_m3",),
        parser_names={"sglang": ParserNames(("minimax-m3",))},
        switches=(ThinkingSwitch("thinking_mode", on="enabled", off="disabled"),),
        call_markers=(_PREFIX,),
    ),
)
