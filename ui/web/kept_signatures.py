"""The signatures of gradio's components, made once.

Gradio asks Python for the signature of a component's `__init__` each time a component is made, and it makes one for
each output that an answer changes: Python makes the signature anew, at half of what the whole output costs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType

from gradio.blocks import Block


def keep_signatures() -> None:
    """Let all kinds of components that there are have their signature at hand, where Python looks for it first."""
    for kind in _kinds_of(Block):
        step = vars(kind).get("__init__")
        while isinstance(step, FunctionType):  # gradio's wrapper, then the component's own
            step.__signature__ = inspect.signature(step)  # type: ignore[attr-defined]
            step = getattr(step, "__wrapped__", None)


def _kinds_of(kind: type[Block]) -> Iterator[type[Block]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _kinds_of(one)
