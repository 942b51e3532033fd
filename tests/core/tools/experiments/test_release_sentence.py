"""Which parser of each engine is asked about its releases, and since when the output is said to be read."""

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject, Parse, VllmOutcome
from prompt_debugger.core.pipeline import account_of, parsers_to_ask
from prompt_debugger.core.pipeline.census import read_raw
from prompt_debugger.core.tools.experiments import ReleaseRow, ReleaseTable
from prompt_debugger.core.tools.experiments.release_sentence import releases_sentence

ONE = '<tool_call>\n{"name": "search", "arguments": {"query": "rain"}}\n</tool_call>'
CALL: JSONObject = {"function": {"name": "search", "arguments": '{"query": "rain"}'}}
OTHER: JSONObject = {"function": {"name": "search", "arguments": '{"query": "snow"}'}}


def parsed(raw: str = ONE) -> Parse:
    return read_raw(raw, ReadContext(), message=None)


def row(version: str, *calls: JSONObject, error: str | None = None, control: bool | None = None) -> ReleaseRow:
    return ReleaseRow(version, VllmOutcome(None, None, calls, error), error, control)


def said(*rows: ReleaseRow, raw: str = ONE, engines: tuple[str, ...] = ("vllm",)) -> str:
    return releases_sentence(parsed(raw), [ReleaseTable("vllm:hermes", rows, ())], account_of, engines)


def test_an_engine_without_a_named_parser_is_asked_with_the_family_s() -> None:
    assert parsers_to_ask(parsed(), ["hermes"], ["vllm", "sglang", "mlx-lm"]) == [
        "vllm:hermes", "sglang:hermes", "mlx-lm:json_tools",
    ]  # fmt: skip
    thinking = parsed(f"<think>Rain.</think>{ONE}")
    assert parsers_to_ask(thinking, [], ["lmdeploy"]) == ["lmdeploy:qwen3+default"]


def test_an_engine_without_a_parser_for_the_family_is_left_out_and_named() -> None:
    olmo = parsed("<function_calls>\nsearch(query='rain')\n</function_calls>")

    assert parsers_to_ask(olmo, [], ["vllm", "lmdeploy"]) == ["vllm:olmo3"]
    with pytest.raises(EngineError, match="LMDeploy has no parser for this output, which is of the format olmo3"):
        parsers_to_ask(olmo, [], ["lmdeploy"])
    assert said(row("0.32.0", CALL), engines=("vllm", "lmdeploy")).endswith("LMDeploy has no parser for this format.")


def test_a_release_counts_as_reading_only_if_every_call_comes_back_as_it_was_written() -> None:
    assert (
        said(row("0.1.0", OTHER), row("0.2.0", CALL))
        == "The call is read by vLLM since 0.2.0 (0.1.0 does not read it)."
    )
    assert said(row("0.1.0"), row("0.2.0", OTHER)) == "vLLM reads the call in no release tested (0.1.0 to 0.2.0)."
    two = f"{ONE}\n{ONE.replace('rain', 'snow')}"
    assert said(row("0.1.0", CALL), row("0.2.0", CALL, OTHER), raw=two).startswith("All 2 calls are read by vLLM since")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ((row("0.1.0", CALL), row("0.2.0", CALL)), "in every release tested (0.1.0 to 0.2.0)"),
        ((row("0.1.0", CALL), row("0.2.0")), "up to 0.1.0 (0.2.0 does not read it)"),
        ((row("0.1.0", CALL), row("0.2.0"), row("0.3.0", CALL)), "again since 0.3.0 (0.2.0 does not read it)"),
        ((row("0.1.0", error="vLLM 0.1.0 has no tool parser `x`"), row("0.2.0", CALL)), "(0.1.0 has no such parser)"),
        ((row("0.1.0", control=False), row("0.2.0", CALL)), "in 0.2.0, the only release tested"),
        ((ReleaseRow("0.1.0", None, "not fetched"), row("0.2.0", CALL)), "in 0.2.0, the only release tested"),
    ],
)
def test_since_when_it_is_read(rows: tuple[ReleaseRow, ...], words: str) -> None:
    assert words in said(*rows)


def test_what_shows_nothing_is_not_called_unread() -> None:
    assert said(row("0.1.0", control=False)) == "No release of vLLM could be tested."
    assert said(row("0.1.0"), raw="Just a text.") == ""
