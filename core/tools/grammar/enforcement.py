"""How far a server enforces the tool-call grammar, decided as vLLM 0.32 decides it.

Source: vLLM 0.32.0, `_apply_structural_tag` and `resolve_tool_strictness`: with
`tool_choice: auto` nothing is enforced unless a tool has `strict: true`, the server runs
with `--tool-strict-level`, or `parallel_tool_calls` is false; with `required` or a named
tool the shape of the call always is, its arguments only where the tool is strict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.structural_tag import GrammarPlan, StrictLevel, ToolGrammar
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.parse.tools import function_of
from prompt_debugger.core.tools.grammar.families import GrammarFamily

_RANK: Mapping[StrictLevel, int] = {"auto": 0, "function": 1, "parameter": 2}


@dataclass(frozen=True, slots=True)
class Enforcement:
    """A level of enforcement.

    Attributes:
        name: What it is called.
        choice: The request's tool choice; `forced` for a named tool.
        forced_tool: Name of that tool.
        strict_level: The server's `--tool-strict-level`.
        parallel: The request's `parallel_tool_calls`.
        enabled: False if the server enforces nothing (`VLLM_ENFORCE_STRICT_TOOL_CALLING=0`).
    """

    name: str = "auto"
    choice: Literal["auto", "required", "forced", "none"] = "auto"
    forced_tool: str | None = None
    strict_level: StrictLevel = "auto"
    parallel: bool = True
    enabled: bool = True


LEVELS: Mapping[str, Enforcement] = {
    level.name: level
    for level in (
        Enforcement("off", enabled=False),
        Enforcement("auto"),
        Enforcement("auto+envelope", strict_level="function"),
        Enforcement("auto+strict", strict_level="parameter"),
        Enforcement("auto+single", parallel=False),
        Enforcement("required", choice="required"),
        Enforcement("required+strict", choice="required", strict_level="parameter"),
        Enforcement("required+single", choice="required", parallel=False),
    )
}


def enforcement_named(name: str) -> Enforcement:
    """Return a level by its name; `forced:TOOL` and `forced:TOOL+strict` force one tool.

    Raises:
        EngineError: There is no such level.
    """
    if name.startswith("forced:"):
        tool = name.removeprefix("forced:").removesuffix("+strict")
        level: StrictLevel = "parameter" if name.endswith("+strict") else "auto"
        return Enforcement(name, choice="forced", forced_tool=tool, strict_level=level)
    if name not in LEVELS:
        raise EngineError(f"There is no enforcement level `{name}`.", f"Known: {', '.join(LEVELS)}, forced:TOOL.")
    return LEVELS[name]


def enforcement_of_request(body: JSONObject, strict_level: StrictLevel = "auto") -> Enforcement:
    """Return the level that a chat request asks for, on a server started with `strict_level`."""
    wanted = body.get("tool_choice")
    single = body.get("parallel_tool_calls") is False
    choice: Literal["auto", "required", "forced", "none"] = "auto"
    tool: str | None = None
    if isinstance(wanted, dict):
        name = function_of(wanted).get("name")
        if isinstance(name, str):
            choice, tool = "forced", name
    elif wanted == "required":
        choice = "required"
    elif wanted == "none":
        choice = "none"
    parts = [f"forced:{tool}" if tool else choice, {"function": "envelope", "parameter": "strict"}.get(strict_level)]
    name = "+".join(part for part in (*parts, "single" if single else None) if part)
    return Enforcement(name, choice, tool, strict_level, parallel=not single)


def plan_grammar(family: GrammarFamily, tools: Sequence[JSONObject], level: Enforcement) -> GrammarPlan | None:
    """Return what vLLM would enforce, `None` if nothing; tools that are not functions with a name are left out."""
    if not level.enabled or level.choice == "none" or (level.choice == "auto" and not family.grammar.constrains_auto):
        return None
    strict_level = level.strict_level if level.strict_level != "auto" else family.grammar.default_level
    if not level.parallel and _RANK[strict_level] < _RANK["function"]:
        strict_level = "function"
    read = tuple(_read_tool(index, tool, strict_level) for index, tool in enumerate(tools))
    known = tuple(tool for tool in read if tool is not None)
    if not known or (level.choice == "auto" and strict_level == "auto" and not any(tool.is_strict for tool in known)):
        return None
    if level.choice == "forced":
        known = tuple(tool for tool in known if tool.name == level.forced_tool)
        if not known:
            return None
    return GrammarPlan(known, level.choice, level.parallel)


def describe_plan(plan: GrammarPlan) -> str:
    """Return what a plan constrains, one sentence."""
    strict = [tool.name for tool in plan.tools if tool.is_strict]
    if len(strict) == len(plan.tools):
        arguments = "its arguments follow the declared schema"
    elif strict:
        arguments = f"arguments follow the schema for {', '.join(strict)} only"
    else:
        arguments = "its arguments may be any JSON"
    count = "" if plan.parallel else "; at most one call"
    if plan.choice == "auto":
        return f"Text is free; a call, once opened, names a declared tool and {arguments}{count}."
    if plan.choice == "required":
        return f"A call of a declared tool is required; {arguments}{count}."
    return f"A call of `{plan.tools[0].name}` is required; {arguments}."


def free_arguments(plan: GrammarPlan) -> GrammarPlan:
    """Return the plan with every tool's arguments left free."""
    return replace(plan, tools=tuple(replace(tool, parameters=None, is_strict=False) for tool in plan.tools))


def _read_tool(index: int, tool: JSONObject, strict_level: StrictLevel) -> ToolGrammar | None:
    function = function_of(tool)
    name = function.get("name")
    if not isinstance(name, str) or not name:
        return None
    is_strict = strict_level == "parameter" or function.get("strict") is True
    return ToolGrammar(index, name, function.get("parameters"), is_strict)
