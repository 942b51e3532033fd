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
JSON; attribute values are escaped (`&quot;`, `&amp;`). No white space is framing.

Source: the chat template of Kimi-K3, 2026.
"""

from __future__ import annotations

import re

from core.formats._family import Mark, TextFormat
from core.parse.reading import Conventions
from core.parse.reasoning import ReasoningTags
from core.parse.tag_calls import TagCalls
from core.protocols import ModelFormat

_OPEN, _CLOSE, _SEPARATOR = r"<\|open\|>\s*", r"<\|close\|>\s*", r"\s*<\|sep\|>"
_INSIDE = r"(?:(?!<\|)[^\n])*?"  # inside a tag: `<` may stand there, a token may not
_KEY_AND_TYPE = rf"(?={_INSIDE}\bkey=\"(?P<key>[^\"]*)\")(?:{_INSIDE}\btype=\"(?P<type>[^\"]*)\")?{_INSIDE}"
_JSON_OPEN = rf"\s*{_OPEN}json\b[^<]*?{_SEPARATOR}"  # arguments that came as text are written as one JSON element

FORMAT: ModelFormat = TextFormat(
    name="kimi_k3",
    marks=(Mark("<|open|>", pattern=r"<\|open\|>\s*\w+"), Mark("<|close|>", pattern=r"<\|close\|>\s*\w+")),
    tails=('<|open|>message role="assistant"<|sep|>',),
    conventions=Conventions(
        reasoning=ReasoningTags(("<|open|>think<|sep|>",), ("<|close|>think<|sep|>",)),
        ends=frozenset({"<|close|>message<|sep|>", "<|end_of_msg|>"}),
        markers=frozenset({"<|open|>", "<|close|>", "<|sep|>"}),
    ),
    scan=TagCalls(
        opener=re.compile(
            rf"{_OPEN}call\s+{_INSIDE}tool=\"(?P<name>(?:(?!<\|)[^\"])*)"
            rf"(?:\"{_INSIDE}(?:{_SEPARATOR}(?:{_JSON_OPEN})?|\Z)|\Z)"
        ),
        closer=re.compile(rf"(?:{_CLOSE}json{_SEPARATOR}\s*)?{_CLOSE}call{_SEPARATOR}"),
        parameter=re.compile(_OPEN + r"argument\b" + _KEY_AND_TYPE + _SEPARATOR),
        partial=re.compile(r"<(?:\||\Z)(?:(?:open|close)\|>)?[^\n]{0,200}\Z"),
        parameter_closer=re.compile(_CLOSE + "argument" + _SEPARATOR),
        wrapper=re.compile(rf"(?:{_OPEN}|{_CLOSE})(?:tools|response|message)\b[^<]*?{_SEPARATOR}"),
        cut_wrapper=re.compile(rf"{_OPEN}tools{_SEPARATOR}"),
        unescapes=(("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")),
    ).scan,
)
