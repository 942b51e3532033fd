"""What pages advise, assume and judge about errors reports none; the same words in a report, or in a log, do."""

from __future__ import annotations

import pytest

from prompt_debugger.core.evidence.no_errors.advice import drop_advice_on_errors, is_section_on_errors
from prompt_debugger.core.evidence.no_errors.settings import is_settings
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import findings

PAGES = (
    "Common Issues\n\n1. **Invalid API key**: Use the public key.\n2. **CORS errors**: Check the domain.\n",
    'Hooks\n\n- **"Connection failed"**: Verify that `KEY` is set: `echo $KEY`\n- **No tools**: Restart it.\n',
    "Streams\n\n1. **Turns**: Use events of the session\n2. **Error Recovery**: Implement robust error handling for "
    "failures of the stream\n",
    "Implementation:\n- Proper error handling with messages that help the model\n- Test rate limiting and timeouts\n",
    "Ticket: AB-1\nTest Scenarios:\n- Happy Path: [description]\n- Error Case: [description]\n",
    "Set-up\n\nIf your model does not support tuning, simply return `nil` from `Parameters()`.\n",
    "Models that are not supported return a 400 (`BadRequestError`: `role 'system' is not supported on this model`); "
    "catch that error and put the instruction in the user's turn.\n",
    "\u82e5\u8bf7\u6c42 Body \u8d85\u8fc7\u9650\u5236\uff0c\u5c06\u8fd4\u56de `413 Payload Too Large`\n",
    "cat > rules.yaml << 'EOF'\nrules:\n  no-invalid-schema-examples: error\n  operation-4xx-response: warn\nEOF\n",
    '```json\n{"winner": "A", "reasoning": "A has all required fields. B is missing the date."}\n```\n',
    "`deep/r1`\n\n- Deep R1 (local only)\n- Max Tokens: 131,072\n- Max Output: 131,072\n- Reserved Output: 20k\n",
    '\tlog.Printf("Error marshalling response: %v\\n", err)\n\thttp.Error(w, "Error: "+err.Error(), 500)\n'
    "\treturn\n}\n\nw.Write(bytes)\n",
    'body_schema:\n  type: object\n  required:\n    - flag\nrejected_code: 403\nrejected_msg: "Request rejected"\n',
    'Styles\n\n**Example**\n- Replace: "Invalid API key"\n- With: "Your key looks wrong."\n',
)
REPORTS = (
    "Error: invalid API key provided\n",
    "**Error**\nRateLimitError: Rate limit reached for model m, try again in 2s\n",
    "## Error\nThe server says `400: messages[2].content must not be empty`.\n",
    "Troubleshooting\n\nI checked my key and still get `401 Unauthorized: invalid API key` of the chat API.\n",
    "Error code: 429 - {'error': {'message': 'Request was denied due to rate limiting', 'type': 'rate_limit'}}\n",
    "ERROR: During handling of the request: model not found: m\n",
)


@pytest.mark.parametrize("page", PAGES)
async def test_advice_conditions_and_judgements_report_no_error(page: str) -> None:
    assert await findings(page) == []


@pytest.mark.parametrize("report", REPORTS)
async def test_an_error_that_came_is_reported(report: str) -> None:
    assert [one[:5] for one in await findings(report)] == ["PD100"]


async def test_a_field_that_is_null_is_no_error_in_a_longer_line() -> None:
    line = '{"response": {"id": "r", "error": null, "max_output_tokens": 128000, "tools": [{"search_context_size": "m'

    assert not any(one.startswith("PD100") for one in await findings(line))


async def test_logins_that_a_system_refuses_say_nothing_of_a_key() -> None:
    log = (
        "Jun 30 12:48:41 combo sshd(pam_unix)[18557]: authentication failure; logname= uid=0\nJun 30 12:48:42 combo "
        "sshd[18557]: error: Received disconnect from 10.0.0.1: 14: No more authentication methods.\n"
    )

    assert await findings(log) == []


def test_a_persons_section_is_no_page() -> None:
    assert is_section_on_errors("Error Handling\n\n- It returns 404.\n")
    assert not is_section_on_errors("Error Handling\n\nMy client shows 404.\n")


def test_settings_may_have_lists_and_remarks() -> None:
    assert is_settings("```yaml\nrule: a\nlimits:\n  - b\nper_minute: 10  # 10 requests per minute\n```")
    assert not is_settings("rule: a\nlimits:\n  - b\nerror: too many requests per minute here\n")


@pytest.mark.parametrize(
    "piece", ['"notes": "', "- **a", "If your a", "<< 'EOF'\n", "\u82e5", "catch ", "error handling "]
)
def test_reading_takes_linear_time(piece: str) -> None:
    assert grows_linearly(lambda count: drop_advice_on_errors(piece * count), first=2_000)


def test_a_line_of_spaces_among_settings_is_read_in_linear_time():
    assert grows_linearly(lambda size: is_settings("a: 1\nb: 2\nc:" + " " * size), first=2_000)
