"""The fields that panels place next to their button: a text, or a choice from a list."""

from __future__ import annotations

import gradio as gr


def build_text(label: str, elem_id: str, *, value: str = "", placeholder: str = "", shown: bool = True) -> gr.Textbox:
    """Return a wide field of one line."""
    return gr.Textbox(value, label=label, placeholder=placeholder, elem_id=elem_id, visible=shown, min_width=220)


def build_choice(
    label: str, elem_id: str, choices: list[tuple[str, str]], *, width: int, shown: bool = True
) -> gr.Dropdown:
    """Return a list of named values with none chosen at first: the first one's value is empty."""
    return gr.Dropdown(
        [*choices], value="", label=label, elem_id=elem_id, filterable=False, visible=shown, min_width=width
    )
