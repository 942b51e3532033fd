"""A server that answers chats, fails, stalls or hangs up as its rows say, and counts what it was asked.

Its faults are those a sound server cannot be made to show on purpose; what it
answers is what an OpenAI-compatible server without ids answers.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prompt_debugger.core.base.types import JSON, JSONObject
from tests.patience import PATIENCE_S
from tests.threads import serving

TOOL: JSONObject = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def body(text: str, **fields: JSON) -> JSONObject:
    """A request whose only message says what the server is to do."""
    return {"model": "m", "messages": [{"role": "user", "content": text}], "tools": [TOOL], **fields}


def call(arguments: str = '{"city": "Paris"}', name: str = "get_weather") -> JSONObject:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(message: JSONObject, finish_reason: str) -> JSONObject:
    usage: JSONObject = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish_reason}], "usage": usage}


def usual(text: str) -> JSONObject:
    """A valid call for a text that wants one, else prose."""
    if text.startswith("call"):
        return answer({"role": "assistant", "content": None, "tool_calls": [call()]}, "tool_calls")
    return answer({"role": "assistant", "content": "It is warm."}, "stop")


class CountingServer(ThreadingHTTPServer):
    """Answers each text by `respond`, one on each connection, after as many faults as `faults` has for it.

    Attributes:
        respond: The answer to a text.
        faults: Statuses by text, given in turn before it is answered; 0 hangs up.
        asked: How often each text was asked.
        answered: How often it was answered.
        bodies: What was sent.
        headers: Of everything that was sent, names in lower case.
        most_at_once: Most questions that were under way at once.
        refuse: The status for a body that is refused; `None` for any other.
        fault_headers: Of every answer that is a fault.
        fault_words: What such an answer says; "" for its status.
        may_answer: How many questions, in their order, are answered; the others wait. `None` for all.
        most_welcome: More questions at once are refused with 429; the first so many wait until one was.
        refused: How many were.
        raw: The raw output for a prompt; `None` for a server without raw completions.
        prompts: Those of raw completions.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, respond: Callable[[str], JSONObject] = usual, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.respond = respond
        self.faults: dict[str, list[int]] = {}
        self.refuse: Callable[[JSONObject], int | None] = lambda _: None
        self.fault_headers: dict[str, str] = {}
        self.fault_words = ""
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: list[JSONObject] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = self.most_at_once = 0
        self.changing = threading.Condition()
        self.may_answer: int | None = None
        self.most_welcome: int | None = None
        self.refused = 0
        self.raw: Callable[[str], str] | None = None
        self.prompts: list[str] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def let_answer(self, count: int | None) -> None:
        """Let so many questions be answered, counted from the first."""
        with self.changing:
            self.may_answer = count
            self.changing.notify_all()

    def wait_until_asked(self, count: int) -> None:
        """Wait until so many questions have come."""
        with self.changing:
            assert self.changing.wait_for(lambda: self.asked.total() >= count, PATIENCE_S)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that leave."""


class _Handler(BaseHTTPRequestHandler):
    server: CountingServer

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._note_headers()
        found = self.path == "/v1/models"
        self._send(200 if found else 404, {"data": [{"id": "m"}]} if found else {})

    def _note_headers(self) -> None:
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})

    def do_POST(self) -> None:
        self._note_headers()
        read = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/v1/completions" and self.server.raw is not None:
            self.server.prompts.append(read["prompt"])
            choice: JSONObject = {"index": 0, "text": self.server.raw(read["prompt"]), "finish_reason": "stop"}
            self._send(200, {"object": "text_completion", "choices": [choice]})
            return
        if not self.path.endswith("/chat/completions"):
            self._send(404, {})
            return
        text = read["messages"][-1]["content"]
        server = self.server
        with server.changing:
            server.asked[text] += 1
            server.bodies.append(read)
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            ordinal = server.asked.total()
            fault = server.faults[text].pop(0) if server.faults.get(text) else None
            fault = server.refuse(read) or fault
            if server.most_welcome is not None and server.at_once > server.most_welcome:
                fault = 429
                server.refused += 1
            server.changing.notify_all()
            if server.most_welcome is not None and fault is None:
                server.changing.wait_for(lambda: server.refused > 0, PATIENCE_S)
            server.changing.wait_for(lambda: server.may_answer is None or ordinal <= server.may_answer)
        try:
            document = server.respond(text) if fault is None else None
        finally:
            with server.changing:
                server.at_once -= 1  # before the answer leaves: who has it may ask the next thing before we go on here
        if fault == 0:
            return
        if fault is not None:
            self._send(fault, {"error": {"message": server.fault_words or f"fault {fault}"}}, server.fault_headers)
            return
        self._answer(read, document)
        with server.changing:
            server.answered[text] += 1
            server.changing.notify_all()

    def _answer(self, asked: JSONObject, document: Any) -> None:
        if not asked.get("stream"):
            self._send(200, document)
            return
        choice = document["choices"][0]
        delta = dict(choice["message"])
        delta["tool_calls"] = [{"index": i, **one} for i, one in enumerate(delta.get("tool_calls") or [])]
        events = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
            {"choices": [], "usage": document["usage"]},
        ]
        if "stream_error" in document:
            events.insert(1, {"error": {"message": document["stream_error"]}})
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self._send_bytes(200, text.encode(), "text/event-stream", {})

    def _send(self, status: int, document: object, headers: dict[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(document).encode(), "application/json", headers or {})

    def _send_bytes(self, status: int, data: bytes, content_type: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def counting_server(respond: Callable[[str], JSONObject] = usual, port: int = 0) -> Iterator[CountingServer]:
    """Run one in a thread."""
    server = CountingServer(respond, port)
    with serving(server):
        try:
            yield server
        finally:
            server.let_answer(None)
