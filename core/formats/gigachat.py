r"""GigaChat 3: one call after a token.

    CONTENT<|function_call|>{"name": "NAME", "arguments": {ARGUMENTS}}<|message_sep|>\n\n

Older checkpoints write `function call` and a line break instead of the token. No marker
closes the call: its JSON does.

Source: the chat template of GigaChat3.1-10B-A1.8B, 2026; vLLM 0.32 `tool_parsers/gigachat3_tool_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import CERTAIN, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_TOKEN = "<|function_call|>"

FORMAT: ModelFormat = TextFormat(
    name="gigachat",
    marks=(
        Mark(_TOKEN),
        Mark("function call", CERTAIN, r"function call(?:<\|role_sep\|>)?\s*\{\s*\"name\""),
        Mark("<|message_sep|>", STRONG),
    ),
    tails=("<|role_sep|>",),
    conventions=Conventions(
        turns=("<|role_sep|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"<|message_sep|>", "</s>"}),
        markers=frozenset({_TOKEN}),
    ),
    scan=JSONCalls(
        openers=(
            _TOKEN,
            "<|message_sep|>\n\nfunction call<|role_sep|>\n",
            "function call<|role_sep|>\n",
            "function call<|role_sep|>",
            "function call\n",
            "function call",
        ),
        guards_prose=True,
    ).scan,
    facts=FamilyFacts(
        markers_are_plain_words=True,
        message_ends=("<|message_sep|>",),
        tool_parsers=("gigachat3",),
        parser_names={"sglang": ParserNames(("gigachat3",))},
        has_json_arguments=True,
        stripped=r"\bfunction call\s*\{\s*\"name\"\s*:\s*\"(?P<name>[\w.\-]+)\"",
    ),
)
