r"""Kimi K3: XTML, elements made of three special tokens.

    <|open|>think<|sep|>REASONING<|close|>think<|sep|>
    <|open|>response<|sep|>CONTENT<|close|>response<|sep|>
    <|open|>tools<|sep|>
    <|open|>call tool="NAME" index="1"<|sep|>
    <|open|>argument key="KEY" type="string"<|sep|>TEXT<|close|>argument<|sep|>
    <|open|>argument key="KEY" type="number"<|sep|>JSON<|close|>argument<|sep|>
    <|close|>call<|sep|>
    <|close|>tools<|sep|><|close|>message<|sep|>

Drawn on several lines; written without line breaks. Everything but strings is
JSON; attribute values are escaped (`&quot;`, `&amp;`). No whitespace is framing.

Source: the chat template of Kimi-K3, 2026.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.structural_tag import (
    GrammarPlan,
    ToolGrammar,
    between,
    exactly,
    following,
    free_text,
    in_order,
    list_of_calls,
    matching,
    maybe,
    one_of,
    repeated,
    schema_of,
)
from prompt_debugger.core.base.types import JSON, CallStatus, JSONObject, Span
from prompt_debugger.core.formats._facts import ENABLE_THINKING, THINKING, FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.tag_calls import TagCalls

_OPEN, _CLOSE, _SEPARATOR = r"<\|open\|>\s*", r"<\|close\|>\s*", r"\s*<\|sep\|>"
_INSIDE = r"(?:(?!<\|)[^\n]){0,400}?"  # inside a tag: `<` may occur, a token may not
_KEY_AND_TYPE = (
    rf"(?={_INSIDE}\bkey=\"(?P<key>[^\"]{{0,256}})\")(?:{_INSIDE}\btype=\"(?P<type>[^\"]{{0,80}})\")?{_INSIDE}"
)
_JSON_OPEN = (
    rf"\s*{_OPEN}json\b[^<]{{0,256}}?{_SEPARATOR}"  # arguments that came as text are written as one JSON element
)

_LOST = "`<|sep|><|open|>` between `tools` and `call` is missing"
_MAX_BOUND = 4096
_MAX_OPTIONS = 256
_XTML_TYPES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "object",
    "array": "array",
}


def build_tag(plan: GrammarPlan, suffix: str = "") -> JSONObject:
    """Return its structural tag: the response, then perhaps the calls, all as elements of three tokens."""
    opens, closes = "<|open|>{}<|sep|>".format, "<|close|>{}<|sep|>".format
    response: list[JSON] = [
        maybe(exactly(opens("response"))),
        between("", free_text(("<|open|>", "<|close|>", "<|end_of_msg|>")), closes("response")),
    ]
    tools = plan.tools[:1] if plan.choice == "forced" else plan.tools
    calls: JSON = between(opens("tools"), list_of_calls([_tag_call(tool, plan) for tool in tools]), closes("tools"))
    if plan.choice == "auto":
        calls = maybe(calls)
    return in_order(*response, calls, maybe(exactly(closes("message"))))


def _tag_call(tool: ToolGrammar, plan: GrammarPlan) -> JSONObject:
    content = in_order(
        matching("[0-9]+"), exactly('"<|sep|>'), _tag_arguments(True if plan.open_keys else schema_of(tool))
    )
    return between(f'<|open|>call tool="{_tag_escaped(tool.name)}" index="', content, "<|close|>call<|sep|>")


def _tag_arguments(schema: JSON) -> JSON:
    """Return any arguments in any order, one at least if any is required."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict) or not properties:
        return repeated(_tag_any_argument())
    definitions: JSONObject = {
        key: table for key in ("$defs", "definitions") if isinstance(table := schema.get(key), dict)
    }
    inner = one_of([_tag_argument(key, value, definitions) for key, value in properties.items()])
    required = schema.get("required")
    return {"type": "plus", "content": inner} if isinstance(required, list) and required else repeated(inner)


def _tag_argument(key: str, schema: JSON, definitions: JSONObject) -> JSON:
    declared = schema if isinstance(schema, dict) else {}
    kind = declared.get("type")
    written = _XTML_TYPES.get(kind) if isinstance(kind, str) else None
    if written is None:
        return _tag_any_argument()
    content = _tag_text(declared) if written == "string" else following({**definitions, **declared})
    return between(
        f'<|open|>argument key="{_tag_escaped(key)}" type="{written}"<|sep|>', content, "<|close|>argument<|sep|>"
    )


def _tag_text(schema: JSONObject) -> JSON:
    """Return what a text may be: one of its options, of bounded length, or anything up to the closing tag."""
    options = schema.get("enum")
    if options is None and isinstance(schema.get("const"), str):
        options = [schema["const"]]
    if isinstance(options, list) and 0 < len(options) <= _MAX_OPTIONS:
        texts = [option for option in options if isinstance(option, str) and "<|" not in option]
        if len(texts) == len(options):
            return one_of([exactly(option) for option in texts])
    most, least = schema.get("maxLength"), schema.get("minLength", 0)
    if not isinstance(most, int) or not 0 <= most <= _MAX_BOUND:
        return free_text(("<|close|>",))
    if not isinstance(least, int) or not 0 <= least <= most:
        least = 0
    return matching(f"(?:[^<]|<[^|]){{{least},{most}}}")


def _tag_any_argument() -> JSONObject:
    separator = re.escape("<|sep|>").replace(r"\<", "<").replace(r"\>", ">")
    content = in_order(matching(f"[^<]*{separator}"), free_text(("<|close|>",)))
    return between("<|open|>argument ", content, "<|close|>argument<|sep|>")


def _tag_escaped(name: str) -> str:
    return name.replace("&", "&amp;").replace('"', "&quot;")


_CALLS = TagCalls(
    opener=re.compile(
        rf"{_OPEN}(?:tools\s*)?call\s+{_INSIDE}tool=\"(?P<name>(?:(?!<\|)[^\"]){{0,256}})"
        rf"(?:\"{_INSIDE}(?:{_SEPARATOR}(?:{_JSON_OPEN})?|\Z)|\Z)"
    ),
    closer=re.compile(rf"(?:{_CLOSE}json{_SEPARATOR}\s*)?{_CLOSE}call{_SEPARATOR}"),
    parameter=re.compile(_OPEN + r"argument\b" + _KEY_AND_TYPE + _SEPARATOR),
    partial=re.compile(r"<(?:\||\Z)(?:(?:open|close)\|>)?[^\n]{0,200}\Z"),
    parameter_closer=re.compile(_CLOSE + "argument" + _SEPARATOR),
    wrapper=re.compile(rf"(?:{_OPEN}|{_CLOSE})(?:tools)?(?:tools|response|message)\b[^<]{{0,256}}?{_SEPARATOR}"),
    cut_wrapper=re.compile(rf"{_OPEN}tools{_SEPARATOR}"),
    unescapes=(("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")),
)
_JOINED = re.compile(_OPEN + r"tools\s*call\b")


def _scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the calls, also those that follow the tag around them without the tokens between the two."""
    scan = _CALLS.scan(raw, region, context)
    calls = (
        replace(call, deviation=_LOST)
        if call.status is CallStatus.COMPLETE and _JOINED.match(raw, call.char_span.start) is not None
        else call
        for call in scan.calls
    )
    return replace(scan, calls=tuple(calls))


FORMAT: ModelFormat = TextFormat(
    name="kimi_k3",
    marks=(Mark("<|open|>", pattern=r"<\|open\|>\s*\w+"), Mark("<|close|>", pattern=r"<\|close\|>\s*\w+")),
    tails=('<|open|>message role="assistant"<|sep|>',),
    conventions=Conventions(
        turns=("<|open|>message",),
        reasoning=ReasoningTags(("<|open|>think<|sep|>",), ("<|close|>think<|sep|>",)),
        ends=frozenset({"<|close|>message<|sep|>", "<|end_of_msg|>"}),
        markers=frozenset({"<|open|>", "<|close|>", "<|sep|>"}),
        cut_structure=re.compile(r"<\|(?:open|close)\|>\s{0,40}\w{0,16}(?:\s{1,40}\w{0,16}=?)?(?:<\|?)?\Z"),
    ),
    scan=_scan_calls,
    facts=FamilyFacts(
        markers_are_plain_words=True,
        tool_parsers=("kimi_k3",),
        reasoning_parsers=("kimi_k3",),
        parser_names={"sglang": ParserNames(("kimi_k3",)), "mlx-lm": ParserNames(("kimi_k3",))},
        switches=(THINKING, ENABLE_THINKING),
        grammars=(Grammar("kimi_k3", "kimi_k3", build=build_tag, stops=("<|end_of_msg|>",)),),
        stripped=r"\bcall tool=\"(?P<name>[\w.\-]+)\" index=\"\d+\"",
    ),
)
