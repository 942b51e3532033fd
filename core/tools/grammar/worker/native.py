"""XGrammar's native core over the 256 bytes, loaded without torch.

`import xgrammar` needs torch for its tensors, which nothing here wants. All its
structural tags speak of text, so that bytes decide exactly as a vocabulary would.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys
import types
from typing import Protocol

from prompt_debugger.core.base.types import JSON, JSONObject

_ALIAS = "_xgrammar_core"
_CACHE_BYTES = 128 << 20
_YES, _NO = True, False  # the core takes no keywords


class Matcher(Protocol):
    """A grammar and how far into it a text has come."""

    def accept_string(self, data: bytes, debug: bool, /) -> bool:  # noqa: FBT001 - the core takes no keywords
        """Take all of `data`, or none of it."""

    def find_jump_forward_string(self) -> object:
        """Return the text that must come next."""

    def is_completed(self) -> bool:
        """Return whether the text may end here."""

    def fork(self) -> Matcher:
        """Return a copy."""

    def rollback(self, n_tokens: int, /) -> None:
        """Undo so many accepted strings."""


class XGrammar:
    """XGrammar's core: builds structural tags, compiles them."""

    def __init__(self) -> None:
        distribution = importlib.metadata.distribution("xgrammar")
        self.version = distribution.version
        package = types.ModuleType(_ALIAS)
        package.__path__ = [str(distribution.locate_file("xgrammar"))]
        sys.modules[_ALIAS] = package
        # The library below XGrammar takes torch in if it can; in this process it cannot.
        sys.modules["torch"] = None  # type: ignore[assignment]  # the documented way to make an import fail
        for name in ("exception", "load_binding"):
            importlib.import_module(f"{_ALIAS}.{name}")
        core = importlib.import_module(f"{_ALIAS}.base")._core
        self._tags = importlib.import_module(f"{_ALIAS}.builtin_structural_tag")
        vocabulary = core.TokenizerInfo([bytes([value]) for value in range(256)] + [b"</s>"], 0, None, [256], _NO)
        self._compiler = core.GrammarCompiler(vocabulary, 1, _YES, _CACHE_BYTES)
        self._matcher = core.GrammarMatcher

    def model_tag(self, name: str, tools: JSON, tool_choice: JSON) -> JSONObject:
        """Return one of XGrammar's own structural tags as JSON, its reasoning part left out."""
        tag = self._tags.get_model_structural_tag(name, tools=tools, tool_choice=tool_choice, reasoning="disabled")
        decoded: JSONObject = json.loads(tag.model_dump_json())
        return decoded

    def compile_constraint(self, kind: str, value: JSON) -> Matcher:
        """Return a matcher at the start of what a request constrains its answer by, compiled as a server does."""
        if kind == "schema":
            text = value if isinstance(value, str) else json.dumps(value)
            compiled = self._compiler.compile_json_schema(text, _YES, None, None, _YES, None, _NO)
        elif kind == "regex":
            compiled = self._compiler.compile_regex(str(value))
        elif kind == "tag":
            compiled = self._compiler.compile_structural_tag(json.dumps(value))
        elif kind == "choice":
            words = " | ".join(map(_as_ebnf, value if isinstance(value, list) else [value]))
            compiled = self._compiler.compile_grammar_from_strings(f"root ::= {words}", "root")
        elif "::=" in str(value):
            compiled = self._compiler.compile_grammar_from_strings(str(value), "root")
        else:
            compiled = self._compiler.compile_lark(str(value), [], [])
        matcher: Matcher = self._matcher(compiled, None, _NO, -1, None)
        return matcher


def _as_ebnf(word: JSON) -> str:
    """Return a word as XGrammar writes a literal: JSON's way, but for what JSON leaves as it is."""
    return json.dumps(str(word), ensure_ascii=False).replace("\x7f", "\\u007f")
