"""What calls of Python's own library stand for in a snippet, without executing any: a placeholder, or their result."""

from __future__ import annotations

import copy
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Final

from prompt_debugger.core.base.types import JSON

_UUID = "00000000-0000-4000-8000-000000000000"
_TIME = 1_767_225_600  # 2026-01-01T00:00:00Z
_MAX_COPIED = 200_000  # characters and members

_NEW: Final[tuple[tuple[re.Pattern[str], JSON], ...]] = tuple(
    (re.compile(rf"(?:^|\.){pattern}\Z"), value)
    for pattern, value in (
        (r"uuid[1-7]\.hex", _UUID.replace("-", "")),
        (r"uuid[1-7]", _UUID),
        (r"(?:time\.time|datetime\.(?:now|utcnow)\.timestamp)", float(_TIME)),
        (r"time\.time_ns", _TIME * 10**9),
        (r"(?:now|utcnow|today)\.(?:date\.)?(?:isoformat|strftime|ctime)", "2026-01-01"),
        (r"(?:datetime|date|datetime\.datetime|datetime\.date)\.(?:now|utcnow|today)(?:\.date)?", "2026-01-01"),
        (r"time\.(?:strftime|ctime|asctime)", "2026-01-01"),
        (r"secrets\.token_(?:hex|urlsafe)", "0" * 32),
        (r"random\.(?:randint|randrange|getrandbits)", 1),
        (r"random\.(?:random|uniform)", 0.5),
        (r"os\.(?:getcwd|getlogin)|getpass\.getuser|(?:platform|socket)\.(?:node|gethostname|system)", "example"),
    )
)
_TRIMS: Final[Mapping[str, Callable[[str], str]]] = {
    "strip": str.strip, "lstrip": str.lstrip, "rstrip": str.rstrip, "lower": str.lower, "upper": str.upper,
}  # fmt: skip
METHODS: Final = frozenset({"join", "copy", *_TRIMS})


def placeholder_of(name: str) -> JSON:
    """Return what stands for a value that is new in every run; `None` if nothing does.

    >>> placeholder_of("uuid.uuid4")
    '00000000-0000-4000-8000-000000000000'

    Args:
        name: Dotted name of what is called, or of a member of what it returns.
    """
    return next((value for pattern, value in _NEW if pattern.search(name)), None)


def made_of(name: str, values: list[JSON]) -> JSON:
    """Return what a harmless function makes of values, a method's owner first; `None` if it is not followed."""
    match name.removeprefix("builtins."), values:
        case "str", [str() | int() | float() as value] if not isinstance(value, bool):
            return str(value)
        case "int", [int() | float() as value] if not isinstance(value, bool) and abs(value) < 10**18:
            return int(value)
        case "list" | "tuple" | "copy" | "deepcopy" | "copy.copy" | "copy.deepcopy" | ".copy", [
            dict() | list() as value
        ]:
            return copy.deepcopy(value) if _is_small(value) else None
        case "textwrap.dedent" | "dedent", [str() as text]:
            return textwrap.dedent(text)
        case "inspect.cleandoc" | "cleandoc", [str() as text]:
            return textwrap.dedent(text).strip()
        case ".join", [str() as glue, list() as parts]:
            return _joined(glue, parts)
        case str() as method, [str() as text] if method.startswith(".") and method[1:] in _TRIMS:
            return _TRIMS[method[1:]](text)
        case _:
            return None


def _joined(glue: str, parts: list[JSON]) -> JSON:
    texts = [part for part in parts if isinstance(part, str)]
    size = sum(map(len, texts)) + len(glue) * len(texts)
    return glue.join(texts) if len(texts) == len(parts) and size <= _MAX_COPIED else None


def _is_small(value: JSON) -> bool:
    try:
        return len(json.dumps(value)) <= _MAX_COPIED
    except (ValueError, RecursionError):
        return False
