"""How many examples a property is tried on: what its test says, or more where `EXAMPLES` asks for more."""

from __future__ import annotations

import os

ASKED = int(os.environ.get("EXAMPLES", "0"))


def examples(usual: int) -> int:
    """Return the number of examples of a property that usually gets this many."""
    return max(usual, ASKED)
