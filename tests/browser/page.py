"""The page as a person uses it: what tests click and read, in one place.

page = DebuggerPage(playwright_page, url)
page.load()
page.choose("A call is dropped by the parser")
page.run()
assert page.sentence().startswith("The model wrote 1 tool call")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.patience import PATIENCE_MS


@dataclass(slots=True)
class DebuggerPage:
    """One open page.

    Attributes:
        page: The playwright page.
        url: Where the program serves it; "" for a static page that is loaded already.
    """

    page: Any
    url: str = ""

    def load(self, theme: str = "light") -> None:
        """Open the page and wait until it shows itself: all its views are drawn."""
        self.page.goto(f"{self.url}/?__theme={theme}")
        self.page.wait_for_selector("html[data-settled=true]")
        self.page.wait_for_selector(".pd-stage")
        # A page that is very slow shows itself before all is drawn.
        self.page.wait_for_function("[...document.querySelectorAll('.pd-view .pd')].every(view => view.dataset.shown)")

    # --- the request -----------------------------------------------------------

    def choose(self, title: str) -> None:
        """Load a worked case by its title and wait until it has taken the place of what was there."""
        field = self.page.locator("#pd-case input")
        if field.input_value() == title:
            return
        self._mark_verdict_as_old()
        field.click()
        self.page.get_by_role("option", name=title, exact=True).click()
        self.page.wait_for_selector(".pd-verdict > :first-child:not([data-old])")
        self.page.wait_for_selector("#pd-run:not([disabled])")

    def paste(self, text: str) -> None:
        """Replace what is in the editor."""
        editor = self.page.locator("#pd-request .cm-content")
        editor.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.press("Delete")
        self.page.evaluate(
            """text => {
                const data = new DataTransfer();
                data.setData("text/plain", text);
                const paste = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
                document.querySelector("#pd-request .cm-content").dispatchEvent(paste);
            }""",
            text,
        )

    def request_text(self) -> str:
        """Return what is in the editor, all of it."""
        text = self.page.evaluate("document.querySelector('#pd-request .cm-content').cmTile.view.state.doc.toString()")
        return str(text)

    def selected_text(self) -> str:
        """Return what is selected in the editor."""
        return str(
            self.page.evaluate(
                """() => {
                    const state = document.querySelector("#pd-request .cm-content").cmTile.view.state;
                    return state.sliceDoc(state.selection.main.from, state.selection.main.to);
                }"""
            )
        )

    def wait_for_selection(self) -> None:
        """Wait until something is selected in the editor."""
        self.page.wait_for_function(
            "!document.querySelector('#pd-request .cm-content').cmTile.view.state.selection.main.empty"
        )

    def aim_at(self, endpoint: str) -> None:
        "Enter an endpoint under Target."
        field = self.page.get_by_label("Endpoint", exact=True)
        if not field.is_visible():
            self.page.locator("#pd-target button").first.click()
        field.fill(endpoint[:-1])
        field.press("End")  # gradio tells of an input where a key was pressed: only then is it kept for a reload
        self.page.keyboard.type(endpoint[-1])
        field.blur()

    # --- a run -----------------------------------------------------------------

    def run(self, *, press: str = "#pd-run", timeout_ms: int = PATIENCE_MS) -> None:
        """Press Run, or another button that starts a run, and wait for its end, whatever it is."""
        # The end of an earlier run is still there until the first word of this one.
        self._mark_verdict_as_old()
        self.page.click(press)
        self.page.wait_for_selector(".pd-verdict > :first-child:not([data-old])", timeout=timeout_ms)
        self.wait_for_end(timeout_ms=timeout_ms)

    def _mark_verdict_as_old(self) -> None:
        self.page.evaluate("document.querySelectorAll('.pd-verdict > *').forEach((part) => { part.dataset.old = ''; })")

    def wait_for_end(self, *, timeout_ms: int = PATIENCE_MS) -> None:
        """Wait until the verdict strip shows the end of a run."""
        self.page.wait_for_selector(".pd-verdict[data-state=done], .pd-verdict[data-state=error]", timeout=timeout_ms)
        self.page.wait_for_selector("#pd-run:not([disabled])", timeout=timeout_ms)  # the parsers may be asked first

    def state(self) -> str:
        """Return the state of the verdict strip: idle, recorded, running, done, stopped or error."""
        return str(self.page.get_attribute(".pd-verdict", "data-state"))

    def badge(self) -> str:
        """Return the word before the verdict."""
        return str(self.page.inner_text("#pd-verdict .pd-badge"))

    def sentence(self) -> str:
        """Return the verdict, or the error."""
        return str(self.page.inner_text(".pd-sentence"))

    def settle_layout(self) -> None:
        """Wait until what was drawn is laid out, and what follows sizes has followed, as views do that draw by rows."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def assert_fits(self, *widths: int) -> None:
        """Hold that nothing sticks out of a window of each of these widths."""
        for width in widths:
            self.page.set_viewport_size({"width": width, "height": 850})
            self.settle_layout()
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width, width

    # --- stages ----------------------------------------------------------------

    def open_stage(self, name: str) -> None:
        """Open `render`, `complete`, `parse` or `findings`, and wait until the browser has laid it out."""
        self.page.click(f"#pd-tab-{name}")
        self.settle_layout()

    def opened_stage(self) -> str:
        """Return which panel is open."""
        return str(self.page.get_attribute(".pd-stage[aria-selected=true]", "data-opens"))

    def stage_word(self, name: str) -> str:
        """Return the state of a stage card in words, such as `the guilty stage`."""
        return str(self.page.get_attribute(f"#pd-tab-{name} .pd-stage-mark", "aria-label"))

    def figures(self, name: str) -> list[str]:
        """Return the figures of a stage card."""
        return [str(text) for text in self.page.locator(f"#pd-tab-{name} .pd-figure").all_inner_texts()]

    # --- views -----------------------------------------------------------------

    def tokens(self, view: str = "prompt-tokens") -> list[str]:
        """Return the chips that are drawn now, as shown; a chip on several rows is one text."""
        texts = self.page.evaluate(
            """view => {
                const texts = new Map();
                document.querySelectorAll(`#pd-${view} [data-at]`).forEach(chip =>
                    texts.set(chip.dataset.at, (texts.get(chip.dataset.at) || "") + chip.textContent));
                return [...texts.values()];
            }""",
            view,
        )
        return [str(text) for text in texts]

    def switch(self, option: str, view: str = "prompt-tokens") -> None:
        """Press a switch of the token bar, or one of its View menu."""
        switch = self.page.locator(f"#pd-{view} [data-option={option}]")
        if not switch.is_visible():
            self.page.locator(f"#pd-{view} .pd-view-menu > summary").click()
        switch.click()

    def active_token(self, view: str = "prompt-tokens") -> str:
        """Return the chip that the keyboard is on."""
        return str(self.page.inner_text(f"#pd-{view} [role=option][aria-selected=true]"))

    def inspector(self) -> str:
        """Return the inspector line."""
        return str(self.page.inner_text("#pd-inspector"))

    def lost_text(self) -> list[str]:
        """Return what the ledger shows as lost."""
        return [str(text) for text in self.page.locator(".pd-raw .pd-fate-lost").all_inner_texts()]

    def message_text(self) -> str:
        """Return the message beside the ledger, as JSON text."""
        return str(self.page.inner_text(".pd-message"))

    def finding_codes(self) -> list[str]:
        """Return code and name of the findings, each root before what follows from it."""
        return [str(text) for text in self.page.locator(".pd-finding .pd-code-name").all_text_contents()]

    def jump(self, label: str) -> None:
        """Press the evidence button of that label, such as `request messages[0].content`."""
        self.page.get_by_role("button", name=f"→ {label}").first.click()
