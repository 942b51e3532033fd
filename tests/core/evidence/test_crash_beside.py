"""A crash of a server that a report tells beside its request."""

import pytest

from prompt_debugger.core.evidence import Part, read_evidence, show_evidence

REQUEST = """```bash
curl http://localhost:30000/v1/chat/completions -d '{
  "model": "m", "messages": [{"role": "user", "content": "Hi."}], "response_format": {"type": "json_object"}
}'
```
"""
RAISED = "TypeError: '<' not supported between instances of 'int' and 'NoneType'"
CRASH = f"Received sigquit from a child process. It usually means the child failed.\n{RAISED}"


async def test_a_crash_beside_its_request_is_the_servers():
    trace = await show_evidence(read_evidence(f"### What happens\n\n{CRASH}\n\n### Reproduction\n\n{REQUEST}"))

    assert trace.verdict.stage.value == "complete"
    assert "server's own code failed on a value that was not set" in trace.verdict.sentence
    assert trace.request.body["model"] == "m"


async def test_the_frame_that_raised_it_is_named():
    frame = '  File "/opt/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 7, in step\n    a < b'
    trace = await show_evidence(read_evidence(f"It crashed.\n\n{frame}\n{CRASH}\n\n{REQUEST}"))

    assert "scheduler.py" in trace.findings[0].detail


@pytest.mark.parametrize(
    "shown",
    [
        RAISED,  # of any program
        "The server crashed.",  # and nothing says why
        f"My script prints this:\n{RAISED}",
        f"The server no longer crashed after the update.\n{RAISED}",
    ],
)
def test_what_does_not_show_a_crash_of_the_server_is_none(shown):
    assert Part.ERROR not in read_evidence(f"### What happens\n\n{shown}\n\n{REQUEST}").holds
