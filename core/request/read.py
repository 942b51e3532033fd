"""Which of the pasted forms a text is, and the way from there to a checked `Request`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.text import line_column
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Notice, Request
from prompt_debugger.core.request.checks import Problem, check_body
from prompt_debugger.core.request.curl import has_curl, read_curl
from prompt_debugger.core.request.javascript import has_javascript, read_javascript
from prompt_debugger.core.request.json_text import JsonText, locate_in_json
from prompt_debugger.core.request.known_fields import OF_OLLAMA
from prompt_debugger.core.request.other_bodies import Converted, convert_as, convert_body
from prompt_debugger.core.request.places import Draft, Path, Place, show_path
from prompt_debugger.core.request.powershell import is_powershell, read_powershell
from prompt_debugger.core.request.python_call import read_python
from prompt_debugger.core.request.python_source import parse_source

MAX_CHARS = 2_000_000
MAX_PYTHON_CHARS = 500_000
MAX_NOTICES = 100

_FENCE = re.compile(r"[\ufeff\s]*```[\w+-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*\Z", re.DOTALL)
_PYTHON = re.compile(
    r"(?m)^[ \t]*(?:>>> |import |from [\w.]+ import |(?:await )?[A-Za-z_][\w.]*\()"
    r"|^[ \t]*\w+(?:\[[^\n\]]{0,80}\])?[ \t]*(?::[^\n=]{1,80})?="
    r"|\.create\(|\w\(\s*\w+\s*="
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_JAVASCRIPT = re.compile(r"(?m)^([ \t]*)(?:import\b[^\n]{1,200}\bfrom\s*[\"']|(?:const|let|var)\s+[\w{\[])")
_COMMENTED = re.compile(r"(?:\s*+(?://[^\n]*|/\*.*?\*/))++\s*+[{\[]", re.DOTALL)
# A text without any of these that is not Python is not a request copied with an error, either.
_SENDS = re.compile(
    r"messages|prompt|\.(?:create|parse|invoke|stream|chat|generate|complete|completions?|post|bind_tools)\w*\(|^[({#\[]"
    r"|^dict\(|\bchat\b[^\n]{0,40}\(|\bcompletion\("
)
_CALLS = (
    "Supported are calls of `chat.completions`, `responses` and `messages`, and a `fetch` or `axios.post` "
    "with its body. Paste one of these, or the body as JSON."
)
_FORMS = (
    "Paste the JSON of a chat completion body, a curl command, or a Python or JavaScript call of a client: openai, "
    "LangChain, litellm, requests, fetch."
)


def read_request(text: str) -> Request:
    """Read what someone pasted as a chat completion request.

    JSON of a body (of OpenAI's Responses or Anthropic's Messages, too), a `curl`
    command, or Python: an `openai` call, a dict, an `extra_body` with its
    messages. Python is parsed, never executed. A JSON object with a `request`
    in it, such as a worked case or a saved run, is read as that request. Of
    anything but plain JSON only the body is kept.

    Args:
        text: At most `MAX_CHARS` characters.

    Returns:
        The request, nothing unknown thrown away; `notices` say what a server
        would ignore and what was repaired.

    Raises:
        RequestError: It is none of these, or no server could take it; line,
            column and field say where.
    """
    return make_request(read_draft(text))


def read_draft(text: str) -> Draft:
    """Read the value that someone pasted, of whatever API it is, without a look at what it means.

    Raises:
        RequestError: It is in none of the forms of a request, or cannot be read.
    """
    _check_text(text)
    fence = _FENCE.match(text)
    inner = text if fence is None else _blanked(text, fence)
    draft = _read_draft(inner)
    if fence is not None:
        draft = replace(draft, notices=(Notice("", "The code fence around it was left out.", 1, 1), *draft.notices))
    return draft


def make_request(draft: Draft) -> Request:
    """Return the chat completion request that a pasted value is.

    Raises:
        RequestError: No server could take it; line, column and field say where.
    """
    found = _find_body(draft)
    reported: list[Problem] = []
    fatal: Problem | None = None
    for problem in check_body(found.body):
        if problem.is_fatal:
            fatal = problem
            break
        if len(reported) < MAX_NOTICES:
            reported.append(problem)
    about = (reported if fatal is None else [fatal]) if found.is_pasted else []
    places = draft.locate({part for problem in about for part in _prefixes(found.pasted_path(problem.path))})
    if fatal is not None:
        place = _nearest(found.pasted_path(fatal.path), places)
        field_path = show_path(fatal.path) or None
        line, column = place if place is not None else (None, None)
        raise RequestError(fatal.message, fatal.hint, line=line, column=column, field=field_path)
    notices = [
        *found.notices,
        *(_notice(problem, _nearest(found.pasted_path(problem.path), places)) for problem in reported),
    ]
    text_kept = draft.text if draft.source == "json" and _is_just(draft.text, found.body) else body_text(found.body)
    return Request(found.body, text_kept, draft.source, draft.base_url, tuple(notices), found.api, found.native)


def body_text(body: JSONObject) -> str:
    """Return a body as a person would paste it."""
    text = json.dumps(body, ensure_ascii=False, indent=2)
    return text if _SURROGATE.search(text) is None else json.dumps(body, ensure_ascii=True, indent=2)


@dataclass(frozen=True, slots=True)
class _Found:
    """The body within what was pasted: at `prefix`, or the whole as its first `dropped` steps.

    One that was made of a body of another API (`is_pasted` is false) has no places in the text; `native` is that body,
    where a server can be asked by its API.
    """

    body: JSONObject
    notices: tuple[Notice, ...]
    prefix: Path = ()
    dropped: int = 0
    is_pasted: bool = True
    api: Api = Api.CHAT
    native: JSONObject | None = None

    def pasted_path(self, path: Path) -> Path:
        return (*self.prefix, *path[self.dropped :])


def _is_just(text: str, body: JSONObject) -> bool:
    """Return whether a text is the JSON of a body and contains nothing else: no comment, no second value of a name."""
    try:
        return bool(json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_unique) == body)
    except (ValueError, RecursionError):
        return False


def _unique(pairs: list[tuple[str, JSON]]) -> JSONObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name appears twice")
    return found


def _check_text(text: str) -> None:
    if len(text) > MAX_CHARS:
        message = f"The pasted text has {len(text):,} characters; at most {MAX_CHARS:,} are read."
        raise RequestError(message, "Shorten unimportant parts, such as images in the messages.")
    if not text.strip("\ufeff \t\r\n"):
        raise RequestError("Nothing was pasted.", _FORMS)
    odd = _SURROGATE.search(text)
    if odd is not None:
        line, column = line_column(text, odd.start())
        raise RequestError("The text contains an unpaired surrogate.", line=line, column=column)


def _blanked(text: str, fence: re.Match[str]) -> str:
    """Replace what is around a fenced block by blanks, so that positions stay."""
    before, after = text[: fence.start(1)], text[fence.end(1) :]
    return re.sub(r"[^\n]", " ", before) + fence[1] + re.sub(r"[^\n]", " ", after)


def _read_draft(text: str) -> Draft:
    start = text.lstrip("\ufeff \t\r\n\u200b")
    if start.startswith(("{", "[")):
        return _read_literal(text)
    if not has_curl(text) and is_powershell(text) and not _is_python(text):
        return read_powershell(text)
    if not has_curl(text) and has_javascript(text):
        with suppress(RequestError):  # one line of either may be both
            return _read_bounded_python(text)
        return read_javascript(text)
    if has_curl(text):
        try:
            return _read_shell(text)
        except RequestError:
            if not _PYTHON.search(text):
                raise
    elif not _PYTHON.search(text) and not start.startswith(("dict(", "(", "#", "//", "/*")):
        raise _no_form(start)
    if start.startswith(("//", "/*")) and _COMMENTED.match(start) is not None:
        return _read_literal(text)
    if (_JAVASCRIPT.search(text) or not _SENDS.search(text)) and not _is_python(text):
        raise _no_call(text)
    return _read_bounded_python(text)


def _no_call(text: str) -> RequestError:
    """Return what to say of a text that is not Python and in which nothing is called that sends a request."""
    script = _JAVASCRIPT.search(text)
    if script is None:
        return _no_form(text.lstrip("\ufeff \t\r\n\u200b"))
    line, column = line_column(text, script.end(1))
    words = "The text is not Python, and contains no supported call of JavaScript."
    return RequestError(words, _CALLS, line=line, column=column)


def _no_form(start: str) -> RequestError:
    return RequestError(
        f"The text has no supported form; it begins with {shorten(start[:60], 50)}.", _FORMS, line=1, column=1
    )


def _read_shell(text: str) -> Draft:
    if not is_windows_command(text):
        return read_curl(text)
    draft = read_curl(from_windows(text))
    return replace(draft, locate=lambda _: {})  # characters were taken out: columns would be wrong


def _read_literal(text: str) -> Draft:
    """Read JSON, or a Python dict or list: whichever can be read; if neither, blame the one that got further."""
    reader = JsonText(text)
    try:
        draft = Draft(reader.read(), "json", partial(locate_in_json, text), text, None, tuple(reader.notices))
    except RequestError as failure:
        if reader.is_bad_json:
            raise
        return _read_python_instead(text, failure)
    if reader.python_like:
        with suppress(RequestError):
            return _read_bounded_python(text)
    return draft


def _is_python(text: str) -> bool:
    try:
        parse_source(text[:MAX_PYTHON_CHARS])
    except RequestError:
        return False
    return True


def _read_python_instead(text: str, failure: RequestError) -> Draft:
    try:
        parse_source(text[:MAX_PYTHON_CHARS])
    except RequestError:
        raise failure from None
    try:
        return _read_bounded_python(text)
    except RequestError as error:
        raise max(failure, error, key=lambda found: (found.line or 0, found.column or 0)) from None


def _read_bounded_python(text: str) -> Draft:
    if len(text) > MAX_PYTHON_CHARS:
        message = f"The snippet has {len(text):,} characters; at most {MAX_PYTHON_CHARS:,} of Python are read."
        raise RequestError(message, "Paste the body as JSON.")
    return read_python(text)


def _find_body(draft: Draft) -> _Found:
    value, notices = draft.value, draft.notices
    if draft.text.startswith("\ufeff"):
        notices = (Notice("", "The byte order mark at the beginning was left out.", 1, 1), *notices)
    if isinstance(value, list) and value and all(isinstance(item, dict) and "role" in item for item in value):
        notice = Notice("messages", "A list of messages was pasted; it was read as `messages` of a request.")
        return _Found({"messages": value}, (*notices, notice), dropped=1)
    if not isinstance(value, dict):
        hint = _FORMS if not isinstance(value, list) else "Paste one request: an object with `messages`."
        raise RequestError(f"A request is an object, not {shorten(value)}.", hint, line=1, column=1)
    inner = value.get("request")
    if isinstance(inner, dict) and "messages" not in value:
        others = ", ".join(f"`{name[:40]}`" for name in list(value)[:20] if name != "request")
        notice = Notice("", f"The request was taken from the field `request`; left out: {others or 'nothing else'}.")
        if (converted := convert_body(inner)) is not None:
            return _converted(converted, inner, (*notices, notice))
        return _Found(inner, (*notices, notice), prefix=("request",))
    value = _add_named(draft, value)
    if not _is_sent_to_chat(draft, value) and (converted := convert_as(draft.api, value)) is not None:
        return _converted(converted, value, notices)
    return _Found(value, notices)


def _is_sent_to_chat(draft: Draft, value: JSONObject) -> bool:
    """Return whether a body has fields of Ollama's own API, and an address that is not that API's."""
    at_v1 = draft.base_url is not None and draft.base_url.endswith("/v1") and draft.api is None
    return at_v1 and isinstance(value.get("messages"), list) and any(name in value for name in OF_OLLAMA)


def _converted(made: Converted, pasted: JSONObject, notices: tuple[Notice, ...]) -> _Found:
    native = None if made.api is Api.CHAT else pasted
    return _Found(made.body, (*notices, *made.notices), is_pasted=False, api=made.api, native=native)


def _add_named(draft: Draft, value: JSONObject) -> JSONObject:
    """Return a body with the model and the stream that only its address names."""
    if draft.model and "model" not in value:
        value = {"model": draft.model, **value}
    return {**value, "stream": True} if draft.is_streamed else value


def _prefixes(path: Path) -> Iterator[Path]:
    return (path[:length] for length in range(len(path) + 1))


def _nearest(path: Path, places: Mapping[Path, Place]) -> Place | None:
    """Return the place of the longest part of a path that the text has."""
    found = [places[part] for part in _prefixes(path) if part in places]
    return found[-1] if found else None


def _notice(problem: Problem, place: Place | None) -> Notice:
    line, column = place if place is not None else (None, None)
    return Notice(show_path(problem.path), problem.words(), line, column)


_LINE_GOES_ON = re.compile(r"[\^`]\r?\n(?=[ \t]*(?:\^?\"?https?:|-))")  # an option or the address follows
_CARET_QUOTES = re.compile(r"(?:\bcurl(?:\.exe)?|-d|--data(?:-raw|-binary)?)[ \t]+\^\"")
_CARET = re.compile(r"\^(.)", re.DOTALL)
_BODY = r"(?:-d|--data(?:-raw|-binary|-ascii)?|--json)[ \t]+"
_DOUBLED = re.compile(rf'({_BODY})"(\s*[\[{{]\s*"".*?[\]}}]\s*)"(?!")', re.DOTALL)  # "{""model"": …}"
_ESCAPED = re.compile(rf"({_BODY})'(\s*[\[{{]\s*\\\".*?[\]}}]\s*)'", re.DOTALL)  # '{\"model\": …}'


def is_windows_command(text: str) -> bool:
    """Return whether a shell text is written for `cmd` or PowerShell: by its line ends, or by its quotes."""
    return any(found.search(text) for found in (_LINE_GOES_ON, _CARET_QUOTES, _DOUBLED, _ESCAPED))


def from_windows(text: str) -> str:
    """Return a command of `cmd` or PowerShell as other shells write it; lines stay where they are."""
    has_carets = _CARET_QUOTES.search(text) is not None
    text = _LINE_GOES_ON.sub("\\\\\n", text)
    text = _CARET.sub(r"\1", text) if has_carets else text
    text = _DOUBLED.sub(lambda body: f'{body[1]}"{_once(body[2])}"', text)
    return _ESCAPED.sub(lambda body: body[1] + "'" + body[2].replace('\\"', '"') + "'", text)


def _once(body: str) -> str:
    r"""Return a text in which `""` stands for a quote as one in which `\"` does; a backslash before it is doubled."""
    return re.sub(r'(\\*)""', lambda quote: f'{quote[1] * 2}\\"', body)
