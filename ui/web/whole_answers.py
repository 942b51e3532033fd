"""Every answer of an event says the whole of what it changes, not how it differs from the answer before.

Gradio sends the second and later answers of an event as differences. Where one is lost or comes out of turn, the views
get a list of differences for a value, the script gives up its stream, and the run is never seen to end. Here an answer
names what it changes in any case, and packed payloads have no parts in common, so differences save nothing.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

_PROTOCOL = "sse_v1"  # as later ones, without differences


def answer_in_whole(blocks: gr.Blocks) -> None:
    """Let gradio send whole answers, and tell its script so, by wrapping the two methods that decide it."""
    describe, keep = blocks.get_config_file, blocks.handle_streaming_diffs

    def describe_as_whole() -> Any:  # noqa: ANN401  # gradio's own type is not exported
        return {**describe(), "protocol": _PROTOCOL}

    def keep_whole(*known: Any, **more: Any) -> list[Any]:  # noqa: ANN401  # passed on
        return keep(*known, **{**more, "simple_format": True})

    blocks.handle_streaming_diffs = keep_whole  # type: ignore[method-assign]
    blocks.get_config_file = describe_as_whole  # type: ignore[method-assign]
