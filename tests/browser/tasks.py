"""Tasks of docs/views.md, no matter who does them and how: what they begin with, and what must be there at the end."""

from __future__ import annotations

import shlex

from playwright.sync_api import expect

from prompt_debugger.core.pipeline import find_example
from tests.browser.page import DebuggerPage

KEY = "sk-of-my-vllm-0123456789"
REQUEST = find_example("dropped-call").request_text
RAW = 'I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
LOG = (
    "ERROR 11-23 10:00:00 [client.py:100] openai.BadRequestError: Error code: 400 - {'error': {'message': "
    "'\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "
    "'type': 'BadRequestError', 'code': 400}}"
)


def curl(endpoint: str, key: str, body: str = REQUEST) -> str:
    """Return a request as a shell sends it."""
    return f"curl {endpoint}/chat/completions -H 'Authorization: Bearer {key}' -d {shlex.quote(body)}"


def expect_fix_of_log(page: DebuggerPage) -> None:
    """Hold that the finding of the log's line is shown, with what to do."""
    expect(page.page.locator(".pd-finding.pd-shown")).to_contain_text("--enable-auto-tool-choice")


def expect_parser_of_raw(page: DebuggerPage) -> None:
    """Hold that every parser was asked, and who reads the output."""
    expect(page.page.locator("#pd-parser-matrix .pd-bench-view")).to_have_attribute("data-state", "done")
    expect(page.page.get_by_role("region", name="Other parsers")).to_contain_text("vllm:hermes")


def expect_two_servers(page: DebuggerPage, endpoint: str) -> None:
    """Hold that two runs stand side by side, and what differs is said."""
    expect(page.page.locator("#pd-tab-compare")).to_have_attribute("aria-selected", "true")
    expect(page.page.locator(".pd-comparison-side .pd-badge")).to_have_text(["DROPPED", "DROPPED"])
    expect(page.page.locator(".pd-comparison-side")).to_contain_text(["lab", endpoint.split("/")[2]])
    expect(page.page.locator(".pd-comparison-head .pd-sentence")).not_to_be_empty()


def expect_proof_told(page: DebuggerPage) -> None:
    """Hold that the proof of the fix is in what Share makes, and the run that is shown is the one that failed."""
    verdict = page.page.locator("#pd-verdict")
    expect(verdict.locator(".pd-actions")).to_contain_text("In the report")
    expect(verdict.locator(".pd-actions [role=status]")).to_have_text("Share has it.")
    assert page.badge() == "DROPPED"


def assert_proof_in(report: str) -> None:
    """Hold that a report says what was changed and what came of it."""
    assert "PD401 is gone and there is no new error; 1 of 1 call returned." in report
    assert '"search" → "functions.search:0"' in report
