"""The same request by chat completions, Responses and Messages: what differs, and at which stage it began.

A difference has a cause only where it shows: prompts are explained by what was lost in transit to an API, or by what
the server is proved to do to a request; different outputs by different prompts; different answers to one output by the
way it was read and written out. Anything else is said not to be explained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.base.json_values import as_object, as_text, decoded, objects_in
from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.base.types import JSON, Api, ChatResult, JSONObject, Request, Trace
from prompt_debugger.core.pipeline import Progress, Target
from prompt_debugger.core.pipeline.api_choice import is_missing, says_missing
from prompt_debugger.core.tools.apis.causes import (
    MAX_SHOWN,
    OF_PROMPT,
    cause_of_answers,
    cause_of_break,
    cause_of_chance,
    cause_of_outputs,
    cause_of_prompt,
    cause_of_refusal,
    change_words,
    field_at,
)
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.core.tools.experiments.json_changes import json_changes
from prompt_debugger.core.tools.lab import LabPool

COMPARED = (Api.CHAT, Api.RESPONSES, Api.MESSAGES)
_OF_ANSWERS = ("content", "tool_calls", "reasoning")


@dataclass(frozen=True, slots=True)
class ApiRuns:
    """A request by several APIs: the run by each, or the problem why there is none."""

    runs: Mapping[Api, Trace | None]
    differences: tuple[ApiDifference, ...]
    problems: Mapping[Api, BackendError]


async def run_by_all(
    request: Request,
    target: Target,
    labs: LabPool | None,
    on_progress: Callable[[Progress], None] | None = None,
) -> ApiRuns:
    """Run a request by each API, one after the other, and compare the runs.

    Raises:
        DebuggerError: There is no run at all, or something else than an API's endpoint failed.
    """
    runs: dict[Api, Trace | None] = {}
    problems: dict[Api, BackendError] = {}
    for api in COMPARED:
        runs[api] = None
        try:
            runs[api] = await pipeline.run(request, replace(target, api=api), labs, on_progress)
        except BackendError as error:
            problems[api] = error
    if len(problems) == len(COMPARED):
        raise problems.get(request.api) or problems[COMPARED[0]]
    return ApiRuns(runs, tuple(_differences(runs, problems)), problems)


def _differences(runs: Mapping[Api, Trace | None], problems: Mapping[Api, BackendError]) -> Iterator[ApiDifference]:
    """Compare each run with the first there is; a difference of the other two follows from theirs."""
    there = [(api, trace) for api, trace in runs.items() if trace is not None]
    first, left = there[0]
    for api, error in problems.items():
        cause = f"request checks: {error.server_message}" if error.status is not None and error.status < 500 else None
        if is_missing(error) or says_missing(error.message):
            cause = no_endpoint(api)
        yield ApiDifference((first, api), "status", cause, f"There is no run by {api.label}: {error.message}")
    for _, right in there[1:]:
        yield from compare_apis(left, right)


def no_endpoint(api: Api) -> str:
    """Return the cause where a server does not have an API's endpoint."""
    return f"endpoint: the server has none for {api.label}"


def compare_apis(left: Trace, right: Trace) -> Iterator[ApiDifference]:
    """Yield what differs between two runs of one request, in the order of a run."""
    pair = (left.api, right.api)
    request = [*_request(pair, left, right)]
    prompt = _prompt(pair, left, right, request)
    raw = _raw(pair, left, right, prompt)
    if prompt is not None or raw is not None:
        yield from request
    before = next((one for one in (prompt, raw) if one is not None), None)
    if prompt is not None:
        yield prompt
    if raw is not None:
        yield raw if prompt is None else replace(raw, cause="prompt: the prompts differ")
    status = _status(pair, left, right)
    if status is not None:
        yield status
        return
    reported = [*_messages(pair, left, right, before)]
    yield from reported
    if not reported:
        yield from _streams(pair, left, right, before)


# --- request and prompt --------------------------------------------------------------


def _request(pair: tuple[Api, Api], left: Trace, right: Trace) -> Iterator[ApiDifference]:
    """Yield what was lost in transit to one API and not to the other."""
    for this, other in ((left, right), (right, left)):
        for notice in this.lost:
            if notice not in other.lost:
                detail = f"To {this.api.label}: {notice.message}"
                yield ApiDifference(pair, "request", "request conversion", detail, field=notice.field)


def _prompts_are_known(left: Trace, right: Trace) -> bool:
    return all(trace.prompt is not None and trace.prompt.token_ids is not None for trace in (left, right))


def _prompt(pair: tuple[Api, Api], left: Trace, right: Trace, request: list[ApiDifference]) -> ApiDifference | None:
    ids = [None if trace.prompt is None else trace.prompt.token_ids for trace in (left, right)]
    if ids[0] is None or ids[1] is None:
        return _prompt_counts(pair, left, right)
    first = first_divergence(ids[0], ids[1])
    if first is None:
        return None
    counts = f"{len(ids[0]):,} tokens with {pair[0].label}, {len(ids[1]):,} with {pair[1].label}"
    changed = [change for change in json_changes(left.sent, right.sent) if change.path.startswith(OF_PROMPT)]
    field = changed[0].path if changed else field_at(left, first) or field_at(right, first)
    cause = cause_of_prompt(left, right, changed, request, first)
    at = f"from token {first:,} on" + (f", at `{field}`" if field else "")
    return ApiDifference(pair, "prompt", cause, f"The prompts differ {at}: {counts}.", field, first)


def _prompt_counts(pair: tuple[Api, Api], left: Trace, right: Trace) -> ApiDifference | None:
    counts = [trace.chat.usage.prompt_tokens if trace.chat and trace.chat.usage else None for trace in (left, right)]
    if None in counts or counts[0] == counts[1]:
        return None
    detail = f"The server counts {counts[0]:,} prompt tokens with {pair[0].label}, {counts[1]:,} with {pair[1].label}."
    return ApiDifference(pair, "prompt", None, f"{detail} It does not report both prompts.")


# --- outputs and answers -------------------------------------------------------------


def _raw(pair: tuple[Api, Api], left: Trace, right: Trace, prompt: ApiDifference | None) -> ApiDifference | None:
    if left.raw is None or right.raw is None or left.raw.text == right.raw.text:
        return None
    ids = (left.raw.token_ids, right.raw.token_ids)
    first = None if ids[0] is None or ids[1] is None else first_divergence(ids[0], ids[1])
    cause = cause_of_outputs(left, right)
    on = "on the same prompt" if _prompts_are_known(left, right) else "and a prompt is not known"
    on = on if prompt is None else "on different prompts"
    return ApiDifference(pair, "raw", cause, f"The model wrote different text, {on}.", first_token=first)


def _status(pair: tuple[Api, Api], left: Trace, right: Trace) -> ApiDifference | None:
    broken = [trace for trace in (left, right) if trace.refusal is None and _is_broken(trace)]
    if len(broken) == 1:
        message = shorten(broken[0].chat.error if broken[0].chat else "", MAX_SHOWN)
        return ApiDifference(
            pair,
            "status",
            cause_of_break(broken[0], left if broken[0] is right else right),
            f"{broken[0].api.label} gave no answer: {message}.",
        )
    refused = [trace for trace in (left, right) if trace.refusal is not None]
    if not refused or (len(refused) == 2 and _refusal(left) == _refusal(right)):
        return None
    cause = cause_of_refusal(refused, [left, right])
    message = "; ".join(f"{trace.api.label} answered {_refusal(trace)}" for trace in refused)
    return ApiDifference(
        pair, "status", cause, f"{message}; the other API answered." if len(refused) == 1 else f"{message}."
    )


def _is_broken(trace: Trace) -> bool:
    """Return whether an answer is an error and nothing else."""
    chat = trace.chat
    return chat is not None and chat.error is not None and not any(chat.message.get(name) for name in _OF_ANSWERS)


def _refusal(trace: Trace) -> str:
    refusal = trace.refusal
    return "" if refusal is None else f"{refusal.label}: {refusal.message[:MAX_SHOWN]}"


def _messages(
    pair: tuple[Api, Api], left: Trace, right: Trace, before: ApiDifference | None
) -> Iterator[ApiDifference]:
    if left.chat is None or right.chat is None:
        return
    for change in json_changes(_comparable(left.chat), _comparable(right.chat)):
        cause = cause_of_answers(left, right, before, change)
        yield ApiDifference(pair, "message", cause, f"{change_words(change, pair)}.", field=change.path)


def _streams(pair: tuple[Api, Api], left: Trace, right: Trace, before: ApiDifference | None) -> Iterator[ApiDifference]:
    if left.chat_stream is None or right.chat_stream is None:
        return
    # A stream is a generation of its own: the one of the answer says nothing about it.
    chance = None if before is not None and before.where == "prompt" else cause_of_chance(left, right)
    for change in json_changes(_comparable(left.chat_stream), _comparable(right.chat_stream)):
        cause = chance or cause_of_answers(left, right, before, change)
        yield ApiDifference(pair, "stream", cause, f"Streamed, {change_words(change, pair)}.", field=change.path)


def _comparable(result: ChatResult) -> JSONObject:
    """Return an answer without what only its form decides: ids, empty texts, how arguments are spelled."""
    message = result.message
    calls: list[JSON] = []
    for call in objects_in(message.get("tool_calls")):
        function = as_object(call.get("function"))
        calls.append({"function": {"name": function.get("name"), "arguments": decoded(function.get("arguments"))}})
    reasoning = as_text(message.get("reasoning")) or as_text(message.get("reasoning_content"))
    return {
        "content": message.get("content") or None,
        "reasoning": reasoning or None,
        "tool_calls": calls,
        "finish_reason": result.finish_reason,
    }
