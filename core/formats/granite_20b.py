r"""Granite 20B function calling: a marker before each JSON object.

    <function_call> {"name": "NAME", "arguments": {ARGUMENTS}} <function_call> {"name": …}<|endoftext|>

No marker closes a call: its JSON does.

Source: the model card of granite-20b-functioncalling, 2024-06; vLLM 0.32 `tool_parsers/granite_20b_fc_tool_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, FAIR, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls

_MARKER = "<function_call>"

FORMAT: ModelFormat = TextFormat(
    name="granite_20b",
    marks=(Mark(_MARKER, CERTAIN, r"<function_call>\s*\{"), Mark(_MARKER, FAIR)),
    conventions=Conventions(markers=frozenset({_MARKER})),
    scan=JSONCalls(openers=(_MARKER,), guards_prose=True).scan,
    facts=FamilyFacts(tool_parsers=("granite-20b-fc",), has_json_arguments=True),
)
