"""Hypothesis strategies for model output: hostile text, tools, arguments."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

# Markers of many families, whole; halves of them are made from these.
MARKERS = (
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_end|>", "<|im_start|>", "<|eot_id|>", "</s>",
    "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "functions.get_weather:0", "<|tool_call_argument_begin|>",
    "<|tool_call_end|>", "<|tool_calls_section_end|>", '{"name": "get_weather", "arguments": {"city": "x"}}',
    '{"name": "get_weather", "parameters": {}}', '{"city": "', "<function=get_weather>", "<parameter=city>",
    "</parameter>", "</function>", "[TOOL_CALLS]", "[ARGS]", '[{"name": "', "<arg_key>", "</arg_key>", "<arg_value>",
    "</arg_value>", "<tool_call>get_weather\n", "<minimax:tool_call>", '<invoke name="get_weather">', "</invoke>",
    '<parameter name="city">', "<｜DSML｜function_calls>", '<｜DSML｜invoke name="get_weather">',
    '<｜DSML｜parameter name="city" string="true">', "</｜DSML｜parameter>", "</｜DSML｜invoke>",
    "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "\n```json\n", "\n```", "<｜tool▁call▁end｜>",
    "<|channel|>analysis", "<|channel|>commentary to=functions.get_weather", "<|message|>", "<|call|>", "<|start|>",
    "<|end|>", "<|tool_call>", "call:get_weather{", '<|"|>', "<tool_call|>", "<|channel>thought\n", "<channel|>",
    "]<]minimax[>[", '<invoke name="get_weather">', "<city>", "</city>", "<|python_tag|>", "[get_weather(city=",
    "<|tool_call_start|>", "<|tool_call_end|>", "<function_calls>", "<tool_calls>", "</tool_calls>", "<answer>",
    "<|open|>", "call tool=", "<|sep|>", "<|close|>", "<|START_ACTION|>", "<|tools_prefix|>", ">>>all\n", ">>>",
    "<steptml:invoke name=", "functools[", "<TOOLCALL>[", "<|action_start|><|plugin|>", "Here is my thought process:",
)  # fmt: skip

_ODD = (
    "\ud800", "\udfff", "\x00", "\r\n", "\u200b", "\u202e", "e\u0301", "\ufeff", "\u2028", "\U0001f600", "\\", '\\"',
    "`", "```", '"', "'", "{", "}", "[", "]", "(", ")", "<", ">", "|", ":", ",", "=", "\n", "\n\n", " ", "\t", "0",
    "null",
)  # fmt: skip


@st.composite
def _half_marker(draw: st.DrawFn) -> str:
    marker = draw(st.sampled_from(MARKERS))
    return marker[: draw(st.integers(0, len(marker)))]


def raw_texts(max_pieces: int = 14) -> st.SearchStrategy[str]:
    """Model output at its worst: markers, half markers, odd characters and prose in any order."""
    pieces = st.one_of(
        st.sampled_from(MARKERS), _half_marker(), st.sampled_from(_ODD), st.text(max_size=8), st.just("Let me see. ")
    )
    return st.lists(pieces, max_size=max_pieces).map("".join)


def prose() -> st.SearchStrategy[str]:
    """Visible text without any structure, no whitespace at its edges; may be empty."""
    words = st.text(
        st.characters(codec="utf-8", exclude_characters="<>[]{}`|:\\()\"'=", exclude_categories=["C"]), max_size=6
    )
    return st.lists(st.one_of(words, st.sampled_from([" ", "\n", "\n\n", "é", "中"])), max_size=8).map(
        lambda parts: "".join(parts).strip()
    )


def tool_names() -> st.SearchStrategy[str]:
    """Names that are Python identifiers."""
    return st.from_regex(r"[a-z][a-z_]{1,10}[a-z]", fullmatch=True).filter(
        lambda name: name not in ("all", "true", "null", "call")
    )


def json_scalars(forbidden: tuple[str, ...] = ()) -> st.SearchStrategy[Any]:
    texts = st.one_of(st.text(max_size=12), st.sampled_from(_ODD), raw_texts(3))
    allowed = texts.filter(lambda text: not any(word in text for word in forbidden))
    return st.one_of(allowed, st.integers(-(10**9), 10**9), st.booleans(), st.none())


def json_values(forbidden: tuple[str, ...] = ()) -> st.SearchStrategy[Any]:
    """JSON values whose strings hold none of `forbidden`."""
    keys = st.from_regex(r"[a-z]{1,5}", fullmatch=True)
    return st.recursive(
        json_scalars(forbidden),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
        max_leaves=5,
    )


def arguments(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The arguments of one call."""
    return st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,6}", fullmatch=True), values, max_size=3)


def tool_for(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return a tool spec whose schema allows exactly the kinds of the given arguments."""
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    properties = {key: {"type": kinds.get(type(value), "null")} for key, value in given.items()}
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
