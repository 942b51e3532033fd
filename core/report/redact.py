"""Take secrets out of what leaves the machine.

Only things that are secrets by their shape or by their field name are taken
out: bearer tokens, keys with a well-known prefix, passwords inside URLs,
variables and headers that are set to a key, the values of fields called
`api_key`, `authorization` and the like, and of a request what is for its
transport (`extra_headers`). Prompts stay as they are, for they are
what the report is about.

Values are redacted, and then written as JSON or as a command: a pattern that
runs over finished text may take a quote away. Each pattern takes time that
grows no faster than the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.report.secret_forms import cover_disguised_secrets
from prompt_debugger.core.report.secret_lines import LINES
from prompt_debugger.core.report.secret_places import BESIDE_NAMES, PLACES, contains_login
from prompt_debugger.core.report.secret_shapes import SHAPES, is_drawn

MARK = "[removed]"

# A place may say more than a shape, which would take a part of it.
_IN_ORDER = (*PLACES, *LINES, *SHAPES, *BESIDE_NAMES)
_SHORTEST = 6  # no shape is found in fewer characters
_REMEMBERED = 400  # characters of a text whose result is remembered

_SECRET_FIELD = re.compile(
    r"""^(?:[\w-]*[-_])?(?:
        api[-_]?key | access[-_]?key | private[-_]?key | secret(?:[-_]?key)? | password | passwd | pwd | passphrase
        | credentials? | authorization | cookies? | (?:access|ad|api|auth|bearer|hf|id|refresh|session)[-_]?token
    )(?:[-_]id)?$""",
    re.IGNORECASE | re.VERBOSE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Fields of a request that clients keep to themselves; a body that contains them was pasted with too much.
TRANSPORT_FIELDS = frozenset(
    {
        "auth", "cert", "client_cert", "default_headers", "default_query", "env", "environment", "extra_headers",
        "extra_query", "headers", "http_client", "proxies", "proxy",
    }
)  # fmt: skip
_SCHEMA_WORDS = frozenset({"$ref", "allOf", "anyOf", "const", "description", "enum", "oneOf", "properties", "type"})
_KIND = re.compile(r"(?<![\w-])kind\\?[\"']?\s{0,3}:\s{0,3}\\?[\"']?Secret(?:List)?(?=\\?[\"',}\n\r]|\\[nr]|\s*$)")
# The block below `data:`, all of whose lines are indented further; a line may end as a quoted one does.
_YAML = re.compile(
    r"((?:^|(?<=\n)|(?<=\\n))([ \t]{0,40})(- )?(?:data|stringData):[ \t]{0,8})"
    r"((?:(?:\r?\n|\\n)\2(?(3)[ \t]{3}|[ \t])[ \t]*+(?:(?!\\n)[^\n])*+)++)"
)
_LINE = re.compile(
    r"((?:\r?\n|\\n)[ \t]+(?:[\w.-]{1,253}:(?=[ \t]|\r?\n|\\n|$)[ \t]*(?:[|>][+-]?(?=\r?\n|\\n))?)?)"
    r"((?:(?!\\n)[^\n])*+)"
)
_JSON = re.compile(r"((?<![\w-])(?:data|stringData)\\?[\"']\s{0,8}:\s{0,8}\{)([^{}]*+)")
_FIELD = re.compile(r"(\\{0,3}[\"']\s{0,8}:\s{0,8}\\{0,3}[\"'])((?:[^\"'\\\u2022]|\\[^\"'u\\]|\\u[0-9a-fA-F]{4})*)")
_RUN = re.compile(r"(\\+.)|([^\s\"'\\\u2022][^\"'\\\n\u2022]*)")
_NEAR = 4_000  # characters between a manifest's kind and its values


def redact_text(text: str) -> str:
    """Return `text` with everything that looks like a secret replaced by `[removed]`.

    >>> redact_text("Authorization: Bearer abcdefgh12345678")
    'Authorization: Bearer [removed]'
    """
    return _redacted(text) if len(text) > _REMEMBERED else _remembered(text)


def _redacted(text: str) -> str:
    return replace_secrets(text, lambda _: MARK)


_remembered = lru_cache(maxsize=2_048)(_redacted)  # rows of a dataset repeat names, types and descriptions


def replace_secrets(text: str, cover: Callable[[str], str]) -> str:
    """Return `text` with everything that looks like a secret replaced by what `cover` makes of it."""
    # Oddly written ones first and whole: a shape would only take the part of one that is written normally.
    if len(text) < _SHORTEST:
        return text
    text = cover_disguised_secrets(text, _IN_ORDER, cover)
    small = text.lower()
    for one in _IN_ORDER:
        for word in one.words:
            if word in small:
                text = one.pattern.sub(partial(_replaced, cover, one.is_secret), text)
                break
    return _cover_manifests(text, cover)


def _cover_manifests(text: str, cover: Callable[[str], str]) -> str:
    """Return `text` with the values of secrets replaced by what `cover` makes of them."""
    for block, inner in (
        (_YAML, partial(_LINE.sub, partial(_line, cover))),
        (_JSON, partial(_FIELD.sub, partial(_field, cover))),
    ):
        kinds = [found.start() for found in _KIND.finditer(text)]
        if not kinds:
            return text
        text = block.sub(partial(_block, kinds, inner), text)
    return text


def _block(kinds: list[int], inner: Callable[[str], str], found: re.Match[str]) -> str:
    before, values = found[1], found[found.re.groups]
    next_kind = bisect_left(kinds, found.start())
    is_near = any(
        found.start() - _NEAR <= kind <= found.end() + _NEAR for kind in kinds[max(0, next_kind - 1) : next_kind + 1]
    )
    return before + inner(values) if is_near else found[0]


def _line(cover: Callable[[str], str], found: re.Match[str]) -> str:
    return found[1] + _RUN.sub(lambda run: run[1] or cover(run[2]), found[2])


def _field(cover: Callable[[str], str], found: re.Match[str]) -> str:
    return found[1] + (cover(found[2]) if found[2] else "")


def redact_json(value: JSON) -> JSON:
    """Return `value` with secret fields and secret-looking texts replaced."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, list):
        return [value[0], MARK] if is_secret_pair(value) else [redact_json(item) for item in value]
    if isinstance(value, dict):
        is_pair = is_secret_pair(value)
        return {
            key: _blanked(item) if is_secret_value(key, item) or (is_pair and key == "value") else redact_json(item)
            for key, item in value.items()
        }
    return value


def redact_body(body: Mapping[str, JSON]) -> JSONObject:
    """Return a request's body with the same replaced, and all values of what is for its transport."""
    redacted = redact_json(dict(body))
    assert isinstance(redacted, dict)
    for key, item in body.items():
        if key in TRANSPORT_FIELDS:
            redacted[key] = _blanked(item)
        elif key == "extra_body" and isinstance(item, dict):
            redacted[key] = redact_body(item)
    return redacted


def is_secret_field(name: str) -> bool:
    """Return whether a field of this name contains a secret.

    >>> is_secret_field("openaiApiKey"), is_secret_field("max_tokens")
    (True, False)
    """
    return _SECRET_FIELD.match(_HUMP.sub("_", name)) is not None


def is_secret_value(name: str, value: object) -> bool:
    """Return whether the value under this name is a secret; in a schema, `password` may be described."""
    if name == "auth" and isinstance(value, str):  # of a container registry
        return contains_login(value)
    return is_secret_field(name) and not (isinstance(value, Mapping) and not _SCHEMA_WORDS.isdisjoint(value))


def is_secret_pair(value: object) -> bool:
    """Return whether this is a name and its value, as headers and settings are listed, and the value is a secret.

    >>> is_secret_pair({"name": "x-api-key", "value": "abc"}), is_secret_pair(["api_key", "city"])
    (True, False)
    """
    if isinstance(value, Mapping):
        name = value.get("name", value.get("key"))
        return isinstance(name, str) and isinstance(value.get("value"), str) and is_secret_field(name)
    if isinstance(value, list | tuple) and len(value) == len(("name", "value")):
        name, content = value
        return isinstance(name, str) and isinstance(content, str) and is_secret_field(name) and is_drawn(content)
    return False


def _replaced(cover: Callable[[str], str], is_secret: Callable[[str], bool], match: re.Match[str]) -> str:
    kept = match[1] if match.re.groups else ""
    found = match[0][len(kept) :]
    return kept + cover(found) if is_secret(found) else match[0]


def _blanked(value: JSON) -> JSON:
    """Return a value with every text and number in it replaced."""
    if isinstance(value, list):
        return [_blanked(item) for item in value]
    if isinstance(value, dict):
        return {key: _blanked(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool) or value == "" else MARK
