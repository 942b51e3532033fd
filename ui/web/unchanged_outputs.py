"""Outputs that an event does not change cost nothing.

An answer that names a few of an event's outputs leaves the others as they are, and gradio makes a new component for
each of those all the same, for every step of a run: a page of twenty views spent most of its processor time on that.
"""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.blocks import Block, postprocess_update_dict

_UNCHANGED = gr.skip()


def skip_cheaply(blocks: gr.Blocks) -> None:
    """Let gradio look only at the outputs that an answer names, by wrapping its method that looks at all of them."""
    look_at_all = blocks.postprocess_data
    unchanged: dict[type[Block], Any] = {}  # what gradio tells the page of an output that stays, by its kind

    def stays(block: Block) -> Any:  # noqa: ANN401
        if type(block) not in unchanged and not block.stateful:
            unchanged[type(block)] = _drop_unchanged(postprocess_update_dict(block, gr.skip()))  # type: ignore[arg-type]
        return deepcopy(unchanged.get(type(block)))

    async def look_at_named(
        function: BlockFunction,
        answer: Any,  # noqa: ANN401  # whatever an event answers
        *state: Any,  # noqa: ANN401  # passed on
        **more: Any,  # noqa: ANN401  # passed on
    ) -> list[Any]:
        named = _named(answer)
        is_plain = len(function.outputs) > 1 and not function.batch
        if named is None or not is_plain or not named.keys() <= {block._id for block in function.outputs}:
            return await look_at_all(function, answer, *state, **more)
        changed = [block for block in function.outputs if named.get(block._id, _UNCHANGED) != _UNCHANGED]
        values = [named[block._id] for block in changed]
        if values:
            only = copy(function)
            only.outputs = changed
            values = await look_at_all(only, values if len(values) > 1 else values[0], *state, **more)
        reported = dict(zip((block._id for block in changed), values, strict=True))
        return [reported[block._id] if block._id in reported else stays(block) for block in function.outputs]

    blocks.postprocess_data = look_at_named  # type: ignore[assignment, method-assign]


def _drop_unchanged(update: dict[str, Any]) -> dict[str, Any]:
    """Return an update without the parts that say again that nothing changes.

    gradio says so of the `props` of an HTML component, and its script then copies and draws the component.
    """
    return {name: value for name, value in update.items() if value != _UNCHANGED}


def _named(answer: Any) -> dict[int, Any] | None:  # noqa: ANN401
    """Return an answer that names outputs, by their numbers; `None` for any other."""
    if not isinstance(answer, dict) or not answer or not all(isinstance(key, Block) for key in answer):
        return None
    return {key._id: value for key, value in answer.items()}
