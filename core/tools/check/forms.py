"""How an answer is put to a template: templates differ in what they take.

Arguments as an object (as vLLM hands them over) or as text, ids of a family's pattern, content `""` or null,
the field that holds reasoning, and the switch that turns thinking on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.tools.check.answers import Answer

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_IDS: tuple[Literal["counted", "short"], ...] = ("counted", "short")
_WORD = re.compile(r"zq\w+")


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write an answer down.

    Attributes:
        reasoning_field: Field of the message that holds reasoning.
        ids: Pattern of call ids: `counted` as `functions.NAME:0`, or `short` as nine letters and digits.
        text_arguments: Whether arguments are JSON text, not an object.
        null_content: Whether a content that there is none of is null, not "".
        kwargs: Template kwargs.
    """

    reasoning_field: str = REASONING_FIELDS[0]
    ids: Literal["counted", "short"] = "counted"
    text_arguments: bool = False
    null_content: bool = False
    kwargs: Mapping[str, JSON] = field(default_factory=dict)

    def message(self, answer: Answer) -> JSONObject:
        """Return the answer as an assistant message."""
        content: JSON = answer.content
        message: JSONObject = {"role": "assistant", "content": content if self.null_content else content or ""}
        if answer.reasoning is not None:
            message[self.reasoning_field] = answer.reasoning
        if answer.calls:
            message["tool_calls"] = [
                {
                    "id": f"functions.{call.name}:{index}" if self.ids == "counted" else f"zqCall{index:03}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": self._arguments(call.arguments)},
                }
                for index, call in enumerate(answer.calls)
            ]
        return message

    def _arguments(self, arguments: JSONObject) -> JSON:
        return json.dumps(arguments, ensure_ascii=False) if self.text_arguments else arguments


def forms_of(answer: Answer, liked: Form | None, *, is_hopeless: bool = False) -> Iterator[Form]:
    """Yield forms for an answer, the one that worked before first.

    Args:
        answer: The answer.
        liked: The form that worked for an earlier answer with calls.
        is_hopeless: Whether no form worked for an earlier answer with calls.
    """
    bases = [liked or Form()]
    if liked is None and answer.calls and not is_hopeless:
        bases = [
            Form(ids=ids, text_arguments=as_text, null_content=is_null)
            for ids, as_text, is_null in product(_IDS, (False, True), (False, True))
        ]
    yield from bases
    if answer.reasoning is None or (answer.calls and is_hopeless):
        return
    for base in bases:
        yield from (replace(base, reasoning_field=name) for name in REASONING_FIELDS[1:])
        for switch in TABLES.switches:
            yield from (
                replace(base, reasoning_field=name, kwargs={switch.name: switch.on}) for name in REASONING_FIELDS
            )


def words_of(arguments: Mapping[str, JSON]) -> list[str]:
    """Return the words of ours in some arguments."""
    return _WORD.findall(json.dumps(dict(arguments)))
