"""What an exception of vLLM's says, in one line."""

from __future__ import annotations

import re

_PATH = re.compile(r"(?<![\w:/])(?:/[\w.@+~-]+)+/([\w.@+~-]+)")


def plain_error(error: BaseException) -> str:
    """Return an exception as one line, folders cut from the paths in it."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _PATH.sub(r"\1", " ".join(text.split()))[:600]
