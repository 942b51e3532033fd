"""What a key in the request's editor costs: Gradio copies all of its text for each event that listens to it."""

from __future__ import annotations

from prompt_debugger.ui.web.launch import build_app
from prompt_debugger.ui.web.settings import PageSettings


def test_one_event_follows_a_key_and_takes_no_text_along() -> None:
    config = build_app(PageSettings(port=0, lab=False)).config
    [editor] = [part["id"] for part in config["components"] if part["props"].get("elem_id") == "pd-request"]

    events = [one for one in config["dependencies"] if (editor, "input") in map(tuple, one["targets"])]

    assert [(one["api_name"], one["inputs"], one["backend_fn"]) for one in events] == [("typed", [], False)]
