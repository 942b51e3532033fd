"""Faults of engines' tool parsers that are known by release: in which one they were seen, and since which one not.

    vllm    glm47   arguments arrive broken, then once more whole   seen up to 0.17.0, not in 0.26.0
    sglang  qwen25  no arguments, where a call comes in one piece   seen up to 0.5.23, the newest that was tried

Releases: calls that we made up were read by the parsers of vLLM 0.11.0, 0.17.0, 0.26.0 and 0.32.0 and of SGLang
0.5.9, 0.5.16 and 0.5.23, whole and in many chunkings (`parse RAW --parser NAME --splits --releases …`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_list, as_object, decode_json
from prompt_debugger.core.base.types import JSON, ChatResult, Server, Trace
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, break_of
from prompt_debugger.core.diagnose.endings import is_limit_word
from prompt_debugger.core.diagnose.fields import CallField, calls_of_message, content_of, reasoning_of, request_tools
from prompt_debugger.core.diagnose.reported_words import Reported

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")
_BUILD = re.compile(r"b(\d{3,6})\b")  # of llama.cpp
_NAME_LAST = re.compile(r"\{\s{0,4}\"arguments\"\s{0,4}:\s{0,4}\{")
_NAME_BEHIND = re.compile(r'\}\s*,\s*"name"\s*:')
_PYTHONIC = re.compile(r"\[[A-Za-z_][\w.]{0,80}\([^\[\]]*\)\]")
_MAX_CHARS = 8_000
_NONE = ("", None)


class Sign(StrEnum):
    """How a fault shows in an answer."""

    TWICE = "twice"
    EMPTY = "empty"
    LOST = "lost"
    NO_CALL = "no-call"
    NAME_BEHIND = "name-behind"
    NAMELESS = "nameless"
    AFTER_TEXT = "after-text"
    NOTHING = "nothing"
    NAME_LAST = "name-last"
    ONE_INDEX = "one-index"
    REFUSED = "refused"


class Fault(NamedTuple):
    """A fault of a parser.

    Attributes:
        kind: The server software.
        parsers: Its names of the parsers that have it; none where it chooses its parser itself.
        sign: How it shows.
        does: What the parser does, after *it*.
        seen: The newest release with the fault.
        mended: The first release tried that does not have it; "" where none is known.
        threads: Public reports of it.
        is_old: Whether only an answer whose release is known is taken for it.
        models: Words in the names of the models whose calls are met by it, in lower case; none for all.
        before: The last release without the fault that came before those with it; "" where none is known.
    """

    kind: str
    parsers: tuple[str, ...]
    sign: Sign
    does: str
    seen: str
    mended: str = ""
    threads: tuple[str, ...] = ()
    is_old: bool = False
    models: tuple[str, ...] = ()
    before: str = ""


_IN_ONE_PIECE = "loses a call that arrives in one piece, as with speculative decoding or a `stream_interval`"
_EMPTY = "streams nothing, not even `{}`, as the arguments of a call without any"
FAULTS: tuple[Fault, ...] = (
    Fault(
        "vllm",
        ("glm45", "glm47"),
        Sign.TWICE,
        "streams the arguments without their end, and then again in full",
        "0.17.0",
        "0.26.0",
        ("vllm-project/vllm#39253",),
    ),
    Fault(
        "vllm",
        ("mistral",),
        Sign.TWICE,
        "streams the arguments with gaps at numbers, and then again in full",
        "0.11.0",
        "0.26.0",
        ("vllm-project/vllm#13622",),
    ),
    Fault("vllm", ("glm45",), Sign.NAMELESS, "streams a call under an index without a name", "0.11.0", "0.17.0"),
    Fault("vllm", ("kimi_k2", "qwen3_coder", "minimax_m2"), Sign.NO_CALL, _IN_ONE_PIECE, "0.17.0", "0.26.0"),
    Fault("vllm", ("deepseek_v3", "deepseek_v31", "llama3_json"), Sign.NO_CALL, _IN_ONE_PIECE, "0.32.0"),
    Fault(
        "vllm",
        ("phi4_mini_json",),
        Sign.NO_CALL,
        "does not stream calls at all",
        "0.32.0",
        threads=("vllm-project/vllm#14886",),
    ),
    Fault(
        "vllm",
        ("hermes",),
        Sign.NAME_BEHIND,
        "takes the name for part of the arguments if the model writes it after them",
        "0.32.0",
        threads=("vllm-project/vllm#9693",),
    ),
    Fault(
        "vllm",
        ("hermes",),
        Sign.LOST,
        "loses arguments that the model writes before the name of its call",
        "0.6.3",
        "0.11.0",
        ("vllm-project/vllm#9693",),
        is_old=True,
    ),
    Fault("vllm", ("hermes",), Sign.EMPTY, _EMPTY, "0.17.0", "0.26.0", ("vllm-project/vllm#11392",)),
    Fault("vllm", ("llama3_json",), Sign.EMPTY, _EMPTY, "0.32.0"),
    Fault(
        "vllm",
        ("pythonic", "llama4_pythonic"),
        Sign.AFTER_TEXT,
        "reads no call that comes after text",
        "0.32.0",
        threads=("vllm-project/vllm#17109", "vllm-project/vllm#22917"),
    ),
    Fault(
        "sglang",
        ("qwen25", "qwen", "llama3"),
        Sign.LOST,
        "loses the arguments of a call that arrives in one piece, as with speculative decoding",
        "0.5.23",
        threads=("sgl-project/sglang#37634",),
    ),
    Fault(
        "mlx-lm",
        (),
        Sign.NOTHING,
        "returns a message without anything in place of a call that begins with `[TOOL_CALLS]name[ARGS]`",
        "0.31.3",
        threads=("ml-explore/mlx-lm#1307",),
        is_old=True,
        models=("devstral",),
    ),
    Fault(
        "sglang",
        ("minimax-m2", "minimax_m2"),
        Sign.NAMELESS,
        "streams the name and the arguments of one call as two calls",
        "0.5.10",
        threads=("sgl-project/sglang#23071",),
    ),
    Fault(
        "ollama",
        (),
        Sign.NOTHING,
        "returns neither the call nor a text of a model that thinks",
        "0.9.1",
        "0.9.2",
        ("ollama/ollama#11112",),
        is_old=True,
        before="0.9.0",
    ),
    Fault(
        "ollama",
        (),
        Sign.NAME_LAST,
        "reads no call whose arguments the model writes before its name",
        "0.9.6",
        threads=("ollama/ollama#11505",),
        before="0.9.2",
    ),
    Fault(
        "llama.cpp",
        (),
        Sign.ONE_INDEX,
        "streams several calls under the index 0",
        "b7622",
        threads=("ggml-org/llama.cpp#18591",),
        is_old=True,
        before="b7607",
    ),
    Fault(
        "llama.cpp",
        (),
        Sign.REFUSED,
        "refuses whole calls in Qwen's notation that its releases before read",
        "b9652",
        threads=("ggml-org/llama.cpp#24644",),
        is_old=True,
        before="b9626",
    ),
)


def known_fault(trace: Trace) -> tuple[Fault, CallField | None] | None:
    """Return the fault of the server's parser that its answer shows, with the call; `None` where none is known."""
    server = trace.server
    if server is None:
        return None
    models = cache(lambda: " ".join(model_names(trace)).lower())  # found in long texts, and few faults ask for them
    for fault in FAULTS:
        if fault.kind == server.kind and _is_met(models, server, fault) and _may_have(server, fault):
            shown = next(_shown(trace, fault.sign), None)
            if shown is not None:
                return fault, shown[0]
    return None


def _is_met(models: Callable[[], str], server: Server, fault: Fault) -> bool:
    """Return whether the server runs a parser with the fault, and one of the models that trigger it."""
    if fault.parsers and server.tool_parser not in fault.parsers:
        return False
    return not fault.models or any(word in models() for word in fault.models)


def _may_have(server: Server, fault: Fault) -> bool:
    """Return whether a release is not one of those that are known to be without a fault; no release may have it."""
    version, mended, before = (release_of(one) for one in (server.version, fault.mended, fault.before))
    if version is None:
        return not fault.is_old
    if before is not None and version <= before:
        return False
    if fault.is_old and mended is None:
        return version <= (release_of(fault.seen) or version)
    return mended is None or version < mended


@lru_cache(maxsize=1024)
def release_of(version: str | None) -> tuple[int, int, int] | None:
    """Return a release as numbers.

    >>> release_of("v0.10.2"), release_of("0.5.10.post1"), release_of("main")
    ((0, 10, 2), (0, 5, 10), None)
    >>> release_of("b9652-6eab47181")
    (9652, 0, 0)
    """
    build = _BUILD.match(version or "")
    if build is not None:
        return int(build[1]), 0, 0
    found = _VERSION.match(version or "")
    return None if found is None else (int(found[1]), int(found[2]), int(found[3] or 0))


def _shown(trace: Trace, sign: Sign) -> Iterator[tuple[CallField | None]]:
    """Yield the calls in which a sign shows; `None` in place of a call that is absent."""
    if _is_shown_elsewhere(trace, sign):
        yield (None,)
    stream, result = trace.chat_stream, trace.chat_stream or trace.chat
    if result is None or result.error or is_limit_word(result.finish_reason):
        return
    if sign is Sign.AFTER_TEXT:
        if _stands_after_text(result):
            yield (None,)
        return
    calls = calls_of_message(result.message)
    if sign is Sign.NOTHING and not calls and not _has_text(result):
        yield (None,)
    if sign is Sign.NAMELESS:  # which no whole answer is
        yield from ((call,) for call in calls if not call.name and call.arguments)
    if stream is None or sign is Sign.NAMELESS:
        return
    if sign is Sign.NO_CALL and not calls and stream.finish_reason == "tool_calls":
        yield (None,)
    yield from ((call,) for call in calls if _has(trace, call, sign))


def _is_shown_elsewhere(trace: Trace, sign: Sign) -> bool:
    """Return whether something other than an answer shows a fault: an error, a call left in text, words of a report."""
    match sign:
        case Sign.REFUSED:
            message = "" if trace.refusal is None else trace.refusal.message
            return "Failed to parse input at pos" in message and "</function>" in message
        case Sign.NAME_LAST:
            left = content_of(trace.chat.message) or "" if trace.chat is not None else ""
            shown = trace.raw.text if trace.raw is not None and trace.chat is None else left
            return trace.refusal is None and _NAME_LAST.search(shown[-_MAX_CHARS:]) is not None
        case Sign.ONE_INDEX:
            return _is_said(trace, Reported.JOINED) or _shares_index(trace)
        case Sign.NOTHING:
            return trace.chat is None and _is_said(trace, Reported.NOTHING)
        case _:
            return False


def _is_said(trace: Trace, kind: Reported) -> bool:
    return any(note.startswith(kind.value) for note in trace.notes)


def _shares_index(trace: Trace) -> bool:
    """Return whether two ids of calls in a stream have the index 0."""
    deltas = () if trace.chat_stream is None else trace.chat_stream.deltas
    calls = (as_object(call) for delta in deltas for call in as_list(delta.delta.get("tool_calls")))
    return len({str(call["id"]) for call in calls if call.get("id") and call.get("index") == 0}) > 1


def _has_text(result: ChatResult) -> bool:
    reasoning = reasoning_of(result.message)
    return bool((content_of(result.message) or "").strip()) or (reasoning is not None and bool(reasoning.text.strip()))


def _has(trace: Trace, call: CallField, sign: Sign) -> bool:
    arguments = call.arguments
    fault = break_of(arguments) if isinstance(arguments, str) else None
    match sign:
        case Sign.TWICE:
            return fault is not None and fault.kind is Break.WRAPPED and fault.words.startswith("a broken beginning")
        case Sign.EMPTY | Sign.LOST:
            is_bare = bool(call.name) and call.has_function and arguments in _NONE
            return is_bare and _has_arguments(trace, call) is (sign is Sign.LOST)
        case Sign.NAME_BEHIND:
            return isinstance(arguments, str) and fault is not None and _NAME_BEHIND.search(arguments) is not None
        case _:
            return False


def _has_arguments(trace: Trace, call: CallField) -> bool | None:
    """Return whether a call that came without arguments has some: by raw output, whole answer or tool; else `None`."""
    written = () if trace.parse is None else trace.parse.parsed.calls
    found: list[JSON] = [one.arguments_json for one in written if one.name == call.name]
    if trace.chat is not None and trace.chat is not trace.chat_stream:
        found += [
            decode_json(str(one.arguments)) for one in calls_of_message(trace.chat.message) if one.name == call.name
        ]
    shown = [one for one in found if isinstance(one, dict)]
    if shown:
        return any(shown)
    tool = next((tool for tool in request_tools(trace.request) if tool.name == call.name), None)
    parameters = None if tool is None else as_object(tool.parameters)
    if parameters is None or parameters.get("required"):
        return None if parameters is None else True
    return None if parameters.get("properties") else False


def _stands_after_text(result: ChatResult) -> bool:
    """Return whether content ends with a list of calls in Python that text precedes."""
    content = (content_of(result.message) or "").strip()[-_MAX_CHARS:]
    at = content.find("[")
    return at > 0 and _PYTHONIC.fullmatch(content, at) is not None and any(map(str.isalpha, content[:at]))
