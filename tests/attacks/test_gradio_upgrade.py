"""What a release of gradio may change under us: paths, what an event may say, and what a payload makes it do.

A failure here is a question, not a fault: read what changed, judge it in `ui/web/security.py` and `ui/web/admission/`,
and renew the pin by `pytest tests/attacks/test_gradio_upgrade.py --update-goldens`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio import data_classes, networking, processing_utils, queueing, route_utils, state_holder
from gradio.blocks import Blocks
from gradio_client import utils as client_utils  # type: ignore[import-untyped]  # it ships no types

from prompt_debugger.ui.web.admission import payloads
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.settings import PageSettings

PINS = Path(__file__).parent / "gradio_pins.json"

# What acts on what a visitor sends, or what ui/web/memory.py reaches into.
ACTING: dict[str, Callable[..., Any]] = {
    "preprocess_data": Blocks.preprocess_data,
    "validate_inputs": Blocks.validate_inputs,
    "move_files": processing_utils.async_move_files_to_cache,
    "is_file": client_utils.is_file_obj_with_meta,
    "event_data": route_utils.prepare_event_data,
    "find_event": route_utils.get_fn,
    "session": route_utils.restore_session_state,
    "push": queueing.Queue.push,
    "take": queueing.Queue.get_events,
    "clean": queueing.Queue.clean_events,
    "process": queueing.Queue.process_events,
    "state": state_holder.StateHolder,
    "session_state": state_holder.SessionState,
}


@pytest.fixture(scope="module")
def served() -> Any:
    settings = PageSettings(port=0, lab=False, public=True)
    app = build_app(settings)
    serve_app(app, settings)
    yield app
    app.close(verbose=False)


def found_in(app: gr.Blocks) -> dict[str, Any]:
    """Return what this gradio is, as far as it matters here."""
    inputs: set[Any] = {block for function in app.fns.values() for block in function.inputs}
    return {
        "routes": sorted(
            f"{method} {getattr(route, 'path', '')}"
            for route in app.app.routes
            for method in getattr(route, "methods", None) or ("MOUNT",)
        ),
        "event_fields": sorted(data_classes.PredictBody.model_fields),
        "cancel_fields": sorted(data_classes.CancelBody.model_fields),
        "file_fields": sorted(data_classes.FileData.model_fields),
        "inputs": sorted({f"{type(block).__name__} reads {block.data_model}" for block in inputs}),
        "acting": {name: hashlib.sha256(inspect.getsource(one).encode()).hexdigest() for name, one in ACTING.items()},
        "preprocessing": {
            type(block).__name__: hashlib.sha256(inspect.getsource(type(block).preprocess).encode()).hexdigest()
            for block in sorted(inputs, key=lambda block: type(block).__name__)
        },
        "fetching": sorted(
            name
            for name in dir(processing_utils)
            if callable(getattr(processing_utils, name))
            and any(word in name for word in ("url", "download", "fetch", "get"))
        ),
    }


@pytest.fixture(scope="module")
def found(served: gr.Blocks, update_goldens: bool) -> dict[str, Any]:
    found = found_in(served)
    if update_goldens:
        PINS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


@pytest.mark.parametrize("what", json.loads(PINS.read_text(encoding="utf-8")))
def test_gradio_is_the_one_that_was_judged(found: dict[str, Any], what: str) -> None:
    assert found[what] == json.loads(PINS.read_text(encoding="utf-8"))[what]


def test_no_input_of_the_page_is_read_as_a_file(found: dict[str, Any]) -> None:
    assert [one for one in found["inputs"] if not one.endswith("reads None")] == []


def test_the_door_knows_every_field_that_an_event_may_have(found: dict[str, Any]) -> None:
    internal = set(data_classes.PredictBodyInternal.model_fields)

    assert internal == set(payloads.EVENT_KEYS)
    assert set(found["event_fields"]) <= internal


def test_the_door_knows_every_field_by_which_gradio_knows_a_file(found: dict[str, Any]) -> None:
    telling = set(found["file_fields"]) - {"size"}

    assert telling <= payloads.FILE_KEYS


def test_a_page_opens_though_its_first_answer_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradio asks the page five times, 3 s each, and gives up where localhost "is not accessible"."""
    monkeypatch.setattr(networking, "url_ok", lambda _: False)
    settings = PageSettings(port=0, lab=False)
    app = build_app(settings)
    try:
        assert serve_app(app, settings)[1].startswith("http://127.0.0.1:")
    finally:
        app.close(verbose=False)
