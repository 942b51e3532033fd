r"""InternLM 2: one call between action tokens.

    CONTENT<|action_start|><|plugin|>\n{"name": "NAME", "parameters": {ARGUMENTS}}<|action_end|><|im_end|>

Whitespace inside the tokens is framing.

Source: InternLM2's tool-calling guide (Lagent format), 2024-07; vLLM 0.32 `tool_parsers/internlm2_tool_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPENERS = ("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>", "<|action_start|>\n<|plugin|>", "<|plugin|>")
_CLOSE = "<|action_end|>"

FORMAT: ModelFormat = TextFormat(
    name="internlm2",
    marks=(Mark("<|action_start|>"), Mark("<|plugin|>"), Mark(_CLOSE)),
    conventions=Conventions(
        ends=frozenset({"<|im_end|>", "<|endoftext|>"}),
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({"<|action_start|>", "<|plugin|>", _CLOSE}),
        before_call=1,
    ),
    scan=JSONCalls(openers=_OPENERS, closers=(_CLOSE,), wrappers=("<|action_start|>",)).scan,
    facts=FamilyFacts(
        tool_parsers=("internlm",),
        parser_names={"sglang": ParserNames(("interns1",)), "lmdeploy": ParserNames(("internlm", "intern-s1"))},
        has_json_arguments=True,
    ),
)
