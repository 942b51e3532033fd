"""A thread goes from one piece of work to the next; however many pieces wait, each has a thread of its own."""

from __future__ import annotations

import threading
import time

import pytest

from prompt_debugger.core.sandbox import threads
from prompt_debugger.core.sandbox.threads import Threads
from tests.patience import PATIENCE_S


def until(is_so):
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0)


@pytest.fixture
def own():
    return Threads()


@pytest.fixture
def begin(own):
    return own.begin


def test_the_next_piece_of_work_goes_to_the_thread_that_is_done(own, begin):
    first = begin(threading.current_thread, "first").result(PATIENCE_S)
    until(lambda: own.idle() == (first,))

    second = begin(threading.current_thread, "second").result(PATIENCE_S)

    assert second is first
    assert second.name == "second"
    assert second.daemon  # the program does not wait for it at its end


def test_work_that_waits_holds_up_no_other(begin):
    go_on = threading.Event()
    waiting = [begin(lambda: go_on.wait(PATIENCE_S), "waits") for _ in range(50)]

    value = begin(lambda: 7, "other").result(PATIENCE_S)
    go_on.set()

    assert value == 7
    assert all(one.result(PATIENCE_S) for one in waiting)


def test_a_thread_that_no_one_needs_ends(monkeypatch, own, begin):
    monkeypatch.setattr(threads, "_STAYS_S", 0.01)

    thread = begin(threading.current_thread, "once").result(PATIENCE_S)
    thread.join(PATIENCE_S)

    assert not thread.is_alive()
    assert own.idle() == ()
    assert begin(lambda: 7, "next").result(PATIENCE_S) == 7


def test_an_error_is_raised_where_it_is_awaited_and_leaves_the_thread_fit_for_more(begin):
    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begin(fail, "fails").result(PATIENCE_S)

    assert begin(lambda: 7, "next").result(PATIENCE_S) == 7


@pytest.mark.parametrize("ends", [lambda: 7, lambda: 1 / 0], ids=["with a value", "with an error"])
def test_work_that_was_given_up_leaves_the_thread_fit_for_more(own, begin, ends):
    go_on, has_begun = threading.Event(), threading.Event()
    used = []

    def late():
        used.append(threading.current_thread())
        has_begun.set()
        go_on.wait(PATIENCE_S)
        return ends()

    given_up = begin(late, "late")
    has_begun.wait(PATIENCE_S)
    assert given_up.cancel()
    go_on.set()
    until(lambda: own.idle() or not used[0].is_alive())

    assert own.idle() == tuple(used)
    assert begin(threading.current_thread, "next").result(PATIENCE_S) is used[0]
