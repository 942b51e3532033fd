"""Lines of logs that contain parts of a run, engine by engine; what each line says becomes one `Entry`.

Drawn literally, after the prefix of the logger:

    vLLM       Received request chatcmpl-1: prompt: '…', params: SamplingParams(…)     Request chatcmpl-1 JSON body: {…}
               Generated response chatcmpl-1: output: '…', output_token_ids: […], finish_reason: stop
               Generated response chatcmpl-1 (streaming delta): output: '…', …       DELTA TEXT: …       a piece each
               Received messages request {…}   Anthropic Messages Response: {'id': …}
               non-default args: {…}        vLLM API server version 0.11.0
    SGLang     Receive: obj=GenerateReqInput(…)   Finish: obj=GenerateReqInput(…), out={…}   server_args=ServerArgs(…)
               {"timestamp": "…", "event": "request.finished", "rid": "…", "obj": {…}, "out": {"text": "…", …}}
    llama.cpp  generated_text="…" … tool_calls_count=0       Partial parse: …   before it, half an output
               Parsing input with format X: …   Parsed message: {…}   request: {…}   unparsed peg-native output: …
               slot … | stopped by limit, n_decoded = 64   slot … | stop processing: n_past = 84, truncated = 0
    Ollama     level=DEBUG … msg="chat request" images=0 prompt="…"
               level=TRACE … msg=decoded string="…" from=[1 2]        a piece of the output each
    LM Studio  Received request: POST to /v1/chat/completions with body {…}
               Generated prediction: {…}   Model Output: …       mlx-openai-server  …:log_debug_prompt:82 | …
    LangChain4j  HTTP request: - method: POST - url: … - headers: … - body: {…}   HTTP response: - status code: 200 …
    clients    … HttpClient : [40d6b05a-1, …] WRITE: 739B {…}   … READ: 483B {…}      (Reactor Netty, of Spring)
               Request options: {'method': 'post', …, 'json_data': {…}}   HTTP Response: …   RAW RESPONSE: {…}

Sources: vLLM 0.32 `entrypoints/serve/utils/request_logger.py`; logs that users of the others have posted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import line_end
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.logs.marks import Entry, LogText, Mark, Read, What, read_json, read_python, read_rest
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed

MAX_ENTRIES = 20_000
_GROUP = re.compile(r"\([^()]*\)")
_MAX_OF_WARNING = 300  # characters
_MAX_BEFORE = 3_000  # characters before a line in which another one of the same request is looked for
_IN_CACHE = re.compile(r"\bn_past = \d{1,9}, slot\.prompt\.tokens\.size\(\) = \d{1,9}\b")
_REASON = re.compile(r", finish_reason: (\w+)")
_REASONS = ("stop", "length", "tool_calls", "abort", "error", "repetition")  # vLLM 0.32, `FinishReason`
_PARSED = re.compile(r"(?:\A| )\[(?:reasoning|tool_calls): ")  # around what a parser of vLLM made of a piece
_BLANK_LINES = re.compile(r"(?:\n[ \t]*+(?=\n))*+\n")
_DELTA = re.compile(r"[^\n]{0,80}\bDELTA TEXT: ")
# llama.cpp: tokens that a slot has room for, and those of the prompt.
PROMPT_OF_SLOT = re.compile(r"new prompt, n_ctx_slot = (\d{1,9}), [^\n]{0,40}?(?:n_prompt_tokens|n_tokens) = (\d{1,9})")


def find_entries(text: str) -> list[Entry]:
    """Return what the lines of a log hold, in order."""
    log = LogText(text)
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


def _marks_in(text: str) -> Iterator[Mark]:
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


def _vllm_output(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
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


def _vllm_delta(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read a piece of a stream: text, or what vLLM's parsers made of the output, which it has in brackets."""
    read = read_printed(log.text, match.end())
    if read is None or read.is_cut or not isinstance(read.value, str):
        return []
    line = log.text[read.stop : line_end(log.text, read.stop)]
    reason = _REASON.search(line)
    is_whole = reason is not None and reason[1] != "None" and not _is_cut_reason(reason[1])
    ended: list[tuple[What, JSON]] = [(What.REASON, reason[1])] if reason and is_whole else []
    return [(What.PARSED if _PARSED.search(read.value) is not None else What.PIECE, read.value), *ended]


def _is_cut_reason(word: str) -> bool:
    """Return whether a word at the end of a line is the start of one that vLLM writes: the line was cut or wrapped."""
    return any(known != word and known.startswith(word) for known in _REASONS)


def _delta_text(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read a piece that was printed as it is, with its own line breaks: blank lines up to the next line of the log."""
    end = line_end(log.text, match.end())
    blank = _BLANK_LINES.match(log.text, end)
    following = None if blank is None else _DELTA.match(log.text, blank.end())
    stop = end if following is None or blank is None else blank.end() - 1
    return [(What.PIECE, log.text[match.end() : max(stop, match.end())])]


def _parser_delta(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read a piece that a parser of vLLM logs: what follows on its line, and nothing for a line break."""
    end = line_end(log.text, match.end())
    return [(What.PIECE, log.text[match.end() : end].removeprefix(" ") or "\n")]


def _sglang_input(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    value = as_object(log.printed(match.end()))
    return [(What.PROMPT, value.get("text"))]


def _sglang_output(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
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


def _sglang_json(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read a line of `--log-requests-format json`; of a stream SGLang logs the last piece alone."""
    value = as_object(log.json(match.start()))
    asked, out = as_object(value.get("obj")), as_object(value.get("out"))
    found: list[tuple[What, JSON]] = [(What.PROMPT, asked.get("text"))]
    if asked.get("stream") is True or not isinstance(out.get("text"), str):
        return found
    reason = as_object(as_object(out.get("meta_info")).get("finish_reason")).get("type")
    return [*found, (What.RAW, out.get("text")), (What.IDS, out.get("output_ids")), (What.REASON, reason)]


def _client_request(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    value = as_object(log.printed(match.end()))
    return [(What.REQUEST, value.get("json_data"))]


def _generation(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read LangChain's `Exiting LLM run with output:`."""
    generations = as_object(log.json(match.end())).get("generations")
    rows = generations[0] if isinstance(generations, list) and generations else None
    first = as_object(rows[0]) if isinstance(rows, list) and rows else {}
    message = as_object(as_object(first.get("message")).get("kwargs"))
    return [(What.MESSAGE, message or None)]


def _decoded(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read a piece of the output: `string="…"` or, of one word, `string=word`."""
    if log.text.startswith('"', match.end()):
        return [(What.PIECE, log.json(match.end()))]
    return [(What.PIECE, log.text[match.end() : line_end(log.text, match.end())].partition(" from=")[0])]


def _generated_text(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Read the output that a fork of llama.cpp logs as a field, and its word that no call was found in it."""
    text = log.json(match.end())
    line = log.text[match.end() : line_end(log.text, match.end())]
    has_none = isinstance(text, str) and re.search(r"\btool_calls_count=0\b", line) is not None
    found: list[tuple[What, JSON]] = [(What.RAW, text if isinstance(text, str) else None)]
    return [*found, (What.MESSAGE, {"role": "assistant", "content": text, "tool_calls": []})] if has_none else found


def _limit(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    return [*_line(log, match), (What.REASON, "length")]


def _chat_format(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    return [(What.FLAGS, {"chat_format": log.text[match.end() : line_end(log.text, match.end())].strip()[:60]})]


def _a_reason(word: str) -> Read:
    return lambda _log, _match: [(What.REASON, word)]


def _line(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Return the line of a warning, from its words on."""
    return [(What.WARNING, log.text[match.start() : line_end(log.text, match.start())][:_MAX_OF_WARNING].rstrip())]


def _cache_lost(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Return the line of a prompt that is read again from its beginning, after the one that says where it differs."""
    before = log.text[max(0, match.start() - _MAX_BEFORE) : match.start()]
    differs = list(_IN_CACHE.finditer(before))[-1:]
    return [*((What.WARNING, found[0]) for found in differs), *_line(log, match)]


def _too_long(log: LogText, match: re.Match[str]) -> list[tuple[What, JSON]]:
    """Return the line of a prompt that is longer than the context of its slot."""
    line = log.text[match.start() : line_end(log.text, match.start())][:_MAX_OF_WARNING]
    found = PROMPT_OF_SLOT.match(line)
    return [(What.WARNING, line)] if found is not None and int(found[2]) > int(found[1]) else []


_ID, _MLX = r"(?P<id>[\w.:-]{1,120}?)", r":\d{1,5} \| (?:\u2726 )?"
_RID = r"(?:rid='(?P<id>[\w-]{1,80})')?"  # of SGLang, which prints it first
# A body of chat, and no other request that the same lines show, such as one of MCP.
_ASKED_BODY = r"\{\s{0,9}\"(?:model|messages|contents|input|max_tokens|temperature|stream)\"\s{0,3}:"
_ANSWERED_BODY = r"\{\s{0,9}\"(?:id|model|object|created|created_at|choices|candidates|output|type)\"\s{0,3}:"
_IGNORED = r"The following fields were present in the request but ignored: \{"
_MARKS: tuple[Mark, ...] = (
    Mark("vllm", re.compile(rf"Received request {_ID}: prompt: (?=['\"])"), read_python(What.PROMPT)),
    Mark("vllm", re.compile(rf"Request {_ID} details: prompt: (?=['\"])"), read_python(What.PROMPT)),
    Mark("vllm", re.compile(r"\bReceived messages request (?=\{)"), read_json(What.REQUEST)),
    Mark("vllm", re.compile(r"\bAnthropic Messages Response: (?=\{)"), read_python(What.ANSWER)),
    Mark("vllm", re.compile(rf"Request {_ID} JSON body: (?=\{{)"), read_json(What.REQUEST)),
    Mark(
        "vllm",
        re.compile(rf"Generated response {_ID}(?P<streamed> \(streaming complete\))?: output: (?=['\"])"),
        _vllm_output,
    ),
    Mark("vllm", re.compile(rf"Generated response {_ID} \(streaming delta\): output: (?=['\"])"), _vllm_delta),
    Mark(
        "vllm",
        re.compile(rf"\bAdded request {_ID}\.(?=\s{{0,4}}\n[^\n]{{0,80}}\bDELTA TEXT: )"),
        lambda _, __: [(What.START, True)],
    ),
    Mark("vllm", re.compile(r"(?m)^[^\n]{0,80}\bDELTA TEXT: "), _delta_text),
    Mark("vllm", re.compile(r"(?m)^[^\n]{0,80}_parser\.py:\d{1,4}\] delta_text:"), _parser_delta),
    Mark("vllm", re.compile(rf"Generated response {_ID} details: output_token_ids: (?=\[)"), read_python(What.IDS)),
    Mark("vllm", re.compile(r"\bnon-default args: (?=\{)"), read_python(What.FLAGS)),
    Mark("vllm", re.compile(r"\bargs: (?=Namespace\()"), read_python(What.FLAGS)),
    Mark(
        "vllm",
        re.compile(r"vLLM (?:API )?server version v?(?P<version>\d[\w.+]{0,40})"),
        lambda _, match: [(What.VERSION, match["version"].rstrip("."))],
    ),
    Mark("sglang", re.compile(r"\bserver_args=(?=ServerArgs\()"), read_python(What.FLAGS)),
    Mark("sglang", re.compile(rf"\bReceive(?:d request)?: obj=(?=\w{{1,40}}\({_RID})"), _sglang_input),
    Mark("sglang", re.compile(rf"\bFinish(?:ed)?: obj=(?=\w{{1,40}}\({_RID})"), _sglang_output),
    Mark(
        "sglang",
        re.compile(
            r"(?m)^\{\"timestamp\": \"[^\"\n]{1,60}\", \"event\": \"request\.finished\", "
            r"\"rid\": \"(?P<id>[\w-]{1,80})\""
        ),
        _sglang_json,
    ),
    Mark("llama.cpp", re.compile(r"Parsing input with format [^\n:]{1,60}: ?\n?"), read_rest(What.RAW)),
    Mark("llama.cpp", re.compile(r"\bgenerated_text=(?=\")"), _generated_text),
    Mark("llama.cpp", re.compile(r"\bPartial parse: "), lambda _, __: [(What.PARTIAL, True)]),
    Mark("llama.cpp", re.compile(r"unparsed peg-native output: ?"), read_rest(What.RAW)),
    Mark("llama.cpp", re.compile(r"\bParsed message: (?=\{)"), read_json(What.MESSAGE)),
    Mark("llama.cpp", re.compile(r"log_server_r\w*: request: \s*(?=\{)"), read_json(What.REQUEST)),
    Mark("llama.cpp", re.compile(r"log_server_r\w*: response: \s*(?=\{)"), read_json(What.ANSWER)),
    Mark(
        "ollama",
        re.compile(r"msg=\"(?:chat|generate|completion) request\"[^\n\"]{0,200}?\s{0,4}\bprompt=(?=\")"),
        read_python(What.PROMPT),
    ),
    Mark("ollama", re.compile(r"\blevel=TRACE [^\n]{0,120}?msg=decoded string="), _decoded),
    Mark("llama.cpp", re.compile(r"\bstopped by limit, n_decoded = \d"), _limit),
    Mark("llama.cpp", re.compile(r"\bstopped due to running out of context capacity, n_"), _limit),
    Mark("llama.cpp", re.compile(r"\bChat format: (?=\S)"), _chat_format),
    Mark("llama.cpp", re.compile(r"\| (?:stopped by EOS|stopped by word, stopping_word:)"), _a_reason("stop")),
    Mark("llama.cpp", re.compile(r"\bslot +release: [^\n]{0,80}\btruncated = 1\b"), _line),
    Mark(
        "lm-studio",
        re.compile(r"Received request: POST to /\S{1,80} with body\s{1,4}(?={)"),
        read_json(What.REQUEST),
    ),
    Mark("lm-studio", re.compile(r"Generated (?:prediction|packet):\s{1,4}(?=\{)"), read_json(What.ANSWER)),
    Mark("lm-studio", re.compile(r"(?m)^Model Output: {1,3}"), read_rest(What.RAW)),
    Mark("mlx-openai-server", re.compile(rf":log_debug_prompt{_MLX}(?![\u2726\u2501])(?=\S)"), read_rest(What.PROMPT)),
    Mark("mlx-openai-server", re.compile(rf":log_debug_raw_text_response{_MLX}Raw text: "), read_rest(What.RAW)),
    Mark("", re.compile(r"\bRequest options: (?=\{)"), _client_request),
    Mark("", re.compile(r"\blitellm\.(?=a?completion\((?:model|messages)=)"), read_python(What.REQUEST)),
    Mark("", re.compile(r"\] WRITE: \d{1,9}B (?=\{)"), read_json(What.REQUEST)),
    Mark("", re.compile(r"\] READ: \d{1,9}B (?=\{)"), read_json(What.ANSWER)),
    Mark(
        "",
        re.compile(
            rf"equest:\s{{0,4}}\n- method: POST\n- url: [^\n]{{1,400}}\n(?:- headers: [^\n]{{0,4000}}\n)?"
            rf"- body: (?={_ASKED_BODY})"
        ),
        read_json(What.REQUEST),
    ),
    Mark(
        "",
        re.compile(
            r"esponse:\s{0,4}\n- status code: 20\d\n(?:- headers: [^\n]{0,4000}\n)?"
            rf"- body: (?={_ANSWERED_BODY})"
        ),
        read_json(What.ANSWER),
    ),
    Mark("llama.cpp", re.compile(r"\bAdded a [BE]OS token to the prompt [^\n]{0,80}but the prompt also "), _line),
    Mark("llama-cpp-python", re.compile(r"\bDetected duplicate leading \"[^\"\n]{1,40}\" in prompt"), _line),
    Mark("llama.cpp", re.compile(r"\binput truncated(?:, n_ctx = | \| n_ctx=)\d"), _line),
    Mark("llama.cpp", re.compile(r"\bnew prompt, n_ctx_slot = \d"), _too_long),
    Mark("llama.cpp", re.compile(r"\bforcing full prompt re-processing due to lack of cache data"), _cache_lost),
    Mark("llama.cpp", re.compile(r"\bslot context shift, n_keep = \d"), _line),
    Mark("ollama", re.compile(r"\btruncating input messages which exceed context length\"? truncated=\d"), _line),
    Mark("ollama", re.compile(r"\bcontext limit hit - shifting\"? id=\d"), _line),
    Mark("ollama", re.compile(r"\btruncating input prompt\"? limit=\d{1,9} prompt=\d"), _line),
    Mark("ollama", re.compile(r"\badding bos token to prompt which already has it\b"), _line),
    Mark("vllm", re.compile(r"\bguided_decoding=GuidedDecodingParams\("), _line),
    Mark("mlx-openai-server", re.compile(rf"\| [\w.]{{1,60}}:\w{{1,40}}{_MLX}{_IGNORED}"), _line),
    Mark("vllm", re.compile(rf"[\w/]{{1,60}}\.py:\d{{1,5}}\] {_IGNORED}"), _line),
    Mark("unknown", re.compile(rf"(?m)^{_IGNORED}"), _line),
    Mark("", re.compile(r"\b(?:RAW RESPONSE|Raw response|raw_response):\s{0,4}(?=\{)"), read_json(What.ANSWER)),
    Mark("", re.compile(r"Exiting (?:LLM|Chat Model) run with output:\s{0,4}(?=\{)"), _generation),
)  # fmt: skip
