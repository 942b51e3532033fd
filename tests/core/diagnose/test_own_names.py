"""A server software's own names for parsers are not taken for vLLM's, in what is found and in what is advised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import Server, Trace
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.diagnose.own_names import has_own_names, is_made_for
from tests.core.diagnose.cases import build_trace

VLLM = Server("", kind="vllm", tool_parser="hermes")
SGLANG = Server("", kind="sglang", tool_parser="qwen25", parser_families=("hermes",))
SPECIAL = ["<|im_end|>", "<tool_call>", "</tool_call>"]
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'


def fixes_of(server: Server, content: str) -> dict[str, str]:
    """Return the fixes where a call in Hermes' notation did not come back."""
    trace = build_trace(
        {"tools": ["get_weather"], "raw": f"{CALL}<|im_end|>", "message": {"content": content}, "special": SPECIAL}
    )
    seen: Trace = replace(trace, server=server)
    return {finding.code: finding.fix or "" for finding in diagnose_trace(seen)}


@pytest.mark.parametrize(
    ("server", "family", "expected"),
    [
        (VLLM, "hermes", True),
        (VLLM, "kimi_k2", False),
        (SGLANG, "hermes", True),
        (SGLANG, "kimi_k2", False),
        (replace(SGLANG, parser_families=()), "hermes", None),
        (replace(SGLANG, tool_parser=None, parser_families=()), "hermes", None),
        (replace(VLLM, tool_parser=None), "hermes", None),
        (None, "hermes", None),
    ],
)
def test_what_a_parser_is_made_for_goes_by_the_names_of_its_software(
    server: Server | None, family: str, *, expected: bool | None
) -> None:
    assert is_made_for(server, family) is expected


def test_only_a_server_with_names_of_its_own_has_them() -> None:
    assert [has_own_names(one) for one in (VLLM, None, SGLANG, replace(SGLANG, parser_families=()))] == [
        False, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "content", ["", CALL, "<tool_call>", CALL.replace("<tool_call>", "").replace("</tool_call>", "")]
)
@pytest.mark.parametrize("families", [("hermes",), ("kimi_k2",), ()])
@pytest.mark.parametrize("parser", ["qwen25", None])
def test_flags_and_names_of_vllm_are_not_for_another_server(
    content: str, families: tuple[str, ...], parser: str | None
) -> None:
    fixes = fixes_of(replace(SGLANG, tool_parser=parser, parser_families=families), content)

    assert fixes
    assert not [fix for fix in fixes.values() if "--enable-auto-tool-choice" in fix or "--tool-call-parser" in fix]


def test_the_right_parser_under_its_own_name_is_not_called_wrong() -> None:
    assert "PD405" not in fixes_of(SGLANG, "")
    assert "PD405" in fixes_of(replace(SGLANG, parser_families=("kimi_k2",)), "")
    assert "--tool-call-parser hermes" in fixes_of(replace(VLLM, tool_parser="kimi_k2"), "")["PD405"]
