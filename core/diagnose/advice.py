"""What to try, as data: a fix never repeats what the request or the server holds already.

A rule reports its fix as steps, best first. A step says which fields it sets;
`advise` leaves out those that are set already, says so, as the fault is still
there, and continues with the next. Fields that this server does not read are not advised.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.taken import reads
from prompt_debugger.core.diagnose.words import lowered

_NOTHING_LEFT = "No other fix is known: report it with the saved run to the authors of the server or the model."
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to try.

    Attributes:
        text: What to do, one sentence.
        request: Request fields that it sets, by path; `[]` in a path means every entry of a list.
        server: Fields of `Server` that it sets.
    """

    text: str
    request: Mapping[str, JSON] = field(default_factory=dict)
    server: Mapping[str, JSON] = field(default_factory=dict)


KEEP_SPECIAL_TOKENS = Step("Send `skip_special_tokens: false` with this request.", {"skip_special_tokens": False})

Advice = str | Sequence[Step]


def advise(trace: Trace, advice: Advice) -> str:
    """Return what to try next, in words.

    Args:
        trace: The run; its request and server say what is set already.
        advice: Steps, best first; a plain text sets nothing and is given as it is.
    """
    if isinstance(advice, str):
        return advice
    advice = [step for step in advice if reads(trace, step.request)] or advice
    done = [step for step in advice if is_done(trace, step)]
    left = [step.text for step in advice if step not in done]
    reported = [*dict.fromkeys(word for step in done for word in _settings(step))]
    is_set = "is set" if len(reported) == 1 else "are set"
    parts = [f"{_joined(reported)} {is_set} already, and the problem remains."] if reported else []
    parts += left[:1] or ([_NOTHING_LEFT] if done else [])
    parts += [f"If that does not help: {lowered(text)}" for text in left[1:]]
    return " ".join(parts)


def parse_it_yourself(method: str, readers: Sequence[str]) -> str:
    """Return what to do with the text of a method of vLLM's `LLM`, which runs no parser."""
    named = f" such as vLLM's `{readers[0]}`" if readers else ""
    return f"`LLM.{method}` runs no tool parser: give its text to one{named}, or ask `vllm serve` instead."


def strict_tools(trace: Trace) -> tuple[Step, ...]:
    """Return the step that has the server constrain the arguments of calls; none for a request without tools."""
    tools = [as_object(tool) for tool in as_list(body_of(trace).get("tools"))]
    if not tools:
        return ()
    words = "Constrain the arguments with `strict: true` in every tool."
    if any(tool.get("strict") is True and "strict" not in as_object(tool.get("function")) for tool in tools):
        words = "Move `strict: true` into `function`, in every tool: next to `function` it constrains nothing."
    return (Step(words, {"tools[].function.strict": True}),)


def is_done(trace: Trace, step: Step) -> bool:
    """Return whether request and server hold everything that a step sets; a step that sets nothing is never done."""
    if not step.request and not step.server:
        return False
    in_request = all(_is_set(trace, path, value) for path, value in step.request.items())
    server = trace.server
    return in_request and all(
        server is not None and getattr(server, name) == value for name, value in step.server.items()
    )


def applied(body: JSONObject, step: Step) -> JSONObject:
    """Return a body with what a step sets; paths lead through objects alone."""
    for path, value in step.request.items():
        body = _with(body, path.split("."), value)
    return body


def _with(body: JSONObject, names: Sequence[str], value: JSON) -> JSONObject:
    first, *others = names
    return {**body, first: _with(as_object(body.get(first)), others, value) if others else value}


def _is_set(trace: Trace, path: str, value: JSON) -> bool:
    kwarg = path.removeprefix("chat_template_kwargs.")
    is_any = False
    for found in _values(body_of(trace), path.split(".")):  # up to the first one that is another: there may be many
        one = found
        if one is _MISSING and kwarg != path and trace.server is not None:
            one = trace.server.default_template_kwargs.get(kwarg, _MISSING)
        if type(one) is not type(value) or one != value:
            return False
        is_any = True
    return is_any


def _values(value: JSON, steps: Sequence[str]) -> Iterator[object]:
    if not steps:
        yield value
        return
    name = steps[0].removesuffix("[]")
    inside = as_object(value)
    if name not in inside:
        yield _MISSING
    elif steps[0].endswith("[]"):
        for item in as_list(inside[name]):
            yield from _values(item, steps[1:])
    else:
        yield from _values(inside[name], steps[1:])


def _settings(step: Step) -> Iterator[str]:
    for path, value in step.request.items():
        yield f"`{path.replace('[]', '')}: {json.dumps(value)}`"
    for name, value in step.server.items():
        yield "a reasoning parser" if name == "has_reasoning_parser" else f"the {name.replace('_', ' ')} `{value}`"


def _joined(words: Sequence[str]) -> str:
    return capitalized(" and ".join(words))
