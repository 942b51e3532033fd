"""Hostile visitors of a page, who never stop: `python -m benchmarks.hostile URL`; `benchmarks.visitors` starts them.

Each has an address of their own and several open pages. A page sends what its mix says, waits for the end of all, and
begins again. With `--new-pages` each round is of a page that was just opened, and is left a second later. When the last
event of a first round is sent, of new pages the first one, a visitor's line is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import gzip
import json
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import httpx

from prompt_debugger.core.base.types import JSON, JSONObject
from tests.attacks.page import ReachedPage, Visitor

PAGES = 5  # of each visitor
_STAYS_S = 1.0  # how long a new page is listened for
ENDLESS: JSONObject = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
TOOLS: list[JSON] = [{"type": "function", "function": {"name": "f", "parameters": ENDLESS}}]
CALL = json.dumps(
    {"messages": [{"role": "user", "content": "CALL " + json.dumps({"a": "a" * 40 + "!"})}], "tools": TOOLS}
)
LONG = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}"
BOMB = base64.urlsafe_b64encode(gzip.compress(b'{"a":' * 2_000_000)).decode()


Attack: TypeAlias = "Callable[[ReachedPage, str, tuple[Sent, ...], asyncio.Event], Coroutine[None, None, None]]"


class Sent(NamedTuple):
    """One event: its name, its first values, and what was clicked."""

    event: str
    values: tuple[JSON, ...] = ()
    event_data: JSON = None

    async def by(self, visitor: Visitor) -> None:
        """Put it into the queue."""
        more: dict[str, Any] = {} if self.event_data is None else {"event_data": self.event_data}
        await visitor.join(self.event, *self.values, **more)


SCHEMA = Sent("run", (CALL,))
TEMPLATE = Sent("probe_template", (LONG,))
BUNDLES = tuple(Sent(event, event_data={"packed": BOMB}) for event in ("open_bundle", "compare_runs"))
PASTE = Sent("check_request", (json.dumps({"messages": [{"role": "user", "content": "a <tool_call> " * 100_000}]}),))
READING = Sent("check_reading", ("<think>" + '{"name": "f", ' * 100_000,))
TALK = Sent("run", (json.dumps({"messages": [{"role": "user", "content": "again " * 20_000}], "stream": True}),))
SMALL = Sent("check_request", (json.dumps({"messages": [{"role": "user", "content": "small"}]}),))
MIXES: Mapping[str, tuple[Sent, ...]] = MappingProxyType(
    {
        "all": (SCHEMA, *[TEMPLATE] * 3, *BUNDLES),
        "schemas": (SCHEMA,),
        "templates": (TEMPLATE,) * 3,
        "bundles": BUNDLES * 2,
        "pastes": (PASTE, READING),
        "talk": (TALK,),
        "kinds": (SCHEMA, TEMPLATE, *BUNDLES, PASTE, READING, TALK, SMALL),
        "small": (SMALL,) * 4,
    }
)


async def main() -> None:
    """Send until this process is ended."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("url")
    arguments.add_argument("--hostile", type=int, default=1)
    arguments.add_argument("--mix", choices=sorted(MIXES), default="all")
    arguments.add_argument("--pages", type=int, default=PAGES, help="of each of them")
    arguments.add_argument("--new-pages", action="store_true", help="each page sends once and is left for a new one")
    options = arguments.parse_args()
    page = ReachedPage.at(options.url)
    how = attack_from_new_pages if options.new_pages else attack
    async with asyncio.TaskGroup() as group:
        for number in range(options.hostile):
            group.create_task(flood(page, address_of(number), MIXES[options.mix], options.pages, how))


def address_of(number: int) -> str:
    """Return the address of a hostile visitor, counted from 0."""
    return f"127.0.2.{number + 1}"


async def flood(page: ReachedPage, address: str, mix: tuple[Sent, ...], pages: int, how: Attack) -> None:
    """Send from several pages of one address, again and again."""
    began = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for _ in range(pages):
            group.create_task(how(page, address, mix, began))
        await began.wait()
        print(f"{address} has begun", flush=True)


async def attack(page: ReachedPage, address: str, mix: tuple[Sent, ...], began: asyncio.Event) -> None:
    """Send one of each and wait for the end of all; then again."""
    async with Visitor(page, address) as visitor:
        while True:
            for sent in mix:
                await sent.by(visitor)
            began.set()
            await visitor.listen()


async def attack_from_new_pages(page: ReachedPage, address: str, mix: tuple[Sent, ...], began: asyncio.Event) -> None:
    """Open a page, send one of each, leave it a moment later; then again."""
    while True:
        async with Visitor(page, address) as visitor:
            with suppress(httpx.TransportError):  # refused before it was read
                await visitor.client.get("/")
                for sent in mix:
                    await sent.by(visitor)
                    began.set()  # the page may hold the next one back
                with suppress(TimeoutError):
                    async with asyncio.timeout(_STAYS_S):
                        await visitor.listen()


if __name__ == "__main__":
    asyncio.run(main())
