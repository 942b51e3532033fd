"""A trace → the same trace with every secret covered, character by character.

What a secret is, `core.report.redact` decides; it takes a secret out, which
would move every span after it. Here each of its characters becomes `•`, so
that spans, tokens and ledger still tile their texts. The ids of covered
tokens go too: with the vocabulary at hand they would spell the secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import (
    ChatResult,
    Completion,
    JSONObject,
    Prompt,
    Request,
    Span,
    StreamDelta,
    Token,
    Tokens,
    TokenTable,
    Trace,
)
from prompt_debugger.core.report.redact import (
    TRANSPORT_FIELDS,
    is_secret_field,
    is_secret_pair,
    is_secret_value,
    replace_secrets,
)
from prompt_debugger.core.request import body_text
from prompt_debugger.ui.report.cover import COVER, FRAGMENT, SHORTEST, SecretCover
from prompt_debugger.ui.report.pieces import answers_of, events_of, joined_texts, logprob_fields

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_T = TypeVar("_T")
_D = TypeVar("_D", bound="DataclassInstance")
_A = TypeVar("_A", ChatResult, Completion)

REMOVED_ID = -1  # stands for the id of a covered token

_FOLDER = re.compile(r"[/~\\]|[A-Za-z]:[\\/]")  # how a path of some machine begins; a hub id does not
_LONGEST_COUNT = 6  # a number of fewer digits is a count, and covering it would cover others
_PUBLIC_HEADERS = frozenset({"accept", "content-type", "user-agent"})


def mask_trace(trace: Trace) -> Trace:
    """Return `trace` as it may be shown to anyone.

    Of a folder on some machine only the name is left. If there is any secret,
    bodies as received, stream events and logprobs are left out whole: it may be
    cut into their pieces. A run without secrets keeps them.
    """
    trace = _drop_places(_drop_folders(trace))
    mask = _Mask(trace)
    return trace if mask.is_idle else mask.trace(_drop_pieces(trace))


def mask_request(request: Request) -> Request:
    """Return `request` as it may be shown to anyone; if it contains a secret, its text is the masked body's."""
    return mask_trace(Trace(request=request)).request


def mask_text(text: str) -> str:
    """Return `text` with every secret covered; as long as before.

    >>> mask_text("Authorization: Bearer abcdefgh12345678")
    'Authorization: Bearer ••••••••••••••••'
    """
    return replace_secrets(text, lambda secret: COVER * len(secret))


def _drop_folders(trace: Trace) -> Trace:
    """Return `trace` with the name alone of a folder that the server's model is in."""
    server = trace.server
    root = None if server is None else server.model_root
    if server is None or root is None or not _FOLDER.match(root):
        return trace
    name = re.split(r"[\\/]", root.rstrip("\\/"))[-1]

    def named(text: str) -> str:
        return text.replace(root, name)

    def prompt_named(prompt: Prompt | None) -> Prompt | None:
        return (
            None
            if prompt is None
            else replace(
                prompt, note=named(prompt.note), proof=None if prompt.proof is None else tuple(map(named, prompt.proof))
            )
        )

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


def _drop_places(trace: Trace) -> Trace:
    """Return `trace` without places in a text that is not kept: that of a command or a snippet."""
    if trace.request.source == "json":
        return trace
    notices = tuple(replace(notice, line=None, column=None) for notice in trace.request.notices)
    return replace(trace, request=replace(trace.request, notices=notices))


def _drop_pieces(trace: Trace) -> Trace:
    return replace(
        trace,
        raw=_mask_completion(trace.raw),
        raw_again=_mask_completion(trace.raw_again),
        chat=_mask_chat(trace.chat),
        chat_stream=_mask_chat(trace.chat_stream),
        chat_whole=_mask_chat(trace.chat_whole),
    )


def _mask_completion(raw: Completion | None) -> Completion | None:
    return None if raw is None else replace(_emptied(raw), body="")


def _mask_chat(chat: ChatResult | None) -> ChatResult | None:
    if chat is None:
        return None
    deltas = tuple(StreamDelta({}, None, None, delta.at_s) for delta in chat.deltas)
    chat = _emptied(chat)
    return replace(chat, body="", deltas=deltas, token_ids=None, prompt_token_ids=None, prompt_text=None)


def _emptied(answer: _A) -> _A:
    names: dict[str, Any] = dict.fromkeys(logprob_fields(answer))
    return replace(answer, **names)


class _Mask:
    """The secrets of one trace, and what covering them makes of its texts."""

    def __init__(self, trace: Trace) -> None:
        texts = {*_strings(trace), *joined_texts(trace)}
        self._fields: dict[str, bool] = {}
        self._masked: dict[str, str] = {}
        secrets = {secret for text in texts for secret in _secrets_in(text)}
        secrets.update(self._field_values(trace))
        for text in texts:
            if _may_be_json(text):  # arguments of a call are JSON inside a string
                secrets.update(self._field_values(decode_json(text)))
        for answer in answers_of(trace):
            secrets.update(self._field_values(list(events_of(answer.body))))
        bodies = (trace.request.body, trace.sent or {}, trace.request.native or {}, trace.sent_native or {})
        secrets.update(value for body in bodies for value in _transport_values(body))
        self._secrets = SecretCover(secrets)
        self.is_idle = not secrets and not any(_has_transport(body) for body in bodies)

    def trace(self, trace: Trace) -> Trace:
        """Return the trace with every secret covered."""
        return self._value(trace)

    def _field_values(self, value: object) -> Iterator[str]:
        """Yield the values of secret fields, such as `api_key`, at any depth."""
        if is_secret_pair(value):
            reported = value["value"] if isinstance(value, Mapping) else cast("list[str]", value)[1]
            yield from (leaf for leaf in _leaves(reported) if len(leaf) >= SHORTEST)
        if isinstance(value, Mapping):
            for key, item in value.items():
                if self._is_secret(key, item):
                    yield from (leaf for leaf in _leaves(item) if len(leaf) >= SHORTEST)
                else:
                    yield from self._field_values(item)
        else:
            for part in _parts(value):
                yield from self._field_values(part)

    def _is_secret(self, key: object, item: object) -> bool:
        name = str(key)
        if name not in self._fields:
            self._fields[name] = is_secret_field(name)
        return self._fields[name] and is_secret_value(name, item)

    def _value(self, value: _T) -> _T:
        return cast("_T", self._covered(value))

    def _covered(self, value: object) -> object:
        if isinstance(value, Enum | Span):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {self._value(key): self._item(key, item) for key, item in value.items()}
        if isinstance(value, Request):
            body = self._body(value.body)
            native = None if value.native is None else self._body(value.native)
            covered = self._fields_of(value, "body", "text", "native")
            return replace(covered, body=body, text=body_text(body), native=native)
        if isinstance(value, Trace):
            native = None if value.sent_native is None else self._body(value.sent_native)
            run = self._fields_of(value, "sent", "sent_native")
            return replace(run, sent=self._body(value.sent), sent_native=native)
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
        if self._is_secret(key, item):
            return _all_covered(item)
        return self._value(item)

    def _body(self, body: Mapping[str, Any]) -> JSONObject:
        covered: JSONObject = self._value(dict(body))
        for key, item in body.items():
            if key in TRANSPORT_FIELDS:
                covered[key] = cast("Any", _all_covered(item))
            elif key == "extra_body" and isinstance(item, Mapping):
                covered[key] = self._body(item)
        return covered

    def _fields_of(self, value: _D, *left: str) -> _D:
        names = [field.name for field in fields(value) if field.name not in left]
        return replace(value, **{name: self._value(getattr(value, name)) for name in names})

    def _text(self, text: str) -> str:
        masked = self._masked.get(text)
        if masked is None:
            masked = self._secrets.cover(text, mask_text(text))
            if _may_be_json(text) and self._still_names_it(masked):
                masked = COVER * len(text)
            self._masked[text] = masked
        return masked

    def _still_names_it(self, masked: str) -> bool:
        """Return whether a JSON text contains a secret spelled in escapes, where its own characters do not appear."""
        return any(self._secrets.cover(leaf, leaf) != leaf for leaf in _leaves(decode_json(masked)))

    def _tokens(self, tokens: Tokens | None, text: str) -> tuple[Token, ...] | None:
        if tokens is None:
            return None
        masked = self._text(text)
        return tuple(self._token(token, text, masked) for token in tokens)

    def _token(self, token: Token, text: str, masked: str) -> Token:
        start, stop = token.char_span
        # A token inside a character covers none: it goes with the character that follows it.
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
    elif isinstance(value, TokenTable):
        return
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
            if secret != match.group() and len(secret) >= SHORTEST:
                yield secret


def _may_be_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _leaves(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, and every number as text, but none of the names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, int | float) and len(str(value)) >= _LONGEST_COUNT:
        yield str(value)


def _all_covered(value: object) -> object:
    """Return a JSON value with every text and number in it covered."""
    if isinstance(value, Mapping):
        return {key: _all_covered(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_all_covered(item) for item in value]
    return value if value is None or isinstance(value, bool) else COVER * len(str(value))


def _has_transport(body: Mapping[str, Any]) -> bool:
    inner = body.get("extra_body")
    return not TRANSPORT_FIELDS.isdisjoint(body) or (isinstance(inner, Mapping) and _has_transport(inner))


def _transport_values(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of headers and the like that a body holds, as far as they may be secret."""
    for key, item in body.items():
        if key == "extra_body" and isinstance(item, Mapping):
            yield from _transport_values(item)
        elif key in TRANSPORT_FIELDS and not key.endswith("query"):
            headers = item.items() if isinstance(item, Mapping) else (("", item),)
            for name, value in headers:
                if str(name).lower() not in _PUBLIC_HEADERS:
                    yield from (leaf for leaf in _leaves(value) if len(leaf) >= FRAGMENT // 2)
