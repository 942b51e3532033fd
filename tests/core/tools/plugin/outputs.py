"""Outputs whose reading is written down elsewhere, and the plugin's own stream over them, as a server feeds it."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Place
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.parse.reasoning import reasoning_is_open
from prompt_debugger.core.tools.plugin.inside.call_stream import CallStream
from prompt_debugger.core.tools.plugin.inside.deltas import Delta, Whole
from prompt_debugger.core.tools.plugin.inside.reasoning_stream import ReasoningStream
from prompt_debugger.core.tools.plugin.inside.whole import family_of_prompt, split_whole
from tests.core.formats.test_goldens import FOLDERS
from tests.core.formats.test_readings import READINGS, context_of

CHUNKINGS = ("at once", "by character", 1, 2)


def outputs():
    """Return name, family, raw output and context of every golden case and every reading of a named family."""
    found = []
    for folder in FOLDERS:
        file = folder / "context.json"
        given = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        context = ReadContext(tuple(given.get("tools", ())), given.get("prompt_tail", ""), given.get("finish_reason"))
        raw = (folder / "raw.txt").read_bytes().decode()
        found.append((f"{folder.parent.name}/{folder.name}", folder.parent.name, raw, context))
    for forkserver, reading in READINGS:
        if reading.get("format"):
            found.append((f"{forkserver}: {reading['name']}", reading["format"], reading["raw"], context_of(reading)))
    return found


def pieces(raw, chunking):
    if chunking == "at once":
        return [raw]
    if chunking == "by character":
        return list(raw)
    draw, made, start = random.Random(chunking), [], 0
    while start < len(raw):
        size = draw.choice([1, 2, 3, 5, 8, 20])
        made.append(raw[start : start + size])
        start += size
    return made


def streamed(raw, family, context, chunking):
    """Feed reasoning and calls as vLLM does: the one until it ends, then the other."""
    known = family_of_prompt(context.prompt_tail, family)
    tags = known.conventions.reasoning
    is_open = tags and reasoning_is_open(context.prompt_tail, tags, known.conventions.turn_texts)
    reasoning = ReasoningStream(known, is_open=is_open)
    calls = CallStream(family, replace(context, prompt_tail="" if tags else context.prompt_tail))
    whole = Whole()
    for piece in pieces(raw, chunking):
        delta = Delta(content=piece) if reasoning.has_ended else reasoning.feed(piece)
        whole.add(Delta(reasoning=delta.reasoning))
        whole.add(calls.feed(delta.content))
    last = reasoning.finish()
    whole.add(Delta(reasoning=last.reasoning))
    whole.add(calls.feed(last.content))
    whole.add(calls.finish())
    return whole


def at_once(raw, family, context):
    """Read as vLLM does without streaming."""
    reasoning, rest, _ = split_whole(raw, family, context)
    stream, whole = CallStream(family, replace(context, prompt_tail="")), Whole()
    whole.add(stream.feed(rest))
    whole.add(stream.finish())
    whole.reasoning = reasoning or ""
    return whole


def differences(whole, raw, family, context, *, exact=True):
    """Return in what a message differs from the census; arguments of cut calls may be any beginning."""
    reading = FORMATS[family].read(raw, context)
    written = [call for call in reading.calls if call.place is Place.BODY and call.name]
    given = [whole.calls[index] for index in sorted(whole.calls)]
    found = []
    if len(given) < len([call for call in written if call.status is CallStatus.COMPLETE]) or len(given) > len(written):
        found.append(("calls", [call.name for call in given], [call.name for call in written]))
    for got, call in zip(given, written, strict=False):
        if got.name != call.name or not _same_arguments(got.arguments, call):
            found.append(("call", got.name, got.arguments, call.name, call.arguments))
    has_nameless = any(call.place is Place.BODY and not call.name for call in reading.calls)
    if exact and not has_nameless and (reading.content or "") != whole.content:
        found.append(("content", whole.content, reading.content))
    if exact and (reading.reasoning or "") != whole.reasoning:
        found.append(("reasoning", whole.reasoning, reading.reasoning))
    return found


def _same_arguments(given, call):
    if call.status is not CallStatus.COMPLETE or call.arguments_json is None:
        return True
    try:
        return json.loads(given) == call.arguments_json
    except ValueError:
        return False
