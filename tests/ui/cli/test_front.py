"""Ctrl-C and SIGTERM reach a command that has more to do than to end, in a loop and outside of one."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from prompt_debugger.ui.cli.front import interrupt, stopped_by, until_stopped

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@BOTH
async def test_in_a_loop_a_signal_ends_what_is_served_and_is_as_before_afterwards(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with until_stopped() as ending:
        os.kill(os.getpid(), number)
        await asyncio.wait_for(ending.wait(), 60)

    assert signal.getsignal(number) is before


@BOTH
def test_outside_of_a_loop_a_signal_is_told_and_is_as_before_afterwards(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    shown: list[signal.Signals] = []
    with stopped_by(shown.append):
        signal.raise_signal(number)

    assert shown == [number]
    assert signal.getsignal(number) is before


def test_sigterm_may_act_as_ctrl_c_does() -> None:
    with pytest.raises(KeyboardInterrupt), stopped_by(interrupt):
        signal.raise_signal(signal.SIGTERM)
