"""Fifty visitors of one public page: how late the honest ones are answered beside hostile ones, and its memory.

    python -m benchmarks.visitors [--visitors N] [--hostile N] [--pages N] [--mix MIX] [--one-address]
    python -m benchmarks.visitors --one-address --neighbours N --hostile 1 --pages 40 --mix kinds

The page is `ui --public --no-lab` with a server that echoes, asked over HTTP as its own script does. Honest visitors
check a request and run it, all at the same time; first alone, then beside visitors who never stop sending work without
an end (`benchmarks.hostile`), from an address each. They have machines of their own elsewhere, so here a process of
their own. Ratios within one run count; the times are this machine's. `--neighbours` come from an address of their own
beside those of the one address, and are counted apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from statistics import median
from typing import NamedTuple

from benchmarks.hostile import MIXES, PAGES, address_of
from tests.attacks.page import ROOT, RunningPage, Visitor, echoing

MINUTE_S = 61.0
BACK = 1.2  # of the memory from before is as before
MAX_LATE = 2.0  # times as late as without hostile visitors, in the middle


class Times(NamedTuple):
    """Seconds that honest visitors waited."""

    checks: list[float]
    verdicts: list[float]


async def main() -> int:
    """Print the figures; returns 1 if the claim does not hold."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--visitors", type=int, default=50)
    arguments.add_argument("--hostile", type=int, default=1)
    arguments.add_argument("--mix", choices=sorted(MIXES), default="all", help="what the hostile ones send")
    arguments.add_argument("--pages", type=int, default=PAGES, help="of each hostile one")
    arguments.add_argument("--one-address", action="store_true", help="all come from one address: a class, an office")
    arguments.add_argument("--neighbours", type=int, default=0, help="further honest ones, of another address")
    arguments.add_argument("--new-pages", action="store_true", help="hostile pages send once, and new ones come")
    arguments.add_argument("--after", type=float, default=0.0, help="seconds that hostile ones are there before")
    options = arguments.parse_args()
    honest = options.visitors - options.hostile
    with echoing() as endpoint:
        tokenizer = str(ROOT / "assets" / "lab-model")
        page = RunningPage("--public", "--no-lab", "--endpoint", endpoint, "--tokenizer", tokenizer)
        try:
            place = address_of(0) if options.one_address else None
            await visit_together(page, 4, place)  # its processes are warm
            before_mb = page.rss_mb()
            alone, apart = await visit_both(page, honest, options.neighbours, place)
            if place is not None:  # a minute's runs of one address are limited, and these were some of them
                await asyncio.sleep(MINUTE_S)
            beside, apart_beside = await visit_beside(page, honest, options, place)
            after_mb = page.rss_mb()
            back_s, back_mb = await wait_until_back(page, before_mb)
            again = await visit_together(page, honest, place)
        finally:
            page.end()
    print(f"{honest} honest visitors, then {options.hostile} hostile beside them ({options.mix})")
    ratios = [line(name, *times) for name, *times in zip(Times._fields, alone, beside, strict=True)]
    if options.neighbours:
        print(f"{options.neighbours} honest neighbours at another address, at the same time")
        ratios += [line(name, *times) for name, *times in zip(Times._fields, apart, apart_beside, strict=True)]
    print(
        f"memory of the page and its processes {before_mb:,.0f} MB before, {after_mb:,.0f} MB right after, "
        f"{back_mb:,.0f} MB {back_s:.0f} s later; then verdicts after {median(again.verdicts):.2f} s"
    )
    return int(max(ratios) > MAX_LATE)


def line(name: str, alone: list[float], beside: list[float]) -> float:
    """Print one line; returns the ratio of the medians."""
    ratio, late = median(beside) / median(alone), ninetieth(beside) / ninetieth(alone)
    print(
        f"{name:9} alone {median(alone):6.2f} s (90 % {ninetieth(alone):6.2f})   beside {median(beside):6.2f} s "
        f"(90 % {ninetieth(beside):6.2f}, worst {max(beside):6.2f})   ratio {ratio:.2f} (of 90 % {late:.2f})"
    )
    return ratio


def ninetieth(seconds: list[float]) -> float:
    """Return what nine of ten did not exceed.

    >>> ninetieth([float(one) for one in range(1, 11)])
    9.0
    """
    return sorted(seconds)[-(-9 * len(seconds) // 10) - 1]


async def wait_until_back(page: RunningPage, before_mb: float) -> tuple[float, float]:
    """Wait until the page holds about as much as before, a minute at most; returns how long that took, and how much."""
    began_s = time.monotonic()
    while (held_mb := page.rss_mb()) > BACK * before_mb and time.monotonic() - began_s < MINUTE_S:
        await asyncio.sleep(1.0)
    return time.monotonic() - began_s, held_mb


async def visit_both(page: RunningPage, count: int, neighbours: int, place: str | None) -> tuple[Times, Times]:
    """Let honest visitors come, and their neighbours of another address at the same time."""
    own, others = await asyncio.gather(
        visit_together(page, count, place), visit_together(page, neighbours, "127.0.3.1")
    )
    return own, others


async def visit_together(page: RunningPage, count: int, place: str | None) -> Times:
    """Let honest visitors come at once, each from an address of their own, or all from one."""
    pairs = await asyncio.gather(*(visit(page, number, place or f"127.0.1.{number + 1}") for number in range(count)))
    return Times([check for check, _ in pairs], [verdict for _, verdict in pairs])


async def visit(page: RunningPage, number: int, address: str) -> tuple[float, float]:
    """Check a request, then run it."""
    async with Visitor(page, address) as visitor:
        text = json.dumps({"messages": [{"role": "user", "content": f"HONEST {number}"}], "temperature": 0})
        began_s = time.monotonic()
        await visitor.ask("check_request", text)
        checked_s = time.monotonic()
        drawn = await visitor.ask("run", text)
        assert f"ECHO HONEST {number}" in drawn, drawn
        return checked_s - began_s, time.monotonic() - checked_s


async def visit_beside(
    page: RunningPage, honest: int, options: argparse.Namespace, place: str | None
) -> tuple[Times, Times]:
    """Let honest visitors come while hostile ones, in a process of their own, never stop."""
    numbers = ("--hostile", str(options.hostile), "--pages", str(options.pages))
    kind = ("--new-pages",) if options.new_pages else ()
    command = ("-m", "benchmarks.hostile", page.url, *numbers, "--mix", options.mix, *kind)
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        for _ in range(options.hostile):
            assert await process.stdout.readline(), "each of them says that it has begun"
        await asyncio.sleep(options.after)
        return await visit_both(page, honest, options.neighbours, place)
    finally:
        process.kill()
        await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
