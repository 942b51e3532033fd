"""No false alarm: healthy answers of the real lab, and conversations in the templates of real models."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from scripts.healthy import TRUE_FINDINGS, errors_in_templates, healthy_requests
from tests.conftest import ROOT


def test_the_requests_are_the_same_every_time_and_hold_no_deliberate_fault():
    bodies = [one.body for one in islice(healthy_requests(), 40)]

    assert bodies == [one.body for one in islice(healthy_requests(), 40)]
    assert not any(f'"type": "{wrong}"' in json.dumps(bodies) for wrong in ("int", "float", "str"))
    assert {bool(body.get("tools")) for body in bodies} == {True, False}
    assert {bool(body.get("stream")) for body in bodies} == {True, False}


def test_the_lab_models_own_templates_raise_no_error():
    rendered, alarms = errors_in_templates(ROOT / "assets" / "lab-model")

    assert rendered > 20
    assert alarms == []


@pytest.mark.corpus
def test_no_template_of_a_real_model_raises_a_false_error(corpus_dir):
    rendered, found = errors_in_templates(corpus_dir)

    assert rendered > 300
    assert [one for one in found if one[:2] not in TRUE_FINDINGS] == []
