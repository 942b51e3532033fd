"""Values of Kubernetes secrets in a manifest, YAML or JSON: no shape and no name gives them away."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import partial

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


def cover_manifests(text: str, cover: Callable[[str], str]) -> str:
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
