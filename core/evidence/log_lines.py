"""Lines of logs that contain parts of a run, engine by engine; what each line says becomes one `Entry`.

Drawn literally, after the prefix of the logger:

    vLLM       Received request chatcmpl-1: prompt: '…', params: SamplingParams(…)     Request chatcmpl-1 JSON body: {…}
               Generated response chatcmpl-1: output: '…', output_token_ids: […], finish_reason: stop
               Generated response chatcmpl-1 (streaming delta): output: '…', …       DELTA TEXT: …       a piece each
               non-default args: {…}        vLLM API server version 0.11.0
    SGLang     Receive: obj=GenerateReqInput(…)   Finish: obj=GenerateReqInput(…), out={…}   server_args=ServerArgs(…)
    llama.cpp  generated_text="…" … tool_calls_count=0       Partial parse: …   before it, half an output
               Parsing input with format X: …   Parsed message: {…}   request: {…}   unparsed peg-native output: …
               slot … | stopped by limit, n_decoded = 64   slot … | stop processing: n_past = 84, truncated = 0
    Ollama     level=DEBUG … msg="chat request" images=0 prompt="…"
               level=TRACE … msg=decoded string="…" from=[1 2]        a piece of the output each
    LM Studio  Received request: POST to /v1/chat/completions with body {…}
               Generated prediction: {…}   Model Output: …       mlx-openai-server  …:log_debug_prompt:82 | …
    clients    … HttpClient : [40d6b05a-1, …] WRITE: 739B {…}   … READ: 483B {…}      (Reactor Netty, of Spring)
               Request options: {'method': 'post', …, 'json_data': {…}}   HTTP Response: …   RAW RESPONSE: {…}

Sources: vLLM 0.32 `entrypoints/serve/utils/request_logger.py`; logs that users of the others have posted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import line_end
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.python_repr import plain, read_printed

MAX_ENTRIES = 20_000
_MAX_OF_WARNING = 300  # characters
_MAX_BEFORE = 3_000  # characters before a line in which another one of the same request is looked for
_IN_CACHE = re.compile(r"\bn_past = \d{1,9}, slot\.prompt\.tokens\.size\(\) = \d{1,9}\b")
_MAX_OF_PIECE = 2_000
_MAX_READ = 8  # times the text, for values that begin and never end
_DECODER = json.JSONDecoder()
_REASON = re.compile(r", finish_reason: (\w+)")
_REASONS = ("stop", "length", "tool_calls", "abort", "error", "repetition")  # vLLM 0.32, `FinishReason`
_SPACE = re.compile(r"\s*+")
_BLANK_LINES = re.compile(r"(?:\n[ \t]*+(?=\n))*+\n")
_DELTA = re.compile(r"[^\n]{0,80}\bDELTA TEXT: ")
# What a line of a log begins with: a raw text that was logged as it is ends there.
LINE_START = re.compile(
    r"(?m)^(?:\[?\d{4}[-/]\d\d[-/]\d\d[ T]|\d{1,3}\.\d\d\.\d{3}\.\d{3} [A-Z] |time=|\[\d\d:\d\d|"
    r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR)\b|(?:srv|slot|que|res|main|init|llama_\w+|common_\w+|check_\w+)\b[ :]|"
    r"Pars(?:ing|ed) |Partial parse|Failed to parse |Cleaned up JSON|terminate called|Grammar|Chat format|"
    r"request: |response: |\{\"(?:role|error))"
)
# llama.cpp: tokens that a slot has room for, and those of the prompt.
PROMPT_OF_SLOT = re.compile(r"new prompt, n_ctx_slot = (\d{1,9}), [^\n]{0,40}?(?:n_prompt_tokens|n_tokens) = (\d{1,9})")


class What(StrEnum):
    """Which part of a run an entry holds."""

    REQUEST = "request"
    PROMPT = "prompt"
    RAW = "raw"
    PIECE = "piece"
    IDS = "ids"
    CONTENT = "content"
    MESSAGE = "message"
    ANSWER = "answer"
    FLAGS = "flags"
    VERSION = "version"
    REASON = "reason"
    WARNING = "warning"
    START = "start"
    PARTIAL = "partial"


class Entry(NamedTuple):
    """One part of a run that a line holds.

    Attributes:
        at: Where the line is.
        engine: `kind` of the server's software; "" of a client's log.
        what: The part.
        value: Its value.
        key: The request that it belongs to, where the line says so.
    """

    at: int
    engine: str
    what: What
    value: JSON
    key: str = ""


_GROUP = re.compile(r"\([^()]*\)")


class _Mark(NamedTuple):
    engine: str
    pattern: re.Pattern[str]
    read: Callable[[_Text, re.Match[str]], list[tuple[What, JSON]]]


class _Text:
    """A log, and how much of it may still be read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._left = _MAX_READ * len(text) + 10_000

    def printed(self, at: int) -> JSON:
        """Return what Python printed at a place; `None` if it is cut."""
        if self._left <= 0:
            return None
        read = read_printed(self.text, at)
        self._left -= 0 if read is None else read.stop - at
        if read is not None and read.is_cut:
            self._left -= len(self.text) - at
        return None if read is None or read.is_cut else plain(read.value)

    def json(self, at: int) -> JSON:
        """Return the JSON value at a place, or the dict that Python printed there."""
        if self._left <= 0:
            return None
        at = self._begin(at)
        try:
            value, stop = _DECODER.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            self._left -= max(1, error.pos - at) + error.pos // 16
            return self.printed(at) if self.text.startswith("{'", at) else None
        except (ValueError, RecursionError):
            return None
        self._left -= stop - at
        read: JSON = value
        return read

    def rest(self, at: int) -> str:
        """Return the text from a place to the next line of the log."""
        end = self.text.find("\n", at)
        if end < 0 or self._left <= 0:
            return self.text[at : len(self.text) if end < 0 else end].strip(" ")
        found = LINE_START.search(self.text, end + 1)
        stop = len(self.text) if found is None else found.start()
        self._left -= stop - at
        return self.text[at:stop].strip(" ").rstrip("\n")

    def _begin(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return at if found is None else found.end()


def find_entries(text: str) -> list[Entry]:
    """Return what the lines of a log hold, in order."""
    log = _Text(text)
    found = [
        Entry(match.start(), mark.engine, what, value, _key(match))
        for mark in _marks_in(text)
        for match in _some(mark.pattern, text)
        for what, value in mark.read(log, match)
        if value is not None and value not in ("", [])
    ]
    return sorted(found, key=lambda entry: entry.at)[:MAX_ENTRIES]


@lru_cache(maxsize=2)  # asked of the same text as a whole and as a block
def has_entries(text: str) -> bool:
    """Return whether a text has a line of a log that is known."""
    return any(mark.pattern.search(text) is not None for mark in _marks_in(text))


def _marks_in(text: str) -> Iterator[_Mark]:
    """Yield the marks whose fixed words a text holds: it is searched for words much faster than for patterns."""
    return (mark for mark in _MARKS if _fixed_words(mark.pattern.pattern) in text)


@lru_cache(maxsize=256)
def _fixed_words(pattern: str) -> str:
    r"""Return the longest fixed stretch of a pattern, which occurs in every match, whatever its groups match.

    >>> _fixed_words(r"\bslot +release: [^\n]{0,80}\btruncated = 1\b")
    'truncated = 1'
    >>> _fixed_words(r"vLLM (?:API )?server version v?(?P<version>\d)")
    'server version '
    """
    bare = re.sub(r"\\.|\[(?:[^\]\\]|\\.)*\]", "\0", pattern)
    while (inner := _GROUP.sub("\0", bare)) != bare:
        bare = inner
    pieces = re.sub(r".(?:[?*+]|\{[\d,]*\})[+?]?|[\^$.]", "\0", bare).split("\0")
    return max(pieces, key=len)


def _some(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    for number, match in enumerate(pattern.finditer(text)):
        if number >= MAX_ENTRIES:
            return
        yield match


def _key(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return str(groups.get("id") or "")


def _a_json(what: What) -> Callable[[_Text, re.Match[str]], list[tuple[What, JSON]]]:
    return lambda log, match: [(what, log.json(match.end()))]


def _a_printed(what: What) -> Callable[[_Text, re.Match[str]], list[tuple[What, JSON]]]:
    return lambda log, match: [(what, log.printed(match.end()))]


def _a_rest(what: What) -> Callable[[_Text, re.Match[str]], list[tuple[What, JSON]]]:
    return lambda log, match: [(what, log.rest(match.end()))]


def _vllm_output(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read `output: '…', output_token_ids: […], finish_reason: …`; what was streamed is logged before parsing."""
    read = read_printed(log.text, match.end())
    if read is None or read.is_cut or not isinstance(read.value, str) or read.value.startswith("<streaming_complete"):
        return []
    if "\n\n" in log.text[match.end() : read.stop]:
        return []  # it was cut, and what is printed below it is something else
    found: list[tuple[What, JSON]] = [(What.RAW if match["streamed"] else What.CONTENT, read.value)]
    line = log.text[read.stop : line_end(log.text, read.stop)]
    if ids := re.match(r", output_token_ids: (?=\[)", line):
        found.append((What.IDS, log.printed(read.stop + ids.end())))
    if reason := _REASON.search(line):
        is_whole = reason[1] not in ("None", "streaming_complete") and not _is_cut_reason(reason[1])
        found.append((What.REASON, reason[1] if is_whole else None))
    return found


def _vllm_delta(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read a piece of a stream, as it was before any parser saw it."""
    read = read_printed(log.text, match.end())
    if read is None or read.is_cut or not isinstance(read.value, str):
        return []
    line = log.text[read.stop : line_end(log.text, read.stop)]
    reason = _REASON.search(line)
    is_whole = reason is not None and reason[1] != "None" and not _is_cut_reason(reason[1])
    ended: list[tuple[What, JSON]] = [(What.REASON, reason[1])] if reason and is_whole else []
    return [(What.PIECE, read.value), *ended]


def _is_cut_reason(word: str) -> bool:
    """Return whether a word at the end of a line is the start of one that vLLM writes: the line was cut or wrapped."""
    return any(known != word and known.startswith(word) for known in _REASONS)


def _delta_text(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read a piece that was printed as it is, with its own line breaks: blank lines up to the next line of the log."""
    end = line_end(log.text, match.end())
    blank = _BLANK_LINES.match(log.text, end)
    following = None if blank is None else _DELTA.match(log.text, blank.end())
    stop = end if following is None or blank is None else blank.end() - 1
    return [(What.PIECE, log.text[match.end() : max(stop, match.end())])]


def _parser_delta(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read a piece that a parser of vLLM logs: what follows on its line, and nothing for a line break."""
    end = line_end(log.text, match.end())
    return [(What.PIECE, log.text[match.end() : end].removeprefix(" ") or "\n")]


def _sglang_input(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    value = as_object(log.printed(match.end()))
    return [(What.PROMPT, value.get("text"))]


def _sglang_output(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read `obj=GenerateReqInput(…), out={…}`; of a stream SGLang logs the last piece alone."""
    read = read_printed(log.text, match.end())
    if read is None or read.is_cut:
        return []
    asked = as_object(plain(read.value))
    follows = re.compile(r",\s*out=").match(log.text, read.stop)
    out = as_object(log.printed(follows.end())) if follows else {}
    found: list[tuple[What, JSON]] = [(What.PROMPT, asked.get("text"))]
    if asked.get("stream") is True or not isinstance(out.get("text"), str):
        return found
    reason = as_object(as_object(out.get("meta_info")).get("finish_reason")).get("type")
    return [*found, (What.RAW, out.get("text")), (What.IDS, out.get("output_ids")), (What.REASON, reason)]


def _client_request(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    value = as_object(log.printed(match.end()))
    return [(What.REQUEST, value.get("json_data"))]


def _generation(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read LangChain's `Exiting LLM run with output:`."""
    generations = as_object(log.json(match.end())).get("generations")
    rows = generations[0] if isinstance(generations, list) and generations else None
    first = as_object(rows[0]) if isinstance(rows, list) and rows else {}
    message = as_object(as_object(first.get("message")).get("kwargs"))
    return [(What.MESSAGE, message or None)]


def _decoded(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read a piece of the output: `string="…"` or, of one word, `string=word`."""
    if log.text.startswith('"', match.end()):
        return [(What.PIECE, log.json(match.end()))]
    return [(What.PIECE, log.text[match.end() : line_end(log.text, match.end())].partition(" from=")[0])]


def _generated_text(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read the output that a fork of llama.cpp logs as a field, and its word that no call was found in it."""
    text = log.json(match.end())
    line = log.text[match.end() : line_end(log.text, match.end())]
    has_none = isinstance(text, str) and re.search(r"\btool_calls_count=0\b", line) is not None
    found: list[tuple[What, JSON]] = [(What.RAW, text if isinstance(text, str) else None)]
    return [*found, (What.MESSAGE, {"role": "assistant", "content": text, "tool_calls": []})] if has_none else found


def _limit(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    return [*_line(log, match), (What.REASON, "length")]


def _chat_format(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    return [(What.FLAGS, {"chat_format": log.text[match.end() : line_end(log.text, match.end())].strip()[:60]})]


def _a_reason(word: str) -> Callable[[_Text, re.Match[str]], list[tuple[What, JSON]]]:
    return lambda _log, _match: [(What.REASON, word)]


def _line(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Return the line of a warning, from its words on."""
    return [(What.WARNING, log.text[match.start() : line_end(log.text, match.start())][:_MAX_OF_WARNING].rstrip())]


def _cache_lost(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Return the line of a prompt that is read again from its beginning, after the one that says where it differs."""
    before = log.text[max(0, match.start() - _MAX_BEFORE) : match.start()]
    differs = list(_IN_CACHE.finditer(before))[-1:]
    return [*((What.WARNING, found[0]) for found in differs), *_line(log, match)]


def _too_long(log: _Text, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Return the line of a prompt that is longer than the context of its slot."""
    line = log.text[match.start() : line_end(log.text, match.start())][:_MAX_OF_WARNING]
    found = PROMPT_OF_SLOT.match(line)
    return [(What.WARNING, line)] if found is not None and int(found[2]) > int(found[1]) else []


_ID, _MLX = r"(?P<id>[\w.:-]{1,120}?)", r":\d{1,5} \| (?:\u2726 )?"
_IGNORED = r"The following fields were present in the request but ignored: \{"
_MARKS: tuple[_Mark, ...] = (
    _Mark("vllm", re.compile(rf"Received request {_ID}: prompt: (?=['\"])"), _a_printed(What.PROMPT)),
    _Mark("vllm", re.compile(rf"Request {_ID} details: prompt: (?=['\"])"), _a_printed(What.PROMPT)),
    _Mark("vllm", re.compile(rf"Request {_ID} JSON body: (?=\{{)"), _a_json(What.REQUEST)),
    _Mark(
        "vllm",
        re.compile(rf"Generated response {_ID}(?P<streamed> \(streaming complete\))?: output: (?=['\"])"),
        _vllm_output,
    ),
    _Mark("vllm", re.compile(rf"Generated response {_ID} \(streaming delta\): output: (?=['\"])"), _vllm_delta),
    _Mark(
        "vllm",
        re.compile(rf"\bAdded request {_ID}\.(?=\s{{0,4}}\n[^\n]{{0,80}}\bDELTA TEXT: )"),
        lambda _, __: [(What.START, True)],
    ),
    _Mark("vllm", re.compile(r"(?m)^[^\n]{0,80}\bDELTA TEXT: "), _delta_text),
    _Mark("vllm", re.compile(r"(?m)^[^\n]{0,80}_parser\.py:\d{1,4}\] delta_text:"), _parser_delta),
    _Mark("vllm", re.compile(rf"Generated response {_ID} details: output_token_ids: (?=\[)"), _a_printed(What.IDS)),
    _Mark("vllm", re.compile(r"\bnon-default args: (?=\{)"), _a_printed(What.FLAGS)),
    _Mark("vllm", re.compile(r"\bargs: (?=Namespace\()"), _a_printed(What.FLAGS)),
    _Mark(
        "vllm",
        re.compile(r"vLLM (?:API )?server version v?(?P<version>\d[\w.+]{0,40})"),
        lambda _, match: [(What.VERSION, match["version"].rstrip("."))],
    ),
    _Mark("sglang", re.compile(r"\bserver_args=(?=ServerArgs\()"), _a_printed(What.FLAGS)),
    _Mark("sglang", re.compile(r"\bReceive(?:d request)?: obj=(?=\w{1,40}\()"), _sglang_input),
    _Mark("sglang", re.compile(r"\bFinish(?:ed)?: obj=(?=\w{1,40}\()"), _sglang_output),
    _Mark("llama.cpp", re.compile(r"Parsing input with format [^\n:]{1,60}: ?\n?"), _a_rest(What.RAW)),
    _Mark("llama.cpp", re.compile(r"\bgenerated_text=(?=\")"), _generated_text),
    _Mark("llama.cpp", re.compile(r"\bPartial parse: "), lambda _, __: [(What.PARTIAL, True)]),
    _Mark("llama.cpp", re.compile(r"unparsed peg-native output: ?"), _a_rest(What.RAW)),
    _Mark("llama.cpp", re.compile(r"\bParsed message: (?=\{)"), _a_json(What.MESSAGE)),
    _Mark("llama.cpp", re.compile(r"log_server_r\w*: request: \s*(?=\{)"), _a_json(What.REQUEST)),
    _Mark("llama.cpp", re.compile(r"log_server_r\w*: response: \s*(?=\{)"), _a_json(What.ANSWER)),
    _Mark(
        "ollama",
        re.compile(r"msg=\"(?:chat|generate|completion) request\"[^\n\"]{0,200}?\s{0,4}\bprompt=(?=\")"),
        _a_printed(What.PROMPT),
    ),
    _Mark("ollama", re.compile(r"\blevel=TRACE [^\n]{0,120}?msg=decoded string="), _decoded),
    _Mark("llama.cpp", re.compile(r"\bstopped by limit, n_decoded = \d"), _limit),
    _Mark("llama.cpp", re.compile(r"\bstopped due to running out of context capacity, n_"), _limit),
    _Mark("llama.cpp", re.compile(r"\bChat format: (?=\S)"), _chat_format),
    _Mark("llama.cpp", re.compile(r"\| (?:stopped by EOS|stopped by word, stopping_word:)"), _a_reason("stop")),
    _Mark("llama.cpp", re.compile(r"\bslot +release: [^\n]{0,80}\btruncated = 1\b"), _line),
    _Mark("lm-studio", re.compile(r"Received request: POST to /\S{1,80} with body\s{1,4}(?={)"), _a_json(What.REQUEST)),
    _Mark("lm-studio", re.compile(r"Generated (?:prediction|packet):\s{1,4}(?=\{)"), _a_json(What.ANSWER)),
    _Mark("lm-studio", re.compile(r"(?m)^Model Output: {1,3}"), _a_rest(What.RAW)),
    _Mark("mlx-openai-server", re.compile(rf":log_debug_prompt{_MLX}(?![\u2726\u2501])(?=\S)"), _a_rest(What.PROMPT)),
    _Mark("mlx-openai-server", re.compile(rf":log_debug_raw_text_response{_MLX}Raw text: "), _a_rest(What.RAW)),
    _Mark("", re.compile(r"\bRequest options: (?=\{)"), _client_request),
    _Mark("", re.compile(r"\] WRITE: \d{1,9}B (?=\{)"), _a_json(What.REQUEST)),
    _Mark("", re.compile(r"\] READ: \d{1,9}B (?=\{)"), _a_json(What.ANSWER)),
    _Mark("llama.cpp", re.compile(r"\bAdded a [BE]OS token to the prompt [^\n]{0,80}but the prompt also "), _line),
    _Mark("llama-cpp-python", re.compile(r"\bDetected duplicate leading \"[^\"\n]{1,40}\" in prompt"), _line),
    _Mark("llama.cpp", re.compile(r"\binput truncated, n_ctx = \d"), _line),
    _Mark("llama.cpp", re.compile(r"\bnew prompt, n_ctx_slot = \d"), _too_long),
    _Mark("llama.cpp", re.compile(r"\bforcing full prompt re-processing due to lack of cache data"), _cache_lost),
    _Mark("llama.cpp", re.compile(r"\bslot context shift, n_keep = \d"), _line),
    _Mark("ollama", re.compile(r"\btruncating input messages which exceed context length\"? truncated=\d"), _line),
    _Mark("ollama", re.compile(r"\bcontext limit hit - shifting\"? id=\d"), _line),
    _Mark("ollama", re.compile(r"\btruncating input prompt\"? limit=\d{1,9} prompt=\d"), _line),
    _Mark("mlx-openai-server", re.compile(rf"\| [\w.]{{1,60}}:\w{{1,40}}{_MLX}{_IGNORED}"), _line),
    _Mark("vllm", re.compile(rf"[\w/]{{1,60}}\.py:\d{{1,5}}\] {_IGNORED}"), _line),
    _Mark("unknown", re.compile(rf"(?m)^{_IGNORED}"), _line),
    _Mark("", re.compile(r"\b(?:RAW RESPONSE|Raw response|raw_response):\s{0,4}(?=\{)"), _a_json(What.ANSWER)),
    _Mark("", re.compile(r"Exiting (?:LLM|Chat Model) run with output:\s{0,4}(?=\{)"), _generation),
)  # fmt: skip
