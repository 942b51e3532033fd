"""Two runs that the browser sends together: compared, or refused with the side that is at fault."""

import json

import pytest

from prompt_debugger.core.base.types import Request, Trace
from prompt_debugger.core.report import write_bundle
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.comparison import Comparing
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.sharing import Sharing
from tests.core.tools.experiments.test_runs import changed
from tests.ui.present.traces import dropped_call_trace
from tests.ui.web.test_sharing import pack


@pytest.fixture
def comparing():
    return Comparing(Sharing(PageSettings(lab=False)))


def sent(*sides):
    return pack(json.dumps(sides))


def test_two_runs_are_compared_under_the_names_that_they_have_in_the_browser(comparing):
    pair = sent(["16:12 · lab · DROPPED", write_bundle(dropped_call_trace())], ["after.json", write_bundle(changed())])

    header = unpack_payload(comparing.compare(pair))[0]

    assert [side["name"] for side in header["sides"]] == ["16:12 · lab · DROPPED", "after.json"]
    assert "only A has PD401" in header["sentence"]


@pytest.mark.parametrize(
    ("text", "words"), [("{]", "In b.json: "), (write_bundle(Trace(Request({}, ""))), "no finished run in b.json")]
)
def test_what_is_not_a_bundle_is_a_note_that_names_the_side(comparing, text, words):
    header = unpack_payload(comparing.compare(sent(["a.json", write_bundle(changed())], ["b.json", text])))[0]

    assert (header["kind"], header["tone"]) == ("note", "error")
    assert words in header["note"]


@pytest.mark.parametrize(
    "packed", ["", "x", pack("{]"), pack("[" * 5_000), pack("7"), sent(["a", "{}"]), sent(["a", 1], ["b", "{}"])]
)
def test_what_is_not_a_pair_is_a_note(comparing, packed):
    assert unpack_payload(comparing.compare(packed))[0]["kind"] == "note"
