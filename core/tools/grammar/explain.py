"""Why a grammar stepped in: one thing is relaxed at a time, and what lets the output continue is the cause."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from prompt_debugger.core.base.structural_tag import GrammarPlan, ToolGrammar
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.tools.grammar.enforcement import free_arguments
from prompt_debugger.core.tools.grammar.locate import WrittenCall, find_call
from prompt_debugger.core.tools.grammar.matcher import CallForm, GrammarMatcher
from prompt_debugger.core.tools.grammar.schema_edits import SchemaEdit, find_culprit, find_missing, write_steps
from prompt_debugger.core.tools.grammar.verdict import Cause, SchemaRule

_MAX_TESTS = 400


@dataclass(frozen=True, slots=True)
class Stop:
    """Where the grammar stopped an output: at which byte of what was fed, or at its end.

    `declared` are the request's tools, `forms` what the format writes around a tool's name.
    """

    data: bytes
    at: int
    declared: Sequence[str]
    forms: Sequence[CallForm]

    @property
    def is_at_end(self) -> bool:
        """Whether it was the end that was refused."""
        return self.at >= len(self.data)

    @property
    def char(self) -> int:
        """The character with that byte."""
        return len(self.data[: self.at].decode("utf-8", "ignore"))

    @property
    def call(self) -> WrittenCall | None:
        """The call around that place."""
        text = self.data.decode("utf-8", "replace")
        return find_call(text, self.char, self.forms)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The cause, and the plan under which the output would have gone on.

    Attributes:
        cause: Why the grammar stepped in.
        relaxed: A plan that allows it; `None` if no plan does.
        relaxation: What that plan relaxes, in words.
        rule: The part of the tool spec behind it.
        missing: Name of a missing or late property.
        call: The call it is in.
    """

    cause: Cause
    relaxed: GrammarPlan | None = None
    relaxation: str | None = None
    rule: SchemaRule | None = None
    missing: str | None = None
    call: WrittenCall | None = None


def explain_stop(matcher: GrammarMatcher, plan: GrammarPlan, stop: Stop) -> Explanation:
    """Return why the grammar of `plan` stepped in."""
    passes = _tester(matcher, stop)
    call = stop.call
    for explain in (_explain_count, _explain_choice, _explain_name, _explain_arguments):
        found = explain(plan, stop, call, passes)
        if found is not None:
            return replace(found, call=call)
    return Explanation(Cause.END_TOO_EARLY if stop.is_at_end else Cause.SPELLING, call=call)


_Passes = Callable[[GrammarPlan], bool]


def _tester(matcher: GrammarMatcher, stop: Stop) -> _Passes:
    tests = 0

    def passes(plan: GrammarPlan) -> bool:
        nonlocal tests
        tests += 1
        if tests > _MAX_TESTS or matcher.limits_reached:
            return False
        return matcher.lets_pass(plan, stop.data[: stop.at + 1], ended=stop.is_at_end)

    return passes


def _explain_choice(plan: GrammarPlan, stop: Stop, call: WrittenCall | None, passes: _Passes) -> Explanation | None:
    free = replace(plan, choice="auto")
    if plan.choice == "auto" or not passes(free):
        return None
    return Explanation(Cause.TEXT_OUTSIDE_CALL, free, "text allowed, as with `tool_choice: auto`")


def _explain_count(plan: GrammarPlan, stop: Stop, call: WrittenCall | None, passes: _Passes) -> Explanation | None:
    many = replace(plan, parallel=True)
    if not plan.parallel and passes(many):
        return Explanation(Cause.CALL_COUNT, many, "more than one call allowed")
    several = replace(plan, choice="required", parallel=True)
    if plan.choice == "forced" and passes(several):
        return Explanation(Cause.CALL_COUNT, several, "more than one call allowed")
    return None


def _explain_name(plan: GrammarPlan, stop: Stop, call: WrittenCall | None, passes: _Passes) -> Explanation | None:
    if call is None or not call.name or call.name in (tool.name for tool in plan.tools):
        return None
    choice = "required" if plan.choice == "forced" else plan.choice
    made_up = ToolGrammar(-1, call.name, None, is_strict=False)
    wider = replace(plan, choice=choice, tools=(*plan.tools, made_up))
    if not passes(wider):
        return None
    cause = Cause.OTHER_TOOL if call.name in stop.declared else Cause.TOOL_NAME
    return Explanation(cause, wider, f"a tool `{call.name}` with free arguments assumed")


def _explain_arguments(plan: GrammarPlan, stop: Stop, call: WrittenCall | None, passes: _Passes) -> Explanation | None:
    if call is None or not passes(free_arguments(plan)):
        return None
    tool = next((tool for tool in plan.tools if tool.name == call.name), None)
    if tool is None or not isinstance(tool.parameters, dict):
        return Explanation(Cause.ARGUMENT_SCHEMA, free_arguments(plan), "arguments left free")

    def passes_with(schema: JSON) -> bool:
        return passes(_replace_schema(plan, tool, schema))

    loose = replace(plan, any_order=True)
    if passes(loose):
        edit = find_missing(tool.parameters, passes_with, tool.parameters)
        return _explain_order(plan, tool, loose, edit, _tail_of(stop, call))
    key = _key_at(stop)
    if (unknown := _explain_key(plan, tool, key, passes)) is not None:
        return unknown
    edit = find_culprit(tool.parameters, passes_with, likely=key)
    if edit is None:
        return Explanation(
            Cause.ARGUMENT_SCHEMA, _replace_schema(plan, tool, None), f"arguments of `{tool.name}` left free"
        )
    relaxed = _replace_schema(plan, tool, edit.schema)
    if edit.kind == "missing" and edit.missing is not None:
        return _explain_order(plan, tool, relaxed, edit, _tail_of(stop, call))
    if edit.kind == "unknown":
        declared = isinstance(edit.removed, list) and _escaped_key_at(stop) in edit.removed
        cause = Cause.SPELLING if declared else Cause.UNKNOWN_PROPERTY
        return Explanation(cause, relaxed, "additional properties allowed", _rule(tool, edit))
    return Explanation(Cause.VALUE, relaxed, f"`{_rule(tool, edit).path}` left out", _rule(tool, edit))


def _explain_key(plan: GrammarPlan, tool: ToolGrammar, key: str | None, passes: _Passes) -> Explanation | None:
    """Return the explanation by an undeclared key, in a format whose tag lists the keys; `None` if it is another."""
    properties = tool.parameters.get("properties") if isinstance(tool.parameters, dict) else None
    opened = replace(plan, open_keys=True)
    if key is None or not isinstance(properties, dict) or key in properties or not passes(opened):
        return None
    rule = SchemaRule(tool.name, f"{_path(tool)}.properties", "", list(properties))
    return Explanation(Cause.UNKNOWN_PROPERTY, opened, "additional properties allowed", rule)


_KEY = re.compile(r'<(?:\|open\|>argument key="|arg_key[^<>]*>)([^"<]*)')


def _key_at(stop: Stop) -> str | None:
    """Return the key that is being written, or whose value is, in the styles that write keys outside of JSON."""
    text = stop.data.decode("utf-8", "replace")
    before = [match for match in _KEY.finditer(text) if match.start() <= stop.char]
    return before[-1][1] if before else None


_JSON_KEY = re.compile(r'("(?:[^"\\]|\\.)*")\s*:')


def _escaped_key_at(stop: Stop) -> str | None:
    """Return the key of a JSON object that is being written with escapes, read; a grammar takes the plain spelling."""
    text = stop.data.decode("utf-8", "replace")
    for match in _JSON_KEY.finditer(text):
        if match.start() <= stop.char < match.end() and "\\" in match[1]:
            try:
                return str(json.loads(match[1]))
            except ValueError:
                return None
    return None


def _explain_order(
    plan: GrammarPlan, tool: ToolGrammar, loose: GrammarPlan, edit: SchemaEdit | None, tail: str
) -> Explanation:
    """Return the explanation by a key that never comes, or by one that comes too late."""
    missing = None if edit is None else edit.missing
    if missing is None:
        missing = next((name for name in _required(tool.parameters) if not _is_written(name, tail)), None)
    absent = missing is not None and not _is_written(missing, tail)
    if edit is not None and absent:
        rule, relaxed = _rule(tool, edit), _replace_schema(plan, tool, edit.schema)
        return Explanation(Cause.MISSING_PROPERTY, relaxed, f"`{missing}` no longer required", rule, missing)
    part = "required" if absent else "properties"
    declared = tool.parameters.get(part) if isinstance(tool.parameters, dict) else None
    shown: JSON = list(declared) if isinstance(declared, dict) else declared
    rule = SchemaRule(tool.name, f"{_path(tool)}.{part}", "", shown)
    cause = Cause.MISSING_PROPERTY if absent else Cause.PROPERTY_ORDER
    return Explanation(cause, loose, "any order of properties allowed, none required", rule, missing)


def _required(schema: JSON) -> Iterator[str]:
    required = schema.get("required") if isinstance(schema, dict) else None
    return (name for name in required if isinstance(name, str)) if isinstance(required, list) else iter(())


def _is_written(name: str, tail: str) -> bool:
    """Return whether a key is anywhere in a call's arguments, in JSON or in one of the XML styles."""
    return any(form in tail for form in (f'"{name}"', f"={name}>", f">{name}<"))


def _tail_of(stop: Stop, call: WrittenCall) -> str:
    if call.arguments:
        return call.arguments
    text = stop.data.decode("utf-8", "replace")
    return text[call.name_stop :].split("<tool_call>")[0]


def _replace_schema(plan: GrammarPlan, tool: ToolGrammar, schema: JSON) -> GrammarPlan:
    changed = replace(tool, parameters=schema)
    return replace(plan, tools=tuple(changed if other is tool else other for other in plan.tools))


def _rule(tool: ToolGrammar, edit: SchemaEdit) -> SchemaRule:
    return SchemaRule(tool.name, _path(tool) + write_steps(edit.steps), edit.argument, edit.removed)


def _path(tool: ToolGrammar) -> str:
    return f"tools[{tool.index}].function.parameters"
