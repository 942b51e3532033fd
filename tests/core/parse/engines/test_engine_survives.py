"""A parser that crashes, hangs or floods takes down its helper at most, and the next request works."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import VllmOutcome
from prompt_debugger.core.parse.engines import EngineLimits, RawOutput, VllmEngine
from prompt_debugger.core.sandbox import VISITOR
from prompt_debugger.core.sandbox.kernel import Kernel
from tests.core.parse.engines.children import children_of, is_alive
from tests.hidden import KEPT_BY_KERNEL, kernel_lock_of
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.vllm

PLUGIN = Path(__file__).parent / "plugins" / "misbehaving.py"
ROOT = Path(__file__).resolve().parents[4]

HERMES = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


async def try_parser(engine: VllmEngine, name: str) -> VllmOutcome:
    outcome = (await engine.parse_with([f"vllm:{name}"], RawOutput(HERMES), streaming=False))[f"vllm:{name}"]
    assert isinstance(outcome, VllmOutcome)
    return outcome


async def works(engine: VllmEngine) -> bool:
    return len((await try_parser(engine, "hermes")).tool_calls) == 1


@pytest.mark.parametrize(
    ("parser", "words"),
    [
        ("endless", "took longer than 1 s"),
        ("hungry", "MemoryError"),
        ("wordy", "more than"),
        ("complaining", "KeyError"),
    ],
)
async def test_a_parser_that_fails_alone_is_an_outcome_and_the_helper_stays(
    fragile_engine: VllmEngine, parser: str, words: str
) -> None:
    await fragile_engine.parsers()
    before = fragile_engine.pids

    outcome = await try_parser(fragile_engine, parser)

    assert outcome.error is not None
    assert words in outcome.error
    assert await works(fragile_engine)
    assert before == fragile_engine.pids


async def test_what_a_parser_logs_is_kept_and_paths_are_not(fragile_engine: VllmEngine) -> None:
    outcome = await try_parser(fragile_engine, "complaining")

    assert outcome.log == ("warning: this is odd: 42",)
    assert outcome.error == "KeyError: 'file.py'"


async def test_a_parser_reads_its_libraries_and_breaks_out_of_nothing(fragile_engine: VllmEngine) -> None:
    outcome = await try_parser(fragile_engine, "breakingout")

    assert outcome.error == "RuntimeError: read-library"


async def test_no_key_reaches_the_helper_and_a_loop_that_hears_nothing_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")

    async with VllmEngine(plugins=[PLUGIN], limits=EngineLimits(cpu_s=1.0)) as engine:
        outcome = await try_parser(engine, "breakingout")
        with pytest.raises(EngineError, match="exceeded its limit of processor time"):
            await try_parser(engine, "deaf")

    assert outcome.error == "RuntimeError: read-library"


async def test_what_a_parser_prints_disturbs_no_one(fragile_engine: VllmEngine) -> None:
    outcome = await try_parser(fragile_engine, "printing")

    assert (outcome.error, outcome.content) == (None, HERMES)


@pytest.mark.parametrize(
    ("parser", "words"),
    [
        ("crashing", "killed by signal 11"),
        ("leaving", "ended with status 3"),
    ],
)
async def test_a_parser_that_takes_the_helper_down_is_one_error_and_the_next_request_works(
    fragile_engine: VllmEngine, parser: str, words: str
) -> None:
    await fragile_engine.parsers()
    before = fragile_engine.pids

    with pytest.raises(EngineError, match=words):
        await try_parser(fragile_engine, parser)

    assert await works(fragile_engine)
    assert before != fragile_engine.pids


async def test_a_parser_that_sleeps_and_hears_nothing_is_one_error_and_the_next_request_works() -> None:
    async with VllmEngine(plugins=[PLUGIN], limits=EngineLimits(request_s=10.0)) as engine:
        await engine.parsers()
        before = engine.pids

        with pytest.raises(EngineError, match="no answer within 10 s"):
            await try_parser(engine, "stubborn")

        assert await works(engine)
        assert before != engine.pids


async def test_a_helper_that_is_killed_between_requests_is_replaced(fragile_engine: VllmEngine) -> None:
    assert await works(fragile_engine)
    os.kill(fragile_engine.pids[0], signal.SIGKILL)

    with suppress(EngineError):  # the end may be noticed before the request or during it
        await works(fragile_engine)

    assert await works(fragile_engine)


async def test_requests_from_several_tasks_are_answered_each_with_its_own(fragile_engine: VllmEngine) -> None:
    texts = [f"text {index}" for index in range(8)]

    outcomes = await asyncio.gather(
        *(fragile_engine.parse_with(["vllm:hermes"], RawOutput(text), streaming=False) for text in texts)
    )

    assert texts == [outcome["vllm:hermes"].content for outcome in outcomes]


def test_our_own_process_never_imports_vllm_and_its_helper_dies_with_it() -> None:
    program = (
        "import sys, time; from prompt_debugger.core.parse.engines import EngineLimits, RawOutput, VllmEngine\n"
        "engine = VllmEngine()\n"
        "engine.wait(engine.parse_with(['vllm:hermes'], RawOutput('')))\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('vllm', 'torch', 'transformers')])\n"
        "print(engine.pids[0], flush=True)\n"
        "time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        imported, pid = parent.stdout.readline(), int(parent.stdout.readline())
        assert is_alive(pid)

        parent.kill()

    assert imported == "[]\n"
    deadline = time.monotonic() + PATIENCE_S
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(pid)


async def test_without_vllm_the_error_says_what_is_missing_and_how_to_get_it(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n', encoding="utf-8")  # -S: no site-packages
    python.chmod(0o755)

    async with VllmEngine(python) as engine:
        with pytest.raises(EngineError) as caught:
            await engine.parsers()

    assert "vLLM is not installed" in caught.value.message
    assert "make setup" in caught.value.hint


async def test_an_interpreter_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    async with VllmEngine(tmp_path / "nothing") as engine:
        with pytest.raises(EngineError, match="cannot be started"):
            await engine.parsers()


async def test_a_vllm_that_cannot_be_imported_is_an_error_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text("raise ImportError('too old')", encoding="utf-8")

    async with VllmEngine(overlay=[tmp_path]) as engine:
        with pytest.raises(EngineError, match="ImportError: too old"):
            await engine.parsers()


async def test_a_raw_output_beyond_the_limit_is_refused(fragile_engine: VllmEngine) -> None:
    with pytest.raises(EngineError, match="at most"):
        await fragile_engine.parse_with(["vllm:hermes"], RawOutput("x" * 4_000_001))


async def test_a_slow_parser_holds_up_no_other_visitor_and_its_leaving_ends_it(fragile_engine: VllmEngine) -> None:
    await fragile_engine.parsers()
    hostile = [asked_by(f"h{number}/1", fragile_engine, "stubborn") for number in range(2)]
    deadline = time.monotonic() + PATIENCE_S
    while len(fragile_engine.pids) < 2:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)

    answered = await asked_by("honest/1", fragile_engine, "hermes")

    assert len(answered.tool_calls) == 1
    for task in hostile:
        task.cancel()
    await asyncio.gather(*hostile, return_exceptions=True)
    assert await works(fragile_engine)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_a_helper_is_locked_by_the_kernel_and_another_one_reads_other_files(
    fragile_engine: VllmEngine, lab_model_dir: Path, tmp_path: Path
) -> None:
    """What may be read the kernel is told once: a question with another tokenizer needs another helper."""
    other = tmp_path / "other"
    other.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (other / name).write_bytes((lab_model_dir / name).read_bytes())

    async def pids_after(tokenizer: Path | None) -> set[int]:
        answer = await fragile_engine.parse_with(["vllm:hermes"], RawOutput(HERMES, tokenizer=tokenizer))
        assert isinstance(outcome := answer["vllm:hermes"], VllmOutcome)
        assert len(outcome.tool_calls) == 1
        # A spare one that was asked nothing yet may be there, and is locked with its first question.
        locked = {pid for pid in fragile_engine.pids if kernel_lock_of(pid) == KEPT_BY_KERNEL}
        assert locked
        return locked

    # Either of two helpers may take a question: one that can read its files is kept, whichever is asked next.
    first = await pids_after(lab_model_dir)
    assert first <= await pids_after(None)
    again = await pids_after(lab_model_dir)
    assert first <= again
    second = await pids_after(other)
    assert second - again or Kernel().landlock.version == 0
    assert second & await pids_after(other)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_what_helpers_split_off_from_has_one_thread(fragile_engine: VllmEngine) -> None:
    await fragile_engine.parsers()
    status = Path(f"/proc/{fragile_engine.pids[0]}/stat").read_text(encoding="utf-8")
    forkserver = int(status.rpartition(")")[2].split()[1])

    keeper = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()  # whose workers share it
    assert forkserver in children_of(keeper)
    assert len(list(Path(f"/proc/{forkserver}/task").iterdir())) == 1


def asked_by(visitor: str, engine: VllmEngine, parser: str) -> asyncio.Task[VllmOutcome]:
    token = VISITOR.set(visitor)
    try:
        return asyncio.create_task(try_parser(engine, parser))
    finally:
        VISITOR.reset(token)
