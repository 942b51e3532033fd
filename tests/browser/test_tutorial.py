"""The tutorial as a reader clicks through it; with `--update-screens` its pictures are taken on the way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.page import DebuggerPage
from tests.conftest import ROOT
from tests.test_guides import FIXES, SENTENCES

pytestmark = [pytest.mark.browser, pytest.mark.lab]

FOLDER = ROOT / "docs" / "tutorial"
PICTURES = ("1-generation-prompt", "2-content", "3-dropped-call", "4-nothing-lost")
STAGES = ("render", "render", "parse", "parse")


def test_the_tutorial_is_what_the_page_shows(lab_page: DebuggerPage, request: Any) -> None:
    body = json.loads((FOLDER / "request.json").read_text(encoding="utf-8"))
    for number, picture in enumerate(PICTURES):
        if number:
            FIXES[number - 1](body)
        lab_page.paste(json.dumps(body, indent=2))
        lab_page.run()
        lab_page.open_stage(STAGES[number])

        shown, _, evidence = SENTENCES[number].replace("`", "").partition(": ")
        assert shown in lab_page.sentence()  # the page counts the calls where the verdict counts characters
        assert evidence in lab_page.sentence() or shown == "Nothing lost"
        assert (FOLDER / f"{picture}.png").exists() or request.config.getoption("--update-screens")
        if request.config.getoption("--update-screens"):
            lab_page.page.mouse.move(0, 0)
            lab_page.page.screenshot(path=FOLDER / f"{picture}.png")
    if request.config.getoption("--update-screens"):
        _take_the_readme_picture(lab_page)


def _take_the_readme_picture(page: DebuggerPage) -> None:
    page.page.evaluate("localStorage.clear(), sessionStorage.clear()")  # else the last text is there again
    page.load()
    page.run()
    page.open_stage("parse")
    expect(page.page.locator("#pd-parser-matrix .pd-bench-view")).to_have_attribute("data-state", "done")
    page.page.screenshot(path=ROOT / "docs" / "screenshot.png")
