"""A server that speaks llama.cpp's wire format: it repeats what a real one answered to the same requests.

`llama_cpp/lab.jsonl` was recorded from llama.cpp's server (build 1, commit 7e4c0a9) with the lab model and
its template, `llama_cpp/bos.jsonl` with a vocabulary that adds BOS and the template in `test_llama_cpp.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from prompt_debugger.core.base.types import JSON, JSONObject
from tests.threads import handling

FOLDER = Path(__file__).with_name("llama_cpp")
_ABSENT: JSONObject = {"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}}


@contextmanager
def llama_cpp_server(recording: str, *, absent: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the base URL of a server that repeats a recording.

    Args:
        recording: `lab` or `bos`.
        absent: Paths that this server lacks.
    """
    lines = (FOLDER / f"{recording}.jsonl").read_text(encoding="utf-8").splitlines()
    answers: dict[str, tuple[int, JSON]] = {}
    for line in lines:
        exchange = json.loads(line)
        answers[_key(*exchange["request"])] = (exchange["status"], exchange["answer"])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.reply(None)

        def do_POST(self) -> None:
            self.reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def reply(self, body: JSON) -> None:
            status, answer = answers.get(_key(self.command, self.path, body), (404, _ABSENT))
            if self.path in absent:
                status, answer = 404, _ABSENT
            data = json.dumps(answer, ensure_ascii=False).encode()
            self.send_response_only(status)
            self.send_header("Server", "llama.cpp")
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with handling(Handler) as address:
        yield f"{address}/v1"


def _key(method: str, path: str, body: JSON) -> str:
    return json.dumps([method, path, body], sort_keys=True)
