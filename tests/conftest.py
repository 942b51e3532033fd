"""Fixtures that the whole suite shares: the lab model, and one real vLLM per parser setting."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import os
import re
import ssl
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings

from prompt_debugger.core.tools.lab import LabPool, LabSpec
from prompt_debugger.ui.web.start_gradio import WithoutStubs
from tests.clock import Clock
from tests.examples import ASKED, examples
from tests.patience import be_patient
from tests.warm.labs import cold_labs, warm_labs
from tests.warm.parsers import warm_parsers
from tests.warm.program import warm_program
from tests.warm.sandboxes import cold_sandboxes, warm_sandboxes

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

# How long an example takes says how busy the machine is, nothing of the code. The same examples every time, unless more
# are asked for: chance is for the night (`make nightly`).
settings.register_profile(
    "project",
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not ASKED,
)
settings.load_profile("project")

sys.meta_path.insert(0, WithoutStubs())  # gradio's upkeep of stubs takes two seconds of each process that imports it

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the golden files of tests/cases")
    parser.addoption("--update-screens", action="store_true", help="take the pictures of README and tutorial anew")


@pytest.hookimpl(wrapper=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    """In a run with several processes, let the first one keep the forkserver that the others use."""
    if session.config.getoption("numprocesses", None):
        shared = ExitStack()
        shared.enter_context(warm_labs())
        shared.enter_context(warm_program())
        session.config.add_cleanup(shared.close)
    return (yield)


WITHOUT_VLLM = pytest.mark.skip(reason="needs vLLM, which is not installed: docs/lab.md says how")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector from what collection makes: it lives as long as the run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Put the files that use a lab behind those that use none, those of the same lab beside each other.

    So fewer labs run at once and fewer are booted twice. What takes long comes first: else one of several
    processes is left alone with it at the end. Tests in a browser stay last, as they are.
    """
    for file in {item.path for item in items if _place_of(item) > 0 and not item.get_closest_marker("browser")}:
        if not re.search(r"mark\.lab\b", file.read_text(encoding="utf-8")):
            raise pytest.UsageError(f"{file}: `make test-servers` finds a file by `mark.lab` in it")
    yield
    if importlib.util.find_spec("vllm") is None:
        for item in items:
            if item.get_closest_marker("lab") or item.get_closest_marker("vllm"):
                item.add_marker(WITHOUT_VLLM)
    found: dict[Path, set[int]] = {}
    for item in items:
        found.setdefault(item.path, set()).add(_place_of(item))
    places = {file: max(of_file) or min(of_file) for file, of_file in found.items()}
    items.sort(key=lambda item: 9 if item.get_closest_marker("browser") else places[item.path])


def _place_of(item: pytest.Item) -> int:
    """Return 1 for a test with a lab of its own, more for those of the whole run; for others 0, or -1 if they last."""
    names = set(getattr(item, "fixturenames", ()))
    if not item.get_closest_marker("lab"):
        return -1 if any(item.get_closest_marker(name) for name in ("slow", "vllm", "servers")) else 0
    if "labs" not in names:
        return 1
    if "reasoning_lab_url" in names:
        return 3
    return 2 if "lab_url" in names else 4


@pytest.fixture
def clock() -> Clock:
    """The time of whatever takes a clock: it stands still until the test moves it."""
    return Clock()


@pytest.fixture(scope="session")
def update_goldens(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture(scope="session")
def lab_model_dir() -> Path:
    return ROOT / "assets" / "lab-model"


@pytest.fixture(scope="session")
def corpus_dir() -> Path:
    """Folder of real chat templates; lies beside the checkout, never in it."""
    folder = Path(os.environ.get("PROMPT_DEBUGGER_CORPUS", ROOT.parent / "shared" / "corpus" / "templates"))
    if not folder.is_dir():
        pytest.skip(f"no template corpus at {folder.name}: set PROMPT_DEBUGGER_CORPUS")
    return folder


@pytest.fixture(scope="session")
def labs() -> Iterator[LabPool]:
    """The labs of the whole run: one real vLLM per parser setting, booted when first asked for."""
    pool = LabPool(max_running=3)
    yield pool
    pool.stop_all()


@pytest.fixture
def lab_url(labs: LabPool) -> str:
    """Base URL of a real vLLM with the lab model and the parser that fits it; booted again if others took its place."""
    return asyncio.run(labs.get(LabSpec())).base_url


@pytest.fixture
def reasoning_lab_url(labs: LabPool) -> str:
    """The same with a reasoning parser."""
    return asyncio.run(labs.get(LabSpec(reasoning_parser="kimi_k2"))).base_url


@pytest.fixture(scope="session", autouse=True)
def _warm_processes() -> Iterator[None]:
    """Fork the labs, helpers, sandboxes and commands of a run from a few processes that have done the imports."""
    with warm_labs(), warm_parsers(), warm_sandboxes(), warm_program():
        yield


@pytest.fixture(scope="session", autouse=True)
def _patience() -> Iterator[None]:
    """What is slow because the machine is busy changes no answer."""
    with pytest.MonkeyPatch.context() as patch:
        be_patient(patch)
        yield


@pytest.fixture(name="cold_labs")
def _cold_labs() -> Iterator[None]:
    """Servers that are started as users' are, imports and all."""
    with cold_labs():
        yield


@pytest.fixture(name="cold_sandboxes")
def _cold_sandboxes() -> Iterator[None]:
    """Sandboxes that have a forkserver each, imports and all, as users' have."""
    with cold_sandboxes():
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_list_of_authorities() -> Iterator[None]:
    """Let clients that trust whom all do by default share what is read for it: each would take 17 ms to read it anew.

    Tests make thousands, nearly all for servers on this machine that encrypt nothing.
    """
    create = httpx.create_ssl_context
    made: dict[tuple[str | None, str | None], ssl.SSLContext] = {}

    def create_or_share(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if verify is not True or cert is not None:
            return create(verify, cert, trust_env)
        named = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")) if trust_env else (None, None)
        if named not in made:
            made[named] = create(trust_env=trust_env)
        return made[named]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpx._transports.default.create_ssl_context", create_or_share)
        yield


@pytest.fixture(scope="session", autouse=True)
def _loopback_only() -> Iterator[None]:
    """Refuse connections that leave this machine: a test must not depend on the internet."""
    import socket

    real = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else None
        is_far = isinstance(host, str) and not (host.startswith("127.") or host in ("::1", "localhost"))
        if is_far and self.family in (socket.AF_INET, socket.AF_INET6):
            raise OSError(f"tests reach loopback only, not {host}")
        real(self, address)  # type: ignore[arg-type]  # the guard passes on what it was given

    socket.socket.connect = guarded  # type: ignore[assignment, method-assign]  # restored below
    yield
    socket.socket.connect = real  # type: ignore[method-assign]  # restored
