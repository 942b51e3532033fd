"""What an answer does not name stays, without a new component for each; gradio tells the page the same either way."""

from __future__ import annotations

import gradio as gr
import pytest
from gradio.state_holder import SessionState

from prompt_debugger.ui.web.launch import build_app
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.unchanged_outputs import skip_cheaply


class Page:
    """Five outputs of the kinds that the program has, and one event."""

    def __init__(self):
        self.blocks = gr.Blocks()
        with self.blocks:
            self.state, self.text, self.button = gr.State(), gr.Textbox(), gr.Button()
            self.views = [gr.HTML() for _ in range(2)]
            self.outputs = [self.state, self.text, *self.views, self.button]
            self.button.click(lambda: None, None, self.outputs)
        self.function = next(iter(self.blocks.fns.values()))

    def answers(self):
        view = self.views[0]
        return {
            "one view": {view: "payload"},
            "an empty view": {view: ""},
            "a view of two": {view: "payload", self.views[1]: gr.skip()},
            "nothing": {view: gr.skip()},
            "a state": {self.state: {"a": 1}},
            "a property": {self.button: gr.Button(interactive=False)},
            "a text that is an object": {self.text: "x", self.state: None},
            "all by their places": [{"a": 1}, "x", "a", "b", gr.skip()],
        }


@pytest.fixture
def made():
    return Page()


@pytest.mark.parametrize("name", Page().answers())
async def test_the_page_is_told_what_gradio_would_tell(made, name):
    before, after = SessionState(made.blocks), SessionState(made.blocks)
    usual = await made.blocks.postprocess_data(made.function, made.answers()[name], before)
    skip_cheaply(made.blocks)
    shown = await made.blocks.postprocess_data(made.function, made.answers()[name], after)

    assert [news_in(one) for one in shown] == [news_in(one) for one in usual]
    assert after.state_data == before.state_data


def news_in(output):
    """Return an output without gradio's word that the `props` of an HTML component do not change."""
    if not isinstance(output, dict):
        return output
    return {name: value for name, value in output.items() if name != "props" or value != gr.skip()}


async def test_of_a_view_that_stays_the_page_is_told_nothing(made):
    skip_cheaply(made.blocks)

    shown = await made.blocks.postprocess_data(made.function, {made.views[0]: "payload"}, SessionState(made.blocks))

    assert shown[made.outputs.index(made.views[1])] == gr.skip()


async def test_a_view_that_stays_is_not_made_anew(made):
    skip_cheaply(made.blocks)
    session = SessionState(made.blocks)

    await made.blocks.postprocess_data(made.function, {made.views[0]: "payload"}, session)

    assert session.blocks_config.blocks[made.views[1]._id] is made.views[1]
    assert session.blocks_config.blocks[made.button._id] is made.button


def test_the_page_of_the_program_skips_cheaply():
    assert build_app(PageSettings()).postprocess_data.__name__ == "look_at_named"


def test_no_output_of_the_page_is_told_how_its_event_stands():
    app = build_app(PageSettings(port=0, lab=False))
    told = [
        one["api_name"]
        for one in app.config["dependencies"]
        if one["targets"] and one["outputs"] and one["show_progress_on"] != []
    ]
    app.close(verbose=False)

    assert told == []
