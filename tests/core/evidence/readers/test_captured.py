"""What `capture` wrote of a stream that broke off says so; a client that left is no fault of the server."""

import json

import pytest

from prompt_debugger.core.base.types import Api
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of
from prompt_debugger.core.tools.capture.proxy import LEFT
from tests.core.tools.capture.test_cut_streams import STREAMS
from tests.core.tools.capture.test_record import record

BROKE = "POST http://x/v1: the answer broke off (peer closed connection)"


def captured(api, count, error):
    path, body, events = STREAMS[api]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events[:count])
    sent = body if api is Api.GEMINI else {**body, "stream": True}
    return record(sent, text.encode(), path=path, content_type="text/event-stream", error=error)[0]


def found(text):
    return [one for one in diagnose_trace(trace_of(read_evidence(text))) if one.severity == "error"]


@pytest.mark.parametrize("api", STREAMS)
@pytest.mark.parametrize("count", [0, 2])
def test_a_stream_that_broke_off_is_said_to_have_done_so(api, count):
    (finding,) = found(captured(api, count, BROKE))

    assert finding.code == "PD310"
    assert finding.detail == BROKE


@pytest.mark.parametrize("api", STREAMS)
def test_a_client_that_left_is_no_fault(api):
    text = captured(api, 2, LEFT)

    assert found(text) == []
    assert read_evidence(text).notes == (
        "The client disconnected before the end of the answer, which is therefore not judged.",
    )


@pytest.mark.parametrize("api", STREAMS)
def test_a_whole_stream_is_read_as_ever(api):
    text = captured(api, len(STREAMS[api][2]), None)

    assert "broke off" not in read_evidence(text).words
    assert "PD310" not in [one.code for one in found(text)]


def test_calls_of_gemini_need_no_ids():
    text = captured(Api.GEMINI, len(STREAMS[Api.GEMINI][2]) - 1, BROKE)

    assert "PD507" not in [one.code for one in diagnose_trace(trace_of(read_evidence(text)))]


@pytest.mark.parametrize("facts", [None, 3, {}, {"streamed": True}, {"streamed": True, "error": 3}])
def test_other_objects_with_such_a_name_are_not_taken_for_it(facts):
    text = json.dumps({"captured": facts, "request": {"messages": [{"role": "user", "content": "hi"}]}})

    assert "captured" not in read_evidence(text).words
