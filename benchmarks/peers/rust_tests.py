# ruff: noqa: ANN401 - what a suite expects is any JSON value
"""Suites in Rust: tests that give a text to a parser and assert what comes out (smg, sglang-router).

Read as text, not run: a string literal bound to a name, that name given to `parse_complete` or
`detect_and_parse_reasoning`, and the plain `assert_eq!` behind it. What is written in other ways is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.cases import Partial, PeerCase

_TEST = re.compile(r"#\[(?:tokio::)?test\]\s*(?:async )?fn (\w+)\(\) \{\n(.*?)\n\s{0,4}\}\n", re.DOTALL)
_STRING = r"(?:r(?P<hash>#*)\"(?P<raw>.*?)\"(?P=hash)|\"(?P<plain>(?:[^\"\\]|\\.)*)\")"
_BOUND = re.compile(rf"let (?P<name>\w+) = {_STRING};", re.DOTALL)
_PARSED = re.compile(
    r"let \((?P<text>\w+), (?P<calls>\w+)\) =\s*(?P<parser>\w+)\s*\.parse_complete\(&?(?P<input>\w+)\)", re.DOTALL
)
_REASONED = re.compile(
    rf"let (?P<result>\w+) = (?P<parser>\w+)\s*\.detect_and_parse_reasoning\((?:&?(?P<input>\w+)|{_STRING})", re.DOTALL
)
_EQUAL = re.compile(
    rf"assert_eq!\(\s*(?P<left>[^\"]*?(?:\[\"\w+\"\])?),\s*(?P<right>{_STRING}|[\w.:\-]+),?\s*(?:,\s*\"[^\"]*\",?\s*)?\);",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "0": "\0", "'": "'"}


def read_rust_tests(folder: Path) -> Iterator[PeerCase]:
    """Yield what can be read of every Rust test below `folder`."""
    for path in sorted(folder.rglob("*.rs")):
        text = path.read_text(encoding="utf-8")
        if "parse_complete" in text or "detect_and_parse_reasoning" in text:
            for match in _TEST.finditer(text):
                yield from _cases(f"{path.name}::{match.group(1)}", path.stem, match.group(2))


def _cases(origin: str, family: str, body: str) -> Iterator[PeerCase]:
    parsed = [*_PARSED.finditer(body)]
    for index, match in enumerate(parsed):
        raw = _bound_before(body, match)
        if raw is not None:
            until = parsed[index + 1].start() if index + 1 < len(parsed) else len(body)
            yield _case(origin, family, raw, body[match.end() : until], match)
    for match in _REASONED.finditer(body):
        raw = _bound_before(body, match) if match.group("input") else _literal(match)
        if raw is not None:
            yield _reasoning_case(origin, family, raw, body[match.end() :], match)


def _bound_before(body: str, use: re.Match[str]) -> str | None:
    """Return the text that a name stands for where it is used; `None` if a loop gives it one after another."""
    name = use.group("input")
    bound = [match for match in _BOUND.finditer(body, 0, use.start()) if match.group("name") == name]
    start = bound[-1].end() if bound else 0
    is_looped = re.search(rf"\bfor [^{{]*\b{name}\b[^{{]* in ", body[start : use.start()]) is not None
    return _literal(bound[-1]) if bound and not is_looped else None


def _case(origin: str, family: str, raw: str, behind: str, match: re.Match[str]) -> PeerCase:
    text, calls = match.group("text"), match.group("calls")
    count: int | None = 0 if f"assert!({calls}.is_empty()" in behind else None
    names: dict[int, str] = {}
    arguments: dict[int, Partial] = {}
    content: str | None = None
    current = 0
    for equal in _EQUAL.finditer(behind):
        left, right = " ".join(equal.group("left").split()), equal.group("right")
        value = _literal(equal) if equal.group("plain") is not None or equal.group("raw") is not None else right
        if left == f"{calls}.len()" and right.isdigit():
            count = int(right)
        elif left == text:
            content = raw if value in ("input", match.group("input")) else value
        elif (name := re.fullmatch(rf"{calls}\[(\d)\]\.function\.name(?:\.as_str\(\))?", left)) is not None:
            current = int(name.group(1))
            names[current] = str(value)
        elif (key := re.fullmatch(r"args(\d?)\[\"(\w+)\"\]", left)) is not None:
            index = int(key.group(1)) if key.group(1) else current
            arguments.setdefault(index, Partial())[key.group(2)] = _value(value, is_text=value is not right)
    listed = count is not None and count > 0 and set(names) == set(range(count))
    return PeerCase(
        origin,
        family,
        raw,
        calls=tuple((names[i], arguments.get(i)) for i in range(count or 0)) if listed else None,
        n_calls=count,
        content=content,
    )


def _reasoning_case(origin: str, family: str, raw: str, behind: str, use: re.Match[str]) -> PeerCase:
    found: dict[str, str] = {}
    for equal in _EQUAL.finditer(behind):
        field = equal.group("left").strip().removeprefix(f"{use.group('result')}.")
        if field not in ("reasoning_text", "normal_text") or field in found:
            continue
        if equal.group("plain") is not None or equal.group("raw") is not None:
            found[field] = _literal(equal)
        elif equal.group("right") == use.group("input"):
            found[field] = raw
    return PeerCase(origin, family, raw, content=found.get("normal_text"), reasoning=found.get("reasoning_text"))


def _literal(match: re.Match[str]) -> str:
    if match.group("raw") is not None:
        return match.group("raw")
    plain = re.sub(r"\\\n\s*", "", match.group("plain") or "")
    plain = re.sub(r"\\u\{(\w+)\}", lambda m: chr(int(m.group(1), 16)), plain)
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), plain)


def _value(value: str, *, is_text: bool) -> Any:
    if is_text:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return None if value.endswith("Null") else value
