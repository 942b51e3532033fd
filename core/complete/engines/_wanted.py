"""What a record must hold, field by field: who writes one may run no type checker, and find out in a strange place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from operator import attrgetter

from prompt_debugger.core.base.protocols import RequestChange
from prompt_debugger.core.complete.engines._parser_test import ParserTest
from prompt_debugger.core.complete.engines._record import (
    AnswerPlaces,
    ControlTokens,
    Endpoints,
    Engine,
    Marks,
    OwnFields,
    OwnParsers,
)

_KIND = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")
_OFFLINE = "vllm"  # what names of parsers that run here, without a server, begin with


def problem_of(engine: Engine) -> str | None:
    """Return what is wrong with a record, a clause; `None` if nothing is."""
    for field, is_so, wanted in _WANTED:
        value: object = attrgetter(field)(engine)
        if not is_so(value):
            return f"`{field}` is {value!r:.80}, not {wanted}"
    return None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_text, value))


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith("/")


def _are_paths(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_path, value))


def _is_by_path(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(_is_path, value)) and all(map(_is_text, value.values()))


def _are_parsers(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, OwnParsers) and _KIND.fullmatch(value.prefix) is not None and value.prefix != _OFFLINE


def _is_test(value: object) -> bool:
    if value is None:
        return True
    if not isinstance(value, ParserTest) or not callable(value.write):
        return False
    is_note = _of(str)(value.not_run)
    return is_note and _is_text(value.suffix) and (value.package == "" or str(value.package).isidentifier())


def _are_changes(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(one, RequestChange) and _is_text(one.sentence) and callable(one.apply) for one in value
    )


def _of(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


_WANTED: tuple[tuple[str, Callable[[object], bool], str], ...] = (
    ("kind", lambda value: isinstance(value, str) and _KIND.fullmatch(value) is not None, "a word as `llama.cpp`"),
    ("title", _is_text, "a name to show"),
    ("marks", _of(Marks), "`Marks`"),
    ("marks.owners", _are_texts, "a tuple of strings"),
    ("marks.server_header", _of(str), "a text"),
    ("marks.metrics", _of(str), "a text"),
    ("marks.believed_with", lambda value: value in (None, "") or _is_path(value), 'a path, "" or `None`'),
    ("marks.paths", _are_paths, "a tuple of paths"),
    ("marks.is_it", callable, "a function"),
    ("marks.order", _of(int), "a number"),
    ("distributions", _are_texts, "a tuple of strings"),
    ("feature_by_path", _is_by_path, "a mapping of paths, which begin with `/`, to names of features"),
    ("get_paths", _of(frozenset), "a frozen set of paths"),
    ("add_details", callable, "a function"),
    ("endpoints", _of(Endpoints), "`Endpoints`"),
    ("own_fields", _of(OwnFields), "`OwnFields`"),
    ("own_fields.chat", _of(Mapping), "a mapping"),
    ("own_fields.stream", _of(Mapping), "a mapping"),
    ("own_fields.completion", _of(Mapping), "a mapping"),
    ("own_fields.by_api", _of(Mapping), "a mapping"),
    ("answer_places", _of(AnswerPlaces), "`AnswerPlaces`"),
    *((f"answer_places.{one.name}", _are_texts, "a tuple of keys") for one in fields(AnswerPlaces)),
    ("own_parsers", _are_parsers, "`OwnParsers` with a `prefix` such as `sglang`, other than `vllm`"),
    ("control_tokens", _of(ControlTokens), "one of `ControlTokens`"),
    ("no_raw_run", _of(str), "a text"),
    ("when_it_renders", _of(str), "a text"),
    ("renders_like", lambda value: value in ("vllm", "llama.cpp"), "`vllm` or `llama.cpp`"),
    ("template_flag", _is_text, "a flag"),
    ("request_changes", _are_changes, "a tuple of `RequestChange`, each a sentence and a function"),
    ("refused_conversations", _of(Mapping), "a mapping of names to reasons"),
    ("start", lambda value: value is None or callable(value), "a function or `None`"),
    ("parser_names", _of(Mapping), "a mapping of families to `ParserNames`"),
    ("parser_test", _is_test, "`ParserTest` with a function that writes, and at most the plain name of a package"),
)
