"""Families of one lineage, such as MiniMax M1 and M2, and which of them a name names.

What a server is started with says by its names which notation the prompt teaches and which one is read. Two that do
not belong together are often of two generations, such as the template of the one and the parser of the other.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Server
from prompt_debugger.core.diagnose.own_names import FAMILYS_PARSER, is_made_for
from prompt_debugger.core.diagnose.words import listed
from prompt_debugger.core.formats import FORMATS, TABLES

_PARTS = re.compile(r"[a-z]+|[0-9]+")
_VERSION = re.compile(r"(?<=[a-z]{3})v(?=\d)")
_LINEAGE = re.compile(r"[a-z]+")
_MIN_NAME = 4  # characters that say something


def families_named(text: str) -> tuple[str, ...]:
    """Return the families whose name, or whose parser's name, is in the name of a file or model.

    >>> families_named("examples/tool_chat_template_minimax_m1.jinja")
    ('minimax_m1',)
    >>> families_named("MiniMaxAI/MiniMax-M2")
    ('minimax_m2',)
    """
    parts = _parts(text.replace("\\", "/").rpartition("/")[2])
    return tuple(
        family
        for family in FORMATS
        if any(len(name) >= _MIN_NAME and _holds(parts, _parts(name)) for name in (family, *_readers(family)))
    )


def parsers_by_block(family: str, raw: str) -> tuple[str | None, frozenset[str]]:
    """Return the parser that looks for the name of a raw output's block, and the family's that look for another name.

    Neither is known of a family whose models all give their block one name.

    >>> parsers_by_block("deepseek_v32", "<｜DSML｜tool_calls>")
    ('deepseek_v4', frozenset({'deepseek_v32', 'deepseek_v41'}))
    """
    grammars = FORMATS[family].facts.grammars if family in FORMATS else ()
    signs = {grammar.parser: grammar.sign for grammar in grammars if grammar.sign not in ("", r"(?!)")}
    if not signs:
        return None, frozenset()
    usual = next((grammar.parser for grammar in grammars if not grammar.sign), None)
    written = next((parser for parser, sign in signs.items() if re.search(sign, raw)), usual)
    return written, frozenset({*signs, *([usual] if usual else [])} - {written})


def siblings_of(family: str) -> tuple[str, ...]:
    """Return the other generations of a family: those whose name begins with the same word."""
    return tuple(one for one in FORMATS if one != family and _lineage(one) == _lineage(family))


def families_read(server: Server) -> tuple[str, ...]:
    """Return the families that a server's tool parser is made for; empty where that is not known."""
    return tuple(family for family in FORMATS if is_made_for(server, family))


def familys_parser(family: str) -> str:
    """Return what to start the server with for a notation that no parser at hand is known to read."""
    others = [one for one in siblings_of(family) if _readers(one)]
    if _readers(family) or not others:
        return FAMILYS_PARSER
    return (
        f"vLLM has no parser for the notation `{family}`. If the model is of another generation ({listed(others)}), "
        "the chat template taught it this one: serve the model's own template, and the parser made for it."
    )


def _lineage(family: str) -> str:
    found = _LINEAGE.match(family)
    return found[0] if found is not None else family


def _readers(family: str) -> tuple[str, ...]:
    return TABLES.tool_parsers.get(family, ())


def _parts(name: str) -> list[str]:
    """Return the words and numbers of a name; `3.2` is one number, and `seekv3` is `seek`, `v` and `3`."""
    return _PARTS.findall(_VERSION.sub(" v", re.sub(r"(?<=\d)\.(?=\d)", "", name.lower())))


def _holds(parts: list[str], name: list[str]) -> bool:
    return any(parts[at : at + len(name)] == name for at in range(len(parts) - len(name) + 1))
