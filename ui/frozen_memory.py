"""What is made once, at the start, and stays until the end: garbage is not looked for in it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_for_good() -> Iterator[None]:
    """Look for garbage in nothing that is made inside: of imports and of building the page, that is a fifth."""
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()
