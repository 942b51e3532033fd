"""Switches for template kwargs: thinking, reasoning effort, and whatever else the template knows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.experiments.switches.switch import Edit, Switch, Topic, drop_keys, on_body
from prompt_debugger.core.tools.experiments.variant import Variant

_KWARGS = "chat_template_kwargs"
_TOP_LEVEL = "reasoning_effort"  # a field of the request itself; wins over a kwarg of this name


def kwarg_switches(variant: Variant, candidates: Mapping[str, tuple[JSON, ...]]) -> Iterator[Switch]:
    """Yield other values for the variables that the template tells apart, and leave out what is given."""
    given = _given(variant.body)
    for name in dict.fromkeys([*candidates, *given]):
        now = json.dumps(given[name]) if name in given else None
        for value in candidates.get(name, ()):
            shown = json.dumps(value, ensure_ascii=False)
            if shown != now:
                word = value if isinstance(value, str) else shown
                yield _switch(
                    f"{name}={word}", name, f"sets `{name}` to {shown}", partial(_put, name=name, value=value)
                )
        if name in given:
            yield _switch(f"without-{name}", name, f"leaves out `{name}`", partial(_drop, name=name))


def _switch(switch_name: str, name: str, change: str, edit: Edit) -> Switch:
    return Switch(switch_name, Topic.KWARGS, f"kwarg:{name}", change, on_body(edit))


def _given(body: JSONObject) -> JSONObject:
    """Return what the request itself says, whether as a kwarg or in a field of its own."""
    kwargs = body.get(_KWARGS)
    given: JSONObject = dict(kwargs) if isinstance(kwargs, dict) else {}
    if body.get(_TOP_LEVEL) is not None:
        given[_TOP_LEVEL] = body[_TOP_LEVEL]
    return given


def _put(body: JSONObject, name: str, value: JSON) -> JSONObject:  # any JSON
    if name == _TOP_LEVEL:
        return {**_drop(body, name), name: value}
    kwargs = body.get(_KWARGS)
    return {**body, _KWARGS: {**(kwargs if isinstance(kwargs, dict) else {}), name: value}}


def _drop(body: JSONObject, name: str) -> JSONObject:
    made = drop_keys(body, name) if name == _TOP_LEVEL else dict(body)
    kwargs = made.get(_KWARGS)
    if isinstance(kwargs, dict) and name in kwargs:
        made[_KWARGS] = drop_keys(kwargs, name)
    return made
