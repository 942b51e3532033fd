r"""GLM 4.5 to 4.7 and 5, Ling 3, Laguna: a name, then keys and values in tags.

    <think>REASONING</think>CONTENT\n                    4.5: \n around each part
    <tool_call>NAME\n                                    4.7: no line breaks
    <arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n
    </tool_call><|observation|>

Values are exact: no white space in them is framing. Text is written plainly,
anything else as JSON; the tool's schema decides, and without
one everything is text.

Source: the chat templates of GLM-4.5, GLM-4.7-Flash and Ling-3.0-flash, as of 2026.
"""

from __future__ import annotations

import re

from core.formats._family import STRONG, Mark, TextFormat
from core.parse.reading import Conventions
from core.parse.reasoning import ReasoningTags
from core.parse.tag_calls import TagCalls
from core.protocols import ModelFormat

_NAME = r"<tool_call>\s*(?P<name>[A-Za-z_][\w.\-]*)"

FORMAT: ModelFormat = TextFormat(
    name="glm45",
    marks=(
        Mark("<arg_key>"),
        Mark("<arg_value>", STRONG),
        Mark("<tool_call>", pattern=r"<tool_call>\s*[A-Za-z_][\w.\-]*\s*(?:\n|</tool_call>)"),
    ),
    tails=("<|assistant|>",),
    conventions=Conventions(
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=1),
        ends=frozenset({"<|user|>", "<|observation|>", "<|role_end|>"}),
        markers=frozenset({"<tool_call>", "</tool_call>"}),
        before_call=1,
    ),
    scan=TagCalls(
        opener=re.compile(_NAME + r"\s*(?=<arg_key>|</tool_call>|<arg_value>|\n|\Z|\{)"),
        closer=re.compile(r"</tool_call>"),
        parameter=re.compile(
            r"<arg_key>\s*(?P<key>[^<\n]{0,200}?)\s*(?:</arg_key>\s*)?(?:</arg_key>|<arg_value>)(?:\s*<arg_value>)?"
        ),
        partial=re.compile(r"</?(?:arg_key>[^<\n]{0,200}(?:</arg_key>\s*)?<?)?[^<>\n]{0,80}\Z"),
        parameter_closer=re.compile(r"</arg_value>"),
        guards_prose=True,
    ).scan,
)
