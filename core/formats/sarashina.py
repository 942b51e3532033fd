r"""Sarashina 2.2: a marker, then a list of Python dicts.

    CONTENT<|tool_calls|>[{'name': 'NAME', 'arguments': {'KEY': 'text', 'KEY': True}}, …]</s>

Some answers are only the list. The notation is Python's: single quotation marks, `True`, `None`.

Source: smg 1.13.0 `sarashina.rs`, whose tests have both forms.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import Span
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, Mark, TextFormat
from prompt_debugger.core.parse.bare_json import BareJSONCalls
from prompt_debugger.core.parse.call_object import CallKeys
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reading import Scan

_OPEN = "<|tool_calls|>"
_KEYS = CallKeys(is_python=True)
_MARKED = JSONCalls(openers=(_OPEN,), keys=_KEYS, one_per_tag=False)
_ALONE = BareJSONCalls(keys=_KEYS, in_list=True)


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read what is after the marker; without one, a list that stands alone."""
    family = _MARKED if _OPEN in raw[region.start : region.stop] else _ALONE
    return family.scan(raw, region, context)


FORMAT: ModelFormat = TextFormat(
    name="sarashina",
    marks=(
        Mark(_OPEN, CERTAIN, r"<\|tool_calls\|>\s*+\["),
        Mark("'name'", 0.9, r"\A\s*+\[\s*+\{'name': '[^'\n]{1,100}', 'arguments': \{"),
    ),
    conventions=Conventions(ends=frozenset({"</s>"}), markers=frozenset({_OPEN})),
    scan=scan_calls,
    facts=FamilyFacts(call_markers=(_OPEN,)),
)
