"""Pages of documentation speak of errors that did not come; the same words in a report did."""

from __future__ import annotations

import time

import pytest

from prompt_debugger.core.evidence.no_errors.documentation import drop_documentation, has_front_matter, is_heading
from tests.core.evidence.pasted import findings

PAGES = (
    '---\ntitle: "Summaries"\n---\nThe summary model must be installed. If `summary_model` is empty, it fails with '
    "an error and the request is refused.\n",
    '+++\ntitle = "Failures"\n+++\nFor failures of a backend (a model that does not start, `could not load model`, '
    "`service not ready`), see the next page.\n",
    "Failures\n\n- Do not use `String` as an error type.\n- Prefer `?` and meaningful error conversions for the model "
    "requests.\n- Use `assert` for invariants, not `RuntimeError('Internal error')`.\n",
    "Troubleshooting\n\n**Provider is not listed**\nCheck that you are signed in.\n\n**Authentication errors "
    '("Access Denied" or "Invalid API Key")**  \nVerify your API key.\n\n**Model access errors or "model not '
    'found"**\nYour region may not have this model.\n',
    "Common classes of errors live in `lib.errors`:\n\n```\nLibError\n\u251c\u2500\u2500 APIError\n\u2502   "
    "\u251c\u2500\u2500 RateLimitError\n\u2502   \u2514\u2500\u2500 ServerError\n```\n",
    "How streams work\n\nIf there are too many requests at the same time, the server returns an HTTP Error with an "
    "`overloaded` error type.\n",
    'Where you start\n\n```python\n{"configurable": {"thread_id": "1"}}  # valid\n'
    '{"configurable": {"thread_id": "1", "checkpoint_id": "2"}}  # valid, too\n```\n',
)
REPORTS = (
    "**Error**\nRateLimitError: Rate limit reached for model m, try again in 2s\n",
    "Error: 503 the model is overloaded, please try again later\n",
    "---\nError: could not load model: no such file\n---\n",
    "could not load model: rpc error: code = Unknown desc = model path /models/a.gguf not found",
)


@pytest.mark.parametrize("page", PAGES)
async def test_a_page_that_speaks_of_errors_reports_none(page: str) -> None:
    assert await findings(page) == []


@pytest.mark.parametrize("report", REPORTS)
async def test_an_error_that_came_is_reported(report: str) -> None:
    assert [one[:5] for one in await findings(report)] == ["PD100"]


async def test_a_model_that_does_not_load_is_no_unknown_name() -> None:
    (found,) = await findings(REPORTS[-1])

    assert "could not load model: rpc error" in found
    assert "does not serve" not in found


async def test_an_option_that_ollama_leaves_out_is_no_refused_request() -> None:
    line = 'time=2026-03-02T10:11:12.345Z level={} source=types.go:654 msg="{}" option=tfs_z'

    assert await findings(line.format("WARN", "invalid option provided")) == []
    assert await findings(line.format("ERROR", "invalid model name: error=unknown model")) != []


@pytest.mark.parametrize("piece", ["- Use `a` ", "**a**\n", "\u251c\u2500 ", "If there is ", "AError ", "a: b\n", "# "])
def test_a_flood_takes_no_time(piece: str) -> None:
    flood = (piece * (200_000 // len(piece)))[:200_000]
    start = time.perf_counter()

    drop_documentation(flood)
    has_front_matter("---\n" + flood)
    is_heading(flood)

    assert time.perf_counter() - start < 5


def test_a_section_on_a_status_is_no_report_of_it() -> None:
    page = "### 504 Gateway Time-out\n\nIf the model needs longer than the proxy waits, raise its limit.\n"

    assert "504" not in drop_documentation(page)


@pytest.mark.parametrize(
    "text",
    [
        "# 504 Gateway Time-out\n\nnginx/1.27.0 in front of the model\n",
        "## 504 Gateway Time-out\n\nThis is what I get whenever the prompt is long.\n",
        "## 504 Gateway Time-out\n",
    ],
)
def test_a_page_of_a_proxy_and_a_person_s_heading_are_kept(text: str) -> None:
    assert drop_documentation(text) == text
