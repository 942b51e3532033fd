r"""VibeThinker and others: name and arguments in elements, the arguments one JSON object.

    <think>REASONING</think>CONTENT
    <function><name>NAME</name><arguments>{ARGUMENTS}</arguments></function>

Whitespace between the elements is framing.

Source: tests of Rapid-MLX, whose Hermes parser reads it besides its own notation, 2026.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.tag_calls import TagCalls

_OPEN = "<function>"

FORMAT: ModelFormat = TextFormat(
    name="function_xml",
    marks=(Mark(_OPEN, CERTAIN, r"<function>\s{0,80}<name>[^<>\n]{1,256}</name>\s{0,80}<arguments>"),),
    conventions=Conventions(
        cut_structure=re.compile(r"<function>\s{0,80}(?:<n?a?m?e?)?\Z"),
        cut_texts=frozenset({"<function>", "</function>", "<arguments>", "</arguments>"}),
        ends=frozenset({"<|im_end|>", "<|endoftext|>"}),
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        before_call=1,
    ),
    scan=TagCalls(
        opener=re.compile(
            r"<function>\s{0,80}<name>(?P<name>[^<>\n]{0,256})"
            r"(?:</name>\s{0,80}(?:<arguments>|(?=</function>)|<?[a-z]{0,9}\Z)|(?:</?[a-z]{0,4})?\Z)"
        ),
        closer=re.compile(r"(?:</arguments>\s{0,80})?</function>|</arguments>(?=\s{0,80}(?:</?[a-z]{0,8})?\Z)"),
        parameter=re.compile(r"(?!)(?P<key>)"),
        parameter_closer=re.compile(r"(?!)"),
        guards_prose=True,
        only_json=True,
    ).scan,
    facts=FamilyFacts(markers_are_plain_words=True, has_json_arguments=True, call_markers=(_OPEN, "</function>")),
)
