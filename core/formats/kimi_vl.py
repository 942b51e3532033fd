r"""Kimi-VL Thinking: reasoning between tags of its own, no calls.

    ◁think▷REASONING◁/think▷CONTENT<|im_end|>

Nothing is framing.

Source: the model card of Kimi-VL-A3B-Thinking, 2025-04.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags

_THINK, _END_THINK = "◁think▷", "◁/think▷"

FORMAT: ModelFormat = TextFormat(
    name="kimi_vl",
    marks=(Mark(_THINK), Mark(_END_THINK)),
    conventions=Conventions(
        reasoning=ReasoningTags((_THINK,), (_END_THINK,)),
        turns=("<|im_system|>", "<|im_user|>", "<|im_assistant|>", "<|im_middle|>"),
        ends=frozenset({"[EOS]", "<|im_end|>"}),
    ),
    facts=FamilyFacts(call_markers=()),
)
