"""Which parsers are advised after trying them on an output: those that read its calls, and never the one that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import JSONObject, ParserOutcome, Server, Trace
from prompt_debugger.core.diagnose.readers import Trials, advisable_parsers, trials_of
from tests.core.diagnose.cases import build_trace

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
PLAIN = build_trace({"raw": CALL, "format": "hermes"})
VLLM = Server("http://127.0.0.1:1/v1", "vllm", version="0.32.0")


def outcome(*names: str | None, error: str | None = None) -> ParserOutcome:
    calls: list[JSONObject] = [{"function": {"name": name}} if name is not None else {"function": 5} for name in names]
    return ParserOutcome(None, None, tuple(calls), error)


READS, READS_NOT = outcome("get_weather"), outcome()


def tried(parsers: Mapping[str, ParserOutcome], server: Server | None = VLLM) -> Trace:
    assert PLAIN.parse is not None
    return replace(PLAIN, server=server, parse=replace(PLAIN.parse, parsers=parsers))


def trials(trace: Trace) -> Trials:
    assert trace.parse is not None
    return trials_of(trace, trace.parse.parsed.calls)


def advised(trace: Trace) -> tuple[str, ...]:
    return advisable_parsers(trace, () if trace.parse is None else trace.parse.parsed.calls)


def test_a_parser_reads_an_output_if_it_returns_its_calls_by_name() -> None:
    others = {"vllm:b": outcome("get_time"), "vllm:c": outcome("get_weather", "get_weather"), "vllm:d": READS_NOT}
    odd = {"vllm:e": outcome(None), "vllm:f": outcome(error="It failed.")}
    trace = tried({"vllm:a": READS, **others, **odd})

    assert trials(trace) == Trials(("a", "b", "c", "d", "e"), ("a",))
    assert advised(trace) == ("a",)


@pytest.mark.parametrize(
    ("server", "asked"),
    [
        (VLLM, ("a", "d")),
        (None, ("a",)),
        (replace(VLLM, version="0.9"), ("a",)),
        (replace(VLLM, kind="sglang"), ("b",)),
        (replace(VLLM, kind="lmdeploy"), ()),
        (replace(VLLM, kind="tgi"), ("a", "d")),
    ],
)
def test_only_parsers_of_the_servers_software_and_release_were_asked(
    server: Server | None, asked: tuple[str, ...]
) -> None:
    trace = tried({"vllm:a+qwen3": READS, "sglang:b": READS, "vllm@0.32.0:d": READS}, server)

    assert trials(trace).asked == asked


def test_without_a_trial_the_table_of_the_format_says_which() -> None:
    assert "hermes" in advised(tried({}))
    assert "hermes" not in advised(tried({"vllm:hermes": READS_NOT}))
    assert "hermes" not in advised(tried({}, replace(VLLM, tool_parser="hermes")))
    assert advised(tried({}, replace(VLLM, parser_families=("kimi_k2",)))) == ()
    assert advised(replace(PLAIN, parse=None)) == ()


def test_the_parser_that_runs_is_not_advised_though_it_reads_the_output_by_trial() -> None:
    assert advised(tried({"vllm:a": READS, "vllm:b": READS}, replace(VLLM, tool_parser="a"))) == ("b",)
