"""What holds half a surrogate pair is sent with its escape, and everything else as gradio sends it."""

from __future__ import annotations

import gradio.routes
import numpy
import orjson
import pytest

from prompt_debugger.ui.web.unpaired_text import escape_unpaired

OPTIONS = {"default": str, "option": orjson.OPT_SERIALIZE_NUMPY}


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    monkeypatch.setattr(gradio.routes, "orjson", orjson)
    escape_unpaired()


def written(value):
    return gradio.routes.orjson.dumps(value, **OPTIONS)


@pytest.mark.parametrize(
    "value",
    ["\ud800", {"a": ["x\udfff"]}, {"\ud83c": 1}, {"data": ({"value": "\udf1e\ud83c"}, numpy.array([1, 2]))}],
)
def test_half_a_pair_is_written_as_its_escape(value):
    sent = written(value).decode()

    assert "\\\\ud" in sent
    assert sent.isascii()


@pytest.mark.parametrize("value", [None, "sun \U0001f31e", {"a": [1, 2.5, True]}, "\\ud800", {"n": numpy.array([1])}])
def test_anything_else_is_written_as_it_was(value):
    assert written(value) == orjson.dumps(value, **OPTIONS)


def test_what_is_no_json_for_another_reason_is_still_a_fault():
    with pytest.raises(TypeError):
        gradio.routes.orjson.dumps({"a": object()})
    assert gradio.routes.orjson.OPT_SERIALIZE_NUMPY == orjson.OPT_SERIALIZE_NUMPY
