"""All keys of the tests that are written or placed oddly, and all texts that only look like them."""

from __future__ import annotations

from tests.core.report import lined_secrets, odd_secrets, placed_secrets

ODD = {**odd_secrets.ODD, **placed_secrets.PLACED, **lined_secrets.LINED}
LIKE = (*odd_secrets.LIKE, *placed_secrets.NEAR, *lined_secrets.NEAR)


def shows(text: str) -> bool:
    """Say whether a text shows a part of a key that no one may see, however it is written."""
    return odd_secrets.shows(text) or placed_secrets.shows_placed(text)
