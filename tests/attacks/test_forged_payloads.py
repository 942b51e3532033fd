"""Every event of a running page is sent what the page never sends: nothing is asked, read, or broken."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from typing import Any

import pytest

from prompt_debugger.core.base.types import JSON
from tests.attacks.conftest import MODES
from tests.attacks.listener import listening
from tests.attacks.page import RunningPage, Visitor
from tests.examples import ASKED

INSIDE = ("http://169.254.169.254/latest/meta-data/", "http://[64:ff9b::7f00:1]:%d/", "http://localhost:%d/")


def file_data(url: str) -> dict[str, JSON]:
    """Return what gradio takes for an uploaded file, and fetches."""
    return {"path": url, "url": url, "orig_name": "x.txt", "meta": {"_type": "gradio.FileData"}}


def forgeries(url: str) -> list[JSON]:
    """Return one value in all the shapes in which gradio looks for files."""
    file: JSON = file_data(url)
    return [
        file,
        [file],
        {"value": file},
        {"a": [{"b": file}]},
        {"path": url, "meta": {"_type": "gradio.FileData"}},
        {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}},
        {"path": url},
        {"url": url},
        {"files": [file], "text": "x"},
        {"__type__": "update", "value": file},
        [[file, "caption"]],
    ]


WAYS = ("queue/join", "run/predict")


def own_ways(running: RunningPage, event: str) -> tuple[str, ...]:
    """Return the way on which an event is sent; none for what the page's scripts do by themselves.

    On any other way the page knows no such event, whatever is sent: there few bodies are tried.
    """
    described = running.events[event]
    if not described["backend_fn"]:
        return ()
    return ("queue/join",) if described["queue"] else ("run/predict",)


def other_ways(running: RunningPage, event: str) -> tuple[str, ...]:
    own = own_ways(running, event)
    return tuple(way for way in WAYS if way not in own)


async def send(visitor: Visitor, ways: Iterable[str], body: dict[str, Any]) -> list[int]:
    return [await visitor.status_of(way, body) for way in ways]


async def test_a_file_that_is_forged_into_any_event_is_neither_looked_up_nor_fetched(
    running: RunningPage, request: pytest.FixtureRequest
) -> None:
    with listening() as listener:
        urls = [listener.url, *(url % listener.port if "%d" in url else url for url in INSIDE)]
        plain, *others = [shape for url in urls for shape in forgeries(url)]
        # A plain file in every place, and at each place another of the shapes and addresses in turn, in each mode of
        # the page a different one.
        first = MODES.index(request.node.callspec.params["running"]) * len(others) // len(MODES)
        shapes = itertools.islice(itertools.cycle([(plain, other) for other in others]), first, None)
        async with Visitor(running) as visitor:
            for event in running.events:
                ways, own = own_ways(running, event), visitor.body(event)
                for place in range(len(own["data"])) if ways else ():
                    for value in next(shapes):
                        data = [*own["data"][:place], value, *own["data"][place + 1 :]]
                        statuses = await send(visitor, ways, {**own, "data": data})
                        assert _is_refused(statuses, visitor, event, place), (event, place, value)
                for value in next(shapes):
                    for key in ("data", "event_data", "trigger_id"):
                        assert 500 not in await send(visitor, ways, {**own, key: value}), (event, key, value)
                for key, value in zip(("data", "event_data"), next(shapes), strict=False):
                    forged = {**own, "data": [value for _ in own["data"]], key: value}
                    assert set(await send(visitor, other_ways(running, event), forged)) <= {400, 404}, (event, key)

        assert listener.requests() == []
    assert running.faults() == []


def test_the_page_has_events_of_every_way(running: RunningPage) -> None:
    assert {own_ways(running, event) for event in running.events} == {(), *((way,) for way in WAYS)}


def _is_refused(statuses: list[int], visitor: Visitor, event: str, place: int) -> bool:
    """A value that the server keeps itself is dropped; any other is refused."""
    is_dropped = visitor.kinds[visitor.page.events[event]["inputs"][place]] in ("state", "html")
    return set(statuses) <= {400, 404} or (is_dropped and set(statuses) <= {200, 400, 404, 429})


def wild(rng: random.Random, depth: int = 0) -> JSON:
    """Return any JSON value, odd ones preferred."""
    simple: list[JSON] = [
        None, True, False, 0, -1, 2**63, -(2**70), 10**400, 1e308, "", "x", "\ud800", "\x00", "a" * 5_000, "kimi_k2",
        "../../etc/passwd", "file:///etc/passwd", "{{ 7*7 }}", "\u202e", "sk-" + "a" * 40,
    ]  # fmt: skip
    if depth > 3 or rng.random() < 0.5:
        return rng.choice(simple)
    if rng.random() < 0.5:
        return [wild(rng, depth + 1) for _ in range(rng.randrange(4))]
    keys = ["path", "url", "meta", "_type", "value", "__type__", "packed", "index", "x", ""]
    return {rng.choice(keys): wild(rng, depth + 1) for _ in range(rng.randrange(4))}


@pytest.mark.parametrize("seed", range(8 if ASKED else 2))
async def test_whatever_is_sent_to_any_event_the_page_answers_and_goes_on(running: RunningPage, seed: int) -> None:
    """Fields of the right kind with odd values, and of no kind at all: no 500, no traceback, and the page is there."""
    rng = random.Random(seed)
    async with Visitor(running) as visitor:
        for event in running.events:
            for _ in range(3):
                body = visitor.body(event)
                for place in range(len(body["data"])):
                    if rng.random() < 0.4:
                        body["data"][place] = wild(rng)
                for key in (
                    "event_data",
                    "trigger_id",
                    "session_hash",
                    "fn_index",
                    "batched",
                    "simple_format",
                    "oauth_token",
                ):
                    if rng.random() < 0.1:
                        body[key] = wild(rng)
                for ways in (own_ways(running, event), other_ways(running, event) if rng.random() < 0.4 else ()):
                    statuses = await send(visitor, ways, body)
                    assert not [status for status in statuses if status >= 500], (event, body, statuses)
        await visitor.post("cancel", wild(rng))
        await visitor.post("reset", wild(rng))
    async with Visitor(running) as other:
        assert "process_completed" in await other.ask("check_request", "{}")
        assert (await other.client.get("/")).status_code == 200

    assert running.faults() == []


async def test_half_a_surrogate_pair_in_a_text_ends_no_connection(running: RunningPage) -> None:
    """The answer repeats it; the page is answered, and so is what it asks next."""
    async with Visitor(running) as visitor:
        said = await visitor.ask("wait_for_questions", "a \ud800 b")
        then = await visitor.ask("check_request", "{}")

    assert [text.replace(" ", "").count('"success":true') for text in (said, then)] == [1, 1]
    assert "a \\\\ud800 b" in said
    assert running.faults() == []


async def test_an_emptied_example_changes_nothing(running: RunningPage) -> None:
    async with Visitor(running) as visitor:
        said = await visitor.ask("load_case", None)

    assert '"success":true' in said.replace(" ", "")
    assert running.faults() == []


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[" * 200_000, b'{"data":' * 50_000, b'{"data": [NaN]}', b'{"data": [1e999]}', b"\xff\xfe", b"null"],
    ids=range(8),
)
async def test_what_is_not_an_event_is_refused(running: RunningPage, raw: bytes) -> None:
    async with Visitor(running) as visitor:
        for path in ("queue/join", "run/predict", "cancel", "reset"):
            answer = await visitor.client.post(
                f"/gradio_api/{path}", content=raw, headers={"content-type": "application/json"}
            )
            assert answer.status_code == 400

    assert running.faults() == []
