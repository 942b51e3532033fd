"""A cell of the matrix as a run: what was sent, what the parser was given, and what it returned."""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import (
    ChatResult,
    Completion,
    JSONObject,
    ParserOutcome,
    Prompt,
    PromptSpan,
    Request,
    Span,
    SpanKind,
    Trace,
)
from prompt_debugger.core.tools.check.ideal import Ideal, request_of
from prompt_debugger.core.tools.check.run import Check


def ideal_of(check: Check, answer: str) -> Ideal:
    """Return what the template makes of an answer.

    Raises:
        RequestError: The check has no such answer.
    """
    for ideal in check.ideals:
        if ideal.answer.name == answer:
            return ideal
    raise RequestError(f"The check has no answer {answer!r}.", "Check the model again.")


def cell_trace(check: Check, parser: str, answer: str) -> Trace:
    """Return one parser on one answer as a run that has not been read yet.

    Raises:
        RequestError: The parser was not asked about that answer.
    """
    ideal, cell = ideal_of(check, answer), check.cells.get(parser, {}).get(answer)
    if cell is None or cell.outcome is None:
        raise RequestError(f"{parser!r} was not tested on the answer {answer!r}.", "Choose another cell.")
    body = request_of(check.tools, ideal.form.kwargs)
    prompt = Prompt("local", ideal.prompt, (PromptSpan(Span(0, len(ideal.prompt)), SpanKind.UNKNOWN),), None)
    raw = Completion(ideal.raw, None, "stop")
    return Trace(
        Request(body, json.dumps(body, ensure_ascii=False)),
        sent=body,
        prompt=prompt if ideal.prompt else None,
        notes=("A check: the raw output was written by the template; no server and no model was asked.",),
        raw=raw,
        chat=None if cell.outcome.error is not None else _chat(cell.outcome),
    )


def _chat(outcome: ParserOutcome) -> ChatResult:
    message: JSONObject = {"role": "assistant", "content": outcome.content}
    if outcome.reasoning is not None:
        message["reasoning"] = outcome.reasoning
    if outcome.tool_calls:
        # Some parsers leave the id to the server, which makes one up.
        message["tool_calls"] = [
            {**call, "id": call.get("id") or f"call_{index}"} for index, call in enumerate(outcome.tool_calls)
        ]
    return ChatResult(message, outcome.finish_reason or ("tool_calls" if outcome.tool_calls else "stop"))


def pasted_text(trace: Trace) -> str:
    """Return a cell's run as a text that the page reads when it is pasted: raw output, tools and message."""
    assert trace.raw is not None, "a cell has a raw output"
    held: JSONObject = {"raw": trace.raw.text, "finish_reason": trace.raw.finish_reason}
    if trace.chat is not None:
        held["message"] = trace.chat.message
    return json.dumps({**held, "tools": list(trace.request.tools)}, ensure_ascii=False, indent=1)


def _raw_of(ideal: Ideal, *, has_vocabulary: bool) -> str:
    """Return what the parser was given: the output as a server passes it on."""
    is_end = ideal.raw.count(ideal.end) == 1 or (ideal.has_inner_end and not has_vocabulary)
    return ideal.raw.removesuffix(ideal.end) if is_end else ideal.raw


def failing_cases(check: Check) -> Iterator[JSONObject]:
    """Yield a case for each failing cell of the recommended parsers; of all of them where they were chosen by name.

    Of a drawn answer it is the smallest that fails alike. The end of the turn is taken off where a server would do so.
    """
    ideals = {ideal.answer.name: ideal for ideal in check.ideals}
    chosen = check.recommendation.name
    rows = check.cells if check.is_narrowed or chosen is None else {chosen: check.cells[chosen]}
    for parser, row in rows.items():
        for answer, cell in row.items():
            if cell.is_passed:
                continue
            smaller = check.smaller.get(parser, {}).get(answer)
            ideal, cell = (ideals[answer], cell) if smaller is None else (smaller.ideal, smaller.cell)
            case: JSONObject = {
                "id": f"{parser.removeprefix('vllm:')} / {answer}",
                "problem": cell.problem,
                "raw": _raw_of(ideal, has_vocabulary=check.has_vocabulary),
                "prompt_tail": ideal.prompt_tail,
                "tools": list(check.tools),
                "finish_reason": "stop",
                "parsers": [parser],
            }
            if cell.split:
                case["split"] = list(cell.split)
            if check.has_vocabulary and check.model.folder is not None:
                case["tokenizer"] = str(check.model.folder)
            yield case
