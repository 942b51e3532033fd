"""What the tests of admission share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def public_mode_page() -> str:
    """What the docs say of a public page."""
    return (Path(__file__).resolve().parents[4] / "docs" / "public-mode.md").read_text(encoding="utf-8")
