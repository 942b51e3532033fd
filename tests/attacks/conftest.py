"""The running pages that are attacked: as strangers get them, with and without a server, and one's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks.page import ROOT, RunningPage, echoing

MODES = ("public", "public without a lab", "own")


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    with echoing() as url:
        yield url


def start(mode: str, endpoint: str, *options: str, is_cold: bool = False) -> RunningPage:
    """Start the page as its users do; all but the imports, unless it is to start cold."""
    server = ("--endpoint", endpoint, "--tokenizer", str(ROOT / "assets" / "lab-model"))
    by_mode = {
        "public": ("--public", *server),
        "public without a lab": ("--public", "--no-lab"),
        "own": ("--no-lab", *server),
    }
    return RunningPage(*by_mode[mode], *options, is_cold=is_cold)


@pytest.fixture(scope="module", params=MODES)
def running(request: pytest.FixtureRequest, endpoint: str) -> Iterator[RunningPage]:
    """A page in each mode."""
    page = start(request.param, endpoint)
    yield page
    page.end()


@pytest.fixture(scope="module")
def public(endpoint: str) -> Iterator[RunningPage]:
    """A public page with a server that echoes."""
    running = start("public", endpoint)
    yield running
    running.end()
