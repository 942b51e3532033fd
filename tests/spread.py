"""Runs the tests in several processes that split off from one that has read them all.

    python -m pytest -p tests.spread tests/core

To read the tests of the core and what they import takes seven seconds of processor time, which every process of
pytest-xdist pays; here they are paid once. The tests of one file stay in one process, as what they share does. Each
process takes another file when it has none left, so that all end at about the same time; and there are more of them
than cores, for some tests wait.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, NoReturn

import pytest
from _pytest.config import create_terminal_writer

_NUMBER_BYTES = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    usual = len(os.sched_getaffinity(0)) + 1
    parser.addoption("--processes", type=int, default=usual, help="how many processes run the tests")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Read the tests without looking for garbage meanwhile: hardly anything of it is."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Take the place of the usual loop, unless there is nothing to run."""
    if session.config.option.collectonly or session.testsfailed:
        return None
    begun = Path("/proc/thread-self/children").read_text(encoding="ascii")
    if threading.active_count() > 1 or begun:
        raise pytest.UsageError(f"reading the tests left threads or processes: {threading.enumerate()} {begun}")
    _Spread(session).run()
    return True


class _Files:
    """The tests by file, and which files nobody has taken yet: their numbers in a pipe that all processes read."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        files: dict[Path, list[pytest.Item]] = {}
        for item in items:
            files.setdefault(item.path, []).append(item)
        self._files = sorted(files.values(), key=len, reverse=True)  # so that what begins last is small
        self._reading, writing = os.pipe()
        with os.fdopen(writing, "wb") as numbers:
            numbers.write(b"".join(number.to_bytes(_NUMBER_BYTES, "big") for number in range(len(self._files))))

    def take(self) -> list[pytest.Item]:
        """The tests of another file; none if all are taken."""
        number = os.read(self._reading, _NUMBER_BYTES)
        return self._files[int.from_bytes(number, "big")] if number else []

    def in_turn(self) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
        """One process's tests, each with the next; a file is taken only when the last test before it begins."""
        tests = self.take()
        while tests:
            yield from pairwise(tests)
            following = self.take()
            yield tests[-1], following[0] if following else None
            tests = following


class _Spread:
    """A run: this process tells what the others, which run the tests, report."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._hook = session.config.hook
        self._files = _Files(session.items)
        self._items = {item.nodeid: item for item in session.items}
        self._unreported = set(self._items)
        self._running: dict[Connection, tuple[int, str]] = {}  # each process, and its test

    def run(self) -> None:
        session = self._session
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all of them
        gc.freeze()  # no collection goes through all the tests, which would copy their memory for each process
        for _ in range(min(session.config.getoption("--processes"), len(self._items))):
            self._split_off()
        try:
            while self._running:
                for one in wait(list(self._running)):
                    self._hear(one)  # type: ignore[arg-type]  # nothing else is waited for
        finally:
            self._stop()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        if self._unreported:
            session.shouldfail = f"{len(self._unreported)} tests were not run"
            raise session.Failed(session.shouldfail)

    def _split_off(self) -> None:
        reading, writing = Pipe(duplex=False)
        process = os.fork()
        if process == 0:
            _work(self._session, self._files, writing)
        writing.close()
        self._running[reading] = (process, "")

    def _hear(self, one: Connection) -> None:
        if one not in self._running:
            return
        try:
            what, content = one.recv()
        except EOFError:
            self._end(one)
            return
        if what == "test":
            self._running[one] = (self._running[one][0], content)
            self._unreported.discard(content)
            return
        config = self._session.config
        self._tell(self._hook.pytest_report_from_serializable(config=config, data=content))

    def _tell(self, report: pytest.TestReport) -> None:
        self._hook.pytest_runtest_logreport(report=report)
        if self._session.shouldfail or self._session.shouldstop:
            self._stop()

    def _end(self, one: Connection) -> None:
        """Note that a process is over; where it broke off, the test that it was at has failed."""
        process, test = self._running.pop(one)
        one.close()
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if status == 0:
            return
        if test:
            words = f"the process of this test ended with {status}; it does not go on with the file"
            item = self._items[test]
            self._tell(pytest.TestReport(test, item.location, dict(item.keywords), "failed", words, "call"))
            self._split_off()  # for what others have not taken

    def _stop(self) -> None:
        """End what still runs: nobody takes another file, and fixtures are torn down."""
        while self._files.take():
            pass
        for one, (process, _) in self._running.items():
            os.kill(process, signal.SIGINT)
            one.close()
        for process, _ in self._running.values():
            os.waitpid(process, 0)
        self._running.clear()


class _Reporter:
    """Sends what a process reports to the one that tells it."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._connection.send(("test", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(("report", data))


def _work(session: pytest.Session, files: _Files, connection: Connection) -> NoReturn:
    """Run tests in a process that has just split off, until no file is left."""
    status = 1
    try:
        _keep_outputs_apart(session.config)
        session.config.pluginmanager.register(_Reporter(session.config, connection))
        for item, following in files.in_turn():
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        status = 0
    except (KeyboardInterrupt, BrokenPipeError):
        signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # from a terminal it comes to all, and then from the one that stops
        with contextlib.suppress(BaseException):
            session._setupstate.teardown_exact(None)
    except BaseException:  # noqa: BLE001  # nobody is above who would tell it
        traceback.print_exc(file=sys.__stderr__)
    finally:
        atexit._run_exitfuncs()
        os._exit(status)


def _keep_outputs_apart(config: pytest.Config) -> None:
    """Capture into a file of this process's own, and leave the terminal to the one that tells."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    terminal: Any = config.pluginmanager.getplugin("terminalreporter")
    terminal._tw = create_terminal_writer(config, io.StringIO())
