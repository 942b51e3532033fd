"""One visitor's constraint and a real lab: it is refused, or the lab is replaced; the next run is answered."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator

import httpx
import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject, Request, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import Lab, LabPool, LabSpec
from tests.core.tools.lab.heavy import HARMLESS, HEAVY, body_with
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

AT_THE_USUAL_LIMIT = ("response_format", "regex")


def run(extra: JSONObject, labs: LabPool) -> Trace:
    body = body_with(extra)
    return asyncio.run(pipeline.run(Request(body, json.dumps(body)), Target(), labs))


@pytest.mark.parametrize("kind", HEAVY)
def test_a_constraint_that_would_hold_up_the_lab_holds_up_no_one(
    labs: LabPool, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    field, extra = HEAVY[kind]
    if kind not in AT_THE_USUAL_LIMIT:
        monkeypatch.setattr(labs.guard, "_cpu_s", 0.5)

    with pytest.raises(RequestError, match="The lab was not asked") as raised:
        run(extra, labs)

    assert raised.value.field == field
    assert run({}, labs).verdict is not None


@pytest.mark.parametrize("kind", ["schema", "regex", "choice"])
def test_a_constraint_that_people_use_is_answered(labs: LabPool, kind: str) -> None:
    trace = run(HARMLESS[kind], labs)

    assert trace.refusal is None
    assert trace.chat is not None


@pytest.fixture
def own_labs() -> Iterator[LabPool]:
    pool = LabPool()
    yield pool
    pool.stop_all()


def test_a_lab_that_hangs_is_ended_and_the_next_run_finds_another(
    own_labs: LabPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the guard let through: the request goes to the lab's address directly.

    The labs of tests are not below the process that is watched, so their processor time is not known, and a silence
    had to last a minute: `test_watch.py` has how long it lasts elsewhere.
    """
    lab = asyncio.run(own_labs.get(LabSpec()))
    with (
        monkeypatch.context() as patch
    ):  # on a busy machine the next lab may be silent for as long in its first request
        patch.setattr("prompt_debugger.core.tools.lab.watch._MUTE_S", 12.0)
        threading.Thread(target=ask_directly, args=(lab, HEAVY["response_format"][1]), daemon=True).start()
        assert lab.wait(PATIENCE_S)

    failure = lab.failure()
    assert failure is not None
    assert failure.message.startswith("The lab was ended: it ")
    assert run({}, own_labs).verdict is not None
    assert own_labs.peek(LabSpec()) is not lab


def ask_directly(lab: Lab, extra: JSONObject) -> None:
    with contextlib.suppress(httpx.HTTPError):
        httpx.post(f"{lab.base_url}/chat/completions", json=body_with(extra) | {"model": lab.model}, timeout=PATIENCE_S)
