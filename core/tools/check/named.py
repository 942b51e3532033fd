"""Does a model's name bear the name of a parser? Part by part, versions included: what only begins alike does not.

`glm45` is in `GLM-4.5-Air`, and `granite4` in `granite-4.0-h-tiny`; `minicpm5` is neither in `minicpmv45` nor in
`MiniCPM-V-4.5`, and `kimi_k2` is not said of `Kimi-K2.5`, which is another version.
"""

from __future__ import annotations

import re

from prompt_debugger.core.complete import parser_names_of
from prompt_debugger.core.formats import FORMATS

_PART = re.compile(r"[a-z]+|\d+")
_POINT = re.compile(r"(?<=\d)p(?=\d)")  # as `step3p5` writes 3.5
_VERSION = re.compile(r"_v\d+$")


def has_name_of(model: str, parser: str) -> bool:
    """Return whether whole parts of a model's name (a folder, hub id or file's name) are the name of a parser."""
    return _occurs_in(model, _POINT.sub("", parser.lower()))


def has_base_name_of(model: str, parser: str) -> bool:
    """Return whether whole parts of a model's name are the name of a parser less its version, which must not differ."""
    base_name = _VERSION.sub("", parser.lower())
    return (
        base_name != parser.lower() and len(base_name) > 3 and _occurs_in(model, base_name, followed_by_version=False)
    )


def twin_parsers(engine: str, family: str | None) -> tuple[str, ...]:
    """Return an engine's tool parsers of the families whose calls look the same: outputs do not tell which it is."""
    twins = () if family is None or family not in FORMATS else FORMATS[family].facts.same_notation
    return tuple(name for twin in twins for name in parser_names_of(engine, twin).tools)


def _occurs_in(model: str, name: str, *, followed_by_version: bool = True) -> bool:
    """Return whether a name is some whole parts of a model's name; after a version no more of one may follow."""
    text = _last(model)
    wanted = "".join(_PART.findall(name))
    found = list(_PART.finditer(text))
    ends = [(one.start(), one.end()) for one in found]
    for first, one in enumerate(found):
        joined = ""
        for index in range(first, len(found)):
            joined += found[index][0]
            if joined == wanted and _is_at_edge(text, one.start()):
                following = text[ends[index][1] :]
                if wanted[-1].isdigit():
                    return not re.match(r"[.p]0*[1-9]", following)
                return followed_by_version or not re.match(r"[\W_]?v?[\W_]?\d", following)
    return False


def _is_at_edge(text: str, start: int) -> bool:
    """Return whether a part begins here, and is not the figure behind letters."""
    return start == 0 or not text[start - 1].isalnum()


def _last(model: str) -> str:
    """Return the name of a model without the publisher, the folders above it, and the revision."""
    return re.split(r"[/\\]", model.partition("@")[0].rstrip("/\\"))[-1].lower()
