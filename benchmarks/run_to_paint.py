"""From Run to the verdict, over HTTP and painted in headless Chromium: of this program, and beside an earlier one.

    python -m benchmarks.run_to_paint [--before FOLDER] [--runs N]

Both pages run the same request against the same server, which answers at once, in turns: what else the machine does
hits both. FOLDER holds another version of the project, such as `git worktree add FOLDER COMMIT` makes. Ratios count.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from tests.attacks.page import ROOT, RunningPage, Visitor, echoing
from tests.browser.chromium import CHROMIUM_ARGUMENTS, find_chromium

REQUEST = json.dumps({
    "messages": [{"role": "user", "content": 'CALL {"city": "Paris"}'}],
    "tools": [{
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }],
    "temperature": 0,
})  # fmt: skip
PAINTED = """async () => {
  const strip = () => document.querySelector(".pd-verdict");
  const frame = () => new Promise(requestAnimationFrame);
  for (const part of strip().children) part.dataset.old = "";
  const began = performance.now();
  document.getElementById("pd-run").click();
  const isOver = () => !strip().querySelector(":scope > :first-child[data-old]") && strip().dataset.state !== "running";
  do await frame(); while (!isOver());
  return [(performance.now() - began) / 1000, strip().dataset.state];
}"""


def main() -> None:
    """Print one line per figure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--before", type=Path, help="a folder with an earlier version")
    arguments.add_argument("--runs", type=int, default=15)
    options = arguments.parse_args()
    folders = [ROOT] if options.before is None else [options.before.absolute(), ROOT]
    with echoing() as endpoint, running(folders, endpoint) as pages:
        report("Run to verdict", turns(options.runs, [partial(ask_in_full, page) for page in pages]))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(CHROMIUM_ARGUMENTS))
            report("Run to painted", turns(options.runs, [partial(paint, browser, page) for page in pages]))
            browser.close()


@contextmanager
def running(folders: list[Path], endpoint: str) -> Iterator[list[RunningPage]]:
    """Start the page of each folder, one after the other."""
    options = ("--no-lab", "--endpoint", endpoint, "--tokenizer", str(ROOT / "assets" / "lab-model"))
    pages: list[RunningPage] = []
    try:
        pages.extend(RunningPage(*options, folder=folder) for folder in folders)
        yield pages
    finally:
        for page in pages:
            page.end()


def turns(runs: int, works: Sequence[Callable[[], float]]) -> list[list[float]]:
    """Return the seconds of each, measured in turns; the first of each is left out, for then much is only loaded."""
    for work in works:
        work()
    return [list(seconds) for seconds in zip(*([work() for work in works] for _ in range(runs)), strict=True)]


def report(what: str, seconds: list[list[float]]) -> None:
    """Print the median of each, and the ratio of the last to the first."""
    middle = [median(one) for one in seconds]
    names = ("before", "now") if len(middle) > 1 else ("now",)
    told = "   ".join(f"{name} {one * 1000:5.0f} ms" for name, one in zip(names, middle, strict=True))
    ratio = f"   ratio {middle[-1] / middle[0]:.2f}" if len(middle) > 1 else ""
    print(f"{what:15} {told}{ratio}", flush=True)


def ask_in_full(page: RunningPage) -> float:
    """Do as `ask`, on an event loop of its own."""
    return asyncio.run(ask(page))


async def ask(page: RunningPage) -> float:
    """Return the seconds until a run has told all, as the page's script hears it."""
    async with Visitor(page) as visitor:
        began_s = time.monotonic()
        received = await visitor.ask("run", REQUEST)
        assert "Paris" in received
        return time.monotonic() - began_s


def paint(browser: Browser, page: RunningPage) -> float:
    """Return the seconds from the click on Run to the frame after the verdict is there."""
    tab = browser.new_page()
    try:
        tab.goto(page.url)
        tab.wait_for_selector("#pd-request .cm-content")
        tab.wait_for_selector(".pd-stage")
        tab.wait_for_selector("#pd-run:not([disabled])")
        tab.locator("#pd-request .cm-content").fill(REQUEST)
        seconds, state = tab.evaluate(PAINTED)
        assert state == "done", state
        return float(seconds)
    finally:
        tab.close()


if __name__ == "__main__":
    main()
