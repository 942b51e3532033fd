"""The front of every command: what it says while it is at work, how it is stopped, with which status it ends.

| ends because | status |
|---|---|
| it ran, and nothing is wrong | 0 |
| it ran, and found an error | 1 |
| it could not run | 2 |
| Ctrl-C | 130 |
| SIGTERM | that of the signal; 0 where a command serves until then |

What takes longer than a moment is said by `progress`. Where Ctrl-C or SIGTERM must do more than to end the program,
a command says so by `stopped_by` or `until_stopped`: answers are still read, exchanges written, labs ended.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import NoReturn

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.report import redact_text
from prompt_debugger.ui.cli.output import machine_fault, report_error
from prompt_debugger.ui.cli.progress import working

INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def ask(options: argparse.Namespace) -> int:
    """Do what a command line asks for, and return the exit status."""
    as_json = getattr(options, "json", False)
    doing = getattr(options, "doing", "")
    try:
        with working(doing) if doing else nullcontext():
            return int(options.run(options))
    except DebuggerError as error:
        return report_error(error, as_json=as_json)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:  # noqa: BLE001  # exit status 1 would say that the command ran and found something
        return report_error(machine_fault(error) or _fault_of_ours(error), as_json=as_json)


def _fault_of_ours(error: Exception) -> DebuggerError:
    """Return the error that says that this program is at fault; where, is printed before it."""
    sys.stderr.write(redact_text("".join(traceback.format_exception(error))))
    return DebuggerError(
        f"This program failed: {type(error).__name__}: {error}.",
        "This is a bug in Prompt Debugger: please report it with the lines above and the output of `--version`.",
    )


@contextmanager
def stopped_by(stop: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call `stop` on Ctrl-C and SIGTERM meanwhile, in the loop that runs, if one does."""
    try:
        loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        loop = None

    def handle(number: int, _frame: FrameType | None) -> None:
        stop(signal.Signals(number))

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        if loop is None:
            signal.signal(number, handle)
        else:  # a handler of `signal` does not wake it
            loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for number, handler in before.items():
            if loop is not None:
                loop.remove_signal_handler(number)
            signal.signal(number, handler)


@contextmanager
def until_stopped() -> Iterator[asyncio.Event]:
    """Give what Ctrl-C and SIGTERM set."""
    ending = asyncio.Event()
    with stopped_by(lambda _: ending.set()):
        yield ending


def interrupt(_: signal.Signals) -> NoReturn:
    """End what waits outside a loop, as Ctrl-C does."""
    raise KeyboardInterrupt
