r"""Errors as Elixir, Java, Ruby, Swift and Rust print them, in the notation that the readers of errors know.

** (Tern.APIError) HTTP 400: No such model          an exception of Elixir, its frames below it
{type=error, error={type=bad_request, message=No such model}}      a body that Java prints as a map
{"error" => {"message" => "No such model"}}         a body that Ruby prints as a hash
keyNotFound(…, debugDescription: "No such key")     a key that Swift's decoder missed
Caused by:                                          a chain of Rust: the last link is the reason
    0: the request failed
    1: No such model
"""

from __future__ import annotations

import json
import re

_RAISED = re.compile(r"(?m)^(?P<before>[^\w\n]{0,8})\*\* \((?P<name>[A-Z][\w.]{0,120})\) (?=\S)")
_FRAME = re.compile(
    r"(?m)^ {2,8}(?:(?:\([\w.-]{1,60} [\w.+-]{1,40}\) )?[\w/.-]{1,200}\.exs?:|#cell:\w{1,60}:)\d[^\n]*\n?"
)
_IS_ERROR = re.compile(r"(?:Error|Exception)\Z")
_MAP = re.compile(r"\{(?:type=error, (?:request_id=[^,}\n]{0,120}, )?)?error=\{(?=(?:message|type|code|param)=)")
_FIELD = re.compile(r"(?:\A|, )(?P<name>message|type|code|param)=")
_MAX_OF_MAP = 4_000
_MAX_MAPS = 20
_CHAIN = re.compile(
    r"(?:\A|\n)[ \t]{0,8}Caused by:[ \t]{0,8}\n(?P<links>(?:[ \t]{1,12}(?:\d{1,3}: )?\S[^\n]*(?:\n|\Z)){1,40})"
)
# A hash of Ruby: `{"error" => {"message" => "…"}}`, `{"error"=>{…}}`, `{:error=>{…}}`.
_HASH = re.compile(r"(?:[\"']error[\"']|:error) ?=> ?\{")
_ROCKET = re.compile(r"(?:\"(?P<name>\w{1,60})\"|(?<=[{ ,]):(?P<symbol>\w{1,60})) ?=> ?")
_NIL = re.compile(r"(\": )nil\b")
_KEY_NOT_FOUND = re.compile(
    r"(?:(?:Swift\.)?DecodingError\.)?\bkeyNotFound\((?=[^\n\"]{1,80}stringValue: \")[^\n]{0,900}?"
    r"debugDescription: \"(?P<said>(?:[^\"\\\n]|\\.){1,600}+)\"[^\n]{0,80}"
)
_LINK = re.compile(r"(?m)^[ \t]{1,12}(?:\d{1,3}: )?(?P<words>\S[^\n]*)")


def plain_of_elixir(text: str) -> str:
    r"""Return a text with the exceptions of Elixir as those of other languages, without the frames below them.

    >>> plain_of_elixir("** (Tern.APIError) no such model\n    (tern 1.0.0) lib/tern.ex:28: Tern.ask/2\n")
    'APIError: no such model\n'
    """
    if "** (" not in text or _RAISED.search(text) is None:
        return text
    return _RAISED.sub(_as_exception, _FRAME.sub("", text))


def _as_exception(found: re.Match[str]) -> str:
    name = found["name"].rpartition(".")[2]
    return f"{found['before']}{name if _IS_ERROR.search(name) is not None else 'Error'}: "


def plain_of_java(text: str) -> str:
    """Return a text with the bodies of errors that Java prints as maps as JSON.

    >>> plain_of_java("400: {error={message=No such model, x, type=bad_request, param=null}}")
    '400: {"error": {"message": "No such model, x", "type": "bad_request", "param": null}}'
    """
    for _ in range(_MAX_MAPS):
        start = _MAP.search(text)
        if start is None:
            break
        stop = text.find("}}", start.end(), start.end() + _MAX_OF_MAP)
        if stop < 0:
            break
        body = json.dumps({"error": _fields(text[start.end() : stop])}, ensure_ascii=False)
        lead = text[: start.start()]
        text = f"{lead if lead.strip() else 'error: '}{body}{text[stop + 2 :]}"
    return text


def _fields(inner: str) -> dict[str, str | None]:
    """Return the fields of a printed map; a comma within words is followed by no name of a field."""
    found = [*_FIELD.finditer(inner)]
    stops = [*(one.start() for one in found[1:]), len(inner)]
    values = {one["name"]: inner[one.end() : stop] for one, stop in zip(found, stops, strict=True)}
    return {name: None if value == "null" else value for name, value in values.items()}


def plain_of_ruby(text: str) -> str:
    """Return a text with the bodies of errors that Ruby prints as hashes as JSON.

    >>> plain_of_ruby('400: {"error" => {"message" => "No such model", "param" => nil}}')
    '400: {"error": {"message": "No such model", "param": null}}'
    """
    if "=>" not in text or _HASH.search(text) is None:
        return text
    return _NIL.sub(r"\1null", _ROCKET.sub(_as_key, text))


def _as_key(found: re.Match[str]) -> str:
    return f'"{found["name"] or found["symbol"]}": '


def plain_of_swift(text: str) -> str:
    r"""Return a text with the keys that Swift's decoder missed in an answer as an error of other languages.

    >>> plain_of_swift(r'keyNotFound(Keys(stringValue: "id"), Context(codingPath: [], debugDescription: "No \"id\"."))')
    'DecodingError: No "id".'
    """
    return _KEY_NOT_FOUND.sub(_as_decoding_error, text) if "keyNotFound(" in text else text


def _as_decoding_error(found: re.Match[str]) -> str:
    return "DecodingError: " + found["said"].replace('\\"', '"')


def links_of_rust(text: str) -> tuple[str, ...]:
    r"""Return the links of a chain of causes, the first one first; () of a text without one.

    >>> links_of_rust("Error: no answer\n\nCaused by:\n    0: refused\n    1: no such model\n")
    ('refused', 'no such model')
    """
    chain = _CHAIN.search(text)
    return () if chain is None else tuple(found["words"].strip() for found in _LINK.finditer(chain["links"]))
