"""A server's log without a prompt or an output in it: whose it is, what it shows, and how to get one that shows more.

    vLLM       INFO 01-02 10:00:00 [loggers.py:123] Engine 000: Avg prompt throughput: 245.0 tokens/s …
    SGLang     [2026-01-02 10:00:00] Prefill batch. #new-seq: 1, #new-token: 896 …
    llama.cpp  srv  update_slots: all slots are idle         print_info: EOS token = 151645 '<|im_end|>'
    Ollama     [GIN] 2026/01/02 - 10:00:00 | 200 | 1.5s | 127.0.0.1 | POST "/api/chat"
    LM Studio  [LM STUDIO SERVER] Running chat completion on conversation with 2 messages.
    uvicorn    INFO:     127.0.0.1:48530 - "POST /v1/chat/completions HTTP/1.1" 200 OK

The tokens that such a log prints (an example of the chat template, the vocabulary) were written by no model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from prompt_debugger.core.base.types import Server
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.evidence.copying.line_starts import strip_prefixes
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.recognise import recognise

_MAX_CHARS = 400_000
_CAPTURE = "or put `prompt-debugger capture` between client and server, which records every exchange"
_OF_OLLAMA = r"(?:/api/(?:chat|generate|tags|show|ps|version|embed|embeddings|pull|blobs)\b|/v1/)"
# What only this server logs, and how to make it log more. Ollama runs llama.cpp, so it comes first.
_SIGNS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "ollama": (
        re.compile(
            rf"(?m)^\[GIN\] [^\n]{{0,160}}\"{_OF_OLLAMA}|^\[GIN-debug\] [^\n]{{0,80}}/api/generate\b"
            r"|\blevel=[A-Z]{4,5} source=[\w/]{1,60}\.go:\d"
        ),
        "Start Ollama with `OLLAMA_DEBUG=2`",
    ),
    "lm-studio": (re.compile(r"(?m)^[^\n\"{]{0,80}\[LM STUDIO SERVER\]"), "Run `lms log stream`"),
    "vllm": (
        re.compile(
            r"(?m)(?:^|\) ?)(?:INFO|WARNING|ERROR|DEBUG) \d\d-\d\d \d\d:\d\d:\d\d \[[\w./]{1,80}\.py:\d|"
            r"\bAvg prompt throughput: \d"
        ),
        "Start vLLM with `--enable-log-requests --enable-log-outputs` and `VLLM_LOGGING_LEVEL=DEBUG`",
    ),
    "sglang": (
        re.compile(r"\] (?:Prefill|Decode) batch[.,] ?#|\] max_total_num_tokens=\d"),
        "Start SGLang with `--log-requests --log-requests-level 3`",
    ),
    "llama.cpp": (
        re.compile(r"(?m)^(?:\d{1,3}\.\d\d\.\d{3}\.\d{3} [A-Z] )?"
            r"(?:(?:srv|slot) {1,14}\w{1,20}: |print_info: |main: server is )"
            r"|\"timestamp\":\d{9,11},\"level\":\"[A-Z]{4,7}\",\"function\":\"\w{1,60}\",\"line\":\d"
        ),
        "Start llama-server with `--verbose`",
    ),
    "mlx-openai-server": (
        re.compile(r"(?m)^[\d: .-]{19,23} \| [A-Z]{4,8} {1,4}\| (?:[\w-]{1,40}\.){0,6}app\.[\w.]{1,60}:\w{1,60}:\d"),
        "Switch the debug log of mlx-openai-server on",
    ),
    "": (
        re.compile(r"(?m)^(?:\[[\d: -]{19}\] )?INFO: {1,10}[\d.]{7,15}:\d{1,5} - \"[A-Z]{3,7} /\S{0,80} HTTP/1"
            r"|^\[GIN\] \d|^[ \t]{0,4}(?:\d{4}-\d\d-\d\dT\S{1,20}[ \t]{1,4})?[A-Z]{4,5}[ \t]{1,4}one-api\b"
            r"|\"reqId\":\"[\w-]{1,40}\",[^\n]{0,400}\"msg\":\"(?:incoming request|request completed)\""),
        "Let the server log requests and outputs",
    ),
}  # fmt: skip
_HINT = re.compile(
    r"POST /|one-api\b|\.(?:py|go):\d|\"reqId\":|\"function\":\"|"
    r"\| [A-Z]{4,8} {1,4}\| |\[GIN|LM STUDIO|throughput: |batch[.,] ?#|_tokens=|srv |"
    r"slot |print_info: |main: "
)
# How a line of any such log begins: anything else in the text was put there by someone.
_LINE = re.compile(
    r"(?:\(?[\w. -]{1,60} pid=\d{1,9}\) ?)?"
    r"(?:(?:INFO|WARNING|ERROR|DEBUG)\b|\[?\d{4}-\d\d-\d\d[ T]\d\d:|\[GIN|time=\d{4}-|"
    r"\d{1,3}\.\d\d\.\d{3}\.\d{3} [A-Z] |(?:srv|slot|que) |(?:main|init|build|request|print_info): |"
    r"(?:\[[A-Z]{3,12}\]::)?\{\"(?:timestamp|tid|level|time|reqId)\":|"
    r"(?:load|llama|llm|common|ggml|clip|set|sched|system|done)_|\s{0,12}(?:(?:prompt )?eval|total) time)"
)
_EXAMPLE = re.compile(r"(?:chat_example|example_format): '[^']{0,4000}'?|\[SamplingSwitch\] [^\n]{0,400}")
# LM Studio samples a call by other rules, from its opening marker to its closing one.
_SWITCH = re.compile(
    r"\[SamplingSwitch\] Exiting switch '(?P<name>\w{1,40})' \(triggered by string: \"(?P<marker>[^\"\n]{1,60})\"\)"
)
_CALL = (
    r"(?P<path>/(?:(?:api|openai)/)?(?:v\d(?:beta)?/)?(?:chat/completions|completions|responses|messages|generate)"
    r"|/api/(?:chat|generate))"
)
_ANSWERED = (
    re.compile(rf"\"POST {_CALL}\S{{0,40}} HTTP/[\d.]{{1,3}}\" (?P<status>\d{{3}})"),
    re.compile(rf"\| (?P<status>\d{{3}}) \|[^\n|]{{0,40}}\|[^\n|]{{0,60}}\| POST {{1,10}}\"{_CALL}\""),
    re.compile(rf"request: POST {_CALL} \S{{1,60}} (?P<status>\d{{3}})"),
    re.compile(rf"\b(?P<status>[1-5]\d\d) POST \{{\"host\": [^\n]{{0,120}}?\"url\": \"{_CALL}\""),
    re.compile(rf"\"status\":(?P<status>\d{{3}}),\"method\":\"POST\",\"path\":\"{_CALL}\""),
)
# A request for a path that the server does not have, or not for that method.
_NOWHERE = (
    re.compile(r"\"(?:POST|GET) (?P<path>/[\w./:-]{1,160})\S{0,40} HTTP/[\d.]{1,3}\" (?P<status>40[45])"),
    re.compile(
        r"\| (?P<status>40[45]) \|[^\n|]{0,40}\|[^\n|]{0,60}\| (?:POST|GET) {1,10}\"(?P<path>/[\w./:-]{1,160})\""
    ),
)
_OF_API = re.compile(r"chat|completions|messages|responses|generate|models|embed")
_TWICE = re.compile(
    r"(?P<part>(?:/v\d\w{0,8}|/api|/chat/completions|/completions|/messages|/responses))(?P=part)(?![\w-])"
)
_LACKS_V1 = ("/chat/", "/completions", "/responses", "/models", "/messages")
_MAX_NOWHERE = 2
# What Fastify logs: a line of the request, and one of its answer.
_ASKED = re.compile(rf"\"reqId\":\"(?P<id>[\w-]{{1,40}})\"[^\n]{{0,200}}?\"method\":\"POST\",\"url\":\"{_CALL}[?\"]")
_COMPLETED = re.compile(r"\"reqId\":\"(?P<id>[\w-]{1,40})\"[^\n]{0,200}?\"res\":\{\"statusCode\":(?P<status>\d{3})\b")
# A request that had neither method nor path, of llama.cpp and llamafile.
_NO_HTTP = re.compile(r"\"status\":400,\"method\":\"\",\"path\":\"\"")
# Ollama's line of a request that failed after a time of whole minutes, or just before: no generation does by chance.
_GAVE_UP = re.compile(r"\| (?P<status>[45]\d\d) \|[ \t]{1,20}(?P<took>(?:\d{1,2}h)?\d{1,3}m(?:0|59)s) \|")
_PIECES = re.compile(r"Generated response [^\n]{1,160}: output: ['\"]")
_HINTS = {
    "404": "A 404 means an address or a model that the server does not have.",
    "4": "The reason for a 4xx is in the body of its answer, which the log does not show.",
    "5": "The reason for a 5xx is usually a traceback in the log, above that line.",
}


def is_server_log(text: str) -> bool:
    """Return whether a text is a server's log, with nothing among its lines that a model may have written."""
    text = text[:_MAX_CHARS]
    if _HINT.search(text) is None:
        return False
    lines = strip_prefixes(text)
    if _engine(lines) is None:
        return False
    rest = "\n".join(line for line in _EXAMPLE.sub("", lines).split("\n") if line and _LINE.match(line) is None)
    return not rest.strip() or recognise(rest) is None


def evidence_of_log(text: str) -> Evidence | None:
    """Return what a server's log shows without a prompt or an output in it; `None` of any other text."""
    text = strip_prefixes(text[:_MAX_CHARS])
    engine = _engine(text)
    if engine is None:
        return None
    title = title_of(engine) if engine else "a server"
    server = Server("", kind=engine) if engine else None
    return Evidence(Form.LOG, f"a log of {title}", server=server, notes=shown_in_log(text, engine))


def shown_in_log(text: str, engine: str) -> tuple[str, ...]:
    """Return what the lines of a server's log show of requests, and how to get a log that shows more."""
    holds = "only pieces of outputs" if _PIECES.search(text) is not None else "neither a prompt nor an output"
    more = _SIGNS[engine][1] if engine in _SIGNS else _SIGNS[""][1]
    return (*_shown(text), f"The log contains {holds}. {more}, {_CAPTURE}.")


def shown_requests(text: str, _engine: str) -> tuple[str, ...]:
    """Return what the lines of a server's log show of requests, of a log whose warnings are findings already."""
    return tuple(_shown(text))


def _engine(text: str) -> str | None:
    """Return whose log it is, "" for any server's; `None` for another text."""
    return next((engine for engine, (sign, _) in _SIGNS.items() if sign.search(text) is not None), None)


def _shown(text: str) -> Iterator[str]:
    """Say what the lines show of requests."""
    counts = Counter((found["path"], found["status"]) for line in _ANSWERED for found in line.finditer(text))
    paths = {found["id"]: found["path"] for found in _ASKED.finditer(text)}
    counts.update((paths[found["id"]], found["status"]) for found in _COMPLETED.finditer(text) if found["id"] in paths)
    if _NO_HTTP.search(text) is not None:
        yield (
            "Requests without a method and a path were answered with 400: what arrived was not HTTP. A client that "
            "was given an address with `https://` sends TLS to a port that speaks plain HTTP; write `http://`."
        )
    by_path: dict[str, list[str]] = {}
    for (path, status), count in sorted(counts.items()):
        by_path.setdefault(path, []).append(f"{status} ({count:,} times)" if count > 1 else status)
    for path, statuses in list(by_path.items())[:4]:
        yield f"The log shows `POST {path}` answered with {', '.join(statuses)}."
    yield from _nowhere(text)
    if (switch := _SWITCH.search(text)) is not None and "tool" in switch["name"].lower():
        yield f"The model wrote a call up to its closing marker (`{switch['marker']}`): LM Studio logs its end."
    limit = _GAVE_UP.search(text)
    if limit is not None:
        yield (
            f"A request ended with {limit['status']} after {limit['took']}. So round a time is usually the limit of "
            "the client or of something between, which stopped waiting while the model wrote. Raise that limit, stream "
            "the answer, or bound it (`num_predict`, `max_tokens`): an output that repeats itself has no end."
        )
        counts = Counter({one: count for one, count in counts.items() if one[1] != limit["status"]})
    bad = {"404" if status == "404" else status[0] for _, status in counts}
    yield from (hint for status, hint in _HINTS.items() if status in bad)


def _nowhere(text: str) -> Iterator[str]:
    """Say which paths of an API a server does not have, and what is odd about them."""
    found = dict.fromkeys(
        (one["path"], one["status"])
        for line in _NOWHERE
        for one in line.finditer(text)
        if _OF_API.search(one["path"]) is not None
        and (one["path"].startswith(_LACKS_V1) or re.fullmatch(_CALL, one["path"]) is None)
    )
    for path, status in [*found][:_MAX_NOWHERE]:
        twice = _TWICE.search(path)
        if twice is not None:
            why = f"`{twice['part']}` is in it twice, as the client adds it to an address that has it already."
        elif path.startswith(_LACKS_V1):
            why = "it lacks `/v1`, which belongs to the address that the client is given."
        else:
            why = "the server has nothing there."
        yield f"The log shows `{path}` answered with {status}: {why}"
