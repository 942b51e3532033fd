"""Which variants of a request are run: the fixes of its findings, and what a person picks.

| picked as | variant |
|---|---|
| a name of What-if, such as `thinking=true` | the request with that switch flipped |
| `tool-parser=NAME`, `reasoning-parser=NAME` | another parser: on the lab, else the flags to start with |
| `plugin` | this program's own reader of the run's family in the server: likewise |
| `chat-template=FILE` | another template: likewise |
| `stop=TEXT`, `stop-token-ids=ID,ID`, `no-stop` | other stop strings, other stop tokens, none of either |
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.scratch import new_scratch
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.complete import engine_of
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.experiments.switches import Switch, find_switches
from prompt_debugger.core.tools.experiments.variant import RenderSetup, Variant
from prompt_debugger.core.tools.fixes.offered import UNREAD, OfferedFix, fixes_of, plugin_command
from prompt_debugger.core.tools.fixes.patch import patch_between
from prompt_debugger.core.tools.plugin.write import PARSER_NAME, write_plugin

UNCHANGED = "unchanged"
_STOPS = ("stop", "stop_token_ids")
_PICKS = ("tool-parser=…", "reasoning-parser=…", "plugin", "chat-template=…", "stop=…", "stop-token-ids=…", "no-stop")


@dataclass(frozen=True, slots=True)
class Plan:
    """One variant to run.

    Attributes:
        name: What is changed.
        finding: Code of the finding that it is to remove; `None` for several or none.
        fix: The change; `None` for the unchanged request, and for what a person picked.
        patch: Operations on the request.
        tool_parser: Tool parser for the lab; `None` for the one it has.
        reasoning_parser: Reasoning parser for the lab, likewise.
        plugin: Family whose parser plugin the lab is given; "" for none.
        template: Chat template for the lab; "" for the one it has.
        client: Change of the answer by the client, as source; "" for none.
        command: Flags with which the variant's server is started; "" if it is the same one.
        is_elsewhere: Whether it needs a server that is not ours to start.
    """

    name: str
    finding: str | None = None
    fix: OfferedFix | None = None
    patch: tuple[JSONObject, ...] = ()
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    plugin: str = ""
    template: str = ""
    client: str = ""
    command: str = ""
    is_elsewhere: bool = False


def plan_experiments(trace: Trace, target: Target) -> list[Plan]:
    """Return the variants for a run: the unchanged request first, each fix, then the fixes put together one by one."""
    plans = [Plan(UNCHANGED)]
    distinct: list[tuple[str, OfferedFix]] = []
    for code, fix in fixes_of(trace).items():
        if fix not in [known for _, known in distinct]:
            distinct.append((code, fix))
    plans += [_plan_of(code, one, target) for code, fix in distinct for one in fix.each]
    patches = [fix.patch for _, fix in distinct if fix.patch]
    for count in range(2, len(patches) + 1):
        together = tuple(operation for patch in patches[:count] for operation in patch)
        plans.append(Plan(f"the first {count} changes together", patch=together))
    return plans


def _plan_of(code: str, fix: OfferedFix, target: Target) -> Plan:
    plan = Plan(
        fix.name,
        code,
        fix,
        fix.patch,
        fix.tool_parser,
        fix.reasoning_parser,
        plugin=fix.plugin,
        template=fix.template,
        client=fix.client,
        command=fix.command,
    )
    return replace(plan, is_elsewhere=_is_elsewhere(plan, target))


def _is_elsewhere(plan: Plan, target: Target) -> bool:
    """Return whether a variant needs a server that cannot be started here: not the lab, or flags of another kind."""
    settings = plan.tool_parser or plan.reasoning_parser or plan.plugin or plan.template
    return bool(plan.command) and (target.base_url is not None or not settings)


def can_run(plan: Plan) -> bool:
    """Return whether a variant can be run here: flags of a server that is not ours cannot be changed."""
    settings = plan.tool_parser or plan.reasoning_parser or plan.plugin or plan.template
    needs_flags = bool(plan.command) or (plan.fix is not None and plan.fix.kind in ("flags", "template"))
    return not plan.is_elsewhere and (bool(settings) or not needs_flags)


def target_of(plan: Plan, target: Target) -> Target:
    """Return where a variant runs: the same place, or the lab started with other settings."""
    if plan.tool_parser is not None:
        target = replace(target, lab=replace(target.lab, tool_parser=plan.tool_parser), tool_parser=None)
    if plan.reasoning_parser is not None:
        target = replace(target, lab=replace(target.lab, reasoning_parser=plan.reasoning_parser), reasoning_parser=None)
    if plan.plugin:
        lab = replace(
            target.lab, tool_parser=PARSER_NAME, extra_args=(*target.lab.extra_args, *_plugin_args(plan.plugin))
        )
        target = replace(target, lab=lab, tool_parser=None)
    if plan.template:
        file = _file_of(plan.template)
        target = replace(target, lab=replace(target.lab, chat_template=file), chat_template=plan.template)
    return target


def pick_plans(trace: Trace, target: Target, picks: Sequence[str], *, template: str = "") -> list[Plan]:
    """Return the variants that a person picked; see the table above.

    Raises:
        RequestError: A name is not known, or changes nothing of this request.
    """
    switches = {switch.name: switch for switch in available_switches(trace)}
    return [_picked(trace, target, pick, switches, template) for pick in picks]


def available_switches(trace: Trace) -> tuple[Switch, ...]:
    """Return the switches of What-if that apply to a run's request and change something that it can say."""
    return tuple(switch for switch, _ in _switched(trace))


def _switched(trace: Trace) -> Iterator[tuple[Switch, JSONObject]]:
    local = trace.local_prompt or trace.prompt
    source = "" if local is None or local.template is None else local.template
    base = Variant(trace.request.body, RenderSetup(source))
    for switch in find_switches(base):
        body = switch.apply(base).body
        if next(patch_between(base.body, body), None) is not None:
            yield switch, body


def _picked(trace: Trace, target: Target, pick: str, switches: dict[str, Switch], template: str) -> Plan:
    kind, _, value = pick.partition("=")
    body = trace.request.body
    if kind == "tool-parser" and value:
        flags = f"--enable-auto-tool-choice --tool-call-parser {value}"
        plan = Plan(pick, tool_parser=value, command=flags)
    elif pick == "plugin":
        plan = _plugin_plan(trace)
    elif kind == "reasoning-parser" and value:
        plan = Plan(pick, reasoning_parser=value, command=f"--reasoning-parser {value}")
    elif kind == "chat-template" and value:
        flag = engine_of(trace.server_kind).template_flag
        plan = Plan(pick, template=template, command=f"{flag} {value}")
    elif kind == "stop" and value:
        plan = Plan(pick, patch=tuple(patch_between(body, {**body, "stop": [value]})))
    elif kind == "stop-token-ids" and value:
        plan = Plan(pick, patch=tuple(patch_between(body, {**body, "stop_token_ids": _token_ids(value)})))
    elif pick == "no-stop":
        kept = {key: entry for key, entry in body.items() if key not in _STOPS}
        plan = Plan(pick, patch=tuple(patch_between(body, kept)))
    elif pick in switches:
        made = switches[pick].apply(Variant(body, RenderSetup(""))).body
        plan = Plan(pick, patch=tuple(patch_between(body, made)))
    else:
        known = ", ".join([*switches, *_PICKS])
        raise RequestError(f"There is no experiment {pick!r}.", f"Known for this request: {known}.", field="--try")
    return replace(plan, is_elsewhere=_is_elsewhere(plan, target))


def _token_ids(text: str) -> list[JSON]:
    numbers = [one.strip() for one in text.split(",")]
    if not all(one.isascii() and one.isdigit() and len(one) < 10 for one in numbers):
        raise RequestError(f"{text!r} is not a list of token ids.", "Write numbers separated by commas.", field="--try")
    return [int(one) for one in numbers]


def _plugin_plan(trace: Trace) -> Plan:
    """Return the variant with this program's own reader of the family that wrote the run's output.

    Raises:
        RequestError: The run contains no output of a family that the plugin reads.
    """
    family = "generic" if trace.parse is None else trace.parse.parsed.format
    if family in UNREAD:
        raise RequestError(f"The plugin does not read the format {family!r}.", field="--try")
    return Plan("plugin", plugin=family, command=plugin_command(family))


def _plugin_args(family: str) -> tuple[str, ...]:
    return ("--tool-parser-plugin", str(_file_of(write_plugin(family), ".py")))


def _file_of(text: str, suffix: str = ".jinja") -> Path:
    """Return a file with a text, the same for the same text, so that two runs share a lab."""
    file = _folder() / f"{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}{suffix}"
    if not file.exists():
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
    return file


@cache
def _folder() -> Path:
    """Return a folder of this process's own, which goes with it."""
    return new_scratch("fixes")
