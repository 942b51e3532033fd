"""Templates of real models, which no one here wrote, with every shape of conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from prompt_debugger.core.base.types import SpanKind
from prompt_debugger.core.render import traced_render
from prompt_debugger.core.render.job import RenderJob, RenderOutcome
from prompt_debugger.core.render.request_variables import read_variables
from prompt_debugger.core.render.traced_render import missing_name, run_job
from tests.core.render.flips import probe
from tests.core.render.shapes import SHAPES

pytestmark = pytest.mark.corpus

NOW = datetime(2025, 1, 2, 3, 4, 5)
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
PROBES_PER_RENDER = 8


class Case(NamedTuple):
    name: str
    job: RenderJob
    outcome: RenderOutcome


@pytest.fixture(scope="module")
def cases(corpus_dir: Path) -> list[Case]:
    return list(_cases(corpus_dir))


def _cases(folder: Path) -> Iterator[Case]:
    for path in sorted(folder.glob("*.jinja")):
        source = path.read_text(encoding="utf-8")
        for shape, body in SHAPES.items():
            variables = read_variables(body, special_tokens=SPECIAL, template_kwargs={}, add_generation_prompt=None)
            job = RenderJob(source, variables.variables, variables.continue_final_message)
            yield Case(f"{path.stem} × {shape}", job, run_job(job, now=NOW))


def test_every_render_equals_the_plain_one(cases: list[Case]) -> None:
    assert [case.name for case in cases if not case.outcome.is_identical] == []
    assert len(cases) >= 30 * 15


def test_a_template_that_raises_raises_the_same_when_traced(cases: list[Case]) -> None:
    different = []
    for case in cases:
        if case.outcome.fault is None:
            continue
        try:
            traced_render._compiled(case.job.template).render(traced_render._wrapped_variables(case.job))
        except Exception as error:  # noqa: BLE001  # a template may raise anything
            raised = (type(error).__name__, str(error))
            missing = missing_name(error, raised[1], case.job.template)
            if missing is not None:
                raised = (f"Missing {missing.kind}", traced_render._described(missing))
        else:
            raised = ("", "nothing raised")
        if raised != (case.outcome.fault.kind, case.outcome.fault.message):
            different.append((case.name, raised))

    assert different == []


def test_no_character_is_unknown_and_nearly_all_are_exact(cases: list[Case]) -> None:
    characters: Counter[str] = Counter()
    for case in cases:
        for span in case.outcome.spans:
            exact = span.kind is SpanKind.TEMPLATE or span.field_span is not None
            known = exact or span.field is not None or span.kind is SpanKind.ENVIRONMENT
            grade = "range" if exact else "path" if known else str(span.kind)
            characters[grade] += span.char_span.stop - span.char_span.start
    total = sum(characters.values())

    assert characters[SpanKind.UNKNOWN] == 0
    assert characters["range"] / total > 0.88
    assert (characters["range"] + characters["path"]) / total > 0.998


def test_spans_tile_the_text_and_repeat_their_origin(cases: list[Case]) -> None:
    for case in cases:
        lines = case.job.template.replace("\r\n", "\n").split("\n")
        position = 0
        for span in case.outcome.spans:
            assert position == span.char_span.start < span.char_span.stop, case.name
            position = span.char_span.stop
            if span.kind is SpanKind.TEMPLATE:
                assert span.template_line is not None, case.name
                assert span.template_column is not None, case.name
                assert len(lines[span.template_line - 1]) >= span.template_column - 1, case.name
        assert len(case.outcome.text) == position, case.name


def test_flipping_a_letter_changes_what_is_attributed_to_it(cases: list[Case]) -> None:
    """Claimed characters always change; others change only where the template decides by the text."""
    probes = judged = implicit = 0
    for number, case in enumerate(cases):
        if case.outcome.fault is not None:
            continue
        for one in probe(case.job, case.outcome, PROBES_PER_RENDER, number, NOW):
            probes += 1
            if one.changed is None:
                continue
            judged += 1
            assert one.claimed <= one.changed, (case.name, one)
            if not one.changed <= one.claimed | one.possible:
                implicit += 1

    assert probes > 4_000
    assert judged > 0.7 * probes
    assert implicit < 0.03 * judged


def test_untraced_render_is_the_same_text(cases: list[Case]) -> None:
    for case in cases[::7]:
        assert run_job(replace(case.job, is_traced=False), now=NOW).text == case.outcome.text
