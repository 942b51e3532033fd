"""Structural tags that vLLM builds for formats with a section of calls: MiniMax M2, PLaMo 3, Kimi K3, Hunyuan 4.

Written after what vLLM 0.32.0's builders give (`structural_tag_registry.py`); a test runs those beside these.
"""

from __future__ import annotations

import re

from core.parse.grammar.enforcement import GrammarPlan, ToolGrammar
from core.parse.grammar.tag_words import (
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
    triggered,
)
from core.types import JSON, JSONObject

_THINK = ("<think>", "</think>")
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


def minimax_tag(plan: GrammarPlan) -> JSONObject:
    """Return MiniMax M2's: `<minimax:tool_call>`, invocations with parameters as XML."""
    calls: list[JSON] = [
        between(f'<invoke name="{tool.name}">\n', following(schema_of(tool), "minimax_xml"), "</invoke>\n")
        for tool in plan.tools
    ]
    opening, closing = "<minimax:tool_call>\n", "</minimax:tool_call>"
    if plan.choice == "auto":
        section = between(opening, list_of_calls(calls), closing)
        return triggered("<minimax:tool_call>", [section], excludes=_THINK)
    return in_order(exactly("\n" + opening), list_of_calls(calls, only_first=plan.choice == "forced"), exactly(closing))


def plamo3_tag(plan: GrammarPlan) -> JSONObject:
    """Return PLaMo 3's: requests in special tokens, arguments as JSON."""

    def token(name: str) -> str:
        return f"<|plamo:{name}:plamo|>"

    calls: list[JSON] = [
        between(
            f"{token('begin_tool_request')}{token('begin_tool_name')}{tool.name}{token('end_tool_name')}"
            f"{token('begin_tool_arguments')}<|plamo:constrain|>json<|plamo:msg|>",
            following(schema_of(tool)),
            token("end_tool_arguments") + token("end_tool_request"),
        )
        for tool in plan.tools
    ]
    closing = token("end_tool_requests")
    section = between(
        token("begin_tool_requests"),
        list_of_calls(calls, only_first=plan.choice == "forced"),
        [closing, closing + "<|plamo:tag|>"],
    )
    return triggered(token("begin_tool_requests"), [section]) if plan.choice == "auto" else section


def kimi_k3_tag(plan: GrammarPlan) -> JSONObject:
    """Return Kimi K3's: the response, then perhaps the calls, all as elements of three tokens."""
    opens, closes = "<|open|>{}<|sep|>".format, "<|close|>{}<|sep|>".format
    response: list[JSON] = [
        maybe(exactly(opens("response"))),
        between("", free_text(("<|open|>", "<|close|>", "<|end_of_msg|>")), closes("response")),
    ]
    tools = plan.tools[:1] if plan.choice == "forced" else plan.tools
    calls: JSON = between(opens("tools"), list_of_calls([_k3_call(tool, plan) for tool in tools]), closes("tools"))
    if plan.choice == "auto":
        calls = maybe(calls)
    return in_order(*response, calls, maybe(exactly(closes("message"))))


def hy_v4_tag(plan: GrammarPlan, suffix: str = "") -> JSONObject:
    """Return Hunyuan 4's: keys are enforced, values are free; every tag bears the checkpoint's suffix."""

    def mark(name: str) -> str:
        return f"<{name}{suffix}>"

    calls: list[JSON] = [
        between(
            f"{mark('tool_call')}{tool.name}",
            free_text() if plan.open_keys else _hy_v4_pairs(tool, suffix),
            mark("/tool_call"),
        )
        for tool in plan.tools
    ]
    opening, closing = mark("tool_calls"), mark("/tool_calls")
    if plan.choice == "auto":
        return triggered(opening, [between(opening, list_of_calls(calls), closing)])
    return in_order(exactly(opening), list_of_calls(calls, only_first=plan.choice == "forced"), exactly(closing))


# --- Kimi K3 -------------------------------------------------------------------------


def _k3_call(tool: ToolGrammar, plan: GrammarPlan) -> JSONObject:
    content = in_order(
        matching("[0-9]+"), exactly('"<|sep|>'), _k3_arguments(True if plan.open_keys else schema_of(tool))
    )
    return between(f'<|open|>call tool="{_k3_escaped(tool.name)}" index="', content, "<|close|>call<|sep|>")


def _k3_arguments(schema: JSON) -> JSON:
    """Return any arguments in any order, one at least if any is required."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict) or not properties:
        return repeated(_k3_any_argument())
    definitions: JSONObject = {
        key: table for key in ("$defs", "definitions") if isinstance(table := schema.get(key), dict)
    }
    inner = one_of([_k3_argument(key, value, definitions) for key, value in properties.items()])
    required = schema.get("required")
    return {"type": "plus", "content": inner} if isinstance(required, list) and required else repeated(inner)


def _k3_argument(key: str, schema: JSON, definitions: JSONObject) -> JSON:
    declared = schema if isinstance(schema, dict) else {}
    kind = declared.get("type")
    written = _XTML_TYPES.get(kind) if isinstance(kind, str) else None
    if written is None:
        return _k3_any_argument()
    content = _k3_text(declared) if written == "string" else following({**definitions, **declared})
    return between(
        f'<|open|>argument key="{_k3_escaped(key)}" type="{written}"<|sep|>', content, "<|close|>argument<|sep|>"
    )


def _k3_text(schema: JSONObject) -> JSON:
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


def _k3_any_argument() -> JSONObject:
    separator = re.escape("<|sep|>").replace(r"\<", "<").replace(r"\>", ">")
    content = in_order(matching(f"[^<]*{separator}"), free_text(("<|close|>",)))
    return between("<|open|>argument ", content, "<|close|>argument<|sep|>")


def _k3_escaped(name: str) -> str:
    return name.replace("&", "&amp;").replace('"', "&quot;")


# --- Hunyuan 4 -----------------------------------------------------------------------


def _hy_v4_pairs(tool: ToolGrammar, suffix: str) -> JSON:
    """Return the required keys in their order, then the optional ones in any."""
    schema = tool.parameters if isinstance(tool.parameters, dict) else {}
    properties = schema.get("properties") or {}
    required = schema.get("required") or []
    declared = [*properties] if isinstance(properties, dict) else []
    wanted = [key for key in required if isinstance(key, str)] if isinstance(required, list) else []
    first = [key for key in declared if key in wanted] + [key for key in wanted if key not in declared]
    pairs: list[JSON] = [_hy_v4_pair(key, suffix) for key in first]
    rest: list[JSON] = [_hy_v4_pair(key, suffix) for key in declared if key not in wanted]
    if rest:
        pairs.append(repeated(one_of(rest)))
    return in_order(*pairs) if pairs else free_text()


def _hy_v4_pair(key: str, suffix: str) -> JSONObject:
    parts = [f"<arg_key{suffix}>", key, f"</arg_key{suffix}>", f"<arg_value{suffix}>"]
    return in_order(*map(exactly, parts), free_text(), exactly(f"</arg_value{suffix}>"))
