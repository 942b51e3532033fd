"""A command whose body is no JSON, beside the error of the server that could not read it."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, read_evidence

BODY = '{"model": "m", "messages": [{"role": "user", "content": "Hi."}}]}'
COMMAND = f"curl http://localhost:8080/v1/chat/completions -d '{BODY}'"
COLUMN = BODY.index("}}") + 2


def report(column: int, command: str = COMMAND) -> str:
    error = f"[json.exception.parse_error.101] parse error at line 1, column {column}: syntax error while parsing array"
    return f"It fails.\n\n```bash\n{command}\n```\n\nIt answers 500: `{error} - unexpected '}}'`\n"


def test_an_error_at_the_place_where_the_body_breaks_is_of_the_request():
    with pytest.raises(RequestError, match="is missing here") as caught:
        read_evidence(report(COLUMN))

    assert "same place of the body" in caught.value.hint


def test_an_error_at_another_place_is_about_something_else():
    assert read_evidence(report(COLUMN + 9)).form is Form.ERROR


def test_an_error_beside_a_whole_body_is_about_something_else():
    assert read_evidence(report(COLUMN, COMMAND.replace("}}]", "}]"))).error is not None
