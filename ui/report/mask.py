"""A trace → the same trace with every secret covered, character by character.

What a secret is, `core.report.redact` decides; it takes a secret out, which
would move every span behind it. Here each of its characters becomes `•`, so
that spans, tokens and ledger still tile their texts. The ids of covered
tokens go too: with the vocabulary at hand they would spell the secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast

from core.report import redact_json, redact_text
from core.report.redact import MARK
from core.types import ChatResult, Completion, Prompt, Request, Span, StreamDelta, Token, Trace
from ui.report.pieces import answers_of, events_of, joined_texts, logprob_fields

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_T = TypeVar("_T")
_D = TypeVar("_D", bound="DataclassInstance")
_A = TypeVar("_A", ChatResult, Completion)

COVER = "•"
REMOVED_ID = -1  # stands for the id of a covered token

_FOLDER = re.compile(r"[/~\\]|[A-Za-z]:[\\/]")  # how a path of some machine begins; a hub id does not
_SHORTEST = 4  # a shorter value of a secret field would cover half of any text
_FRAGMENT = 12  # as many characters of a secret are still one: quotes and excerpts cut texts anywhere
_LONGEST_SEARCHED = 50_000  # longer texts are no excerpts
# A secret is looked for in ever larger units; the first that leaves nothing to take out is the least cover.
_UNITS = (re.compile(r"""(?:\bbearer )?[^\s"']+""", re.IGNORECASE), re.compile(r"[^\n]+"), re.compile(r".+", re.DOTALL))


def mask_trace(trace: Trace) -> Trace:
    """Return `trace` as it may be shown to anybody.

    Of a folder on some machine only the name is left. If there is any secret,
    bodies as received, stream events and logprobs are left out whole: it may be
    cut into their pieces. A run without secrets keeps them.
    """
    trace = _without_folders(trace)
    mask = _Mask(trace)
    return trace if mask.is_idle else mask.trace(_without_pieces(trace))


def mask_request(request: Request) -> Request:
    """Return `request` as it may be shown to anybody; its text keeps length and places."""
    return mask_trace(Trace(request=request)).request


def mask_text(text: str) -> str:
    """Return `text` with every secret covered; as long as before.

    >>> mask_text("Authorization: Bearer abcdefgh12345678")
    'Authorization: Bearer ••••••••••••••••'
    """
    for unit in _UNITS:
        if redact_text(text) == text:
            break
        text = unit.sub(lambda match: _cover_unit(match.group()), text)
    return text


def _cover_unit(text: str) -> str:
    redacted = redact_text(text)
    if redacted == text:
        return text
    start = len(redacted.partition(MARK)[0])
    stop = max(start, len(text) - len(redacted.rpartition(MARK)[2]))
    return text[:start] + COVER * (stop - start) + text[stop:]


def _without_folders(trace: Trace) -> Trace:
    """Return `trace` with the name alone of a folder that the server's model lies in."""
    server = trace.server
    root = None if server is None else server.model_root
    if server is None or root is None or not _FOLDER.match(root):
        return trace
    name = re.split(r"[\\/]", root.rstrip("\\/"))[-1]

    def named(text: str) -> str:
        return text.replace(root, name)

    def prompt_named(prompt: Prompt | None) -> Prompt | None:
        return None if prompt is None else replace(prompt, note=named(prompt.note))

    return replace(
        trace,
        server=replace(server, model_root=name),
        notes=tuple(map(named, trace.notes)),
        prompt=prompt_named(trace.prompt),
        local_prompt=prompt_named(trace.local_prompt),
        findings=tuple(
            replace(item, title=named(item.title), detail=named(item.detail), fix=named(item.fix))
            for item in trace.findings
        ),
    )


def _without_pieces(trace: Trace) -> Trace:
    return replace(
        trace,
        raw=_completion_without(trace.raw),
        raw_again=_completion_without(trace.raw_again),
        chat=_chat_without(trace.chat),
        chat_stream=_chat_without(trace.chat_stream),
    )


def _completion_without(raw: Completion | None) -> Completion | None:
    return None if raw is None else replace(_emptied(raw), body="")


def _chat_without(chat: ChatResult | None) -> ChatResult | None:
    if chat is None:
        return None
    deltas = tuple(StreamDelta({}, None, None, delta.at_s) for delta in chat.deltas)
    chat = _emptied(chat)
    return replace(chat, body="", deltas=deltas, token_ids=None, prompt_token_ids=None, prompt_text=None)


def _emptied(answer: _A) -> _A:
    names: dict[str, Any] = dict.fromkeys(logprob_fields(answer))
    return replace(answer, **names)


class _Mask:
    """The secrets of one trace, and what covering them makes of its texts.

    Attributes:
        is_idle: True if there is nothing to cover.
    """

    def __init__(self, trace: Trace) -> None:
        texts = {*_strings(trace), *joined_texts(trace)}
        self._fields: dict[str, bool] = {}
        self._masked: dict[str, str] = {}
        secrets = {secret for text in texts for secret in _secrets_in(text)}
        secrets.update(self._field_values(trace))
        for text in texts:
            if text.lstrip().startswith(("{", "[")):  # arguments of a call are JSON inside a string
                secrets.update(self._field_values(_decoded(text)))
        for answer in answers_of(trace):
            secrets.update(self._field_values(list(events_of(answer.body))))
        spellings = {spelling for secret in secrets for spelling in _spellings(secret)}
        self._secrets = tuple(sorted(spellings, key=lambda text: (-len(text), text)))
        self.is_idle = not secrets

    def trace(self, trace: Trace) -> Trace:
        """Return the trace with every secret covered."""
        return self._value(trace)

    def _field_values(self, value: object) -> Iterator[str]:
        """Yield the values of secret fields, such as `api_key`, at any depth."""
        if isinstance(value, Mapping):
            for key, item in value.items():
                if isinstance(item, str) and len(item) >= _SHORTEST and self._is_secret_field(key):
                    yield item
                else:
                    yield from self._field_values(item)
        else:
            for part in _parts(value):
                yield from self._field_values(part)

    def _is_secret_field(self, key: object) -> bool:
        name = str(key)
        if name not in self._fields:
            self._fields[name] = redact_json({name: "value"}) != {name: "value"}
        return self._fields[name]

    def _value(self, value: _T) -> _T:
        return cast("_T", self._covered(value))

    def _covered(self, value: object) -> object:
        if isinstance(value, Enum | Span):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {self._value(key): self._item(key, item) for key, item in value.items()}
        if isinstance(value, Prompt):
            return replace(self._fields_of(value, "tokens"), tokens=self._tokens(value.tokens, value.text))
        if isinstance(value, Completion):
            ids = None if value.token_ids is None else (REMOVED_ID,) * len(value.token_ids)
            tokens = self._tokens(value.tokens, value.text)
            return replace(self._fields_of(value, "tokens"), tokens=tokens, token_ids=ids)
        if isinstance(value, tuple | list):
            items = [self._value(item) for item in value]
            return (
                value._make(items) if hasattr(value, "_make") else type(value)(items)
            )  # a named tuple, or a plain one
        return self._fields_of(value) if is_dataclass(value) and not isinstance(value, type) else value

    def _item(self, key: object, item: object) -> object:
        if isinstance(item, str) and self._is_secret_field(key):
            return COVER * len(item)
        return self._value(item)

    def _fields_of(self, value: _D, *left: str) -> _D:
        names = [field.name for field in fields(value) if field.name not in left]
        return replace(value, **{name: self._value(getattr(value, name)) for name in names})

    def _text(self, text: str) -> str:
        masked = self._masked.get(text)
        if masked is None:
            masked = mask_text(text)
            for secret in self._secrets:
                masked = masked.replace(secret, COVER * len(secret))
            if len(text) <= _LONGEST_SEARCHED:
                masked = _cover_fragments(text, masked, self._secrets)
            self._masked[text] = masked
        return masked

    def _tokens(self, tokens: tuple[Token, ...] | None, text: str) -> tuple[Token, ...] | None:
        if tokens is None:
            return None
        masked = self._text(text)
        return tuple(self._token(token, text, masked) for token in tokens)

    def _token(self, token: Token, text: str, masked: str) -> Token:
        start, stop = token.char_span
        # A token inside a character covers none: it goes with the character it stands before.
        around = slice(start, max(stop, start + 1))
        field = None if token.field is None else self._text(token.field)
        if text[around] == masked[around]:
            return token if field == token.field else replace(token, field=field)
        shown = masked[start:stop]
        return replace(token, id=REMOVED_ID, text=shown, piece=shown.encode("utf-8", "surrogatepass"), field=field)


def _parts(value: object) -> Iterator[object]:
    """Yield the values directly inside a dataclass or a sequence; tokens have their text from elsewhere."""
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, tuple | list):
        if not value or not isinstance(value[0], Token):
            yield from value
    elif is_dataclass(value):
        yield from (getattr(value, field.name) for field in fields(value))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield str(value)
    elif not isinstance(value, Span):
        for part in _parts(value):
            yield from _strings(part)


def _secrets_in(text: str) -> Iterator[str]:
    masked = mask_text(text)
    if masked != text:
        for match in re.finditer(COVER + "+", masked):
            secret = text[slice(*match.span())]
            if secret != match.group() and len(secret) >= _SHORTEST:
                yield secret


def _spellings(secret: str) -> Iterable[str]:
    """Return a secret as it stands in plain text and inside JSON strings."""
    return secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]


def _decoded(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _cover_fragments(text: str, masked: str, secrets: tuple[str, ...]) -> str:
    """Return `masked` with the parts of secrets in `text` covered too: what an excerpt has cut."""
    covered = list(masked)
    for secret in secrets:
        for start in range(len(secret) - _FRAGMENT + 1):
            fragment = secret[start : start + _FRAGMENT]
            at = text.find(fragment)
            while at >= 0:
                covered[at : at + _FRAGMENT] = COVER * _FRAGMENT
                at = text.find(fragment, at + 1)
    return "".join(covered)
