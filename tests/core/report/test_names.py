"""What the files of a run are called."""

from dataclasses import replace
from functools import partial

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Request, Trace
from prompt_debugger.core.report import add_error, add_stop_note, file_stem
from tests.ui.present.traces import dropped_call_trace


def test_the_name_says_what_was_found_by_which_parser_on_which_server_and_when():
    assert file_stem(replace(dropped_call_trace(), started="2026-11-23T16:12:59Z")) == (
        "dropped-call_kimi_k2_vllm-0.32.0_1612"
    )


def test_what_is_not_known_is_left_out():
    assert file_stem(Trace(Request({}, ""))) == "unfinished"
    assert file_stem(replace(dropped_call_trace(), server=None, started="yesterday", findings=())).startswith(
        "nothing-found"
    )


@pytest.mark.parametrize(
    ("ended", "name"),
    [
        (add_stop_note, "stopped"),
        (
            partial(add_error, error=BackendError("GET http://127.0.0.1:9/v1: no connection (refused).")),
            "no-connection",
        ),
        (partial(add_error, error=BackendError("POST http://x/v1: no complete answer within 60 s.")), "no-answer"),
        (
            partial(add_error, error=BackendError("POST http://x/v1: the answer broke off (reset).")),
            "answer-broke-off",
        ),
        (partial(add_error, error=BackendError("the server does not speak https (wrong version).")), "no-connection"),
        (partial(add_error, error=BackendError("More than 40 items.")), "ended-with-an-error"),
    ],
)
def test_a_run_without_a_verdict_is_called_by_how_it_ended(ended, name):
    begun = Trace(Request({"model": "org/my-model"}, ""), started="2026-11-23T16:12:59Z")

    assert file_stem(ended(begun)) == f"{name}_my-model_1612"


def test_a_title_comes_first():
    assert file_stem(replace(dropped_call_trace(), title="Paris, lost")).startswith("Paris-lost_kimi_k2")


@pytest.mark.parametrize("text", ["../../etc/passwd", "a/b\\c", "\u202egnp", "x" * 500, "; rm -rf ~", ".", ""])
def test_no_name_leads_out_of_a_folder_or_says_something_to_a_shell(text):
    trace = dropped_call_trace()
    evil = replace(trace, title=text, server=replace(trace.server, tool_parser=text, version=text))

    stem = file_stem(evil)

    assert set(stem) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-")
    assert not stem.startswith(("-", "."))
    assert len(stem) < 200
