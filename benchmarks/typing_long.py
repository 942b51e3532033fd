"""A keystroke in the editor, from the key to the second frame after it: in a long request, and in a short one.

    python -m benchmarks.typing_long [--tokens N] [--keys N]

Typed at the end and at the beginning, in headless Chromium, in turns with the short request; the ratio
counts. The page has no lab and no server.
"""

from __future__ import annotations

import argparse
import json
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.run_to_paint import running
from tests.attacks.page import ROOT, echoing
from tests.browser.chromium import CHROMIUM_ARGUMENTS, find_chromium

CHARS_A_TOKEN = 4
PLACES = ("Control+End", "Control+Home")
PASTE = """text => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const paste = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  document.querySelector("#pd-request .cm-content").dispatchEvent(paste);
}"""
LISTEN = """() => {
  globalThis.pdKeys = [];
  const frame = () => new Promise(requestAnimationFrame);
  document.addEventListener("keydown", async ({ key, timeStamp }) => {
    if (key !== "x") return;
    await frame();
    await frame();
    globalThis.pdKeys.push(performance.now() - timeStamp);
  }, true);
}"""


def main() -> None:
    """Print one line per place."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tokens", type=int, default=400_000)
    arguments.add_argument("--keys", type=int, default=15)
    options = arguments.parse_args()
    with echoing() as endpoint, running([ROOT], endpoint) as pages, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(CHROMIUM_ARGUMENTS))
        short = opened(browser, pages[0].url, request_of(100))
        for name, text in (
            ("lines", request_of(options.tokens)),
            ("one line", request_of(options.tokens, is_one_line=True)),
        ):
            long = opened(browser, pages[0].url, text)
            for place in PLACES:
                one, other = typed(short, place, options.keys), typed(long, place, options.keys)
                figures = f"{median(other):5.0f} ms median, {max(other):5.0f} ms at most; short {median(one):4.0f} ms"
                print(f"{len(text):,} characters, {name}, {place}: {figures}", flush=True)
            long.close()
        browser.close()


def request_of(tokens: int, *, is_one_line: bool = False) -> str:
    """Return a request of about so many tokens: many messages on many lines, or one message on a single line."""
    words = "the weather in Paris is mild today "
    count = tokens * CHARS_A_TOKEN // len(words)
    texts = [words * count] if is_one_line else [words * 20] * max(1, count // 20)
    body = {"messages": [{"role": "user", "content": text} for text in texts]}
    return json.dumps(body, indent=None if is_one_line else 1)


def opened(browser: Browser, url: str, text: str) -> Page:
    """Return a page with a text pasted over the example, once it has been read."""
    page = browser.new_page()
    page.goto(url)
    page.wait_for_selector("html[data-settled=true]")
    page.locator("#pd-request .cm-content").press("ControlOrMeta+a")
    page.evaluate(PASTE, text)
    page.wait_for_function("/[0-9] message/.test(document.querySelector('#pd-notices').textContent)")
    page.evaluate(LISTEN)
    return page


def typed(page: Page, place: str, keys: int) -> list[float]:
    """Return the milliseconds of each of some keystrokes at a place of the text."""
    page.locator("#pd-request .cm-content").press(place)
    before = page.evaluate("pdKeys.length")
    for number in range(1, keys + 1):
        page.keyboard.press("x")
        page.wait_for_function("count => pdKeys.length >= count", arg=before + number)
    taken = page.evaluate("pdKeys")[before:]
    return [float(one) for one in taken]


if __name__ == "__main__":
    main()
