r"""xLAM: a JSON list of calls, bare or in whatever wrapper.

    <think>REASONING</think>
    [{"name": "NAME", "arguments": {ARGUMENTS}}, …]

Also in a code fence that is the whole message, where tools of the request are called, between `<tool_call>` tags or
after `[TOOL_CALLS]`. A bare list is believed only on a line of its own, naming
tools of the request where those are known.

Source: the model card of Llama-xLAM-2-8b-fc-r, 2025-04; vLLM 0.32 `tool_parsers/xlam_tool_parser.py`.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import Span
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import STRONG, TextFormat
from prompt_debugger.core.parse.bare_json import BareJSONCalls
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPENERS, _CLOSE = ("<tool_call>", "[TOOL_CALLS]"), "</tool_call>"
_WHOLE_FENCE = re.compile(r"\s*+```(?:json)?[ \t]*+\n\s*+\[\s*+\{(?=[^`]*+```\s*+\Z)")
_BARE = BareJSONCalls(in_list=True, unwraps_fence=True)
_TAGGED = JSONCalls(openers=_OPENERS, closers=(_CLOSE,), one_per_tag=False, guards_prose=True)


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read tagged calls, or else bare ones."""
    found = _TAGGED.scan(raw, region, context)
    return found if found.calls else _BARE.scan(raw, region, context)


class _XLam(TextFormat):
    def may_be_bare(self, raw: str) -> bool:
        """Return whether `raw` may hold bare calls: also as a fence that is the whole message."""
        return super().may_be_bare(raw) or _WHOLE_FENCE.match(raw) is not None


FORMAT: ModelFormat = _XLam(
    name="xlam",
    conventions=Conventions(
        turns=(
            "<|start_header_id|>",
            "<|end_header_id|>",
        ),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({*_OPENERS, _CLOSE}),
        before_call=1,
    ),
    scan=scan_calls,
    bare_score=STRONG - 0.1,
    bare_excludes=("```",),
    bare_hints=('"name"', "["),
    facts=FamilyFacts(tool_parsers=("xlam",), has_json_arguments=True),
)
