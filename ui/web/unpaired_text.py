r"""Half a surrogate pair in a text that goes to the page is written as its escape.

A browser may send `"\ud800"`, and an answer may hold it. No such text can be encoded, and gradio then ends the
connection in the middle: the event never ended for its page, which waited for good for all that it asked afterwards.
"""

from __future__ import annotations

from typing import Any

import gradio.routes
import orjson


def escape_unpaired() -> None:
    """Let gradio write an answer that cannot be encoded with escapes in it; any other as it is, at no cost."""
    vars(gradio.routes)["orjson"] = _Orjson()


class _Orjson:
    """The module by which gradio writes what it sends."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever else the module has
        return getattr(orjson, name)

    def dumps(self, value: Any, **options: Any) -> bytes:  # noqa: ANN401  # passed on
        """Return a value as JSON; a text that has no UTF-8 with escapes."""
        try:
            return orjson.dumps(value, **options)
        except orjson.JSONEncodeError:
            return orjson.dumps(_escaped(value), **options)


def _escaped(value: Any) -> Any:  # noqa: ANN401  # what gradio sends, in its own kinds of values
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_escaped(item) for item in value]
    return value
