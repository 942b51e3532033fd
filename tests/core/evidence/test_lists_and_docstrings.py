"""Lists of changes, docstrings and source speak of errors that did not come; the same words in a report did."""

from __future__ import annotations

import pytest

from prompt_debugger.core.evidence.no_errors.docstrings import drop_docstrings
from prompt_debugger.core.evidence.no_errors.programs import drop_handlers
from prompt_debugger.core.evidence.no_errors.release_notes import drop_release_notes
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import findings

NOT_REPORTED = (
    "## 1.4.0\n\n- Fixed a `RemoteProtocolError` when a stream ends early. (#129)\n- Added `ConnectTimeout` for slow "
    "proxies.\n- The limit of requests is read from the header (`#429 <https://host/pull/429>`_).\n",
    "* feat: show the rate limit of an account\n* fix(stream): ECONNREFUSED is no longer swallowed\n",
    "## Error Handling\n\nThe messages are detailed:\n\n- **404**: The prompt was not found\n- **401**: Authentication "
    "failed (check the access token)\n",
    'Common issues\n\n1. **"Access denied" errors**: Check the role.\n2. **"Authentication failed" errors**: Check the '
    "token.\n",
    "### Streaming error handling\n\nWhenever an event of type `error` arrives, the session stays open.\n",
    "Features\n\n- Retries with a pause\n- Comprehensive error handling\n- Custom headers of a request\n",
    "Return the rate limits of an organization.\n\nArgs:\n    group: Requests are refused with a RateLimitError if it "
    "is empty.\n\nRaises:\n    TimeoutError: If no answer came in time.\n",
    "Decode the answer of a model.\n\ntokens (`list[int]`, *optional*):\n    Must not be empty; `sequence_length` is "
    "the context length.\n",
    "Skip ``batch_model`` if its provider has a rate limit, and warn once about the tokens per minute.\n",
    "def check(data):\n    if not model:\n        raise HTTPException(\n            status_code=400,\n            "
    'detail={"error": "model is required"},\n        )\n    if not tools:\n        raise HTTPException(\n            '
    'detail={"error": "tools is required"},\n        )\n    return model\n',
    "class Tool(Base):\n    name: str\n\n    error: Optional[str] = None\n    tools: list[str]\n",
)
REPORTED = (
    "- Fixed the key\n- Added a proxy\n\nopenai.RateLimitError: Error code: 429 - rate limit reached for requests\n",
    "1. Add a model\n2. Fix the address\n3. Got `Error code: 429 - rate limit reached for requests` again\n",
    "- **401**: Authentication failed (check the access token)\n",
    "Args:\n    model: gpt-4o\nError: 429 rate limit reached for requests per minute\n",
)


@pytest.mark.parametrize("text", NOT_REPORTED)
async def test_what_only_speaks_of_errors_reports_none(text: str) -> None:
    assert await findings(text) == []


@pytest.mark.parametrize("text", REPORTED)
async def test_an_error_beside_a_list_or_a_docstring_is_reported(text: str) -> None:
    assert [one[:5] for one in await findings(text)] == ["PD100"]


@pytest.mark.parametrize(
    "part", ["- Fix a (#1)\n", "- a\n  b\n", "- **404**: a\n", "Args:\n  a: b\n", "a (`b`):\n  c\n", "raise E(\n  a\n"]
)
def test_time_grows_linearly_with_long_lists(part: str) -> None:
    assert grows_linearly(lambda size: drop_release_notes(part * size), first=200, tries=2, doublings=5)
    assert grows_linearly(lambda size: drop_docstrings(part * size), first=200, tries=2, doublings=5)
    assert grows_linearly(lambda size: drop_handlers(part * size), first=200, tries=2, doublings=5)


LISTED = (
    "Error Codes\nCODE\tDESCRIPTION\n400 - Invalid Format\tCause: The body is not valid.\nSolution: Change the body.\n"
    "401 - Authentication Fails\tCause: The key is wrong.\n429 - Rate Limit Reached\tCause: Too many requests.\n"
    "503 - Server Overloaded\tCause: High traffic.\n",
    "litellm_settings:\n  num_retries: 3\n  request_timeout: 10\n  AuthenticationErrorRetries: 0\n"
    '  context_window_fallbacks: [{"a": ["b"]}]\n  RateLimitErrorRetries: 3\n',
    "policy:\n  on_rate_limit_error: wait 30\n  context_length_exceeded: truncate\n  timeout: 60\n",
    "Rules for the prompt:\n1. If the tool call failed because a required parameter is missing, add a line on it.\n"
    "2. When the context length is exceeded, shorten the history.\n3. Never repeat a call that failed.\n",
)
NAMES = '__all__ = [\n    "Box",\n    "BoxTimeoutError",\n    "BoxConnectionError",\n    "BoxRateLimitError",\n]\n'
LINES = (
    NAMES,
    'log.error(\n    "Failed to connect to the model at %s (%s): %s",\n    host, port, error)\n',
    "        if not key:\n            raise HTTPException(status_code=403, detail=missing_key)\n",
)
NOT_LISTED = (
    "The agent stops with `openai.APITimeoutError` after ten minutes.\n",
    "429 - Rate limit reached for requests per minute\n",
    "model: m\nretries: 3\nerror: 429 rate limit reached for requests\nstatus: 429\n",
)


@pytest.mark.parametrize("text", [*LISTED, *LINES])
async def test_lists_of_statuses_settings_and_conditions_report_none(text: str) -> None:
    assert await findings(text) == []


@pytest.mark.parametrize("text", NOT_LISTED)
async def test_one_status_and_a_reported_setting_are_errors(text: str) -> None:
    assert [one[:5] for one in await findings(text)] == ["PD100"]
