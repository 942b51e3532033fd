"""Command lines of servers, wherever they are written down: a shell, systemd, Compose, Kubernetes, a Dockerfile.

vllm serve MODEL --tool-call-parser hermes        python -m sglang.launch_server --model-path MODEL
docker run … vllm/vllm-openai:v0.9.1 --model …    image: vllm/vllm-openai / command: ["--model", …]
- '--model=MODEL' / - '--enable-auto-tool-choice'   without the program, where a flag is that of one program only
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

MAX_CHARS = 60_000  # of one command
MAX_COMMANDS = 20
_MAX_SENTENCE = 400  # characters before a command in which code within a sentence may have begun

PROGRAM_WORDS = (
    "vllm",
    "sglang",
    "llama",
    "ollama",
    "mlx",
    "lmdeploy",
    "trtllm",
    "ovms",
    "openvino",
)  # each has one of them
PROGRAM = re.compile(
    r"(?:\bvllm[ \t]++serve\b|\bvllm\.entrypoints\.(?:openai\.)?api_server\b|\bsglang\.launch_server\b"
    r"|\bsglang[ \t]++serve\b"
    r"|\bllama-server(?:\.exe)?\b|\bllama_cpp\.server\b|\bllama-swap\b|\bollama[ \t]++serve\b|\bmlx_lm[.\s]server\b"
    r"|\bmlx-openai-server[ \t]++launch\b|\bvllm-mlx[ \t]++serve\b|\brapid-mlx[ \t]++serve\b"
    r"|\blmdeploy[ \t]++serve[ \t]++api_server\b|\btrtllm-serve\b|\bovms(?=[ \t]++--)"
    r"|\b(?:vllm/vllm-openai|lmsysorg/sglang|ggml-org/llama\.cpp|ggerganov/llama\.cpp|openvino/model_server)\b(?:[:@][\w.:-]++)?)"
)
_KINDS: Mapping[str, str] = {"vllm": "vllm", "sglang": "sglang", "lmsysorg": "sglang", "llama": "llama.cpp",
                             "ggml": "llama.cpp", "ggerganov": "llama.cpp", "ollama": "ollama",
                             "mlx": "mlx-lm", "lmdeploy": "lmdeploy", "trtllm": "tensorrt-llm",
                             "ovms": "ovms", "openvino": "ovms"}  # fmt: skip
_MLX_SERVERS = ("mlx-openai-server", "vllm-mlx", "rapid-mlx")
_IMAGE = re.compile(r"[\w.-]+/[\w.-]+[:@](?:v(?P<version>\d[\w.]*)|[\w.:-]+)\Z")
_CONTINUED = re.compile(r"(?<![ \t])[ \t]*+(?:\\|\^|`)\r?\n[ \t]*")
_WORDS = re.compile(r"""(?:[^'"\n]++|'[^'\n]*+'|"(?:[^"\\\n]++|\\.)*+"|['"])*+""")
_YAML_KEY = re.compile(r"^([ \t]*)(?:- )?(command|args|entrypoint|cmd)[ \t]*:[ \t]*(.*)$", re.IGNORECASE)
_YAML_IMAGE = re.compile(r"(?m)^[ \t]*(?:- )?image[ \t]*:[ \t]*[\"']?(\S{1,200}?)[\"']?[ \t]*$")
_YAML_ITEM = re.compile(r"^([ \t]*)-[ \t]+(.*)$")
_FLAG_OF_VLLM = re.compile(r"(?m)^[ \t]*-[ \t]+[\"']?--enable-auto-tool-choice[\"']?[ \t]*$")
_DOCKERFILE = re.compile(r"(?m)^[ \t]*(?:CMD|ENTRYPOINT)[ \t]+(\[[^\n]{1,5000}\])[ \t]*$")

# What follows the name of a command in prose or in a heading.
_WORDS_OF_TALK = re.compile(
    r"(?:errors?|logs?|outputs?|commands?|fail(?:s|ed|ure)?|crash(?:es|ed)?|hangs|works|issues?|bugs?|problems?|is|was"
    r"|and|or|to|with|for|itself|process|server|side)[.,:;!?]{0,3}\Z",
    re.IGNORECASE,
)
_NOT = r"(?<!not )(?<!n't )(?<!never )(?<!n\u2019t )"
_WORKS = (
    rf"{_NOT}\bworks?(?: (?:just )?(?:fine|correctly|well|perfectly|as expected|ok))?"
    r" (?:with|in|on|using|via|under) NAME\b",
    rf"\bNAME\b(?: [\d.]{{1,9}})? {_NOT}works\b(?! as text)",
    rf"\b(?:with|using|on|in|via|under|use) NAME\b[^.\n]{{0,30}}?[, ] ?(?:it|everything|this|the same|all) "
    rf"{_NOT}works\b",
    # Chinese: with NAME (deployed), … can, is able to, normal
    r"(?:\u4f7f\u7528|\u6362\u6210?|\u7528) ?NAME ?(?:\u90e8\u7f72)?[^\u3002\n]{0,6}?[\uff0c, ]"
    r"[^\u3002\n\u4e0d]{0,12}?(?:\u80fd|\u53ef\u4ee5|\u6b63\u5e38)",
)


class Command(NamedTuple):
    """A command that starts a server.

    Attributes:
        kind: Its software: `kind` of a record in `complete.engines`.
        words: What follows the program, flag by flag.
        version: Where an image names it.
    """

    kind: str
    words: tuple[str, ...]
    version: str | None


def find_commands(text: str) -> tuple[Command, ...]:
    """Return the commands that start servers in a text, in order."""
    found = [*_read_yaml(text)] or [*_read_dockerfile(text)] or [*_read_lines(text)] or [*_read_items(text)]
    return tuple(found[:MAX_COMMANDS])


def names_server(text: str) -> bool:
    """Return whether a text has a program that starts a server, or a list of flags that only one of them has."""
    return PROGRAM.search(text) is not None or _FLAG_OF_VLLM.search(text) is not None


def find_parser_command(commands: Sequence[Command], text: str = "") -> Command:
    """Return the first command that names a parser, which says most of how answers are read; else the first.

    Where two are started, the one that works, according to `text`, is not the one that is asked about.
    """
    failing = [one for one in commands if not _is_said_to_work(one.kind, text)]
    commands = failing or commands
    return next(
        (one for one in commands if any(word.startswith("--") and "parser" in word for word in one.words)), commands[0]
    )


def _is_said_to_work(kind: str, text: str) -> bool:
    name = re.escape(kind).replace("mlx-lm", "mlx[-_]lm")
    return any(
        re.search(pattern.replace("NAME", name), text[:MAX_CHARS], re.IGNORECASE) is not None for pattern in _WORKS
    )


def _read_lines(text: str) -> Iterator[Command]:
    joined = _CONTINUED.sub(" ", text)
    end = 0
    for found in PROGRAM.finditer(joined):
        if found.start() < end:
            continue
        rest = _WORDS.match(joined, found.end(), _end_of_code(joined, found))
        end = found.end() if rest is None else rest.end()
        words = _words(joined[found.end() : end])
        command = _command(found[0], words)
        if command is not None:
            yield command
        for script in (word for word in words if " " in word and PROGRAM.search(word) is not None):
            yield from _read_lines(script)  # of `bash -lc '…'`


def _end_of_code(text: str, program: re.Match[str]) -> int:
    """Return where a command may end at most: where code within a sentence ends, also where its beginning was lost."""
    most = program.end() + MAX_CHARS
    near = max(0, program.start() - _MAX_SENTENCE)
    start = max(near, text.rfind("\n", near, program.start()) + 1)
    is_code = text.count("`", start, program.start()) % 2 == 1
    end = text.find("`", program.end(), most)
    if end >= 0 and not is_code:
        line_end = text.find("\n", program.end(), most)
        is_code = text.count("`", end, line_end if line_end >= 0 else most) == 1 and not text[end - 1].isspace()
        is_code = is_code and (line_end < 0 or end < line_end)
    return end if is_code and end >= 0 else most


def _command(program: str, words: list[str]) -> Command | None:
    """Return a command; `None` if the words after the program are prose, not flags."""
    kept: list[str] = []
    for word in words:
        if word in ("|", "||", "&&", ";", "&", ">", ">>", "2>&1", "<"):
            break
        kept.append(word)
    has_flags = any(word.startswith("-") for word in kept)
    if not has_flags and not (len(kept) == 1 and program.split()[-1] == "serve"):
        return None
    first = next((index for index, word in enumerate(kept) if word.startswith("-")), len(kept))
    if first > 1 or (not has_flags and _WORDS_OF_TALK.match(kept[0])):
        return None  # `vllm serve and then I pass --x`, `vllm serve error`
    return Command(_kind(program), tuple(kept), _version(program))


def _kind(program: str) -> str:
    if (named := program.split()[0]) in _MLX_SERVERS:
        return named
    if "llama_cpp" in program:
        return "llama-cpp-python"
    lead = re.split(r"[^A-Za-z]", program.strip(), maxsplit=1)[0].lower()
    return _KINDS.get(lead, "openai-compatible")


def _version(image: str) -> str | None:
    found = _IMAGE.match(image)
    return None if found is None else found["version"]


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quote that is never closed
        return line.replace("'", " ").replace('"', " ").split()


def _read_yaml(text: str) -> Iterator[Command]:
    """Yield the commands of Compose and Kubernetes: lists, inline or of one item a line, and texts."""
    image = _YAML_IMAGE.search(text)
    name = "" if image is None else image[1]
    lines = text.split("\n")
    words: list[str] = []
    for number, line in enumerate(lines):
        key = _YAML_KEY.match(line)
        if key is not None:
            words += _yaml_value(key[3].strip(), lines, number + 1, len(key[1]))
    if not words:
        return
    program = PROGRAM.search(" ".join(words[:12]))
    known = PROGRAM.search(name)
    if program is not None:
        flat = " ".join(shlex.quote(word) for word in words)
        for command in _read_lines(flat if len(words) > 1 else words[0]):
            yield command._replace(version=command.version or _version(name))
    elif known is not None:
        rest = words if len(words) > 1 else _words(words[0])
        yield Command(_kind(known[0]), tuple(rest), _version(name))


def _yaml_value(value: str, lines: list[str], start: int, margin: int) -> list[str]:
    """Return the words of a value: `[a, b]`, a text on the line or below it, or items below it."""
    if value.startswith("["):
        return _inline_list(value)
    if value and value not in (">", "|", ">-", "|-", "|+", ">+"):
        return _words(value.strip("\"'"))
    found: list[str] = []
    for number in range(start, len(lines)):
        line = lines[number]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        item = _YAML_ITEM.match(line)
        if item is not None and len(item[1]) >= margin and not value:
            found += _item(item[2])
        elif len(line) - len(line.lstrip()) > margin and (value or found or line.lstrip().startswith("-")):
            found += _words(line.strip().rstrip("\\"))
        else:
            break
    return found


def _item(text: str) -> list[str]:
    text = text.strip()
    if text[:1] in "\"'" and text[-1:] == text[:1] and len(text) > 1:
        return [text[1:-1]]
    return text.split(" ", 1) if text.startswith("--") else [text]


def _read_items(text: str) -> Iterator[Command]:
    """Yield the command whose flags alone are in a list, one item a line."""
    found = _FLAG_OF_VLLM.search(text)
    if found is None:
        return
    words: list[str] = []
    for line in text[:MAX_CHARS].split("\n"):
        item = _YAML_ITEM.match(line)
        if item is not None and (words or item[2].lstrip("\"'").startswith("--")):
            words += _item(item[2])
        elif words and line.strip():
            break
    if any(word == "--enable-auto-tool-choice" for word in words):
        yield Command("vllm", tuple(words), None)


def _inline_list(value: str) -> list[str]:
    try:
        items = json.loads(value)
    except (ValueError, RecursionError):
        return [word.strip(" \"'") for word in value.strip("[] ").split(",") if word.strip(" \"'")]
    return [str(item) for item in items] if isinstance(items, list) else []


def _read_dockerfile(text: str) -> Iterator[Command]:
    words = [word for found in _DOCKERFILE.finditer(text) for word in _inline_list(found[1])]
    if words:
        image = re.search(r"(?m)^[ \t]*FROM[ \t]+(\S{1,200})", text)
        name = "" if image is None else image[1]
        flat = " ".join(shlex.quote(word) for word in words)
        found = [*_read_lines(flat)]
        known = PROGRAM.search(name)
        if not found and known is not None:
            found = [Command(_kind(known[0]), tuple(words), None)]
        yield from (one._replace(version=one.version or _version(name)) for one in found)
