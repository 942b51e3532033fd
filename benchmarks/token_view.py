"""The token view beside gradio's own HighlightedText, in one run, on one page, in one headless Chromium.

Both get the same tokens from the same server by the same kind of event. Times are from the click to
two frames after the tokens stand in the page. gradio's component takes over a minute for 200,000
tokens, so it is measured up to 10,000 and the ratio is told there; `--full` measures all of it.
The bounds that the project promises stand beside the figures. They are for an idle machine of
2 cores; on a busy one read the ratio.
"""

from __future__ import annotations

import re
import sys
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from starlette.applications import Starlette

from prompt_debugger.core.base.types import Span, Token, TokenKind
from prompt_debugger.ui.present import tokens_payload
from prompt_debugger.ui.web.settings import prepare_environment

prepare_environment()

import gradio as gr  # noqa: E402  # reads its settings from the environment at import

from prompt_debugger.ui.web.head import page_head  # noqa: E402
from prompt_debugger.ui.web.script_route import ScriptRoute  # noqa: E402
from prompt_debugger.ui.web.views import build_token_view  # noqa: E402
from tests.browser.chromium import CHROMIUM_ARGUMENTS, find_chromium  # noqa: E402

SIZES = (2_000, 10_000, 200_000)
MAX_HIGHLIGHTED = 10_000
SCROLL_FRAMES = 120
CORE = Path(__file__).resolve().parents[1] / "core"

TWO_FRAMES = "await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));"
# From the payload in hand to painted: what the view itself takes, without server and event.
ARRIVAL = f"""async payload => {{
  const view = PromptDebugger.controller("prompt_tokens");
  await view.set("");
  {TWO_FRAMES}
  const start = performance.now();
  await view.set(payload);
  {TWO_FRAMES}
  return performance.now() - start;
}}"""
SEARCH = """async query => {
  const input = document.querySelector("#pd-prompt-tokens input");
  const found = document.querySelector("#pd-prompt-tokens .pd-found");
  const times = [];
  for (const text of [query, query.slice(1), query]) {
    input.value = text;
    const timer = globalThis.setTimeout;
    let search;  // the view waits for the next key; the search alone is timed
    globalThis.setTimeout = work => { search = work; return 0; };
    input.dispatchEvent(new Event("input"));
    globalThis.setTimeout = timer;
    const start = performance.now();
    search();
    times.push(performance.now() - start);
  }
  return [Math.max(...times), found.textContent];
}"""
SCROLL = """async frames => {
  const grid = document.querySelector("#pd-prompt-tokens .pd-grid");
  const next = () => new Promise(requestAnimationFrame);
  const times = [];
  let before = await next();
  for (let i = 0; i < frames; i++) {
    grid.scrollTop = (i / frames) * grid.scrollHeight;
    const now = await next();
    times.push(now - before);
    before = now;
  }
  return times.slice(2).sort((a, b) => a - b);
}"""


def main() -> None:
    """Print one line per figure."""
    is_full = "--full" in sys.argv
    tables = {size: tokens_of_size(size) for size in SIZES}
    app = build_page(tables)
    _, url, _ = app.launch(
        head=page_head(), prevent_thread_lock=True, quiet=True, ssr_mode=False, app_kwargs={"lifespan": serve_scripts}
    )
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(CHROMIUM_ARGUMENTS))
            measure_all(browser, url, tables, is_full=is_full)
            browser.close()
    finally:
        app.close(verbose=False)


@asynccontextmanager
async def serve_scripts(app: Starlette) -> AsyncIterator[None]:
    """Serve the scripts of the program's page, too: without them no view is drawn."""
    assert app.middleware_stack is not None, "starlette builds it to enter the lifespan"
    app.middleware_stack = ScriptRoute(app.middleware_stack)
    yield


def measure_all(browser: Browser, url: str, tables: dict[int, tuple[Token, ...]], *, is_full: bool) -> None:
    """Measure both components at every size, each on a fresh page."""
    for size, tokens in tables.items():
        ours_ms = time_ours(browser, url, size)
        measure_view(browser, url, tokens)
        if size > MAX_HIGHLIGHTED and not is_full:
            continue
        theirs_ms, elements = time_highlighted(browser, url, size)
        print(f"{size:9,} tokens  HighlightedText  {theirs_ms:10,.0f} ms click to painted, {elements:,} elements")
        print(f"{size:9,} tokens  ratio            {theirs_ms / ours_ms:10.1f} times as long as the token view")


def measure_view(browser: Browser, url: str, tokens: tuple[Token, ...]) -> None:
    """Measure what the view itself takes: paint, elements, search, scrolling."""
    size = len(tokens)
    page = open_page(browser, url)
    arrival_ms = min(page.evaluate(ARRIVAL, tokens_payload(tokens)) for _ in range(3))
    elements = page.evaluate("document.querySelectorAll('#pd-prompt-tokens *').length")
    search_ms, found = page.evaluate(SEARCH, "return")
    frames = page.evaluate(SCROLL, SCROLL_FRAMES)
    half, most = frames[len(frames) // 2], frames[int(len(frames) * 0.95)]
    print(f"{size:9,} tokens  data to painted  {arrival_ms:10,.0f} ms, {elements} elements   (promised: 500 ms, 1,000)")
    print(f"{size:9,} tokens  search           {search_ms:10.1f} ms, {found}   (promised: 50 ms)")
    print(f"{size:9,} tokens  scrolling        {half:10.1f} ms a frame, 95 % in {most:.1f}   (display: 16.7 ms)")
    page.close()


def time_ours(browser: Browser, url: str, size: int) -> float:
    """Return milliseconds from the click to our tokens painted."""
    page = open_page(browser, url)
    took_ms = click_to_painted(page, f"Ours {size}", "!!document.querySelector('#pd-prompt-tokens [data-at]')")
    print(f"{size:9,} tokens  token view       {took_ms:10,.0f} ms click to painted")
    page.close()
    return took_ms


def time_highlighted(browser: Browser, url: str, size: int) -> tuple[float, int]:
    """Return milliseconds from the click to gradio's tokens painted, and its elements."""
    page = open_page(browser, url)
    took_ms = click_to_painted(page, f"Theirs {size}", f"document.querySelectorAll('#theirs *').length > {size}")
    elements = page.evaluate("document.querySelectorAll('#theirs *').length")
    page.close()
    return took_ms, elements


def open_page(browser: Browser, url: str) -> Page:
    """Open the page and wait until the empty view stands."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(300_000)
    page.goto(url)
    page.wait_for_selector("#pd-prompt-tokens .pd-empty")
    return page


def click_to_painted(page: Page, button: str, is_there: str) -> float:
    """Return milliseconds from a click until `is_there` holds, two frames later."""
    handle = page.get_by_role("button", name=button, exact=True).element_handle()
    return float(
        page.evaluate(
            f"""async button => {{
              const start = performance.now();
              button.click();
              while (!({is_there})) await new Promise(requestAnimationFrame);
              {TWO_FRAMES}
              return performance.now() - start;
            }}""",
            handle,
        )
    )


def build_page(tables: dict[int, tuple[Token, ...]]) -> gr.Blocks:
    """Return a page with both components and one button for each and every size."""
    app = gr.Blocks(analytics_enabled=False)
    with app:
        ours = build_token_view("prompt_tokens")
        theirs = gr.HighlightedText(elem_id="theirs", show_legend=False)
        for size, tokens in tables.items():
            gr.Button(f"Ours {size}").click(partial(tokens_payload, tokens), None, ours)
            gr.Button(f"Theirs {size}").click(partial(highlighted, tokens), None, theirs)
        gr.HTML("<style>#pd-prompt-tokens, #pd-prompt-tokens .pd { height: 700px }</style>")
    return app


def highlighted(tokens: tuple[Token, ...]) -> list[tuple[str, str]]:
    """Return tokens as HighlightedText takes them: neighbours of two kinds, as it merges equal ones."""
    return [(token.text, "odd" if i % 2 else "even") for i, token in enumerate(tokens)]


def tokens_of_size(size: int) -> tuple[Token, ...]:
    """Return that many tokens of program text."""
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(CORE.rglob("*.py")))
    texts = re.findall(r"\s?[^\W_]+|\s+|.", source, re.DOTALL)
    tokens = []
    at = 0
    for i in range(size):
        text = texts[i % len(texts)]
        tokens.append(Token(hash_of(text), text, Span(at, at + len(text)), TokenKind.TEXT, text.encode()))
        at += len(text)
    return tuple(tokens)


def hash_of(text: str) -> int:
    """Return an id for a text, the same in every run."""
    return zlib.crc32(text.encode()) % 150_000


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"in all {time.monotonic() - began:.0f} s")
