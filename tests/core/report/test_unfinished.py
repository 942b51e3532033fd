"""A run that ended before its verdict says why, in each of its files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import BackendError, DebuggerError, LabError
from prompt_debugger.core.base.types import Request, Trace
from prompt_debugger.core.report import (
    add_error,
    add_stop_note,
    error_of_end,
    read_bundle,
    trace_to_markdown,
    trace_to_terminal,
    why_unfinished,
    write_bundle,
)
from tests.ui.present.traces import dropped_call_trace

DEAD = BackendError("GET http://127.0.0.1:9/v1/models: no connection.", "Is the server running?")
OWN_WORDS = "GET http://127.0.0.1:9/v1/models: no connection. Is the server running?"
WORDS = f"The run ended with an error (server): {OWN_WORDS}"
BEGUN = Trace(Request({"messages": []}, "{}"))


@pytest.mark.parametrize("write", [trace_to_markdown, trace_to_terminal])
def test_the_error_is_the_first_line(write):
    first = write(add_error(BEGUN, DEAD)).splitlines()[0]

    assert first.strip("*").replace("`", "") == f"No verdict. {WORDS}"  # an address is code there


def test_a_bundle_keeps_it():
    assert why_unfinished(read_bundle(write_bundle(add_error(BEGUN, DEAD), "0.1.0")).trace) == WORDS


def test_where_it_happened_is_known_again():
    lab = LabError("The lab did not start.", "Run again.")

    assert error_of_end(add_error(BEGUN, DEAD)) == ("server", OWN_WORDS)
    assert error_of_end(add_error(BEGUN, lab)) == ("lab", "The lab did not start. Run again.")
    assert error_of_end(add_error(BEGUN, DebuggerError("Something broke.", ""))) == ("", "Something broke.")


@pytest.mark.parametrize(
    ("words", "where"), [(OWN_WORDS, "server"), ("the chat template failed: 'x' is undefined.", "")]
)
def test_a_file_of_an_earlier_release_tells_as_far_as_its_words_do(words, where):
    trace = replace(BEGUN, notes=(f"The run ended with an error: {words}",))

    assert error_of_end(trace) == (where, words)


def test_no_error_ended_a_run_that_was_stopped_or_only_quotes_one():
    quoted = replace(BEGUN, notes=(f"Not asked: {WORDS}",))

    assert error_of_end(add_stop_note(BEGUN)) is None
    assert error_of_end(quoted) is None
    assert error_of_end(BEGUN) is None


def test_a_run_that_was_stopped_is_said_to_be():
    assert why_unfinished(add_stop_note(add_stop_note(BEGUN))) == "The run was stopped before its end."
    assert add_stop_note(add_stop_note(BEGUN)).notes == add_stop_note(BEGUN).notes


def test_nothing_is_said_where_nothing_is_known():
    assert why_unfinished(replace(BEGUN, notes=("Something else.",))) == "The run did not finish."


def test_a_run_with_a_verdict_is_left():
    trace = dropped_call_trace()

    assert add_error(trace, DEAD) == trace == add_stop_note(trace)
