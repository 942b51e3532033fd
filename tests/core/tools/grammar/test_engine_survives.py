"""Pasted schemas may be hostile: an error in bounded time, and the next question is answered."""

import subprocess
import sys

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.tools.grammar import (
    GrammarEngine,
    GrammarLimits,
    GrammarStatus,
    JudgedOutput,
    first_illegal_token,
)
from tests.core.tools.grammar.outputs import TOOLS, kimi, kimi_call, tool
from tests.hidden import KEPT_BY_KERNEL, home_of, kernel_lock_of
from tests.patience import PATIENCE_S

_LEGAL = kimi(kimi_call("get_weather", {"city": "x"}))


def _nested(depth: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def _any_of(depth: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "integer"}
    for _ in range(depth):
        schema = {"anyOf": [schema, {"type": "array", "items": schema}]}
    return schema


_HOSTILE = {
    "huge repetition": {"type": "string", "minLength": 50_000_000, "maxLength": 100_000_000},
    "repeated repetition": {"type": "string", "pattern": "((((a{1,500}){1,500}){1,500}){1,500}){1,500}"},
    "backtracking pattern": {"type": "string", "pattern": "(a|a|aa)*(b|b)*c{1000}"},
    "endless reference": {"$ref": "#"},
    "mutual references": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    "dangling reference": {"$ref": "#/$defs/none"},
    "recursive list": {"type": "object", "properties": {"x": {"type": "array", "items": {"$ref": "#"}}}},
    "giant enum": {"enum": [f"value number {index}" for index in range(60_000)]},
    "many properties": {"type": "object", "properties": {f"p{index}": {"type": "integer"} for index in range(5_000)}},
    "deep nesting": _nested(300),
    "deeper than the stack": _nested(450),
    "exponential alternatives": _any_of(16),
    "no schema at all": [1, 2, 3],
    "an unknown type": {"type": "object", "properties": {"n": {"type": "int"}}},
}


@pytest.fixture(scope="module")
def wary_engine():
    limits = GrammarLimits(question_s=PATIENCE_S, verdict_s=PATIENCE_S, cpu_s=2, memory_growth_bytes=1 << 30)
    with GrammarEngine(limits=limits) as running:
        yield running


@pytest.mark.vllm
@pytest.mark.parametrize("name", _HOSTILE)
def test_a_hostile_schema_ends_in_a_verdict_or_an_error_and_the_engine_goes_on(wary_engine, name):
    tools = [tool("get_weather", {"type": "object", "properties": {"x": _HOSTILE[name]}})]
    raw = kimi(kimi_call("get_weather", '{"x": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}'))

    try:
        outcome = first_illegal_token(JudgedOutput(raw), tools, "kimi_k2", engine=wary_engine).sentence
    except EngineError as error:
        outcome = f"{error.message} {error.hint}"

    assert outcome
    after = first_illegal_token(JudgedOutput(_LEGAL), TOOLS, "kimi_k2", engine=wary_engine)
    assert after.status is GrammarStatus.LEGAL


@pytest.mark.vllm
def test_a_schema_that_the_compiler_refuses_is_named(engine):
    tools = [*TOOLS, tool("count", {"type": "object", "properties": {"n": {"type": "int"}}})]

    verdict = first_illegal_token(JudgedOutput(_LEGAL), tools, "kimi_k2", engine=engine)

    assert verdict.status is GrammarStatus.REFUSED
    assert "`tools[2]` (count)" in verdict.sentence
    assert 'Unsupported type "int"' in verdict.sentence
    assert ".cc" not in verdict.sentence


@pytest.mark.vllm
def test_an_output_too_long_is_refused_at_once(engine):
    with pytest.raises(EngineError, match="at most"):
        first_illegal_token(JudgedOutput("x" * 1_000_000), TOOLS, "kimi_k2", engine=engine)


@pytest.mark.vllm
def test_the_helper_does_without_torch(engine):
    assert engine.version.startswith("0.")

    mapped = (home_of(engine.pids[0]) / "maps").read_text()
    assert "xgrammar" in mapped
    assert "torch" not in mapped


@pytest.mark.vllm
def test_an_engine_that_is_closed_leaves_no_process():
    with GrammarEngine() as running:
        assert running.version
        pid = running.pids[0]

    assert subprocess.run(["ps", "-p", str(pid)], check=False, capture_output=True).returncode != 0


def test_nothing_native_is_imported_by_the_package():
    native = ("xgrammar", "llguidance", "tvm_ffi", "torch")
    code = f"import prompt_debugger.core.tools.grammar, sys; print([name for name in {native} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_without_xgrammar_the_error_says_what_to_install(tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)

    with GrammarEngine(bare) as running, pytest.raises(EngineError) as caught:
        first_illegal_token(JudgedOutput(_LEGAL), TOOLS, "kimi_k2", engine=running)

    assert "XGrammar is not installed" in caught.value.message
    assert "make setup" in caught.value.hint


def test_an_unknown_level_is_reported_with_those_that_there_are():
    with GrammarEngine() as idle, pytest.raises(EngineError) as caught:
        first_illegal_token(JudgedOutput(_LEGAL), TOOLS, "kimi_k2", "strict", engine=idle)

    assert "required+strict" in caught.value.hint


@pytest.mark.vllm
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_helper_has_locked_itself(engine):
    """As every process that works on strangers' text: no new file, socket or pipe, and nothing is written."""
    first_illegal_token(JudgedOutput(_LEGAL), TOOLS, "kimi_k2", engine=engine)
    home = home_of(engine.pids[0])

    limits = {line[:26].strip(): line[26:].split()[0] for line in (home / "limits").read_text().splitlines()}
    opened = {int(path.name) for path in (home / "fd").iterdir()}

    assert set(range(int(limits["Max open files"]))) <= opened
    assert limits["Max file size"] == "0"
    assert kernel_lock_of(engine.pids[0]) == KEPT_BY_KERNEL
    assert limits["Max address space"] != "unlimited"


@pytest.mark.vllm
def test_processor_time_is_limited_before_anybody_has_waited_long():
    limits = GrammarLimits(question_s=600, verdict_s=600, cpu_s=0.1)
    tools = [tool("get_weather", {"type": "object", "properties": {"x": _HOSTILE["repeated repetition"]}})]
    raw = kimi(kimi_call("get_weather", '{"x": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}'))

    with GrammarEngine(limits=limits) as running, pytest.raises(EngineError, match="too large for XGrammar"):
        first_illegal_token(JudgedOutput(raw), tools, "kimi_k2", engine=running)
