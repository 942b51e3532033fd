"""Errors that quote what the model wrote: which text that is, and where the parser that quotes it gave up.

error parsing tool call: raw='ARGUMENTS', err=WHY                 Ollama
… tool call parsing failed" error="WHY" content="TEXT"            Ollama's log
Failed to parse input at pos N: REST                              llama.cpp; the first N characters are not shown
unparsed peg-native output: REST                                  llama.cpp's log
Failed to parse tool call: WHY … Model Output: TEXT               LM Studio's log
Invalid JSON: WHY at line 1 column N [… input_value='TEXT' …]     pydantic; long texts are elided
Could not parse tool call from: TEXT                              mlx-lm
Malformed function call: TEXT                                     Gemini
Unable to parse tool parameter JSON … Error: WHY JSON: TEXT       Anthropic's client
Function NAME arguments: TEXT are not valid JSON                  LangChain
Failed to parse "TEXT" (base64: …                                 LangChain4j
Failed to parse. Text: "TEXT". Error: WHY     LangChain (JavaScript)
LM Response: TEXT Expected to find output fields …                DSPy
Could not parse LLM output: `TEXT`   Invalid json output: TEXT    LangChain
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

_OLLAMA = "error parsing tool call: raw='"
_OLLAMA_LOG = re.compile(
    r'tool call parsing failed"? error="(?P<why>(?:[^"\\]|\\.)*+)" content="(?P<text>(?:[^"\\]|\\.)*+)(?P<end>"?)'
)
_LM_STUDIO_ENTRY = re.compile(r"(?<=\s)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {1,2}\[[A-Z]{4,5}\]")
_AT = re.compile(r"Failed to parse input at pos (\d{1,9}): ?")
_WHY = re.compile(r"',? err=")
_UNPARSED = re.compile(r"unparsed [\w-]{1,40} output: ?")
_PYDANTIC = re.compile(r"Invalid JSON: ([^\[\n]{1,200})\[type=json_invalid,\s{0,9}input_value=")
_COLUMN = re.compile(r"at line 1 column (\d{1,9})")
_LANGCHAIN = re.compile(r"Function [\w.-]{1,100} arguments:\s")
_LANGCHAIN4J = re.compile(r"Failed to parse \"(.{1,20000}?)(?:(\" \(base64: )|\Z)", re.DOTALL)
_LANGCHAIN_JS = re.compile(
    r"Failed to parse\. Text: \"(?P<text>.{1,20000}?)\"\. Error: (?P<why>[^\n]{1,300})", re.DOTALL
)
_DSPY = re.compile(
    r"failed to parse the LM response\.\s{1,20}(?P<mark>>)?[\s>]{0,20}LM Response:(?P<text>.{0,20000}?)"
    r"(?P<end>[\s>]{0,20}Expected to find output fields|\Z)",
    re.DOTALL,
)
_MARK_OF_LINE = re.compile(r"(?m)^ {0,3}> ?")  # of a quotation in Markdown
_LOG_LINE = re.compile(
    r"\n[ \t]{0,8}(?:\[?\d{4}-\d\d-\d\d[ T]\d\d:|\d{1,3}\.\d\d\.\d{3}\.\d{3} [A-Z] |[\w.-]{1,60} {1,20}\| )"
)
_OF_BODY = re.compile(r"\"(?:message|error|detail)\"\s{0,4}:\s{0,4}\"\Z")
_MAX_OF_BODY = 40
_STRING = re.compile(r'(?:[^"\\]|\\.)*+', re.DOTALL)
_ELLIPSIS = "..."
_CUT = "…"  # at the end of words whose rest was not copied
_CONTROLS = {"\n": "a line break", "\t": "a tab", "\r": "a carriage return"}


@dataclass(frozen=True, slots=True)
class Quoted:
    """What the model wrote, as an error quotes it.

    Attributes:
        text: The text, or what is shown of it.
        is_arguments: Whether it is the arguments of one call, not an output.
        skipped: How many characters of the output precede it and are not shown.
        is_elided: Whether the program that quotes it left out its middle.
        is_cut: Whether it ends where the copy of the error ends, and its end is unknown.
        why: The reason that the parser gave; "" if it gave none.
        at: Character of `text` at which the parser gave up, by its own word; `None` if it did not say.
    """

    text: str
    is_arguments: bool = False
    skipped: int = 0
    is_elided: bool = False
    is_cut: bool = False
    why: str = ""
    at: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all of the output, or of the arguments, is shown."""
        return not self.skipped and not self.is_elided and not self.is_cut

    @property
    def why_not_whole(self) -> str:
        """Why it may not be all that the model wrote, as a clause; "" if nothing speaks against it."""
        if self.is_arguments:
            return "the error quotes the arguments of one call, not the whole output"
        return f"the error quotes the output from character {self.skipped:,} on" if self.skipped else ""


@dataclass(frozen=True, slots=True)
class JsonBreak:
    """Where a text stops being one JSON value.

    Attributes:
        at: Character, from 0.
        why: What is wrong there, as a clause.
    """

    at: int
    why: str


def quoted_output(message: str, output: str | None = None) -> Quoted | None:
    """Return what the model wrote, as an error quotes it; `None` if it quotes nothing.

    Args:
        message: The words of the error.
        output: The output that the error contains apart from its words.
    """
    if output is not None:
        return Quoted(output)
    found = next((found for read in _READERS if (found := read(message)) is not None and found.text.strip()), None)
    is_elided = found is not None and found.text.lstrip().startswith((_ELLIPSIS, "…"))
    return replace(found, is_elided=True) if found is not None and is_elided else found


def json_break(text: str) -> JsonBreak | None:
    """Return where a text stops being one JSON value; `None` if it is one.

    >>> json_break('{"a": 1}]')
    JsonBreak(at=8, why='`]` follows the end of the JSON')
    >>> json_break('{"a": 1')
    JsonBreak(at=7, why='the text ends while the JSON is still open')
    """
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        at, found = error.pos, text[error.pos : error.pos + 1]
        if error.msg == "Extra data":
            rest = text[at:].strip()
            shown = rest if len(rest) <= 20 else rest[:20] + "…"
            return JsonBreak(at, f"`{shown}` follows the end of the JSON")
        if not found or not text[at:].strip() or error.msg.startswith("Unterminated string"):
            return JsonBreak(len(text), "the text ends while the JSON is still open")
        shown, reason = _CONTROLS.get(found, f"`{found}`"), error.msg.removesuffix(" at")
        return JsonBreak(at, f"{shown} is not allowed there ({reason[:1].lower()}{reason[1:]})")
    except (ValueError, RecursionError):
        return JsonBreak(0, "it cannot be decoded")
    return None


def _read_ollama(message: str) -> Quoted | None:
    start = message.find(_OLLAMA)
    if start < 0:
        return None
    start += len(_OLLAMA)
    found = list(_WHY.finditer(message, start))
    if not found:
        rest = message[start:].rstrip()
        return Quoted(rest.removesuffix("'"), is_arguments=True, is_cut=not rest.endswith("'"))
    return Quoted(message[start : found[-1].start()], is_arguments=True, why=message[found[-1].end() :].strip())


def _read_ollama_log(message: str) -> Quoted | None:
    found = _OLLAMA_LOG.search(message)
    if found is None:
        return None
    why, text = (_text_of_literal(f'"{found[name]}"') for name in ("why", "text"))
    return Quoted(text, is_cut=not found["end"], why=why.partition("\n")[0])


def _find_position(message: str) -> Quoted | None:
    found = _AT.search(message)
    if found is None:
        return None
    escaped = _read_json(message, found.start(), found.end())
    if escaped is not None:
        return replace(escaped, skipped=int(found[1]), at=0)
    text = _cut_to_end(message, found.end())
    return Quoted(text.removesuffix(_CUT), skipped=int(found[1]), is_cut=text.endswith(_CUT), at=0)


def _read_json(message: str, string_start: int, start: int) -> Quoted | None:
    r"""Return a text within a string of JSON that a line of a log contains; `None` where it stands by itself.

    Args:
        message: The line.
        string_start: Where the string begins, if it is one.
        start: Where the text begins.
    """
    if _OF_BODY.search(message, max(0, string_start - _MAX_OF_BODY), string_start) is None:
        return None
    text = _STRING.match(message, start)
    if text is None:
        return None
    is_cut = message[text.end() : text.end() + 1] != '"'
    try:
        value: object = json.loads(f'"{text[0]}"', strict=False)
    except ValueError:
        return None
    return Quoted(str(value), is_cut=is_cut)


def _read_unparsed(message: str) -> Quoted | None:
    found = _UNPARSED.search(message)
    return None if found is None else Quoted(_cut_to_end(message, found.end()))


def _read_lm_studio(message: str) -> Quoted | None:
    start = message.find("Failed to parse tool call:")
    named = message.find("Model Output:", start) if start >= 0 else -1
    if named < 0:
        return None
    why = message[start + len("Failed to parse tool call:") : named].strip().rstrip(".")
    text = _cut_to_end(message, named + len("Model Output:"))
    return Quoted(_LM_STUDIO_ENTRY.split(text, maxsplit=1)[0].strip(), why=why)


def _read_pydantic(message: str) -> Quoted | None:
    found = _PYDANTIC.search(message)
    if found is None:
        return None
    stop = message.find(", input_type=", found.end())
    literal = message[found.end() : stop if stop >= 0 else len(message)].strip()
    text = _text_of_literal(literal)
    column = _COLUMN.search(found[1])
    at = int(column[1]) - 1 if column is not None and int(column[1]) > 0 else None
    return Quoted(text, is_elided=_ELLIPSIS in text, why=found[1].strip(), at=at)


def _read_mlx(message: str) -> Quoted | None:
    return _after(message, "Could not parse tool call from: ")


def _read_gemini(message: str) -> Quoted | None:
    return _after(message, "Malformed function call: ")


def _read_anthropic_client(message: str) -> Quoted | None:
    start = message.find("Unable to parse tool parameter JSON from model.")
    named = message.find(" JSON: ", start) if start >= 0 else -1
    error = message.find(" Error: ", start) if start >= 0 else -1
    if named < 0:
        return None
    why = message[error + len(" Error: ") : named].strip() if 0 <= error < named else ""
    return Quoted(message[named + len(" JSON: ") :].strip(), is_arguments=True, why=why)


def _read_langchain(message: str) -> Quoted | None:
    found = _LANGCHAIN.search(message)
    stop = message.find("are not valid JSON", found.end()) if found is not None else -1
    if found is None or stop < 0:
        return None
    return Quoted(message[found.end() : stop].strip(), is_arguments=True)


def _read_langchain4j(message: str) -> Quoted | None:
    found = _LANGCHAIN4J.search(message)
    return None if found is None else Quoted(found[1], is_cut=found[2] is None)


def _read_langchain_js(message: str) -> Quoted | None:
    found = _LANGCHAIN_JS.search(message)
    if found is None:
        return None
    is_bare = found["text"].lstrip().startswith(("{", "["))  # of prose, or of a fence, no character is to blame
    return Quoted(found["text"], why=found["why"].strip(), at=0 if is_bare else None)


def _read_dspy(message: str) -> Quoted | None:
    found = _DSPY.search(message)
    if found is None:
        return None
    text = _MARK_OF_LINE.sub("", found["text"]) if found["mark"] else found["text"]
    return Quoted(text.strip(), is_cut=not found["end"])


def _read_agent(message: str) -> Quoted | None:
    found = _after(message, "Could not parse LLM output: ") or _after(message, "Invalid json output: ")
    if found is None:
        return None
    text = found.text.partition("\nFor troubleshooting, visit:")[0].strip()
    return Quoted(text[1:].removesuffix("`") if text.startswith("`") and not text.startswith("```") else text)


def _after(message: str, sentence: str) -> Quoted | None:
    start = message.find(sentence)
    return None if start < 0 else Quoted(_cut_to_end(message, start + len(sentence)))


def _cut_to_end(message: str, start: int) -> str:
    """Return what follows, up to the next line of a log."""
    following = _LOG_LINE.search(message, start)
    return message[start : following.start() if following is not None else len(message)].rstrip("\n")


def _text_of_literal(literal: str) -> str:
    """Return the text of a Python literal; as it is written, where it is not one."""
    try:
        value: object = ast.literal_eval(literal)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return literal.strip("'\"")
    return value if isinstance(value, str) else literal


_READERS: tuple[Callable[[str], Quoted | None], ...] = (
    _read_ollama,
    _read_ollama_log,
    _find_position,
    _read_unparsed,
    _read_lm_studio,
    _read_pydantic,
    _read_mlx,
    _read_gemini,
    _read_anthropic_client,
    _read_langchain,
    _read_langchain4j,
    _read_langchain_js,
    _read_dspy,
    _read_agent,
)
