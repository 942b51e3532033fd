"""Which Chromium drives the page, and how it is started: for tests and benchmarks."""

from __future__ import annotations

import shutil

# The headless shell has the same engine as the whole browser, and spends a fifth less processor time on the same tests.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--font-render-hinting=slight",  # as a desktop draws text; by itself the shell draws it wider
)


def find_chromium() -> str | None:
    """Return the path of a Chromium, or `None` where there is none."""
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
