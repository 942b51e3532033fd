"""A raw completion that is of another run than the answer: nothing is called lost, changed or invented by it.

Servers without ids are asked for a raw completion of the prompt. Some put that through the chat template once more, or
sample otherwise; where they count no tokens, the texts alone show it.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import JSON, JSONObject, Request, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from tests.core.complete.faulty_server import answer, faulty_server, stream
from tests.servers.running_servers import LAB_MODEL
from tests.servers.scenarios import body_of
from tests.servers.wire_shapes import TRUTHS

CALL = TRUTHS["a call"].raw.removesuffix("<|im_end|>")
WORDS: JSONObject = {"role": "assistant", "content": "It is sunny in Rome, and it stays so."}
NOTHING: JSONObject = {"role": "assistant", "content": ""}
RETURNED: JSONObject = {**NOTHING, "tool_calls": [*TRUTHS["a call"].calls]}
COUNTS: JSON = {"prompt_tokens": 122, "completion_tokens": 21, "total_tokens": 143}


def run(message: JSONObject, written: str, usage: JSON = None) -> Trace:
    """Ask for the weather; `written` is what the raw completion says."""
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    chat: JSON = {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}
    completion: JSON = {"choices": [{"index": 0, "text": written, "finish_reason": "stop"}], "usage": usage}
    events = f"data: {json.dumps(completion)}\n\ndata: [DONE]\n\n".encode()

    async def go() -> Trace:
        behaviours = {
            "/v1/models": answer(200, {"data": [{"id": "m", "owned_by": "someone"}]}),
            "/v1/chat/completions": answer(200, chat),
            "/v1/chat/completions#stream": answer(400, {"error": {"message": "no streams here"}}),
            "/v1/completions": answer(200, completion),
            "/v1/completions#stream": stream(events),
            "*": answer(404),
        }
        async with faulty_server(behaviours) as server:
            target = Target(base_url=server.base_url, tokenizer=str(LAB_MODEL))
            return await pipeline.run(
                Request(body=body_of("healthy", model="m"), text=""), target, LabPool(max_running=0)
            )

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("message", "written", "usage", "shown"),
    [
        (WORDS, CALL, None, "It is sunny in Rome"),
        (RETURNED, CALL.replace("Paris", "Oslo"), COUNTS, "Paris"),
    ],
    ids=["words beside a call", "a call of another city"],
)
def test_what_another_run_wrote_was_not_lost_or_changed(
    message: JSONObject, written: str, usage: JSON, shown: str
) -> None:
    trace = run(message, written, usage)

    verdict = trace.verdict
    assert verdict is not None
    assert (verdict.dropped_calls, verdict.altered_calls, verdict.invented_calls) == (0, 0, 0)
    assert verdict.stage is None
    assert f"the answer contains '{shown}" in verdict.sentence


@pytest.mark.parametrize(
    ("message", "written", "dropped", "altered"),
    [
        (NOTHING, CALL, 1, 0),
        ({**NOTHING, "content": "I look at the weather."}, f"I look at the weather.{CALL}", 1, 0),
        (RETURNED, CALL, 0, 0),
        ({**NOTHING, "tool_calls": RETURNED["tool_calls"]}, CALL.replace('"Paris"', '"Paris, France"'), 0, 1),
    ],
    ids=["nothing came", "words came", "all came", "half of a text came"],
)
def test_near_miss_what_a_parser_took_from_the_same_output(
    message: JSONObject, written: str, dropped: int, altered: int
) -> None:
    verdict = run(message, written).verdict

    assert verdict is not None
    assert (verdict.dropped_calls, verdict.altered_calls) == (dropped, altered)
