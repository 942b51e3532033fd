"""The clock of the machine is set by hours while visitors are there: no one loses anything or waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.page import ROOT, RunningPage, Visitor

HOURS = (6, -6, 24 * 400, 0)
CLICKED = {"index": 0, "value": {"form": "bundle"}}
# What the page imports before its first line: the time of day is as far off as a file says.
SET_BY_HAND = """
import os, time
_time, _time_ns = time.time, time.time_ns

def _off():
    with open(os.environ["HOURS_OFF"]) as file:
        return float(file.read() or 0) * 3600

time.time = lambda: _time() + _off()
time.time_ns = lambda: _time_ns() + int(_off() * 1e9)
open(os.environ["HOURS_OFF"] + ".read", "w").close()
"""


@pytest.fixture
def hours_off(tmp_path: Path) -> Path:
    """How far off the page's clock is."""
    file = tmp_path / "hours"
    file.write_text("0")
    return file


@pytest.fixture
def page(endpoint: str, tmp_path: Path, hours_off: Path) -> Iterator[RunningPage]:
    (tmp_path / "sitecustomize.py").write_text(SET_BY_HAND)
    server = ("--public", "--no-lab", "--endpoint", endpoint, "--tokenizer", str(ROOT / "assets" / "lab-model"))
    environment = {"PYTHONPATH": str(tmp_path), "HOURS_OFF": str(hours_off)}
    running = RunningPage(*server, environment=environment, is_cold=True)
    yield running
    running.end()


async def test_nothing_is_lost_and_no_one_waits(page: RunningPage, hours_off: Path) -> None:
    async with Visitor(page, "127.0.0.5") as visitor:
        assert "ECHO FIRST" in await visitor.run("FIRST")
        for number, hours in enumerate(HOURS):
            hours_off.write_text(str(hours))
            kept = await visitor.ask("share", event_data=CLICKED)
            assert "application/json" in kept, f"the run went as the clock was set to {hours:+} h"
            async with Visitor(page, f"127.0.3.{number + 1}") as newcomer:
                assert "process_completed" in await newcomer.ask("check_request", "{}")
                assert f"ECHO NEW {number}" in await newcomer.run(f"NEW {number}")
            assert f"ECHO AGAIN {number}" in await visitor.run(f"AGAIN {number}")

    assert hours_off.with_name("hours.read").exists(), "its clock was set"
    assert page.faults() == []
    assert page.end() == 0
