"""A public page with the lab on it, all kinds of attacks at once: honest visitors run on the lab meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from prompt_debugger.core.base.types import JSONObject
from tests.attacks.listener import listening
from tests.attacks.page import RunningPage, Visitor
from tests.attacks.test_hostile_work import (
    doubling,
    open_a_doubling_schema,
    open_a_pattern,
    open_deep_nesting,
    open_endless_zeros,
    referring_to_itself,
    render_endless_loops,
    render_what_is_too_wide,
    share_long_passwords,
    share_what_looks_like_keys,
    tools,
)
from tests.core.tools.lab.heavy import HEAVY

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

ASKED = "What's the weather in Paris?"
WORK = (
    open_a_pattern, open_a_doubling_schema, open_deep_nesting, open_endless_zeros, render_endless_loops,
    render_what_is_too_wide, share_what_looks_like_keys, share_long_passwords,
)  # fmt: skip


@pytest.fixture(scope="module")
def lab_page() -> Iterator[RunningPage]:
    """As a Space starts it: public, with the lab."""
    running = RunningPage("--public")
    yield running
    running.end()


def is_verdict(received: str) -> bool:
    return "process_completed" in received and "lab-model" in received and "characters accounted for" in received


async def test_all_attacks_at_once_hold_up_no_ones_run_on_the_lab(lab_page: RunningPage) -> None:
    async with Visitor(lab_page, "127.0.0.5") as honest:
        assert is_verdict(await honest.run(ASKED))  # the lab is up

    with listening() as elsewhere:
        outside: JSONObject = {"$ref": elsewhere.url}
        hostile = [Visitor(lab_page, f"127.0.0.{60 + number % 3}") for number in range(len(WORK) + len(HEAVY) + 3)]
        attacks = [work(visitor) for work, visitor in zip(WORK, hostile, strict=False)]
        free = hostile[len(WORK) :]
        attacks += [visitor.run(ASKED, **extra) for visitor, (_, extra) in zip(free, HEAVY.values(), strict=False)]
        attacks += [
            free[-1].run(ASKED, tools=tools(doubling())),
            free[-2].run(ASKED, tools=tools({**referring_to_itself(), "properties": {"b": outside}})),
            free[-3].ask("render_template", f"{{% include '{elsewhere.url}' %}}{{{{ ''.__class__.__mro__ }}}}"),
        ]
        under_way = asyncio.gather(*attacks, return_exceptions=True)
        async with Visitor(lab_page, "127.0.0.5") as honest, Visitor(lab_page, "127.0.0.6") as other:
            meanwhile = [await asyncio.gather(honest.run(ASKED), other.run(ASKED)) for _ in range(3)]
            ended = await under_way
            after = await honest.run(ASKED)
        for visitor in hostile:
            await visitor.client.aclose()
        assert elsewhere.requests() == []

    assert all(is_verdict(one) for pair in meanwhile for one in pair)
    answered = [one for one in ended if isinstance(one, str)]
    assert all("process_completed" in one for one in answered)
    # What is too much at once from one address is refused, or loses its connection: an attacker's own loss.
    assert all(isinstance(one, str | httpx.HTTPError | AssertionError) for one in ended)
    assert len(answered) > len(ended) // 2
    assert is_verdict(after)
    assert lab_page.faults() == []
