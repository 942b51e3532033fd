"""What a lab is not asked: a constraint that would keep it busy for all others, a prompt that fills its memory.

vLLM compiles schemas, patterns and grammars of a request in the process that serves everyone, and follows them in the
one that generates for everyone; neither can be ended for one request. So each constraint is first compiled and
followed here, in a helper that can be (`core.tools.grammar`). Switches of the template, too, reach the
method that fills it in, and through it the tokenizer (`padding`): tried on vLLM 0.32, a prompt is padded to any length
before its length is checked. A server of someone's own is asked anything.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterator
from itertools import pairwise
from math import inf
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.parse.tools import function_of
from prompt_debugger.core.tools.grammar import (
    GrammarEngine,
    GrammarMissingError,
    GrammarTooMuchError,
    enforcement_of_request,
)
from prompt_debugger.core.tools.lab.spec import LabSpec

CPU_S = 2.0  # of all constraints of a request together
_MAX_REMEMBERED, _MAX_REMEMBERED_CHARS = 256, 20_000
_PADDING = ("padding", "tokenizer_kwargs")
_UNPADDED: tuple[JSON, ...] = (None, False, "do_not_pad", {})
_KINDS = {"json": "schema", "regex": "regex", "choice": "choice", "grammar": "grammar", "structural_tag": "tag"}


class Constraint(NamedTuple):
    """A part of a request that becomes a grammar: a `schema`, `regex`, `choice`, `grammar` or `tag`."""

    field: str
    kind: str
    value: JSON


class LabGuard:
    """Judges requests to the labs of this program, within a processor time for each; from any thread."""

    def __init__(self, engine: GrammarEngine | None = None, cpu_s: float = CPU_S) -> None:
        self._engine = engine or GrammarEngine()
        self._cpu_s = cpu_s
        self._costs: OrderedDict[str, float] = OrderedDict()
        self._changing = threading.Lock()

    def check(self, body: JSONObject, spec: LabSpec) -> None:
        """Refuse a request that would hold up the lab; waits for a helper if it has constraints.

        Raises:
            RequestError: A constraint takes too much processor time or memory, or the prompt would be padded.
            EngineError: No helper can be started.
        """
        _refuse_padding(body)
        left_s = self._cpu_s
        for constraint in constraints_of(body, are_all_strict=_is_strict(spec)):
            try:
                left_s -= self._cost_of(constraint, max(left_s, 0.05))
            except GrammarMissingError:  # then the lab's vLLM has none either
                return
            except GrammarTooMuchError:
                raise RequestError(
                    f"The lab was not asked: the grammar of `{constraint.field}` takes more than "
                    f"{self._cpu_s:g} s of processor time or too much memory.",
                    "vLLM would be busy with it and could not answer anyone else. Simplify large or nested "
                    "repetitions, long patterns and deep nesting, or send the unchanged request to your "
                    "own server.",
                    field=constraint.field,
                ) from None

    def _cost_of(self, constraint: Constraint, cpu_s: float) -> float:
        """Return what a constraint costs; the rows of a dataset have few different ones."""
        try:
            key = json.dumps((constraint.kind, constraint.value))
        except RecursionError:
            key = ""
        if not key or len(key) > _MAX_REMEMBERED_CHARS:
            return self._engine.cost_of_compiling(constraint.kind, constraint.value, cpu_s)
        with self._changing:
            cost_s = self._costs.get(key)
        if cost_s is None:
            try:
                cost_s = self._engine.cost_of_compiling(constraint.kind, constraint.value, cpu_s)
            except GrammarTooMuchError:
                if cpu_s < self._cpu_s:
                    raise  # it may be little enough alone
                cost_s = inf
            with self._changing:
                self._costs[key] = cost_s
                while len(self._costs) > _MAX_REMEMBERED:
                    self._costs.popitem(last=False)
        if cost_s > cpu_s:
            raise GrammarTooMuchError("It needs more than the limit still allows.")
        return cost_s

    def close(self) -> None:
        """End the helpers."""
        self._engine.close()


def _refuse_padding(body: JSONObject) -> None:
    switches = body.get("chat_template_kwargs")
    if not isinstance(switches, dict):
        return
    for name in _PADDING:
        if switches.get(name) not in _UNPADDED:
            raise RequestError(
                f"The lab was not asked: `{name}` in `chat_template_kwargs` reaches vLLM's tokenizer.",
                "It can make a prompt of any length, which fills the memory that all share. Leave it out, or send the "
                "unchanged request to your own server.",
                field=f"chat_template_kwargs.{name}",
            )


def constraints_of(body: JSONObject, *, are_all_strict: bool = False) -> tuple[Constraint, ...]:
    """Return all of a request that vLLM makes a grammar of; `are_all_strict`: every tool is held to its schema."""
    return (
        *_find_response_format(body.get("response_format")),
        *_find_structured_outputs(body),
        *_find_tools(body, are_all_strict=are_all_strict),
    )


def _find_response_format(wanted: JSON) -> Iterator[Constraint]:
    if not isinstance(wanted, dict):
        return
    declared = wanted.get("json_schema")
    if isinstance(declared, dict):
        name = "schema" if "schema" in declared else "json_schema"
        if declared.get(name) is not None:
            yield Constraint(f"response_format.json_schema.{name}", "schema", declared[name])
    if wanted.get("type") == "structural_tag":
        yield from _find_tag("response_format", wanted)


def _find_structured_outputs(body: JSONObject) -> Iterator[Constraint]:
    """Yield what vLLM's own fields ask for, also under the names of earlier releases."""
    wanted = body.get("structured_outputs")
    given = {f"structured_outputs.{name}": value for name, value in wanted.items()} if isinstance(wanted, dict) else {}
    given |= {name: value for name, value in body.items() if name.startswith("guided_")}
    for field, value in given.items():
        kind = _KINDS.get(field.removeprefix("structured_outputs.").removeprefix("guided_"))
        if kind == "tag":
            yield from _find_tag(field, value)
        elif kind is not None and value is not None:
            yield Constraint(field, kind, value)


def _find_tag(field: str, tag: JSON) -> Iterator[Constraint]:
    """Yield a structural tag, or the schemas of one in its first form."""
    structures = tag.get("structures") if isinstance(tag, dict) else None
    if not isinstance(structures, list):
        yield Constraint(field, "tag", tag)
        return
    for index, structure in enumerate(structures):
        if isinstance(structure, dict):
            yield Constraint(f"{field}.structures[{index}].schema", "schema", structure.get("schema", True))


def _find_tools(body: JSONObject, *, are_all_strict: bool) -> Iterator[Constraint]:
    """Yield the parameters of tools that a call must follow; the server decides between them."""
    tools = body.get("tools")
    enforced = enforcement_of_request(body)
    if not isinstance(tools, list) or enforced.choice == "none":
        return
    for index, tool in enumerate(tools):
        function = function_of(tool) if isinstance(tool, dict) else {}
        is_strict = are_all_strict or function.get("strict") is True
        is_asked = enforced.choice == "required" or (
            enforced.choice == "forced" and function.get("name") == enforced.forced_tool
        )
        if (is_strict or is_asked) and function.get("parameters") is not None:
            yield Constraint(f"tools[{index}].function.parameters", "schema", function["parameters"])


def _is_strict(spec: LabSpec) -> bool:
    """Return whether a lab was started so that every tool is held to its schema."""
    words = [word for argument in spec.extra_args for word in argument.split("=", 1)]
    return ("--tool-strict-level", "parameter") in pairwise(words)
