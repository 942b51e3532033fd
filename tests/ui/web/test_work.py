"""What visitors sent is worked on in the sandbox: what never ends there is ended, and said."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import RequestError, SandboxError
from prompt_debugger.core.base.types import Request
from prompt_debugger.core.report import write_bundle
from prompt_debugger.core.request import read_request
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.limits import PUBLIC_LIMITS, LimitError, Limits
from prompt_debugger.ui.web.work import (
    as_it_ended,
    check_pasted,
    compare_packed,
    marked_payloads,
    read_packed,
    read_pasted,
    reopen,
    share_as,
)
from tests.ui.present.traces import dropped_call_trace
from tests.ui.web.test_sharing import pack

TEXT = '{"messages": [{"role": "user", "content": "hi"}], "max_tokens": 5}'


def hasty(job, cpu_s=0.2):
    """Return the same job with next to no time, so that any honest work is too much."""
    return replace(job, limits=replace(job.limits, cpu_s=cpu_s))


def test_a_pasted_request_is_read_in_the_sandbox():
    request = sandbox_of().call(read_pasted, TEXT, Limits(), hides_keys=False)

    assert request.body == json.loads(TEXT)
    assert request.text == TEXT


@pytest.mark.parametrize(
    ("text", "kind"),
    [("{", RequestError), (TEXT.replace("5}", "999999}"), RequestError), (" " * 300_000 + TEXT, LimitError)],
)
def test_what_a_page_refuses_arrives_as_the_same_error(text, kind):
    with pytest.raises(kind) as raised:
        sandbox_of().call(read_pasted, text, PUBLIC_LIMITS, hides_keys=True)

    assert type(raised.value) is kind


def test_keys_are_masked_where_visitors_are():
    text = TEXT.replace("hi", "sk-" + "a" * 30)

    request = sandbox_of().call(read_pasted, text, PUBLIC_LIMITS, hides_keys=True)

    assert "a" * 30 not in request.text
    assert "a" * 30 not in json.dumps(request.body)


@pytest.mark.parametrize("form", ["html", "picture", "markdown", "bundle"])
def test_a_form_of_a_run_is_the_same_in_the_sandbox(form):
    trace = dropped_call_trace()

    assert sandbox_of().call(share_as, form, trace) == share_as(form, trace)


def test_a_bundle_is_opened_in_the_sandbox():
    trace = dropped_call_trace()

    opened = sandbox_of().call(reopen, pack(write_bundle(trace, "0.1.0")), 1_000_000)

    assert opened.trace == trace
    assert opened.text == trace.request.text
    assert "version 0.1.0" in opened.sentence
    assert unpack_payload(opened.payloads["verdict"] or "")


@pytest.mark.parametrize(
    ("job", "args"),
    [
        (check_pasted, ('{"a":[' + '{"b": 1},' * 200_000,)),
        (share_as, ("html", replace(dropped_call_trace(), notes=("password: x " * 400_000,)))),
        (read_packed, (pack('{"bundle": {"version": 1}, "a": [' + "0," * 5_000_000 + "0]}"), 90_000_000)),
    ],
    ids=["a pasted text", "a run to share", "a bundle"],
)
def test_work_that_takes_too_long_is_ended_and_the_next_is_done(job, args):
    keywords = {"is_public": False} if job is check_pasted else {}
    with pytest.raises(SandboxError) as raised:
        sandbox_of().call(hasty(job, 0.001), *args, **keywords)

    assert raised.value.limit == "cpu"
    assert sandbox_of().call(check_pasted, TEXT, is_public=False) == check_pasted(TEXT, is_public=False)


def test_every_job_of_the_page_has_a_limit_that_a_visitor_can_wait_for():
    assert max(one.limits.cpu_s for one in (check_pasted, read_pasted, share_as, read_packed, compare_packed)) <= 20


STOPPED = {"badge": "STOPPED", "sentence": "Stopped before the end.", "state": "error", "tone": "x"}


@pytest.mark.parametrize(
    ("has_verdict", "ended", "badge"),
    [
        (False, STOPPED, "STOPPED"),
        (True, STOPPED, "DROPPED"),
        (False, None, "NO VERDICT"),
        (False, "STOPPED", "NO VERDICT"),
        (False, {}, "NO VERDICT"),
    ],
)
def test_a_run_that_comes_back_without_verdict_says_how_it_ended(has_verdict, ended, badge):
    trace = dropped_call_trace()
    trace = trace if has_verdict else replace(trace, verdict=None)
    opened = sandbox_of().call(reopen, pack(write_bundle(trace, "0.1.0")), 1_000_000)

    verdict = unpack_payload(as_it_ended(opened.payloads, opened.trace, ended)["verdict"])[0]

    assert (verdict["badge"], verdict["state"]) == (badge, "done")
    assert (verdict["sentence"] == STOPPED["sentence"]) is (badge == "STOPPED")
    assert verdict["tone"] != "x"


@pytest.mark.parametrize(
    ("body", "summary"), [({}, ""), ({"messages": [{"role": "user", "content": "x"}]}, "1 message")]
)
def test_of_a_run_without_a_request_no_messages_are_counted(body, summary):
    trace = replace(dropped_call_trace(), request=read_pasted_request(body))

    payloads = marked_payloads(trace, "kept", "Kept.")

    assert unpack_payload(payloads["notices"])[0]["summary"] == summary


def read_pasted_request(body):
    return read_request(json.dumps(body)) if body else Request(body={}, text="")
