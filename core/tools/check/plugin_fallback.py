"""The way out where vLLM's parsers fall short: our own reader as a parser plugin, if it reads more of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.json_values import same_json
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, JSONObject
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.judge import Cell

PLUGIN_FILE = "parser.py"
_NO_FAMILY = "generic"


@dataclass(frozen=True, slots=True)
class PluginFallback:
    """What our own reader makes of the answers; the family is `None` if the outputs look like none that it knows."""

    family: str | None
    read: int
    asked: int
    is_more: bool
    is_all_there_is: bool = False

    @property
    def write_command(self) -> tuple[str, ...]:
        """The command that writes the plugin; empty if it is no way out."""
        if not self.is_more or self.family is None:
            return ()
        return ("prompt-debugger", "plugin", "--family", self.family, "--output", PLUGIN_FILE)

    @property
    def sentence(self) -> str:
        """What a person reads; "" if there is nothing to say."""
        if self.is_more:
            return (
                f"Prompt Debugger's own reader reads {self.read} of {self.asked} answers with calls "
                f"correctly: `{' '.join(self.write_command)}` writes it as a parser plugin for vLLM; check "
                f"it with `--parser-file {PLUGIN_FILE}`."
            )
        if self.read or not self.asked or not self.is_all_there_is:
            return ""
        why = "does not support this format" if self.family is None else f"cannot read it either, as `{self.family}`"
        return f"Prompt Debugger's own reader {why}, so there is no plugin to offer."


def plugin_fallback(
    ideals: Sequence[Ideal], tools: tuple[JSONObject, ...], family: str | None, row: Mapping[str, Cell]
) -> PluginFallback:
    """Return what our reader makes of the answers."""
    asked = [ideal for ideal in ideals if ideal.is_whole and ideal.answer.calls]
    family = None if family == _NO_FAMILY else family
    ours = 0 if family is None else sum(_reads(ideal, tools, family) for ideal in asked)
    theirs = sum(ideal.answer.name in row and row[ideal.answer.name].is_passed for ideal in asked)
    return PluginFallback(family, ours, len(asked), ours > theirs, is_all_there_is=not row)


def _reads(ideal: Ideal, tools: tuple[JSONObject, ...], family: str) -> bool:
    """Return whether our reader finds exactly the calls that went in, and the texts around them."""
    message = FORMATS[family].read(ideal.raw, ReadContext(tools, ideal.prompt_tail))
    found, wanted = message.calls, ideal.answer.calls
    texts = ((message.content, ideal.answer.content), (message.reasoning, ideal.answer.reasoning))
    if any((got or "").strip() != (want or "").strip() for got, want in texts):
        return False
    return len(found) == len(wanted) and all(
        got.status is CallStatus.COMPLETE and got.name == want.name and same_json(got.arguments_json, want.arguments)
        for got, want in zip(found, wanted, strict=True)
    )
