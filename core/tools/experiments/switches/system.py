"""Switches for the system message: none, an empty one, and without the template's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.experiments.difference import common_length
from prompt_debugger.core.tools.experiments.switches.switch import Switch, Topic, messages_of, on_body
from prompt_debugger.core.tools.experiments.variant import RenderFailure, Variant, render_text

_ROLES = ("system", "developer")
_TARGET = "system"
_MARK = "\u2766 some words of ours \u2766"  # is where a template puts a system message


def system_switches(variant: Variant) -> Iterator[Switch]:
    """Yield what can be changed about the system message."""
    if _has_system(variant.body):
        yield Switch("without-system", Topic.SYSTEM, _TARGET, "leaves out the system messages", on_body(_drop_system))
    else:
        change = "puts an empty system message in front"
        yield Switch("empty-system", Topic.SYSTEM, _TARGET, change, on_body(lambda body: _add_system(body, "")))


def default_system_switches(variant: Variant) -> Iterator[Switch]:
    """Yield the prompt without the system message that the template itself puts in, found by rendering."""
    if _has_system(variant.body):
        return
    bare = replace(variant, body={key: value for key, value in variant.body.items() if key != "tools"})
    plain, marked = _text(bare), _text(replace(bare, body=_add_system(bare.body, _MARK)))
    if plain is None or marked is None or _MARK not in marked:
        return
    front = marked.index(_MARK)
    rest = marked[front + len(_MARK) :]
    if plain[:front] != marked[:front] or not plain.endswith(rest) or len(plain) <= front + len(rest):
        return
    words = plain[front : len(plain) - len(rest)]
    whole = _whole_block(variant, plain, marked, words)
    shown = _text(variant) or ""
    if whole and whole in shown:
        change = f"leaves out the template's own system message, {_short(words)}"
        yield _cut("without-default-system", change, whole)
    if words in shown:
        yield _cut(
            "default-system-emptied", f"leaves the template's own system message empty, without {_short(words)}", words
        )


def _whole_block(variant: Variant, plain: str, marked: str, words: str) -> str:
    """Return the default message with its marks: what two system messages have twice."""
    messages = messages_of(variant.body)
    system: JSONObject = {"role": "system", "content": _MARK}
    body = {key: value for key, value in variant.body.items() if key != "tools"}
    twice = _text(replace(variant, body={**body, "messages": [system, system, *messages]}))
    if twice is None or len(twice) <= len(marked):
        return ""
    front = common_length(twice, marked)
    block = twice[front - (len(twice) - len(marked)) : front] if twice.count(_MARK) == 2 else ""
    for shift in range(len(block)):  # the repeated stretch may begin anywhere in the block
        turned = block[shift:] + block[:shift]
        made = turned.replace(_MARK, words)
        if _MARK in turned and plain.replace(made, "", 1) == marked.replace(turned, "", 1) != marked:
            return made
    return ""


def _cut(name: str, change: str, text: str) -> Switch:
    return Switch(name, Topic.SYSTEM, _TARGET, change, lambda variant: replace(variant, cuts=(*variant.cuts, text)))


def _text(variant: Variant) -> str | None:
    made = render_text(variant)
    return None if isinstance(made, RenderFailure) else made[0]


def _has_system(body: JSONObject) -> bool:
    return any(isinstance(message, dict) and message.get("role") in _ROLES for message in messages_of(body))


def _drop_system(body: JSONObject) -> JSONObject:
    kept = [one for one in messages_of(body) if not (isinstance(one, dict) and one.get("role") in _ROLES)]
    return {**body, "messages": kept}


def _add_system(body: JSONObject, text: str) -> JSONObject:
    return {**body, "messages": [{"role": "system", "content": text}, *messages_of(body)]}


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
