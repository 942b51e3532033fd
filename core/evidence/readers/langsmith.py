"""Runs as LangSmith and LangChain's tracers keep them: what a chat model was given, and what it generated.

    {"run_type": "llm", "inputs": {"messages": [[{"lc": 1, …}]]}, "outputs": {"generations": [[{"message": {…}}]]},
     "extra": {"invocation_params": {"model": …, "tools": […]}}, "error": null}

Of a tree of runs (`child_runs`) and of a list of them, the last run of a chat model is read.

Source: https://docs.langchain.com/langsmith/run-data-format, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.tracebacks import TRACEBACK
from prompt_debugger.core.evidence.evidence import Evidence, add_notes
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.readers.framework import of_messages
from prompt_debugger.core.evidence.values.framework_messages import REASONS, messages_of
from prompt_debugger.core.request import body_text, read_request

_MAX_RUNS = 2_000
_MODELS = ("llm", "chat_model")
_SENT = ("model", "model_name", "temperature", "max_tokens", "tool_choice", "stop", "response_format")


def _finds(paste: Paste) -> float:
    return 0.98 if next(_runs(paste.value), None) is not None else 0.0


def _runs(value: JSON) -> Iterator[JSONObject]:
    """Yield the runs of chat models within a value, in order."""
    waiting: list[JSON] = list(reversed(value)) if isinstance(value, list) else [value]
    for _ in range(_MAX_RUNS):
        if not waiting:
            return
        run = as_object(waiting.pop())
        if run.get("run_type") in _MODELS and _sent(run):
            yield run
        waiting += reversed(objects_in(run.get("child_runs")))


def _sent(run: JSONObject) -> list[JSON]:
    """Return the messages that a model was given, of one prompt."""
    held = as_object(run.get("inputs")).get("messages")
    first = held[0] if isinstance(held, list) and held and isinstance(held[0], list) else held
    return list(first) if isinstance(first, list) else []


def _generated(run: JSONObject) -> JSONObject:
    """Return the first message that a model generated, with what is said of its end; empty where there is none."""
    outputs = as_object(run.get("outputs"))
    found = outputs.get("generations")
    choice = next(iter(objects_in(outputs.get("choices"))), None)
    if choice is not None:  # of a traced client of OpenAI
        reason = choice.get("finish_reason")
        return {"message": choice.get("message"), "generation_info": {"finish_reason": reason}}
    while isinstance(found, list) and found:
        found = found[0]
    return as_object(found) or as_object({"message": outputs.get("message", outputs.get("output"))})


def _read(paste: Paste) -> Evidence:
    runs = list(_runs(paste.value))
    run = runs[-1]
    messages = [message for value in _sent(run) for message in (messages_of(value) or [as_object(value)])]
    if not messages or not all(isinstance(one.get("role"), str) for one in messages):
        raise RequestError("The messages of the run could not be read.", "Paste the run whole, as it was exported.")
    generation = _generated(run)
    message = as_object(generation.get("message"))
    answer = messages_of(message) or ([message] if message.get("role") == "assistant" else [])
    evidence = of_messages([*messages, *answer[:1]], _tools(run), _reason(generation))
    if evidence.request is not None:
        body = {**_parameters(run), **evidence.request.body}
        evidence = replace(evidence, request=read_request(body_text(body)))
    evidence = replace(evidence, words="a run of a chat model, as LangSmith keeps it")
    failed = run.get("error")
    words = failed[max(0, failed.find(TRACEBACK)) :] if isinstance(failed, str) else ""
    if words.strip() and not answer and (found := error_of_text(words)) is not None:
        evidence = replace(evidence, form=Form.EXCHANGE, error=found.refusal)
    several = (f"The text contains {len(runs):,} runs of models; the last one was read.",) if len(runs) > 1 else ()
    return add_notes(evidence, several)


def _parameters(run: JSONObject) -> JSONObject:
    given = as_object(as_object(run.get("extra")).get("invocation_params"))
    sent = {name: given[name] for name in _SENT if given.get(name) is not None}
    model = sent.pop("model_name", None)
    return {**({"model": model} if isinstance(model, str) else {}), **sent}


def _tools(run: JSONObject) -> list[JSON]:
    given = as_object(as_object(run.get("extra")).get("invocation_params")).get("tools")
    given = as_object(run.get("inputs")).get("tools") if given is None else given
    return list(given) if isinstance(given, list) and all("function" in as_object(one) for one in given) else []


def _reason(generation: JSONObject) -> str | None:
    info = as_object(generation.get("generation_info"))
    held = as_object(as_object(generation.get("message")).get("kwargs"))
    named = info.get("finish_reason") or as_object(held.get("response_metadata")).get("finish_reason")
    return REASONS.get(str(named), str(named) if isinstance(named, str) else None)


READER = Reader(Form.EXCHANGE, _finds, _read)
