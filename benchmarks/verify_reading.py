"""What `verify` spends on reading one answer, in processor time of all its processes.

    python -m benchmarks.verify_reading [--rows N] [--agent]

The journal holds answers as vLLM gives them, with the ids of prompt and output; nothing is left to ask. Beside it, in
the same run: JSON in and out of what the journal keeps of a row. Seconds differ between machines; the ratio holds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.answers import read_chat_text
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.render import load_template, load_tokenizer, render_local
from prompt_debugger.core.tools.lab import packaged_model_dir
from prompt_debugger.core.tools.verify import Journal, Plan, Progress, verify
from prompt_debugger.core.tools.verify.answer import Answer, answer_to_json
from prompt_debugger.core.tools.verify.dataset import Preparation, Row, Shard, read_rows

_WARM = 100  # rows
_TICKS = os.sysconf("SC_CLK_TCK")
_RAW = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
)
_PURPOSE = "Do something useful with an order of the shop, and ask before you cancel. "
_TOOL: JSONObject = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Say what the weather is like.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
            "required": ["city"],
        },
    },
}


class Cost(NamedTuple):
    """What reading a row took, in milliseconds of processor time.

    Attributes:
        own: Of this process.
        sandboxes: Of all others.
        codec: JSON in and out of what the journal keeps.
        wall: On the clock.
    """

    own: float
    sandboxes: float
    codec: float
    wall: float


def body(index: int) -> JSONObject:
    """Return a short request with one tool, no two alike."""
    messages: list[JSONObject] = [
        {"role": "system", "content": "You are a helpful assistant who looks things up with tools."},
        {"role": "user", "content": f"What is the weather like in Paris, question {index}?"},
    ]
    return {"model": "m", "messages": [*messages], "tools": [_TOOL], "temperature": 0.6, "max_tokens": 128}


def agent_body(index: int) -> JSONObject:
    """Return a request as agents send them: long instructions, 20 tools, a turn with a call; no two alike."""
    known = as_object(_TOOL["function"])
    words: JSONObject = {
        f"field_{n}": {"type": "string", "description": f"What it is about, in words, {n}."} for n in range(6)
    }
    parameters = as_object(known["parameters"])
    parameters = {**parameters, "properties": {**as_object(parameters["properties"]), **words}}
    names = ("get_weather", *(f"tool_{number}" for number in range(1, 20)))
    tools: list[JSON] = [
        {"type": "function", "function": {"name": name, "description": _PURPOSE * 4, "parameters": parameters}}
        for name in names
    ]
    call: JSONObject = {"name": "tool_3", "arguments": json.dumps({"city": f"Paris {index}"})}
    messages: list[JSONObject] = [
        {"role": "system", "content": _PURPOSE * 100},
        {"role": "user", "content": f"Question {index}, about Paris."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a0", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "a0", "name": "tool_3", "content": json.dumps({"order": index})},
        {"role": "user", "content": "What is the weather like there?"},
    ]
    return {"model": "m", "messages": [*messages], "tools": tools, "temperature": 0.6, "max_tokens": 128}


class _Models(BaseHTTPRequestHandler):
    """A server that has a model and is asked nothing else."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer as vLLM does, as far as a look at it needs."""
        said = {"/v1/models": {"data": [{"id": "m", "owned_by": "vllm"}]}, "/version": {"version": "0.32.0"}}
        data = json.dumps(said.get(self.path, {})).encode()
        self.send_response(200 if self.path in said else 404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        """Know nothing else."""
        self.rfile.read(int(self.headers.get("content-length", "0")))
        self.do_GET()


@contextmanager
def models() -> Iterator[str]:
    """Give the address of a server with one model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Models)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def fill(journal: Journal, dataset: Path) -> None:
    """Put an answer to every row into a journal."""
    folder = packaged_model_dir()
    tokenizer, template = load_tokenizer(folder), load_template(folder)
    assert template is not None
    for row in read_rows(dataset, Preparation(served_models=("m",)), shard=Shard()):
        prompt = render_local(row.body, template=template, tokenizer=tokenizer)
        assert prompt.token_ids is not None
        text = json.dumps(_answer(row, [*prompt.token_ids], [*tokenizer.encode(_RAW)]))
        chat = replace(read_chat_text(text), body=text)
        answer = Answer(row, {}, chat, "2026-11-23T20:00:00.000+00:00", 400)
        journal.must_ask(0, row.index, row.hash)
        journal.note_answer(0, row.index, answer_to_json(answer))


def _answer(row: Row, prompt_ids: list[int], ids: list[int]) -> JSONObject:
    function: JSONObject = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    call: JSONObject = {"id": "functions.get_weather:0", "type": "function", "function": function}
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice: JSONObject = {"index": 0, "message": message, "finish_reason": "tool_calls", "token_ids": [*ids]}
    counts = {"prompt_tokens": len(prompt_ids), "completion_tokens": len(ids)}
    return {
        "id": f"chatcmpl-{row.index}", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice],
        "usage": {**counts, "total_tokens": sum(counts.values())}, "prompt_token_ids": [*prompt_ids],
    }  # fmt: skip


def measure(rows: int, make: Callable[[int], JSONObject] = body) -> Cost:
    """Return what reading a row takes, over so many; the first of them warm everything up."""
    with tempfile.TemporaryDirectory() as name, models() as url, Journal(Path(name) / "rows.sqlite") as journal:
        dataset = Path(name) / "rows.jsonl"
        dataset.write_text("".join(json.dumps(make(index)) + "\n" for index in range(rows + _WARM)))
        fill(journal, dataset)
        marks: list[tuple[float, float, float]] = []

        def listen(progress: Progress) -> None:
            if progress.read == _WARM and not marks:
                marks.append(_now())

        plan = Plan(dataset, (Target(base_url=url, tokenizer=packaged_model_dir()),), journal.path)
        outcome = asyncio.run(verify(plan, journal, clock=time.monotonic, on_progress=listen))
        marks.append(_now())
        assert outcome.remaining == (0,)
        began = time.process_time()
        for row in journal.rows(0):
            json.dumps(row)
            json.loads(json.dumps(journal.trace(0, int(str(row["data_index"])))))
        codec = (time.process_time() - began) * 1e3 / (rows + _WARM)
    own, others, wall = ((last - first) * 1e3 / rows for first, last in zip(*marks, strict=True))
    return Cost(own, others, codec, wall)


def _now() -> tuple[float, float, float]:
    """Return the processor time of this process and of all below it, and the clock."""
    return time.process_time(), below_s(), time.monotonic()


def below_s() -> float:
    """Return the processor time of all processes below this one, those that have ended and were awaited included."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            used[int(path.parent.name)] = sum(map(int, fields[11:15])) / _TICKS
    found, waiting = 0.0, [os.getpid()]
    while waiting:
        parent = waiting.pop()
        children = [pid for pid, its_parent in parents.items() if its_parent == parent]
        found += sum(used[pid] for pid in children)
        waiting.extend(children)
    return found


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--agent", action="store_true", help="rows with 20 tools and long instructions")
    options = parser.parse_args()
    cost = measure(options.rows, agent_body if options.agent else body)
    whole = cost.own + cost.sandboxes
    print(
        f"reading a row {whole:.2f} ms of processor time ({cost.own:.2f} here, {cost.sandboxes:.2f} in sandboxes), "
        f"{whole / cost.codec:.1f} times its JSON in and out; {cost.wall:.2f} ms by the clock"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
