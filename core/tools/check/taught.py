"""Calls of a template that prints none: written as its tool instructions teach, or as markers of the vocabulary show.

What comes of it is an inference, and says so: a history of such a template shows no call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.tools.check.answers import SIMPLEST_CALL, AnswerCall
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.recommend import family_of

_SHOWN = re.compile(
    r"(?P<opener><[\w|:.-]{1,40}>|\[[A-Z_]{1,40}\])(?P<before>\s{0,2})\{\s{0,2}\"name\":\s{0,2}[^{}\n]{1,80},\s{0,2}"
    r"\"(?P<key>arguments|parameters)\":\s{0,2}(?:[^{}\n]{1,80}|\{[^{}\n]{0,80}\})\}(?P<after>\s{0,2})"
    r"(?P<closer></[\w|:.-]{1,40}>|\[/[A-Z_]{1,40}\])"
)
# LFM2 writes Python calls between these; its templates name the list of tools, its vocabularies the calls.
_PYTHON = ("<|tool_call_start|>", "<|tool_call_end|>")
_PYTHON_SIGNS = (*_PYTHON, "<|tool_list_start|>")
_PYTHON_LISTS = ("<|im_start|>system", "List of tools: [{")  # of LFM2.5's templates, which have no markers for tools


@dataclass(frozen=True, slots=True)
class Notation:
    """How a model writes calls.

    Attributes:
        opener: In front of a call, or of a list of Python calls.
        closer: At its end.
        key: What contains the arguments in JSON; "" for Python calls.
        evidence: What shows it, a sentence.
    """

    opener: str
    closer: str
    key: str
    evidence: str

    def write(self, calls: Sequence[AnswerCall]) -> str:
        """Return calls as the model would write them."""
        if not self.key:
            return self.opener + "[" + ", ".join(map(_python_call, calls)) + "]" + self.closer
        objects = ({"name": call.name, self.key: call.arguments} for call in calls)
        return "\n".join(self.opener + json.dumps(one, ensure_ascii=False) + self.closer for one in objects)


def notation_of(prompt: str, model: CheckedModel) -> Notation | None:
    """Return how calls are written by a prompt's instructions, else by vocabulary and template; `None` if unknown."""
    for shown in _SHOWN.finditer(prompt):
        opener, closer = shown["opener"], shown["closer"]
        if closer[2:] == opener[1:]:
            reported = "the tool instructions in the prompt teach `" + re.sub(r"\s+", " ", shown[0]) + "`"
            return Notation(opener + shown["before"], shown["after"] + closer, shown["key"], _sentence(reported))
    special = set() if model.tokenizer is None else {*model.tokenizer.vocabulary.special.values()}
    found = next((sign for sign in _PYTHON_SIGNS if sign in special or sign in model.template), None)
    if found is None and all(text in prompt for text in _PYTHON_LISTS):
        reported = f"`{_PYTHON_LISTS[1]}` in the prompt is how LFM2.5 names tools, and that model writes Python calls"
        return Notation(*_PYTHON, "", _sentence(reported))
    if found is None:
        return None
    where = "vocabulary" if found in special else "template"
    return Notation(*_PYTHON, "", _sentence(f"`{found}` in the {where} is a marker of LFM2, which writes Python calls"))


def add_taught_calls(ideals: tuple[Ideal, ...], model: CheckedModel) -> tuple[tuple[Ideal, ...], Notation | None]:
    """Return outputs with the calls that the template does not print, and how those are written.

    The outputs are returned as they are, with `None`, where the template prints the simplest call or nothing shows how
    calls are written.
    """
    simplest = next((ideal for ideal in ideals if ideal.answer.name == SIMPLEST_CALL), None)
    if simplest is None or "calls" not in simplest.lost:
        return ideals, None
    notation = notation_of(simplest.prompt, model)
    if notation is None:
        return ideals, None
    return tuple(_add_calls(ideal, notation) for ideal in ideals), notation


def _add_calls(ideal: Ideal, notation: Notation) -> Ideal:
    if "calls" not in ideal.lost:
        return ideal
    text = ideal.raw.removesuffix(ideal.end)
    gap = "\n" if text.strip() and not text.endswith("\n") else ""
    raw = text + gap + notation.write(ideal.answer.calls) + ideal.end
    return replace(ideal, raw=raw, lost=tuple(part for part in ideal.lost if part != "calls"))


def _sentence(reported: str) -> str:
    return (
        f"The template does not print the history's calls: {reported}, so the answers with calls were written that "
        "way. "
        "That is inferred: compare it with one output of the model."
    )


def _python_call(call: AnswerCall) -> str:
    return f"{call.name}({', '.join(f'{name}={_python(value)}' for name, value in call.arguments.items())})"


def _python(value: JSON) -> str:
    """Return a value as Python, texts in double quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_python(name)}: {_python(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_python, value)) + "]"
    if value is None or isinstance(value, bool):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def write_as_model(printed: tuple[Ideal, ...], model: CheckedModel) -> tuple[tuple[Ideal, ...], str | None, str]:
    """Return outputs as the model writes them, their format, and what is inferred of it, a sentence or ""."""
    ideals, notation = add_taught_calls(printed, model)
    family = family_of(ideals)
    inferred = "" if notation is None else notation.evidence
    written = None if family is None else FORMATS[family].facts.written_calls
    if written is None:
        return ideals, family, inferred
    pattern = re.compile(written.printed)
    made = tuple(replace(one, raw=pattern.sub(written.written, one.raw)) if one.answer.calls else one for one in ideals)
    if made == ideals:
        return ideals, family, inferred
    return made, family, f"The template prints {written.says}: the parsers were tested on what the model writes."
