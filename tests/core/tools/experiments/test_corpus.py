"""Templates of real models, which no one here wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.experiments import (
    EffectKind,
    RenderSetup,
    Variant,
    WhatIf,
    explain_count,
    follow_turns,
    try_switches,
)
from prompt_debugger.core.tools.experiments.variant import Rendered, render_variant
from tests.core.render.shapes import SHAPES

pytestmark = pytest.mark.corpus

SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
TRIED = ("many-turns", "call-and-result", "reasoning")


class Case(NamedTuple):
    name: str
    body: JSONObject
    setup: RenderSetup
    report: WhatIf


@pytest.fixture(scope="module")
def cases(corpus_dir: Path, lab: RenderSetup) -> list[Case]:
    return list(_cases(corpus_dir, lab))


def _cases(folder: Path, lab: RenderSetup) -> Iterator[Case]:
    for index, path in enumerate(sorted(folder.glob("*.jinja"))):
        setup = RenderSetup(path.read_text(encoding="utf-8"), lab.tokenizer, SPECIAL)
        shape = TRIED[index % len(TRIED)]
        yield Case(f"{path.stem} × {shape}", SHAPES[shape], setup, try_switches(SHAPES[shape], setup))


def test_nothing_means_equal_ids_and_a_change_can_be_had_again(cases: list[Case]) -> None:
    kinds: Counter[EffectKind] = Counter()
    for case in cases:
        base = Variant(case.body, case.setup)
        plain = render_variant(base)
        for effect in case.report.effects:
            kinds[effect.kind] += 1
            again = render_variant(effect.switch.apply(base))
            assert isinstance(again, Rendered) == (effect.failure is None), (case.name, effect.switch.name)
            if isinstance(again, Rendered) and isinstance(plain, Rendered):
                assert (effect.kind is EffectKind.NOTHING) == (again.keys == plain.keys), case.name
                assert (effect.difference is None) == (again.keys == plain.keys), case.name
                if effect.difference is not None:
                    grown = effect.difference.added - effect.difference.removed
                    assert len(again.keys) == len(plain.keys) + grown, case.name

    assert len(cases) >= 30
    assert kinds[EffectKind.NOTHING] > 100
    assert kinds[EffectKind.CHANGES] > 100


def test_the_generation_prompt_is_a_switch_almost_everywhere(cases: list[Case]) -> None:
    rendering = [case for case in cases if case.report.failure is None]
    changed = [
        case.name
        for case in rendering
        for effect in case.report.effects
        if effect.switch.name == "no-generation-prompt" and effect.kind is EffectKind.CHANGES
    ]

    assert len(changed) > 0.8 * len(rendering)


def test_thinking_switches_are_found_by_the_names_that_templates_use(cases: list[Case]) -> None:
    names = {effect.switch.name for case in cases for effect in case.report.effects}

    assert names >= {
        "enable_thinking=true",
        "thinking=true",
        "thinking_effort=max",
        "reasoning_effort=high",
        "clear_thinking=false",
        "preserve_thinking=true",
        "thinking_option=off",
    }


def test_turns_break_with_a_cause_that_is_mostly_proved(cases: list[Case]) -> None:
    proved: Counter[bool] = Counter()
    for case in cases:
        for turn in follow_turns(case.body, case.setup).turns:
            if turn.broken is not None:
                proved[turn.broken.is_proved] += 1
                assert turn.broken.first == turn.kept < turn.known
                assert turn.broken.lost == turn.known - turn.kept

    assert proved[True] > 8
    assert proved[True] > 2 * proved[False]


def test_a_lost_generation_prompt_explains_its_count(cases: list[Case]) -> None:
    tried = 0
    for case in cases[::3]:
        effect = next(one for one in case.report.effects if one.switch.name == "no-generation-prompt")
        if effect.kind is not EffectKind.CHANGES or effect.unit_count is None:
            continue
        tried += 1
        answer = explain_count(case.body, case.setup, effect.unit_count, max_switches=1)
        exact = [names for one in answer.explanations if one.off_by == 0 for names in (one.names, *one.also)]
        assert ("no-generation-prompt",) in exact or () in exact, case.name

    assert tried > 5
