"""Components are made without asking Python for a signature, and the signatures are what they were."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager

import gradio as gr
import pytest
from gradio.blocks import postprocess_update_dict

from prompt_debugger.ui.web.kept_signatures import keep_signatures


@contextmanager
def no_signature_is_made() -> Iterator[None]:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a signature is made")

    keep_signatures()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inspect._signature_from_function", fail)
        with pytest.raises(AssertionError):
            inspect.signature(keep_signatures)
        yield


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [(gr.HTML, {"value": "a"}), (gr.Button, {"interactive": False}), (gr.Column, {"visible": False})],
)
def test_a_component_is_made_without_a_signature(kind, arguments) -> None:
    with no_signature_is_made():
        assert kind(**arguments).constructor_args == arguments


def test_an_output_changes_without_a_signature() -> None:
    with no_signature_is_made():
        assert postprocess_update_dict(gr.HTML(value="a"), {"value": "b"})["value"] == "b"


def test_a_kept_signature_is_that_of_the_function() -> None:
    keep_signatures()
    for kind in (gr.HTML, gr.Button, gr.Code, gr.Row):
        kept = inspect.signature(kind.__init__)
        own = inspect.unwrap(kind.__init__, stop=lambda step: not hasattr(step, "__wrapped__"))
        code = own.__code__
        assert [name for name, one in kept.parameters.items() if one.kind is not one.VAR_KEYWORD] == [
            *code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        ]
        assert inspect.getfullargspec(own).args == [*code.co_varnames[: code.co_argcount]]
