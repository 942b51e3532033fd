"""What the Share menu's events answer, driven without a browser."""

import base64
import gzip
import json
from dataclasses import replace

import pytest

from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.report import read_bundle, write_bundle
from prompt_debugger.ui.present import VIEWS, unpack_payload
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.sharing import MAX_PUBLIC_BUNDLE_CHARS, Sharing, Wish
from prompt_debugger.ui.web.targets import TargetFields
from tests.ui.present.traces import dropped_call_trace

TEXT = '{"messages": [{"role": "user", "content": "hi"}]}'
FIELDS = TargetFields("http://10.0.0.1/v1", "m", "a/b", "hermes", "none")


@pytest.fixture
def sharing():
    return Sharing(PageSettings(lab=False))


def asked(sharing, form, trace=None, text=TEXT):
    return unpack_payload(sharing.share(form, trace, text, FIELDS))


def pack(text):
    return base64.urlsafe_b64encode(gzip.compress(text.encode(), mtime=0)).decode().rstrip("=")


def test_a_link_carries_request_and_choices_never_the_endpoint(sharing):
    header, _ = asked(sharing, "link")

    assert header["state"] == {
        "request": TEXT,
        "tool_parser": "hermes",
        "reasoning_parser": "none",
        "model": "m",
        "tokenizer": "a/b",
    }
    assert "10.0.0.1" not in json.dumps(header)


def test_on_a_space_the_link_is_that_of_the_space(sharing, monkeypatch):
    monkeypatch.setenv("SPACE_ID", "owner/name")

    assert asked(sharing, "link")[0]["base"] == "https://huggingface.co/spaces/owner/name"


@pytest.mark.parametrize("form", ["", "pdf", "x" * 1000])
def test_a_form_that_the_menu_does_not_offer_is_a_bad_request(sharing, form):
    header, data = asked(sharing, form, dropped_call_trace())

    assert (header["kind"], data) == ("failure", b"")
    assert header["sentence"].startswith(f"A run cannot be shared as '{form[:40]}'")
    assert "program failed" not in header["sentence"]


@pytest.mark.parametrize("form", ["html", "markdown", "bundle"])
def test_a_title_is_in_every_file_and_covers_what_looks_like_a_key(sharing, form):
    title = "Paris vanishes sk-abcdefghijklmnop1234"

    data = unpack_payload(sharing.share(form, dropped_call_trace(), TEXT, FIELDS, Wish(title)))[1].decode()

    assert "Paris vanishes" in data
    assert "abcdefghijklmnop1234" not in data


def test_a_title_is_in_the_picture_and_the_history_and_stays_without_a_new_one(sharing):
    titled = replace(dropped_call_trace(), title="Paris vanishes")

    assert asked(sharing, "picture", titled)[0]["parts"]["title"] == "Paris vanishes"
    assert unpack_payload(sharing.pack_run(titled))[0]["title"] == "Paris vanishes"
    opened = sharing.open(pack(write_bundle(titled)))
    assert "“Paris vanishes”" in unpack_payload(opened.answer)[0]["sentence"]


def test_a_link_of_a_run_carries_what_is_seen_of_it_and_the_place(sharing):
    trace = dropped_call_trace()

    header, _ = unpack_payload(sharing.share("run_link", trace, TEXT, FIELDS, Wish(at="prompt.t12")))

    run = read_bundle(header["state"]["run"]).trace
    assert header["at"] == "prompt.t12"
    assert (run.prompt, run.findings, run.verdict) == (trace.prompt, trace.findings, trace.verdict)
    assert run.parse.ledger == trace.parse.ledger
    assert len(header["state"]["run"]) < len(write_bundle(trace))
    assert sharing.open(pack(header["state"]["run"])).trace is not None


@pytest.mark.parametrize("place", ["prompt.x", "finding.PD1", "#", "<b>", "raw.t1 x", "request.", "raw.c1"])
def test_what_names_no_place_is_dropped(sharing, place):
    answer = sharing.share("run_link", dropped_call_trace(), TEXT, FIELDS, Wish(at=place))

    assert unpack_payload(answer)[0]["at"] == ""


def test_a_report_opens_at_the_place_it_was_made_for(sharing):
    _, data = unpack_payload(sharing.share("html", dropped_call_trace(), TEXT, FIELDS, Wish(at="finding.PD401.1")))

    assert b'"at":"finding.PD401.1"' in data


def test_a_link_of_an_unreadable_request_names_the_place(sharing):
    header, _ = asked(sharing, "link", text='{"messages": [,]}')

    assert header["kind"] == "failure"
    assert header["sentence"].startswith("Line 1, column 15")


@pytest.mark.parametrize("form", ["html", "picture", "markdown", "bundle"])
def test_before_a_run_there_is_nothing_to_share(sharing, form):
    header, data = asked(sharing, form)

    assert (header["kind"], data) == ("failure", b"")
    assert "Press Run" in header["hint"]


def test_each_form_contains_the_run(sharing):
    trace = dropped_call_trace()

    assert b"<!doctype html>" in asked(sharing, "html", trace)[1]
    assert b"PD401 dropped-call" in asked(sharing, "markdown", trace)[1]
    assert read_bundle(asked(sharing, "bundle", trace)[1].decode()).trace == trace
    assert asked(sharing, "picture", trace)[0]["parts"]["verdict"]["badge"] == "DROPPED"


def test_a_picture_of_a_refused_run_has_no_ledger_to_draw(sharing):
    refused = load_recording("tutorial-tool-types").trace

    parts = asked(sharing, "picture", refused)[0]["parts"]

    assert parts["ledger"] is None
    assert parts["verdict"]["badge"] == "REFUSED"


def test_the_same_question_twice_gives_two_different_answers(sharing):
    """The page draws only what differs from what it has."""
    trace = dropped_call_trace()

    assert sharing.share("html", trace, TEXT, FIELDS) != sharing.share("html", trace, TEXT, FIELDS)


def test_a_fault_of_ours_is_a_message(sharing):
    header, _ = asked(sharing, "html", object())

    assert header["kind"] == "failure"
    assert "object may not travel" in header["sentence"]


def test_an_opened_bundle_fills_every_view_and_is_marked(sharing):
    trace = dropped_call_trace()

    opened = sharing.open(pack(write_bundle(trace, "0.1.0")))

    assert opened.trace == trace
    assert opened.text == trace.request.text
    assert set(opened.payloads) >= set(VIEWS)
    assert "Reopened" in unpack_payload(opened.payloads["verdict"])[0]["detail"]
    assert unpack_payload(opened.payloads["header"])[0]["facts"][0][1] == "reopened"
    assert unpack_payload(opened.answer)[0]["kind"] == "opened"


def test_a_folder_that_a_bundle_names_is_not_kept_for_this_machine_to_load(sharing):
    trace = dropped_call_trace()
    trace = replace(trace, server=replace(trace.server, model_root="/home/somebody/model"))

    assert sharing.open(pack(write_bundle(trace, "0.1.0"))).trace.server.model_root is None


def test_a_request_with_half_a_character_can_be_shown(sharing):
    trace = dropped_call_trace()
    trace = replace(trace, request=replace(trace.request, text='{"user": "\ud800"}'))

    opened = sharing.open(pack(write_bundle(trace)))

    assert opened.trace == trace
    assert json.loads(opened.text) == {"user": "\ud800"}
    opened.text.encode()


@pytest.mark.parametrize(
    ("packed", "words"),
    [
        ("no base64 at all!", "arrive completely"),
        (pack("{}")[:-8], "arrive completely"),
        (pack(TEXT), "This is a request"),
        (pack(write_bundle(dropped_call_trace()).replace("same-run", "hearsay")), "`evidence`"),
    ],
)
def test_what_is_not_a_bundle_changes_nothing_and_says_why(sharing, packed, words):
    opened = sharing.open(packed)

    header = unpack_payload(opened.answer)[0]
    assert opened.trace is None
    assert opened.payloads == {}
    assert words.lower() in header["sentence"].lower()


def test_a_small_file_that_unpacks_to_very_much_is_stopped():
    sharing = Sharing(PageSettings(lab=False, public=True))

    opened = sharing.open(pack(" " * (MAX_PUBLIC_BUNDLE_CHARS * 5)))

    assert "longer than" in unpack_payload(opened.answer)[0]["sentence"]


def test_a_bundle_whose_parts_do_not_fit_is_refused_in_words(sharing):
    document = json.loads(write_bundle(dropped_call_trace()))
    document["parse"]["matches"][0]["raw_index"] = 99

    header = unpack_payload(sharing.open(pack(json.dumps(document))).answer)[0]

    assert header["kind"] in ("opened", "failure")
    assert header["kind"] == "opened" or "do not match" in header["sentence"]


@pytest.mark.parametrize(("has_lab", "step"), [(True, "Try the fix"), (False, "Show the fix")])
def test_the_fix_of_a_labs_run_is_offered_to_be_tried_only_where_a_lab_is(has_lab, step):
    sharing = Sharing(PageSettings(lab=False), lambda: has_lab)
    bundle = write_bundle(load_recording("dropped-call").trace, "0.1.0")

    opened = sharing.open(pack(bundle))

    assert unpack_payload(opened.payloads["verdict"])[0]["step"]["label"] == step
