"""How many examples a property is tried on: half of what its test says, or what the environment asks for.

EXAMPLES=5000   at least so many, drawn anew, for a search through a night (`make nightly`)
QUICK=1         a quarter, while editing (`make test-fast`)
"""

from __future__ import annotations

import os

ASKED = int(os.environ.get("EXAMPLES", "0"))
_PART = 4 if os.environ.get("QUICK") else 2


def examples(usual: int) -> int:
    """Return the number of examples of a property that usually gets this many."""
    return max(usual // _PART, ASKED, 1)
