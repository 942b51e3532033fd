"""The Run button shows what is known of the text and of the target, whichever of the two is answered last."""

from __future__ import annotations

import gradio as gr
import pytest

from prompt_debugger.ui.web.launch import build_app
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import RUN_HERE

OF_THE_TEXT = ("name_text", "name_after_case", "name_after_opening")
OF_THE_TARGET = ("name_target", "name_api", "run_on")


@pytest.fixture(scope="module")
def app():
    return build_app(PageSettings(port=0, lab=False))


def outputs_of(app: gr.Blocks, name: str) -> set[object]:
    [event] = [event for event in app.fns.values() if event.api_name == name]
    return {block.label for block in event.outputs if isinstance(block, gr.Checkbox | gr.Textbox)}


@pytest.mark.parametrize("name", OF_THE_TEXT)
def test_an_answer_about_the_text_says_nothing_of_the_target(app, name):
    assert outputs_of(app, name) == {"Run asks no server"}


@pytest.mark.parametrize("name", OF_THE_TARGET)
def test_an_answer_about_the_target_says_nothing_of_the_text(app, name):
    assert "Where Run goes" in outputs_of(app, name)
    assert "Run asks no server" not in outputs_of(app, name)


def test_only_the_browser_which_knows_both_writes_the_words_on_the_button(app):
    run = next(block for block in app.blocks.values() if getattr(block, "elem_id", "") == "pd-run")
    labels = [event for event in app.fns.values() if [*event.outputs] == [run] and len(event.inputs) == 2]

    assert labels
    for event in labels:
        assert not event.fn
        assert event.js is not None
        assert RUN_HERE in event.js
        assert [block.label for block in event.inputs] == ["Run asks no server", "Where Run goes"]
