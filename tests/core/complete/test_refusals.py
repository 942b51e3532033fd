"""Refusals of live runs that quote the output, and those that are about the account, the address or a proxy."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Basis, Completeness, Completion, Refusal
from prompt_debugger.core.complete.answer_evidence import is_passing
from prompt_debugger.core.complete.ladder import Gathered, refusal_of, take_quoted_output

OLLAMA = Refusal(500, "error parsing tool call: raw='{\"a\": 1}]', err=invalid character ']'")


def test_the_quoted_output_of_a_refusal_is_the_raw_output() -> None:
    found = take_quoted_output(Gathered(sent={}, refusal=OLLAMA))

    assert found.raw is not None
    assert (found.raw.text, found.raw.completeness, found.evidence) == (
        '{"a": 1}]',
        Completeness.UNKNOWN,
        Basis.SAME_RUN,
    )
    assert "arguments of one call" in found.raw.completeness_reason


@pytest.mark.parametrize(
    "gathered",
    [
        Gathered(sent={}, refusal=OLLAMA, raw=Completion("hi", None, None)),
        Gathered(sent={}, refusal=Refusal(400, "no")),
        Gathered(sent={}, refusal=Refusal(400, "Invalid JSON: EOF [type=json_invalid, input_value='a...b', x")),
        Gathered(sent={}),
    ],
)
def test_what_is_better_or_not_quoted_stays(gathered: Gathered) -> None:
    assert take_quoted_output(gathered) == gathered


@pytest.mark.parametrize(
    ("error", "is_refusal"),
    [
        (BackendError("x", status=404, server_message="No endpoints found that support tool use. See the docs."), True),
        (BackendError("x", status=404, server_message="Not Found"), False),
        (BackendError("x", status=400, kind="page"), False),
        (
            BackendError("x", status=400, kind="tls", server_message="Client sent an HTTP request to an HTTPS server."),
            False,
        ),
        (
            BackendError(
                "x", status=400, code="content_filter", server_message="The response was filtered due to the prompt"
            ),
            True,
        ),
        (BackendError("x", status=503, server_message="Loading model"), False),
        (BackendError("x", status=429, server_message="slow down"), False),
    ],
)
def test_only_what_is_reported_of_the_request_is_a_refusal(error: BackendError, *, is_refusal: bool) -> None:
    assert (refusal_of(error) is not None) == is_refusal


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (BackendError("x", status=429, server_message="slow down"), True),
        (
            BackendError("x", status=429, server_message="You exceeded your current quota, please check your plan."),
            False,
        ),
        (BackendError("x", status=429, code="insufficient_quota"), False),
    ],
)
def test_a_quota_does_not_pass(error: BackendError, *, passes: bool) -> None:
    assert is_passing(error) == passes
