"""Fifty visitors of one public page: how late the honest ones are answered beside hostile ones, and its memory.

    python -m benchmarks.visitors [--visitors N] [--hostile N]

The page is `ui --public --no-lab` with a server that echoes, asked over HTTP as its own script does. Honest visitors
check a request and run it, all at the same time; first alone, then beside visitors who never stop sending work without
an end: schemas, templates, bundles, from an address each. Ratios within one run count; the times are this machine's.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import gzip
import json
import sys
import time
from statistics import median
from typing import NamedTuple

from prompt_debugger.core.types import JSON, JSONObject
from tests.attacks.page import ROOT, RunningPage, Visitor, echoing

MOST_LATE = 2.0  # times as late as without hostile visitors, in the middle
ENDLESS: JSONObject = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
TOOLS: list[JSON] = [{"type": "function", "function": {"name": "f", "parameters": ENDLESS}}]
LONG = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}"
BOMB = base64.urlsafe_b64encode(gzip.compress(b'{"a":' * 2_000_000)).decode()


class Times(NamedTuple):
    """Seconds that honest visitors waited."""

    checks: list[float]
    verdicts: list[float]


async def main() -> int:
    """Print the figures; returns 1 if the claim does not hold."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--visitors", type=int, default=50)
    arguments.add_argument("--hostile", type=int, default=1)
    options = arguments.parse_args()
    honest = options.visitors - options.hostile
    with echoing() as endpoint:
        tokenizer = str(ROOT / "assets" / "lab-model")
        page = RunningPage("--public", "--no-lab", "--endpoint", endpoint, "--tokenizer", tokenizer)
        try:
            await visit_together(page, 4)  # its processes are warm
            before_mb = page.rss_mb()
            alone = await visit_together(page, honest)
            beside = await visit_beside(page, honest, options.hostile)
            after_mb = page.rss_mb()
        finally:
            page.end()
    print(f"{honest} honest visitors, then {options.hostile} hostile beside them")
    ratios = [line(name, *times) for name, *times in zip(Times._fields, alone, beside, strict=True)]
    print(f"memory of the page and its processes {before_mb:,.0f} MB before, {after_mb:,.0f} MB right after")
    return int(max(ratios) > MOST_LATE)


def line(name: str, alone: list[float], beside: list[float]) -> float:
    """Print one line; returns the ratio of the medians."""
    ratio = median(beside) / median(alone)
    print(
        f"{name:9} alone {median(alone):6.2f} s (worst {max(alone):6.2f})   beside {median(beside):6.2f} s "
        f"(worst {max(beside):6.2f})   ratio {ratio:.2f}"
    )
    return ratio


async def visit_together(page: RunningPage, count: int) -> Times:
    """Let honest visitors come at once, each from an address of their own."""
    pairs = await asyncio.gather(*(visit(page, number) for number in range(count)))
    return Times([check for check, _ in pairs], [verdict for _, verdict in pairs])


async def visit(page: RunningPage, number: int) -> tuple[float, float]:
    """Check a request, then run it."""
    async with Visitor(page, f"127.0.1.{number + 1}") as visitor:
        text = json.dumps({"messages": [{"role": "user", "content": f"HONEST {number}"}], "temperature": 0})
        began_s = time.monotonic()
        await visitor.ask("check_request", text)
        checked_s = time.monotonic()
        assert f"ECHO HONEST {number}" in await visitor.ask("run", text)
        return checked_s - began_s, time.monotonic() - checked_s


async def visit_beside(page: RunningPage, honest: int, hostile: int) -> Times:
    """Let honest visitors come while hostile ones never stop."""
    began = [asyncio.Event() for _ in range(hostile)]
    floods = [asyncio.create_task(flood(page, number, event)) for number, event in enumerate(began)]
    await asyncio.gather(*(event.wait() for event in began))
    times = await visit_together(page, honest)
    for task in floods:
        task.cancel()
    await asyncio.gather(*floods, return_exceptions=True)
    return times


async def flood(page: RunningPage, number: int, began: asyncio.Event) -> None:
    """Send work without an end from several pages of one address, again and again."""
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(attack(page, f"127.0.2.{number + 1}", began))


async def attack(page: RunningPage, address: str, began: asyncio.Event) -> None:
    """Send one of each kind and wait for the end of all; then again."""
    words = "CALL " + json.dumps({"a": "a" * 40 + "!"})
    request = json.dumps({"messages": [{"role": "user", "content": words}], "tools": TOOLS})
    async with Visitor(page, address) as visitor:
        while True:
            await visitor.join("run", request)
            for _ in range(3):
                await visitor.join("probe_template", LONG)
            for event in ("open_bundle", "add_bundle"):
                await visitor.join(event, event_data={"packed": BOMB})
            began.set()
            await visitor.listen()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
