"""How far a text gets in a grammar, and what might have come instead."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.grammar.worker.native import Matcher

_CHUNK_BYTES = 1 << 12
_MAX_SAMPLES = 8
_SAMPLE_BYTES = 40
_FREE_BYTES = 64
_BRANCHES = 10
_QUIET = False  # no tracing
_ORDER = b'"{[}]<,:-'


def walk(matcher: Matcher, data: bytes, *, explore: bool) -> JSONObject:
    """Feed UTF-8 to a matcher at its start and say where it stopped, with ways on if it is to `explore`."""
    accepted = feed(matcher, data)
    answer: JSONObject = {"accepted": accepted, "completed": bool(matcher.is_completed())}
    if explore:
        allowed = _allowed_bytes(matcher)
        answer["free"] = len(allowed) > _FREE_BYTES
        samples: list[bytes] = []
        if len(allowed) <= _FREE_BYTES:
            _collect(matcher, b"", samples)
        answer["samples"] = [text for text in map(_readable, samples) if text]
        answer["never"] = _readable(bytes(value for value in range(33, 127) if value not in allowed))
    return answer


def feed(matcher: Matcher, data: bytes) -> int:
    """Return how many bytes a grammar takes, and leave the matcher after them."""
    position, size = 0, _CHUNK_BYTES
    while position < len(data):
        chunk = data[position : position + size]
        if matcher.accept_string(chunk, _QUIET):
            position += len(chunk)
        elif len(chunk) == 1:
            break
        else:
            size = len(chunk) // 2
    return position


def _allowed_bytes(matcher: Matcher) -> set[int]:
    allowed = set()
    for value in range(256):
        if matcher.accept_string(bytes([value]), _QUIET):
            matcher.rollback(1)
            allowed.add(value)
    return allowed


def _collect(matcher: Matcher, prefix: bytes, samples: list[bytes]) -> None:
    """Follow what is forced, branch where little is open, stop where much is."""
    forced = _forced(matcher)
    here = matcher
    if forced:
        here = matcher.fork()
        if not here.accept_string(forced, _QUIET):
            here, forced = matcher, b""
    prefix += forced
    allowed = _allowed_bytes(here)
    is_open = len(allowed) > _BRANCHES and prefix
    if is_open or not allowed or here.is_completed() or len(prefix) >= _SAMPLE_BYTES:
        samples.append(prefix)
        return
    for value in _worth_showing(allowed):
        if len(samples) >= _MAX_SAMPLES:
            return
        branch = here.fork()
        if branch.accept_string(bytes([value]), _QUIET):
            _collect(branch, prefix + bytes([value]), samples)


def _worth_showing(allowed: set[int]) -> list[int]:
    """Put structure first; show blanks only if there is nothing else, and of digits the first two."""
    digits = sorted(value for value in allowed if 48 <= value <= 57)
    kept = [value for value in allowed if value not in b" \t\r\n" and value not in digits[2:]]
    if not kept:
        return sorted(allowed)[:2]
    return sorted(kept, key=lambda value: (_ORDER.find(value) if value in _ORDER else len(_ORDER), value))


def _forced(matcher: Matcher) -> bytes:
    try:
        return str(matcher.find_jump_forward_string()).encode()
    except UnicodeError:  # half a character may be forced
        return b""


def _readable(data: bytes) -> str:
    return data.decode("utf-8", "ignore")
