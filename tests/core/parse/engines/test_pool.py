"""Anyone who leaves ends their own question; who is hostile holds no one up; nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.parse.engines.pool import HelperPool
from prompt_debugger.core.parse.engines.process import HelperProcess
from prompt_debugger.core.sandbox import VISITOR, in_thread
from tests.core.parse.engines.children import children_of, environment, is_alive, program_of
from tests.patience import PATIENCE_S

# Answers what is asked; some questions have no end.
CHILD = """
import json, os, re, sys, time
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    question = json.loads(line)
    if "touch" in question:
        open(question["touch"], "w").close()
    if question.get("do") == "loop":
        re.match("(a+)+$", "a" * 60 + "!")
    if question.get("do") == "sleep":
        time.sleep(10_000)
    if question.get("do") == "flood":
        while True:
            sys.stdout.write("x" * 100_000)
    print(json.dumps({"pid": os.getpid(), "used_s": 0.0}), flush=True)
"""


@pytest.fixture(autouse=True)
def enough_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what this machine does besides decides whether a further helper is started."""
    monkeypatch.setattr("prompt_debugger.core.sandbox.workers.has_memory_for_another", lambda: True)


@pytest.fixture
def pool() -> Iterator[HelperPool]:
    pool = HelperPool(lambda: program_of(CHILD), environment, start_s=PATIENCE_S, max_answer_bytes=1_000_000)
    yield pool
    pool.close()


async def ask(pool: HelperPool, **question: str) -> JSONObject:
    return await pool.run(asking(question))


def asking(question: dict[str, str]) -> Callable[[HelperProcess, JSONObject], JSONObject]:
    return lambda helper, _: helper.exchange(dict(question), PATIENCE_S)


def asked_by(visitor: str, pool: HelperPool, **question: str) -> asyncio.Task[JSONObject]:
    token = VISITOR.set(visitor)
    try:
        return asyncio.create_task(ask(pool, **question))
    finally:
        VISITOR.reset(token)


async def appears(*files: Path) -> None:
    for file in files:
        await appears_one_of(file)


async def appears_one_of(*files: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not any(file.exists() for file in files):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def ends(*pids: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while any(map(is_alive, pids)):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def leave(*tasks: asyncio.Task[JSONObject]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_questions_after_each_other_have_one_warm_helper(pool: HelperPool) -> None:
    answers = [await ask(pool) for _ in range(3)]

    assert len({str(answer) for answer in answers}) == 1


async def test_a_question_that_never_ends_holds_up_no_one(pool: HelperPool, tmp_path: Path) -> None:
    began = [tmp_path / str(number) for number in range(2)]
    hostile = [asked_by(f"h{n}/1", pool, do="loop", touch=str(file)) for n, file in enumerate(began)]
    await appears(*began)

    answer = await asyncio.wait_for(asked_by("honest/1", pool), PATIENCE_S)

    assert isinstance(answer["pid"], int)
    assert not any(task.done() for task in hostile)
    await leave(*hostile)


async def test_a_visitor_holds_no_more_than_a_share(pool: HelperPool, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    hostile = [asked_by("h/1", pool, do="sleep", touch=str(file)) for file in (one, two)]
    await appears_one_of(one, two)  # which is asked first is the threads' affair

    assert (await asked_by("honest/1", pool))["pid"] in pool.pids
    assert one.exists() != two.exists()
    await leave(*hostile)


async def test_leaving_ends_the_helper_at_once_and_the_next_is_answered(pool: HelperPool, tmp_path: Path) -> None:
    before = (await ask(pool))["pid"]
    leaver = asyncio.create_task(ask(pool, do="loop", touch=str(tmp_path / "began")))
    await appears(tmp_path / "began")
    await leave(leaver)

    assert (await ask(pool))["pid"] != before
    assert isinstance(before, int)
    await ends(before)


async def test_leaving_a_thread_ends_its_questions_too(pool: HelperPool, tmp_path: Path) -> None:
    ends: list[str] = []
    over = threading.Event()

    def work() -> None:
        for _ in range(2):  # what is asked after the end is stopped as well
            try:
                pool.call(asking({"do": "sleep", "touch": str(tmp_path / "began")}))
            except EngineError as error:
                ends.append(error.message)
        over.set()

    leaver = asyncio.create_task(in_thread(work))
    await appears(tmp_path / "began")
    leaver.cancel()

    assert await asyncio.to_thread(over.wait, PATIENCE_S)
    assert ends == ["The work was stopped."] * 2
    assert (await ask(pool))["pid"] in pool.pids


async def test_the_end_of_a_turn_ends_what_a_loop_within_it_awaits(pool: HelperPool, tmp_path: Path) -> None:
    over = threading.Event()

    def work() -> None:
        try:
            asyncio.run(ask(pool, do="sleep", touch=str(tmp_path / "began")))
        except EngineError:
            over.set()

    leaver = asyncio.create_task(in_thread(work))
    await appears(tmp_path / "began")
    leaver.cancel()

    assert await asyncio.to_thread(over.wait, PATIENCE_S)


async def test_who_waits_and_leaves_disturbs_no_one(pool: HelperPool, tmp_path: Path) -> None:
    under_way = asked_by("a/1", pool, do="sleep", touch=str(tmp_path / "began"))
    await appears(tmp_path / "began")
    leaver = asked_by("a/1", pool)
    await asyncio.sleep(0)
    await leave(leaver)

    assert (await asked_by("b/1", pool))["pid"] in pool.pids
    assert not under_way.done()
    await leave(under_way)


async def test_a_flood_is_an_error_and_the_next_is_answered(pool: HelperPool) -> None:
    with pytest.raises(EngineError, match="wrote more than"):
        await ask(pool, do="flood")

    assert (await ask(pool))["pid"] in pool.pids


async def test_nothing_is_left_of_visitors_who_have_gone(pool: HelperPool, tmp_path: Path) -> None:
    await asyncio.gather(*(asked_by(f"{name}/1", pool) for name in "ab"))
    for turn in range(3):
        began = [tmp_path / f"{turn}-{number}" for number in range(2)]
        hostile = [asked_by(f"h{n}/1", pool, do="loop", touch=str(file)) for n, file in enumerate(began)]
        await appears(*began)
        honest = await asyncio.gather(*(asked_by(f"{name}/1", pool) for name in "abc"))
        assert len(honest) == 3
        await leave(*hostile)

    deadline = time.monotonic() + PATIENCE_S
    while len(pool.pids) > 3:  # two as usual, and one for those who used much
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_closing_leaves_no_process(tmp_path: Path) -> None:
    pool = HelperPool(lambda: program_of(CHILD), environment, start_s=PATIENCE_S, max_answer_bytes=1_000)
    before = set(children_of(os.getpid()))
    busy = asyncio.create_task(ask(pool, do="loop", touch=str(tmp_path / "began")))
    await appears(tmp_path / "began")
    ours = set(children_of(os.getpid())) - before
    assert len(ours) >= 2  # the forkserver and its child

    await asyncio.to_thread(pool.close)

    with pytest.raises(EngineError):
        await busy
    await ends(*ours)


async def test_closing_does_not_wait_for_an_import_that_goes_on(tmp_path: Path) -> None:
    began = tmp_path / "began"
    slow = f"open({str(began)!r}, 'w').close()\nimport time\ntime.sleep(10_000)"
    command = [program_of("")[0], "-c", slow]
    pool = HelperPool(lambda: command, environment, start_s=PATIENCE_S, max_answer_bytes=1_000)
    waiting = asyncio.create_task(ask(pool))
    await appears(began)

    await asyncio.wait_for(asyncio.to_thread(pool.close), PATIENCE_S)

    with pytest.raises(EngineError, match="stopped"):
        await asyncio.wait_for(waiting, PATIENCE_S)


async def test_what_was_missing_is_looked_for_anew(tmp_path: Path) -> None:
    there = tmp_path / "there"
    code = CHILD.replace('{"ready": True}', f'{{"ready": os.path.exists({str(there)!r})}}')
    pool = HelperPool(lambda: program_of(code), environment, start_s=PATIENCE_S, max_answer_bytes=1_000)

    def is_ready(_: HelperProcess, hello: JSONObject) -> object:
        return hello["ready"]

    try:
        before = await pool.run(is_ready)
        there.touch()
        after = await pool.run(is_ready)
    finally:
        pool.close()

    assert (before, after) == (False, True)
