"""Mutilated pastes say less than the text that was copied, or one sentence on what is missing; nothing false.

Texts of all forms are mutilated by chance, always in the same way; `MUTATIONS=20000` tries more of them, and
`MUTATIONS_SEED=7` others (`make nightly` does both). What is said is compared with what the whole text shows: no code,
no stage, no call and no parser that it does not show, no exception, and no more than two seconds of processor time.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from dataclasses import dataclass, replace
from functools import cache
from random import Random

import pytest

from prompt_debugger.core.base.comparable import NO_BEGINNING, UNLINKED
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import Basis, CallStatus, Certainty
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence, show_evidence
from tests.core.evidence.mutations import mutate
from tests.core.evidence.test_mutilated import CUT_CODES, PASTES

COUNT = int(os.environ.get("MUTATIONS", "400"))
SEED = int(os.environ.get("MUTATIONS_SEED", "22"))
BATCHES = 10
MAX_S = 2.0
TOGETHER = 0.1  # so often two texts are pasted together
# What follows from two parts of a run, which two texts in one paste may be.
OF_TWO = {"PD322", "PD232", "PD401", "PD402", "PD403", "PD405", "PD227"}
# What is left of a call where its tags are gone is bare JSON; where its end is gone, its notation is that of the whole.
OF_A_PIECE = {"hermes", "llama3_json"}
# Of a marker in content, where what is left of the call behind it shows no call: true of both.
OF_A_MARKER = {"PD426": "PD406"}
AS_TEXT = "PD463"  # whose parser is that of the notation, should the text be content
_PARSER = re.compile(r"vLLM(?:'s)? `[^`]*--tool-call-parser ([\w.-]+)")


@dataclass(frozen=True)
class Shown:
    """What a text shows.

    Attributes:
        codes: Of its findings.
        stage: That its verdict blames; "" for none.
        calls: Name and arguments of each call that is whole, in the raw output and in the message.
        parsers: That its advice names for vLLM.
    """

    codes: frozenset[str]
    stage: str
    calls: frozenset[tuple[str, str]]
    parsers: frozenset[str]


NOTHING = Shown(frozenset(), "", frozenset(), frozenset())


def show(text: str) -> Shown:
    """Return what a text shows; raises what is not a sentence with a hint."""
    try:
        trace = asyncio.run(show_evidence(read_evidence(text)))
    except RequestError as error:
        is_said = error.hint and error.message.strip().endswith((".", "!", "?", "…", "`"))
        return NOTHING if is_said else replace(NOTHING, codes=frozenset({f"without a sentence or a hint: {error}"}))
    calls = {
        (str(call.name), _normalized(call.arguments))
        for call in returned_calls(trace)
        if isinstance(call.arguments, str) and decode_json(call.arguments) is not None
    }
    written = () if trace.parse is None else trace.parse.parsed.calls
    written = tuple(one for one in written if one.status is CallStatus.COMPLETE)
    if trace.raw is not None and trace.raw.completeness_reason == NO_BEGINNING:
        written = written[1:]  # whose name may be cut, as is said
    calls |= {(str(one.name), _normalized(one.arguments)) for one in written}
    # What follows from two parts that are assumed to be of one run is inferred.
    is_assumed = trace.evidence is Basis.ASSUMED_RUN or UNLINKED in trace.notes
    sure = [one for one in trace.findings if not (is_assumed and one.certainty is Certainty.INFERRED)]
    stage = trace.verdict.stage if trace.verdict is not None and sure else None
    return Shown(
        frozenset(finding.code for finding in sure),
        "" if stage is None else stage.value,
        frozenset(calls),
        frozenset(name for finding in sure if finding.code != AS_TEXT for name in _PARSER.findall(finding.fix)),
    )


def _normalized(text: str) -> str:
    return re.sub(r"[\s\\]", "", text).replace('"', "'").strip("'")


@cache
def whole(name: str) -> Shown:
    """Return what a text shows that no one mutilated."""
    return show(PASTES[name])


def _faults(text: str, *names: str) -> list[str]:
    """Return what a mutilated text says that none of the whole ones says."""
    started = time.process_time()
    shown = show(text)
    took = time.process_time() - started
    wholes = [whole(name) for name in names]
    faults = []
    if took > MAX_S:
        faults.append(f"took {took:.1f} s")
    for field in ("codes", "calls", "parsers"):
        more = getattr(shown, field) - frozenset.union(*(getattr(one, field) for one in wholes))
        if field == "codes":
            more -= {OF_A_MARKER[code] for one in wholes for code in one.codes & OF_A_MARKER.keys()}
            more -= CUT_CODES | (OF_TWO if len(names) > 1 else set())
        if field == "calls":  # shown as it was pasted, with the sign in place of what was taken out of a value
            more = {one for one in more if not any(_is_elided(one, other) for each in wholes for other in each.calls)}
        if field == "calls" and AS_TEXT in shown.codes:  # a call that the whole text has in content
            more = {one for one in more if not all(_normalized(part) in _of_wholes(names) for part in one)}
        if field == "parsers" and any("<tool_call>\n{" in PASTES[name] for name in names):
            more -= OF_A_PIECE
        faults += [f"{field}: {sorted(more)}"] if more else []
    is_unknown = bool(shown.codes & {*CUT_CODES, "PD100"})  # the stage of an error whose words are cut is a guess
    if shown.stage and shown.stage not in {one.stage for one in wholes} and not is_unknown:
        faults.append(f"stage {shown.stage}")
    return faults


def _is_elided(shown: tuple[str, str], whole: tuple[str, str]) -> bool:
    """Return whether a call is another one in whose arguments a sign stands for a piece of a value."""
    pieces = re.split(r"\.{3}|…|<snip>|\[\.{3}\]|\(truncated\)", shown[1])
    return shown[0] == whole[0] and len(pieces) == 2 and whole[1].startswith(pieces[0]) and whole[1].endswith(pieces[1])


@cache
def _of_wholes(names: tuple[str, ...]) -> str:
    return "\n".join(_normalized(PASTES[name]) for name in names)


def cases(batch: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return texts of a batch: each with how it came about, and what it was made of."""
    chance = Random(f"{SEED}/{batch}")
    found = []
    for _ in range(COUNT // BATCHES):
        names = tuple(chance.sample(sorted(PASTES), 2 if chance.random() < TOGETHER else 1))
        pieces = [mutate(PASTES[name], chance) for name in names]
        how = " + ".join(f"{name} ({steps})" for name, (_, steps) in zip(names, pieces, strict=True))
        found.append(("\n\n".join(text for text, _ in pieces), how, names))
    return found


@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutilated_pastes_say_nothing_that_the_whole_ones_do_not(batch):
    said = [(how, faults, text) for text, how, names in cases(batch) if (faults := _faults(text, *names))]

    assert not said, "\n\n".join(f"{how}: {faults}\n{text[:1500]}" for how, faults, text in said)
