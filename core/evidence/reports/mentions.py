"""Which server software, parser and model a text names, apart from the output or answer that it contains.

    vLLM 0.12 with `--tool-call-parser hermes`      software and parser, by name and flag
    "done_reason": "stop", "eval_count": 21         software, by fields that no other one sends
    I run Qwen2.5-Coder-7B in Ollama                software and model

A text that names several of a kind names none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.base.types import Server
from prompt_debugger.core.diagnose.calls.unparsed_calls import family_of_model
from prompt_debugger.core.evidence.commands.flags import server_of
from prompt_debugger.core.formats import TABLES

_PARSER = re.compile(
    r"--tool-call-parser[ \t=]{1,4}[\"'`]?(?!(?:to|and|or|is|was|are|must|with|for|in|on|the|as|not|flags?|options?"
    r"|argument|parameter|needs?|requires?|does|set|which|that|because|but|when|if|NAME)\b)([A-Za-z][A-Za-z0-9_.-]{1,40})"
    r"|[\"']tool_call_parser[\"'][ \t]{0,4}[:=][ \t]{0,4}[\"']([A-Za-z][A-Za-z0-9_.-]{1,40})[\"']"
)
# Named in words, as code: `hermes` tool parser, tool parser `hermes`.
_NAMED = re.compile(
    r"[`'\"]([a-z][a-z0-9_.-]{2,40})[`'\"] (?:tool[ -])?(?:call(?:ing)?[ -])?parser\b"
    r"|\b(?:tool[ -])(?:call(?:ing)?[ -])?parser(?:[:=] ?| is | )[`'\"]([a-z][a-z0-9_.-]{2,40})[`'\"]"
)
# Of vLLM's sources, as tracebacks and readers of them name them: `Qwen3CoderToolParser`, `hermes_tool_parser.py`.
_SOURCE = re.compile(r"\b([A-Z]\w{2,30}?)ToolParser\b|\b([a-z][a-z0-9_]{2,30}?)_tool_parser(?:\.py)?\b")
_ADVISED = re.compile(
    r"\b(?:should|instead|use|try|tried|need|works?|without|correct|fix(?:ed)?|set|add)\b[^.\n]{0,40}$", re.IGNORECASE
)
_ADVISED_IN_WORDS = re.compile(
    r"\b(?:should|instead|use|try|tried|switch\w*|without|set|add)\b[^.\n]{0,40}$", re.IGNORECASE
)
_NAMES = {
    "vllm": r"vllm",
    "sglang": r"sglang",
    "ollama": r"ollama",
    "llama.cpp": r"llama\.cpp|llama-server|llama-cli",
    "lm-studio": r"lm ?studio|lmstudio",
    "mlx-lm": r"mlx[-_]lm(?:\.server)?",
    "mlx-vlm": r"mlx[-_]vlm",
    "mlx-openai-server": r"mlx-openai-server",
    "omlx": r"omlx",
    "rapid-mlx": r"rapid-mlx",
    "vllm-mlx": r"vllm-mlx",
    "tgi": r"tgi|text-generation-inference",
    "lmdeploy": r"lmdeploy",
    "tensorrt-llm": r"tensorrt-llm|trtllm-serve",
    "llama-cpp-python": r"llama[-_]cpp[-_]python",
    "ovms": r"ovms|openvino model server",
}
_SOFTWARE = tuple(
    (kind, re.compile(rf"(?<![A-Za-z0-9-])(?:{names})(?![A-Za-z0-9]|[-_]mlx)", re.IGNORECASE))
    for kind, names in _NAMES.items()
)
_VERSIONED = {
    kind: re.compile(
        rf"(?<![A-Za-z0-9-])(?:{names})(?:[ -]?version(?:\n\n?(?=v?\d))?)?\)?[ \t`:=@v|]{{0,6}}(?<=[ \t`:=@v|\n])"
        r"(\d{1,4}\.\d{1,4}(?:\.\d{1,4})?)(?![\d.]\d)",
        re.IGNORECASE,
    )
    for kind, names in _NAMES.items()
}
# What ought to have come, or came once.
_OF_ANOTHER_RUN = re.compile(
    r"\b(?:expected|works? (?:in|with|on)|worked|fine (?:in|with|on)|earlier|previous(?:ly)?|downgrad\w+|compared)\b"
    r"[^.\n]{0,80}\Z",
    re.IGNORECASE,
)
# A software that is named beside the one that ran: what a client is mostly used with, and what does better.
_BESIDE = re.compile(
    r"\b(?:usually|normally|typically|mostly|mainly|often|unlike|similar to|such as|compared (?:to|with)|instead of"
    r"|rather than|e\.g\.|works? (?:fine |well |correctly )?(?:in|with|on))\W(?:[^.;\n]{0,40}\W)?\Z",
    re.IGNORECASE,
)
# llama.cpp counts its builds: `version: 9652 (6eab47181)`, `b9652`.
_BUILD = re.compile(r"\bversion:? (\d{3,6}) \([0-9a-f]{7}|(?<![\w./-])b(\d{4,5})(?![\w.])")
# What only this software writes into its answers, or listens at.
_SIGNS = (
    (
        "ollama",
        re.compile(
            r"[\"']?(?:done_reason|eval_duration)[\"']?[:=]|[:/]11434\b|(?<!/app)/api/chat\b(?!/|\.\w| \d{3} in )"
        ),
    ),
    ("sglang", re.compile(r"[\"']?matched_stop[\"']?[:=]")),
    (
        "vllm",
        re.compile(
            r"[\"']?kv_transfer_params[\"']?[:=]|chatcmpl-tool-[0-9A-Za-z]{8}|--enable-auto-tool-choice\b"
            r"|\bextract_tool_calls(?:_streaming)?\b"
        ),
    ),
    ("tensorrt-llm", re.compile(r"[\"']?disaggregated_params[\"']?[:=]")),
    ("llama.cpp", re.compile(r"[\"']?(?:predicted_per_token_ms|__verbose)[\"']?[:=]")),
    ("lm-studio", re.compile(r"@lmstudio\b")),
)
_OF_MLX = frozenset({"mlx-lm", "mlx-vlm"})
_MLX_SERVERS = frozenset({"mlx-openai-server", "omlx", "rapid-mlx", "vllm-mlx", "lm-studio"})
_MODEL = re.compile(r"(?<![\w./@=:-])(?:[A-Za-z][\w.-]{1,40}/)?[A-Za-z][A-Za-z.-]{2,30}[\w.:-]{0,60}[0-9a-zA-Z]")
_NO_MODEL = re.compile(r"parser|template|\.(?:py|jinja|json|txt|md|so|cpp|go|rs)\b|\(|_tool", re.IGNORECASE)
_KNOWN = frozenset(name for names in TABLES.tool_parsers.values() for name in names)
_UNKNOWN = Server("")
_OWNERS = {
    "sgl-project/sglang": "sglang",
    "vllm-project/vllm": "vllm",
    "internlm/lmdeploy": "lmdeploy",
    "ollama/ollama": "ollama",
    "ggml-org/llama.cpp": "llama.cpp",
    "abetlen/llama-cpp-python": "llama-cpp-python",
    "lmstudio-ai/lmstudio-bug-tracker": "lm-studio",
}
_BOX_LINK = re.compile(
    rf"(?mi)^[ \t]{{0,4}}[-*] \[[ x]\] [^\n]{{0,300}}?github\.com/({'|'.join(re.escape(one) for one in _OWNERS)})"
    r"/(?:issues|discussions|blob|tree)\b"
)
_MAX_CHARS = 60_000  # in which names are looked for
_MAX_NAMES = 300


def mentioned_server(text: str, *, has_words: bool = True, answer: str = "") -> Server | None:
    """Return the server that a text names; `None` where it names none, or several.

    Args:
        text: The text.
        has_words: Whether someone wrote about it, so that the text may name parser and model, too.
        answer: Which of several answers in the text was read: its own signs come first.
    """
    text = text[:_MAX_CHARS]
    kind = _tracker_of(text) or _signed(answer[:_MAX_CHARS]) or _kind_in(text, has_words=has_words)
    if not has_words:
        return None if kind is None else Server("", kind=kind)
    parser = _parser_in(text) if kind is not None else None
    model = model_in(text)
    if kind is None and model is None:
        return None
    server = server_of(kind or "", {"tool_call_parser": parser} if parser else {}, is_whole=False).server
    version = None if kind is None else version_in(text, kind)
    return replace(server, kind=kind or _UNKNOWN.kind, version=version, served_models=() if model is None else (model,))


def version_in(text: str, kind: str) -> str | None:
    """Return the only release of a software that a text names.

    >>> version_in("vLLM v0.10.2 loses it.", "vllm"), version_in("vLLM 0.10.2 does, vllm==0.11.0 not.", "vllm")
    ('0.10.2', None)
    >>> version_in("Expected, as vllm==0.8.5 writes it:", "vllm")
    """
    if kind == "llama.cpp":
        builds = {f"b{one[1] or one[2]}" for one in _BUILD.finditer(text[:_MAX_CHARS])}
        return builds.pop() if len(builds) == 1 else None
    pattern = _VERSIONED.get(kind)
    named = () if pattern is None else pattern.finditer(text[:_MAX_CHARS])
    found = {one[1] for one in named if _OF_ANOTHER_RUN.search(text, max(0, one.start() - 120), one.start()) is None}
    return found.pop() if len(found) == 1 else None


def _tracker_of(text: str) -> str | None:
    """Return the software in whose tracker a report was written: its form has boxes that name the tracker.

    >>> _tracker_of("- [x] A question belongs to https://github.com/sgl-project/sglang/discussions.")
    'sglang'
    >>> _tracker_of("Same as https://github.com/sgl-project/sglang/issues/1")
    """
    owners = {found[1].lower() for found in _BOX_LINK.finditer(text)}
    return _OWNERS[owners.pop()] if len(owners) == 1 else None


def _signed(text: str) -> str | None:
    """Return the one server software whose signs a text contains."""
    signed = _signs_in(text)
    return next(iter(signed)) if len(signed) == 1 else None


def _signs_in(text: str) -> set[str]:
    return {kind for kind, pattern in _SIGNS if pattern.search(text) is not None}


def _kind_in(text: str, *, has_words: bool) -> str | None:
    """Return the only software that answers show, or else that words name."""
    if _signs_in(text) or not has_words:
        return _signed(text)
    named = {kind for kind, pattern in _SOFTWARE if any(_is_meant(text, one) for one in pattern.finditer(text))}
    if named & _MLX_SERVERS:  # which run models by these two, and name them in their logs
        named -= _OF_MLX
    if named == _OF_MLX:  # the second takes its parsers from the first
        return "mlx-lm"
    return next(iter(named)) if len(named) == 1 else None


def _is_meant(text: str, name: re.Match[str]) -> bool:
    """Return whether a software is named as the one that ran, not beside it."""
    return _BESIDE.search(text, max(0, name.start() - 60), name.start()) is None


def _parser_in(text: str) -> str | None:
    """Return the only tool parser that a text names by its flag; one that someone advises is not the one that ran."""
    found, advised = [*_PARSER.finditer(text)], _ADVISED
    if not found:
        found, advised = [one for one in _NAMED.finditer(text) if (one[1] or one[2]) in _KNOWN], _ADVISED_IN_WORDS
    names = {match[1] or match[2] for match in found} or {*parsers_in_sources(text)}
    is_advised = any(advised.search(text, max(0, match.start() - 60), match.start()) for match in found)
    return names.pop() if len(names) == 1 and not is_advised else None


def parsers_in_sources(text: str) -> Iterator[str]:
    """Yield the parsers whose classes or files a text names."""
    for found in _SOURCE.finditer(text):
        plain = (found[1] or found[2]).replace("_", "").lower()
        fitting = [name for name in _KNOWN if plain.startswith(name.replace("_", ""))]
        if fitting:
            yield max(fitting, key=len)


def model_in(text: str) -> str | None:
    """Return the model that a text names, where all models in it are of one family.

    >>> model_in("Serving Qwen/Qwen2.5-7B-Instruct, the call stays in content.")
    'Qwen/Qwen2.5-7B-Instruct'
    >>> model_in("Qwen2.5-7B works, Mistral-7B-Instruct-v0.3 does not.") is None
    True
    """
    names = list(dict.fromkeys(_model_names(text)))[:_MAX_NAMES]
    families = {name: family for name in names if (family := family_of_model(name)) is not None}
    return max(families, key=len) if len({*families.values()}) == 1 else None


def _model_names(text: str) -> Iterator[str]:
    for found in _MODEL.finditer(text):
        name = found[0]
        if any(char.isdigit() for char in name) and name not in _KNOWN and _NO_MODEL.search(name) is None:
            yield name
