"""Probes about tools: specs, calls in the history, their arguments, results, documents."""

from __future__ import annotations

import json
import re

from prompt_debugger.core.base.text import first_divergence, remove_whitespace
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.render.probes.messages import PLAIN, USER, plain
from prompt_debugger.core.render.probes.probe import (
    Attempt,
    Change,
    Probe,
    ProbeResult,
    Probing,
    Support,
    ignored,
    refused,
    seen,
)

_NAME, _OTHER = "zq_weather", "zq_search"
_ABOUT, _PARAMETER, _VALUE, _SECOND = "zqAbout the tool", "zq_city", "zqRome", "zqOslo"
_RESULT, _NEXT_RESULT = "zqSunny today", "zqRainy today"
_IDS = ("zqCall001", "zqCall002")  # nine letters and digits: one family takes no other
_ARGUMENTS: JSONObject = {_PARAMETER: _VALUE, "exact": True, "unit": None}


def _tool(name: str) -> JSONObject:
    schema: JSONObject = {
        "type": "object",
        "properties": {_PARAMETER: {"type": "string", "description": "zqField"}},
        "required": [_PARAMETER],
    }
    return {"type": "function", "function": {"name": name, "description": _ABOUT, "parameters": schema}}


TOOLS: list[JSON] = [_tool(_NAME), _tool(_OTHER)]


def call(name: str, arguments: JSON, index: int = 0) -> JSONObject:
    """Return a tool call."""
    return {"id": _IDS[index], "type": "function", "function": {"name": name, "arguments": arguments}}


def result(text: str, name: str = _NAME, index: int = 0) -> JSONObject:
    """Return a tool result."""
    return {"role": "tool", "tool_call_id": _IDS[index], "name": name, "content": text}


def calling(arguments: JSON, content: JSON = "zqLet me look", **more: JSON) -> list[JSON]:
    """Return a conversation that ends with a tool result; the model is to answer."""
    asked: JSONObject = {"role": "assistant", "content": content, "tool_calls": [call(_NAME, arguments)], **more}
    return [*PLAIN, asked, result(_RESULT)]


def render_calls(probing: Probing, arguments: JSON, content: JSON = "zqLet me look") -> Attempt:
    """Render a call in the history; arguments in the form that the template takes, if any."""
    return probing.render(calling(arguments, content), tools=TOOLS)


def usable_arguments(probing: Probing) -> JSON:
    """Return arguments in a form that the template takes: an object, else text."""
    text = json.dumps(_ARGUMENTS)
    first = render_calls(probing, _ARGUMENTS)
    return text if first.error is not None and render_calls(probing, text).error is None else _ARGUMENTS


def _ask_tools(probing: Probing) -> ProbeResult:
    attempt = probing.render(PLAIN, tools=TOOLS)
    if attempt.error is not None:
        return refused(attempt, plain(probing))
    start = attempt.text.find(_NAME)
    if start < 0:
        return ignored(attempt, "tools", "What the tools are")
    parts = (("their description", _ABOUT), ("their parameters", _PARAMETER), ("all but the first tool", _OTHER))
    missing = [part for part, words in parts if words not in attempt.text]
    if missing:
        return seen(Support.CHANGED, f"Names arrive, but not {' and '.join(missing)}.", attempt, start)
    return seen(Support.SUPPORTED, "Names, descriptions and parameters arrive.", attempt, start)


def _ask_calls(probing: Probing) -> ProbeResult:
    arguments = usable_arguments(probing)
    attempt = render_calls(probing, arguments)
    if attempt.error is not None:
        alone = _render_without_result(probing, arguments)
        attempt = alone if alone.error is None else attempt
    if attempt.error is not None:
        return refused(attempt, plain(probing))
    tail = _end_of_tools(attempt)
    name_at, value_at = attempt.text.find(_NAME, tail), attempt.text.find(_VALUE, tail)
    if name_at < 0 and value_at < 0:
        return ignored(attempt, "messages[1].tool_calls", "A tool call of the history")
    if name_at >= 0 and value_at >= 0:
        return seen(Support.SUPPORTED, "Name and arguments are printed.", attempt, min(name_at, value_at), value_at)
    if value_at < 0:
        return seen(Support.CHANGED, "The name is printed, but the arguments are lost.", attempt, name_at)
    id_at = attempt.text.find(_IDS[0], tail)
    detail = "The arguments are printed, but the name is lost."
    if 0 <= id_at < value_at:
        detail = "The call's id is printed instead of its name: the id has to carry the name."
    return seen(Support.CHANGED, detail, attempt, id_at if id_at >= 0 else value_at, value_at)


def _render_without_result(probing: Probing, arguments: JSON) -> Attempt:
    """Render a call without its result: if that fails too, the result is not to blame."""
    conversation = calling(arguments)
    return probing.render([*conversation[:-1], {"role": "user", "content": "zqNext words"}], tools=TOOLS)


def _ask_parallel(probing: Probing) -> ProbeResult:
    first = usable_arguments(probing)
    second: JSONObject = {**_ARGUMENTS, _PARAMETER: _SECOND}
    calls: list[JSON] = [call(_NAME, first), call(_OTHER, json.dumps(second) if isinstance(first, str) else second, 1)]
    attempt = probing.render(
        [
            *PLAIN,
            {"role": "assistant", "content": "zqBoth", "tool_calls": calls},
            result(_RESULT),
            result(_NEXT_RESULT, _OTHER, 1),
        ],
        tools=TOOLS,
    )
    if attempt.error is not None:
        return refused(attempt, render_calls(probing, first))
    tail = _end_of_tools(attempt)
    at = [attempt.text.find(words, tail) for words in (_VALUE, _SECOND)]
    results = [attempt.text.find(words, tail) for words in (_RESULT, _NEXT_RESULT)]
    if max(at) < 0:
        return ignored(attempt, "messages[1].tool_calls", "A turn with two calls")
    if min(at) < 0:
        return seen(Support.CHANGED, "Only one of two calls in one turn is printed.", attempt, max(at))
    if min(results) < 0:
        return seen(Support.CHANGED, "Both calls are printed, but not both results.", attempt, at[0])
    if at[0] > at[1]:
        return seen(Support.CHANGED, "Both calls are printed, the second first.", attempt, at[1])
    return seen(Support.SUPPORTED, "Two calls in one turn are printed, in order.", attempt, at[0], at[1])


def _ask_object(probing: Probing) -> ProbeResult:
    return _arguments_answer(probing, _ARGUMENTS, json.dumps(_ARGUMENTS))


def _ask_text(probing: Probing) -> ProbeResult:
    answer = _arguments_answer(probing, json.dumps(_ARGUMENTS), _ARGUMENTS)
    if answer.support in (Support.CHANGED, Support.REFUSED):
        return answer._replace(detail=f"{answer.detail} (vLLM decodes such text before the template sees it.)")
    return answer


def _arguments_answer(probing: Probing, arguments: JSON, other: JSON) -> ProbeResult:
    attempt = render_calls(probing, arguments)
    if attempt.error is not None:
        return refused(attempt, render_calls(probing, other))
    tail = _end_of_tools(attempt)
    start = attempt.text.find(_VALUE, tail)
    if start < 0:
        return ignored(attempt, "messages[1].tool_calls[0].function.arguments", "The arguments")
    shown = attempt.text[tail:]
    if f'\\"{_VALUE}' in shown:
        return seen(Support.CHANGED, "Encoded as JSON twice: a quoted string instead of an object.", attempt, start)
    if re.search(f"'{_PARAMETER}'\\s*:", shown):
        detail = "Printed like a Python object, with single quotes, True and None."
        return seen(Support.CHANGED, detail, attempt, start)._replace(change=Change.AS_PYTHON)
    same = render_calls(probing, other)
    how = "as JSON" if re.search(f'"{_PARAMETER}"\\s*:', shown) else "in the format's own markup"
    if (
        isinstance(arguments, str)
        and same.error is None
        and remove_whitespace(same.text) != remove_whitespace(attempt.text)
    ):
        return seen(Support.CHANGED, f"Printed {how}, differently from the same object.", attempt, start)
    return seen(Support.SUPPORTED, f"Printed {how}.", attempt, start)


def _ask_null_content(probing: Probing) -> ProbeResult:
    arguments = usable_arguments(probing)
    attempt = render_calls(probing, arguments, None)
    if attempt.error is not None:
        return refused(attempt, render_calls(probing, arguments))
    empty = render_calls(probing, arguments, "")
    start = attempt.text.find("None", _end_of_tools(attempt))
    if start >= 0 and attempt.text.count("None") > empty.text.count("None"):
        return seen(Support.CHANGED, "Content null is printed as the word `None`.", attempt, start, start + 4)
    if attempt.text == empty.text:
        return ProbeResult(Support.SUPPORTED, 'Content null next to a call is the same as "".')
    if _VALUE not in attempt.text:
        return ignored(attempt, "messages[1].tool_calls", "A call next to content null")
    return ProbeResult(Support.SUPPORTED, 'Content null next to a call is printed differently from "".')


def _ask_results(probing: Probing) -> ProbeResult:
    arguments = usable_arguments(probing)
    attempt = render_calls(probing, arguments)
    if attempt.error is not None:
        return refused(attempt, _render_without_result(probing, arguments))
    start = attempt.text.find(_RESULT)
    if start < 0:
        return ignored(attempt, "messages[2].content", "What a tool returned")
    return seen(Support.SUPPORTED, "What the tool returned is printed.", attempt, start)


def _ask_ids(probing: Probing) -> ProbeResult:
    arguments = usable_arguments(probing)
    attempt = render_calls(probing, arguments)
    if attempt.error is not None:
        return refused(attempt, _render_without_result(probing, arguments))
    at = [index for index in range(len(attempt.text)) if attempt.text.startswith(_IDS[0], index)]
    if not at:
        return ignored(attempt, "messages[2].tool_call_id", "The id of a call")
    return seen(Support.SUPPORTED, f"The id is printed, {len(at)} times for one call and its result.", attempt, at[0])


def _ask_choice(probing: Probing) -> ProbeResult:
    base = probing.render(PLAIN, tools=TOOLS)
    if base.error is not None:
        return ProbeResult(Support.UNKNOWN, "A request with tools gives no prompt.")
    for choice in ("required", "none"):
        attempt = probing.render(PLAIN, tools=TOOLS, chat_template_kwargs={"tool_choice": choice})
        if attempt.error is None and attempt.text != base.text:
            detail = (
                f"The template kwarg `tool_choice={choice}` changes the prompt; the request's own field is "
                "not passed as a kwarg."
            )
            return seen(Support.SUPPORTED, detail, attempt, first_divergence(base.text, attempt.text) or 0)
    return ProbeResult(Support.IGNORED, "The template ignores it: only the server can enforce a choice.")


def _ask_documents(probing: Probing) -> ProbeResult:
    documents: list[JSON] = [{"title": "zqTitle", "text": "zqBody of it", "id": 1}]
    attempt = probing.render(PLAIN, documents=documents)
    if attempt.error is not None:
        return refused(attempt, plain(probing))
    start = attempt.text.find("zqBody of it")
    if start < 0:
        return ignored(attempt, "documents", "A document")
    return seen(Support.SUPPORTED, "The text of a document is printed.", attempt, start)


def _end_of_tools(attempt: Attempt) -> int:
    """Return where the conversation begins: tools are declared in front of it."""
    return max(0, attempt.text.find(USER))


TOOL_PROBES = (
    Probe("tools", "Tools", _ask_tools),
    Probe("tool-calls", "Tool calls in the history", _ask_calls),
    Probe("parallel-calls", "Two calls in one turn", _ask_parallel),
    Probe("object-arguments", "Arguments as an object", _ask_object),
    Probe("text-arguments", "Arguments as JSON text", _ask_text),
    Probe("null-content", "Content null next to a call", _ask_null_content),
    Probe("tool-results", "Tool results", _ask_results),
    Probe("call-ids", "Ids of calls", _ask_ids),
    Probe("tool-choice", "Tool choice", _ask_choice),
    Probe("documents", "Documents", _ask_documents),
)
