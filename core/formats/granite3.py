r"""Granite 3.0 to 3.3: a marker, then a JSON list of calls.

    CONTENT<|tool_call|>[{"name": "NAME", "arguments": {ARGUMENTS}}, …]     3.0, 3.2, 3.3
    CONTENT<tool_call>[{"name": "NAME", "arguments": {ARGUMENTS}}]          3.1

No marker closes the calls: the list's bracket does. Reasoning, where switched
on, is `<think>REASONING</think><response>CONTENT</response>` (3.3), or opened and
closed by the sentences `Here is my thought process:` and `Here is my response:` (3.2).

Source: the chat templates of Granite-3.0-8B-Instruct to 3.3-8B-Instruct, as of 2025-05;
vLLM 0.32 `reasoning/granite_reasoning_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import THINKING, FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_TOKEN, _TEXT = "<|tool_call|>", "<tool_call>"
_OPENERS = ("<think>", "Here is my thought process:", "Here's my thought process:")
_CLOSERS = ("</think>", "Here is my response:", "Here's my response:")
_WRAPPERS = ("<response>", "</response>")

FORMAT: ModelFormat = TextFormat(
    name="granite3",
    marks=(
        Mark(_TOKEN, CERTAIN, r"<\|tool_call\|>\s*\["),
        Mark(_TEXT, CERTAIN, r"<tool_call>\s*\[\s*\{"),
        Mark(_TOKEN, STRONG),
        Mark("my thought process:", STRONG, r"\A\s*Here(?: is|'s) my thought process:"),
    ),
    conventions=Conventions(
        turns=(
            "<|start_of_role|>",
            "<|end_of_role|>",
        ),
        reasoning=ReasoningTags(_OPENERS, _CLOSERS),
        ends=frozenset({"<|end_of_text|>"}),
        markers=frozenset({_TOKEN, _TEXT, "</tool_call>", *_WRAPPERS}),
    ),
    scan=JSONCalls(
        openers=(_TOKEN, _TEXT), closers=("</tool_call>",), one_per_tag=False, wrappers=_WRAPPERS, guards_prose=True
    ).scan,
    facts=FamilyFacts(
        sample='<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]<|end_of_text|>',
        tool_parsers=("granite",),
        reasoning_parsers=("granite",),
        switches=(THINKING,),
        call_markers=(_TOKEN, _TEXT, "</tool_call>"),
        has_json_arguments=True,
        list_marker=_TOKEN,
        model_names=("granite-3",),
    ),
)
