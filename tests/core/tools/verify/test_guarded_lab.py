"""Rows that would hold up the lab for everyone are not sent to it; to a server of one's own every row goes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.grammar import GrammarEngine, GrammarTooMuchError
from prompt_debugger.core.tools.lab import LabPool, LabSpec
from prompt_debugger.core.tools.lab.guard import LabGuard
from prompt_debugger.core.tools.verify import Journal, Plan, verify
from tests.core.tools.lab.heavy import HEAVY
from tests.core.tools.verify.counting_server import body, counting_server

ROWS = (body("say one"), body("say two", **HEAVY["regex"][1]), body("say three"))


class Engine:
    """XGrammar, for which every grammar is too much."""

    def cost_of_compiling(self, kind: str, value: object, cpu_s: float) -> float:
        raise GrammarTooMuchError(kind)

    def close(self) -> None:
        """Have nothing to end."""


@dataclass
class Lab:
    """A lab that runs elsewhere."""

    base_url: str
    model: str = "m"
    model_dir: str = str(Path("assets/lab-model").absolute())
    spec: LabSpec = field(default_factory=LabSpec)


class Labs(LabPool):
    """One lab that already exists."""

    def __init__(self, base_url: str) -> None:
        engine: GrammarEngine = Engine()  # type: ignore[assignment]  # one question is all that is asked
        super().__init__(guard=LabGuard(engine))
        self._base_url = base_url

    @asynccontextmanager
    async def lease(self, *_: object) -> AsyncIterator[Lab]:  # type: ignore[override]  # all that is asked of it
        yield Lab(self._base_url)


@pytest.mark.parametrize("is_lab", [True, False], ids=["lab", "own server"])
def test_a_row_that_would_hold_up_the_lab_is_given_up_and_the_others_are_answered(tmp_path, is_lab):
    dataset = tmp_path / "rows.jsonl"
    dataset.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with counting_server() as server, Journal(tmp_path / "rows.sqlite") as journal:
        target = Target(base_url=None if is_lab else server.base_url)
        plan = Plan(dataset, (target,), journal.path, concurrency=2)
        outcome = asyncio.run(verify(plan, journal, clock=time.monotonic, labs=Labs(server.base_url)))
        rows = list(journal.rows(0))

    assert outcome.remaining == (0,)
    assert [row["status"] for row in rows] == ["success", "failed" if is_lab else "success", "success"]
    assert sorted(server.asked) == sorted(["say one", "say three"] + ["say two"] * (not is_lab))
    if is_lab:
        assert "The lab was not asked: the grammar of `structured_outputs.regex`" in rows[1]["response"]["error"]
