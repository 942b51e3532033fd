"""Who leaves the line to a helper takes their own question with them; the others are answered."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator

import pytest

from prompt_debugger.core.errors import EngineError
from prompt_debugger.core.parse.engines.line import HelperLine
from prompt_debugger.core.parse.engines.process import HelperProcess
from prompt_debugger.core.room import in_thread
from tests.patience import PATIENCE_S

# Says that it read the question, and answers those that are no `sleep`.
CHILD = """
import sys, json
for line in sys.stdin:
    question = json.loads(line)
    if question.get("sleep"):
        sys.stderr.close()
        import threading
        threading.Event().wait()
    print(json.dumps(question), flush=True)
"""


class Helped:
    """A helper that is started anew when it is gone, as the engines do."""

    def __init__(self) -> None:
        self.helper: HelperProcess | None = None
        self.began = threading.Event()
        self.line = HelperLine("test", self._kill)

    def ask(self, *, sleep: bool = False) -> object:
        if self.helper is None or not self.helper.is_running:
            self.helper = HelperProcess([sys.executable, "-c", CHILD], {}, max_answer_bytes=1_000)
        self.began.set()
        return self.helper.exchange({"sleep": sleep}, PATIENCE_S)

    def drop(self) -> None:
        if self.helper is not None:
            self.helper.stop()

    def _kill(self) -> None:
        if self.helper is not None:
            self.helper.kill()


@pytest.fixture
def helped() -> Iterator[Helped]:
    helped = Helped()
    yield helped
    helped.line.close(helped.drop)


async def test_leaving_ends_the_question_under_way_and_the_next_is_answered(helped: Helped) -> None:
    leaver = asyncio.create_task(helped.line.run(lambda: helped.ask(sleep=True)))
    other = asyncio.create_task(helped.line.run(helped.ask))
    assert await asyncio.to_thread(helped.began.wait, PATIENCE_S)
    leaver.cancel()

    assert await other == {"sleep": False}


async def test_leaving_a_thread_ends_its_question_too(helped: Helped) -> None:
    ends: list[str] = []

    def work() -> None:
        for _ in range(2):  # what is asked after the end is stopped as well
            try:
                helped.line.call(lambda: helped.ask(sleep=True))
            except EngineError as error:
                ends.append(error.message)
        over.set()

    over = threading.Event()
    leaver = asyncio.create_task(in_thread(work))
    assert await asyncio.to_thread(helped.began.wait, PATIENCE_S)
    leaver.cancel()

    assert await asyncio.to_thread(over.wait, PATIENCE_S)
    assert len(ends) == 2
    assert await helped.line.run(helped.ask) == {"sleep": False}


async def test_who_waits_and_leaves_disturbs_nobody(helped: Helped) -> None:
    may_end = threading.Event()
    first = asyncio.create_task(helped.line.run(lambda: (helped.ask(), may_end.wait(PATIENCE_S))))
    assert await asyncio.to_thread(helped.began.wait, PATIENCE_S)
    leaver = asyncio.create_task(helped.line.run(lambda: helped.ask(sleep=True)))
    await asyncio.sleep(0)
    leaver.cancel()
    await asyncio.gather(leaver, return_exceptions=True)
    may_end.set()

    assert await first == ({"sleep": False}, True)
    assert await helped.line.run(helped.ask) == {"sleep": False}
