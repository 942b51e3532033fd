"""A real vLLM engine, booted once, and real refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.tools.lab import Lab, LabPool, LabProgress, LabSpec, LabState
from prompt_debugger.core.tools.lab.failures import find_known_failure
from prompt_debugger.core.tools.lab.progress import ENGINE_MILESTONES
from tests.patience import PATIENCE_S
from tests.warm.labs import cold_labs

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

_BYTES_ALLOWED = 1_300_000_000


@pytest.fixture(scope="module")
def engine(lab_model_dir: Path) -> Iterator[tuple[Lab, list[LabProgress]]]:
    """A running engine of the lab model, started as users' are, and what it reported while it booted."""
    pool = LabPool()
    reports: list[LabProgress] = []
    spec = LabSpec(model_dir=lab_model_dir, served_model_name="lab-model", reasoning_parser="kimi_k2")
    with cold_labs():
        lab = asyncio.run(pool.get(spec, reports.append))
    yield lab, reports
    pool.stop_all()


def test_the_engine_generates_renders_and_shows_its_template(engine: tuple[Lab, list[LabProgress]]) -> None:
    lab, _ = engine
    body = {"model": lab.model, "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
    with httpx.Client(base_url=lab.base_url, timeout=PATIENCE_S) as client:
        models = client.get("/models").json()
        chat = client.post("/chat/completions", json={**body, "return_token_ids": True}).json()
        render = client.post("/chat/completions/render", json=body).json()
        tokenizer = client.get(lab.base_url.removesuffix("/v1") + "/tokenizer_info").json()
        server_info = client.get(lab.base_url.removesuffix("/v1") + "/server_info")

    assert [model["id"] for model in models["data"]] == ["lab-model"]
    assert len(chat["choices"][0]["token_ids"]) == chat["usage"]["completion_tokens"]
    assert chat["prompt_token_ids"] == render["token_ids"]
    assert "chat_template" in tokenizer
    assert server_info.status_code == 404


def test_an_answer_with_log_probabilities_compiles_nothing(engine: tuple[Lab, list[LabProgress]]) -> None:
    lab, _ = engine
    body = {"model": lab.model, "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
    body |= {"logprobs": True, "top_logprobs": 2}
    environment = Path(f"/proc/{lab.pid}/environ").read_text().split("\0")
    (scratch,) = [entry.removeprefix("TMPDIR=") for entry in environment if entry.startswith("TMPDIR=")]

    answer = httpx.post(f"{lab.base_url}/chat/completions", json=body, timeout=PATIENCE_S).json()

    assert len(answer["choices"][0]["logprobs"]["content"]) == answer["usage"]["completion_tokens"]
    assert list(Path(scratch).rglob("*.so")) == []


def test_the_engine_says_what_it_is_doing_until_it_is_ready(engine: tuple[Lab, list[LabProgress]]) -> None:
    lab, reports = engine
    fractions = [report.fraction for report in reports]

    assert lab.state is LabState.READY
    assert reports[-1].state is LabState.READY
    assert sorted(fractions) == fractions
    assert fractions[-1] == 1.0
    # A stretch may pass between two looks; the long ones do not.
    assert {ENGINE_MILESTONES[0].sentence, ENGINE_MILESTONES[2].sentence} <= {report.sentence for report in reports}


def test_the_log_of_a_good_boot_shows_no_known_failure(engine: tuple[Lab, list[LabProgress]]) -> None:
    lab, _ = engine

    assert "Starting vLLM server" in lab.log_tail(500)
    assert find_known_failure(lab.log_tail(500).splitlines()) is None
    assert lab.failure() is None


def test_the_engine_stays_small(engine: tuple[Lab, list[LabProgress]]) -> None:
    lab, _ = engine
    assert lab.pid is not None

    assert _group_bytes(lab.pid) < _BYTES_ALLOWED


def test_a_parser_that_needs_other_tokens_is_named(tokenizer_dir: Path) -> None:
    lab = Lab(LabSpec(model_dir=tokenizer_dir, kind="renderer", tool_parser="mistral"))

    with pytest.raises(LabError, match="`mistral` cannot be used with the tokenizer") as caught:
        lab.boot()

    assert lab.state is LabState.FAILED
    assert not lab.is_alive
    assert "TypeError" in caught.value.log_tail


@pytest.mark.usefixtures("cold_labs")
def test_a_lab_can_be_stopped_while_it_boots(tokenizer_dir: Path) -> None:
    lab = Lab(LabSpec(model_dir=tokenizer_dir, kind="renderer"))

    with pytest.raises(LabError, match="stopped while it started"):
        lab.boot(lambda _: lab.request_stop())

    assert lab.state is LabState.STOPPED
    assert not lab.is_alive


def _group_bytes(group: int) -> int:
    """Return the proportional memory of all processes of a group."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                rollup = (folder / "smaps_rollup").read_text()
                total += 1024 * sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
    return total
