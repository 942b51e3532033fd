"""Feeds one output, or a start of it, to the grammar of any plan."""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass, replace

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.structural_tag import GrammarPlan, ToolGrammar
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.grammar.engine import GrammarEngine
from prompt_debugger.core.tools.grammar.families import GrammarFamily
from prompt_debugger.core.tools.grammar.tags import finish_tag, strings_of

_NAME = "zzNAMEzz"


class GrammarRefusedError(Exception):
    """XGrammar will not compile a plan's grammar."""


@dataclass(frozen=True, slots=True)
class Walk:
    """How far an output came in a grammar.

    Attributes:
        accepted: Bytes that were let through.
        is_completed: Whether the output may end there.
        is_free: Whether almost anything may come there.
        samples: Ways on, if few are open.
    """

    accepted: int
    is_completed: bool
    is_free: bool = False
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallForm:
    """What a format writes before and after the name of a tool."""

    before: str
    after: str


class GrammarMatcher:
    """One family's grammars, within a time limit."""

    def __init__(self, engine: GrammarEngine, family: GrammarFamily) -> None:
        self._engine = engine
        self._family = family
        self._until = time.monotonic() + engine.limits.verdict_s

    @property
    def limits_reached(self) -> bool:
        """Whether the time for this verdict is up."""
        return time.monotonic() > self._until

    def tag(self, plan: GrammarPlan) -> JSONObject:
        """Return the structural tag of a plan.

        Raises:
            GrammarRefusedError: XGrammar takes no such tools.
            EngineError: The helper failed.
        """
        build = self._family.grammar.build
        own = None if build is None else build(plan, self._family.suffix)
        if own is not None:
            return finish_tag({"format": own}, plan)
        return finish_tag(self._tag_of_xgrammar(plan), plan)

    def walk(self, plan: GrammarPlan, data: bytes, *, explore: bool = False) -> Walk:
        """Feed `data` to a plan's grammar.

        Raises:
            GrammarRefusedError: XGrammar cannot compile it.
            EngineError: The helper failed.
        """
        return self.walk_tag(self.tag(plan), data, explore=explore)

    def walk_tag(self, tag: JSON, data: bytes, *, explore: bool = False) -> Walk:
        """Feed `data` to the grammar of a tag; raises as `walk` does."""
        return walk_constraint(self._engine, "tag", tag, data, explore=explore)

    def lets_pass(self, plan: GrammarPlan, data: bytes, *, ended: bool) -> bool:
        """Return whether a plan's grammar takes all of `data` and, if it `ended`, lets it end there.

        A plan that is only tried may be too much for the compiler where the one it was made from was not: no, then.
        """
        try:
            walk = self.walk(plan, data)
        except (GrammarRefusedError, EngineError):
            return False
        return walk.accepted == len(data) and (walk.is_completed or not ended)

    def opinions(self, schema: JSON, arguments: str) -> JSONObject:
        """Return what JSON Schema and LLGuidance say; raises as `walk` does."""
        return self._ask({"ask": "opinions", "schema": schema, "arguments": arguments})

    def call_forms(self, plan: GrammarPlan) -> tuple[CallForm, ...]:
        """Return what the format writes around a tool's name, read off the tag of a made-up tool."""
        probe = replace(plan, tools=(ToolGrammar(-1, _NAME, None, is_strict=False),))
        named = (text for text in strings_of(self.tag(probe)) if _NAME in text)
        return tuple(CallForm(*text.split(_NAME, 1)) for text in named)

    def _tag_of_xgrammar(self, plan: GrammarPlan) -> JSONObject:
        wanted: JSON = plan.choice
        if plan.choice == "forced":
            wanted = {"type": "function", "function": {"name": plan.tools[0].name}}
        tools: JSON = [_tool_spec(tool) for tool in plan.tools]
        question: JSONObject = {"ask": "tag", "name": self._family.grammar.structural_tag, "tools": tools}
        tag = self._ask(question | {"tool_choice": wanted})["tag"]
        assert isinstance(tag, dict)
        return tag

    def _ask(self, question: JSONObject) -> JSONObject:
        return _asked(self._engine, question)


def walk_constraint(engine: GrammarEngine, kind: str, value: JSON, data: bytes, *, explore: bool = False) -> Walk:
    """Feed `data` to what a request constrains its answer by.

    Args:
        engine: XGrammar.
        kind: `schema`, `regex`, `grammar`, `choice` or `tag`.
        value: The constraint.
        data: The output.
        explore: Whether to say what might have come instead where it stops.

    Raises:
        GrammarRefusedError: XGrammar cannot compile it.
        EngineError: The helper failed.
    """
    text = base64.b64encode(data).decode("ascii")
    answer = _asked(engine, {"ask": "walk", "kind": kind, "value": value, "data": text, "explore": explore})
    samples = answer.get("samples")
    return Walk(
        int(str(answer["accepted"])),
        answer["completed"] is True,
        answer.get("free") is True,
        tuple(str(sample) for sample in samples) if isinstance(samples, list) else (),
    )


def _asked(engine: GrammarEngine, question: JSONObject) -> JSONObject:
    answer = engine.ask(question)
    if "refused" in answer:
        raise GrammarRefusedError(str(answer["refused"]))
    return answer


def _tool_spec(tool: ToolGrammar) -> JSONObject:
    function: JSONObject = {"name": tool.name, "strict": tool.is_strict}
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    return {"type": "function", "function": function}
