"""Live's table grows by what is new: it equals that of the whole journal, which is never read for it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.verify import Stored
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.live_watch import LiveWatch
from prompt_debugger.ui.web.redraw_rate import RedrawRate
from tests.core.complete.faulty_server import answer, faulty_server
from tests.core.tools.capture.capturing import patient_client
from tests.core.tools.watch.test_watch import ASKED, LEAKS
from tests.ui.web.test_verification import OWN


async def test_the_table_is_that_of_the_journal_which_is_not_read_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    labs: Any = None  # a server is named
    live, sent = LiveWatch(labs, RedrawRate()), 0
    opened: tuple[Stored, ...] = ()
    table: Any = {}
    with monkeypatch.context() as patch:
        patch.setattr(Stored, "rows", lambda _: pytest.fail("the journal was read"))
        patch.setattr("prompt_debugger.ui.web.live_watch._TABLE_EVERY_S", 0.0)
        async with (
            faulty_server(answer(200, LEAKS)) as server,
            patient_client() as client,
            aclosing(live.steps(Target(base_url=server.base_url), "page", asks_for_ids=False)) as steps,
        ):
            async for step in steps:
                if step is None or not step.payload:
                    continue
                table, opened = unpack_payload(step.payload)[0], step.opened or opened
                if sent == (table["sides"][0]["clusters"][0]["count"] if table.get("sides") else 0) and sent < 3:
                    await client.post(f"{table['address']}/chat/completions", json=ASKED)
                    sent += 1
                elif sent == 3 and table.get("state") == "running":
                    live.stop("page")

    whole, _ = await OWN.open(str(opened[0].path), "")
    assert table["state"] == "done"
    assert table["sides"] == unpack_payload(whole)[0]["sides"]
    assert table["sides"][0]["clusters"][0]["count"] == 3


async def test_a_request_in_progress_is_counted_before_its_answer_is_there() -> None:
    labs: Any = None  # a server is named
    live, may_answer = LiveWatch(labs, RedrawRate()), asyncio.Event()
    sentences: list[str] = []

    async def in_time(writer: asyncio.StreamWriter) -> None:
        await may_answer.wait()
        await answer(200, LEAKS)(writer)

    async with (
        faulty_server(in_time) as server,
        patient_client() as client,
        aclosing(live.steps(Target(base_url=server.base_url), "page", asks_for_ids=False)) as steps,
    ):
        asking: asyncio.Task[Any] | None = None
        async for step in steps:
            if step is None or not step.payload:
                continue
            table: Any = unpack_payload(step.payload)[0]
            sentences.append(table["sentence"])
            if asking is None:
                asking = asyncio.create_task(client.post(f"{table['address']}/chat/completions", json=ASKED))
            elif "in progress" in table["sentence"]:
                assert "1 in progress" in table["source"]
                may_answer.set()
            elif may_answer.is_set() and table["state"] == "running" and table.get("sides"):
                assert "in progress" not in table["source"]
                await asking
                live.stop("page")

    assert sentences[0].startswith("Nothing has passed yet")
    assert "1 request in progress: its answer is read when it is complete." in sentences
    begun = next(at for at, sentence in enumerate(sentences) if "in progress" in sentence)
    assert not any(sentence.startswith("Nothing has passed") for sentence in sentences[begun:])
