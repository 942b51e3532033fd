"""The answer contains only reasoning, although the model ended its turn.

What it finds:
    Where no raw output is known: content null or empty, no tool call, text in
    reasoning, and a finish_reason that says that the model ended its answer, or a
    message that was pasted without one. An error where the request switches thinking off.
    Reasoning that breaks off is distinguished from an answer that was taken for reasoning.
    A note where a part of a stream is only reasoning under its newer name.

Why it matters:
    The user sees nothing. Either the template rendered thinking as off and the reasoning
    parser, which starts inside a block, took the whole answer; or the model closed its turn
    before it closed its reasoning.

Bad:
    `{"reasoning": "Hello! How can I help you today?", "content": null}`

Good:
    `{"content": "Hello! How can I help you today?"}`

Source:
    tracker: vllm-project/recipes#425, vllm-project/vllm#53284, ollama/ollama#12831,
    ollama/ollama#15288.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, ChatResult, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.written_calls import SAID_OFF, written_calls
from prompt_debugger.core.diagnose.endings import is_normal_end
from prompt_debugger.core.diagnose.fields import Reasoning, content_of, reasoning_of, returned_calls
from prompt_debugger.core.diagnose.hosted import hosted_by
from prompt_debugger.core.diagnose.output_limit import more_output
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.thinking import is_ollamas_v1, switched_off, think_less, thinks_by_effort
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    asked_server,
    in_message,
    open_think_tail,
    prompt_of,
    why_cut,
)
from prompt_debugger.core.diagnose.words import counted

_OLLAMA = (
    Step("Send `think: false`, so that Ollama does not treat the answer as reasoning.", {"think": False}),
    Step("Use a release of Ollama that ends the reasoning before it constrains the answer."),
    Step("Read the answer from `thinking`."),
)
_PARSER = Step(
    "Use a reasoning parser that does not start inside a block, or none: a parser that starts inside treats an answer "
    "without tags as reasoning."
)
_OF_VENDOR = (
    Step(
        "Allow more tokens for the answer, or less thinking: an API counts thoughts as output (`maxOutputTokens` and "
        "`thinkingConfig` of Gemini, `max_tokens` and `thinking.budget_tokens` of Anthropic)."
    ),
    Step("Send the request again: the model ended its turn after its thoughts, and nothing was left out."),
)
_LIMIT = Step(
    "Raise `max_tokens` and the context length that the model is loaded with: a model that breaks off while it thinks "
    "has usually reached one of them, even where finish_reason does not say so."
)
_BREAKS_OFF = re.compile(r"(?:[,;(<\[]|\s(?:the|an?|and|or|but|to|of|is|that|with|for|in))\Z", re.IGNORECASE)
_NOTE = re.compile(r"\s{0,8}\[Model produced only internal reasoning with no visible response\b")
_MIN_THOUGHTS = 200  # characters
_MORE = Step("Look at `finish_reason`: if it is `length`, the reasoning used up `max_tokens`, so allow more.")


def find(trace: Trace) -> Iterator[Report]:
    """Report a message whose only text is reasoning."""
    chat = trace.chat
    if (renamed := _report_in_new_field(trace)) is not None:
        yield renamed
        return
    if chat is None or chat.error or trace.parse is not None or returned_calls(trace):
        return
    if is_note_of_server(chat):
        yield _report_note(trace, chat)
        return
    reasoning = reasoning_of(chat.message)
    if reasoning is None or not reasoning.text.strip() or (content_of(chat.message) or "").strip():
        return
    if chat.message.get("function_call") or chat.message.get("refusal"):
        return
    if not (is_normal_end(chat.finish_reason) or _is_lone(trace, chat)) or any(
        True for _ in written_calls(trace, reasoning.text)
    ):
        return
    off = switched_off(trace)
    is_said_off = SAID_OFF in trace.notes and not off
    is_json = isinstance(decode_json(reasoning.text), dict | list)
    shape = " It is JSON, as an answer would be." if is_json else ""
    parser = trace.reasoning_parser
    ended = f"finish_reason is `{chat.finish_reason}`" if chat.finish_reason else "finish_reason is not known"
    ran = "" if parser is None else f" The reasoning parser is `{parser}`."
    if not (off or is_said_off or is_json or _is_of_vendor(chat)) and _breaks_off(reasoning.text):
        yield _report_break(trace, reasoning, ended)
        return
    yield Report(
        title=f"The answer contains only thoughts, in `{reasoning.field}`, and no text."
        if _is_of_vendor(chat)
        else f"The whole answer is in `{reasoning.field}`, and content is empty.",
        detail=f"`{reasoning.field}` contains {counted(len(reasoning.text), 'character')}, {ended}."
        + (f" The request sets `{off.rpartition('.')[2]}` to false: the model did not think." if off else "")
        + (" According to the surrounding text, the request sets `enable_thinking` to false." if is_said_off else "")
        + f"{shape}{ran} {_describe_prompt(trace)}",
        evidence=(in_message(reasoning.field, reasoning.text), in_message("content")),
        fix=_OLLAMA
        if _is_ollama(chat)
        else _OF_VENDOR
        if _is_of_vendor(chat)
        else (
            *(() if chat.finish_reason else (_MORE,)),
            *(() if off or is_said_off else (think_less(trace, ", so that template and reasoning parser agree"),)),
            *(() if thinks_by_effort(trace) or is_ollamas_v1(trace) or hosted_by(trace) else (_PARSER,)),
            Step(f"Read the answer from `{reasoning.field}`."),
        ),
        certainty=Certainty.INFERRED,
        severity=Severity.ERROR if off or is_json else None,
    )


def is_note_of_server(chat: ChatResult) -> bool:
    """Return whether content is what vMLX writes itself where the model produced reasoning alone."""
    return _NOTE.match(content_of(chat.message) or "") is not None


def _report_note(trace: Trace, chat: ChatResult) -> Report:
    """Report an answer whose text is the server's, as the model wrote none."""
    content = content_of(chat.message) or ""
    is_cut = why_cut(trace) is not None
    ended = f"finish_reason is `{chat.finish_reason}`" if chat.finish_reason else "finish_reason is not known"
    return Report(
        title="The model wrote only reasoning, and content is a note of the server, not an answer.",
        detail=f"Content is {content.strip()[:80]!r}, which vMLX writes where no text follows the reasoning; {ended}.",
        evidence=(in_message("content", content), in_message("finish_reason", chat.finish_reason)),
        fix=(
            *((more_output(trace),) if is_cut else ()),
            think_less(trace),
            *(() if is_cut else (_MORE,)),
            Step("Do not send that note back in the history: the model did not write it."),
        ),
        severity=Severity.ERROR,
        stage=Stage.COMPLETE,
    )


def _breaks_off(text: str) -> bool:
    """Return whether a text ends within a sentence, or within code that its last line begins.

    >>> _breaks_off("I go through the options. " * 9 + "Let's take `<plan>"), _breaks_off("It is `a`. " * 30)
    (True, False)
    """
    text = text.rstrip()
    is_open = text[text.rfind("\n") + 1 :].count("`") % 2 == 1 and text.count("```") % 2 == 0
    return len(text) >= _MIN_THOUGHTS and (is_open or _BREAKS_OFF.search(text[-20:]) is not None)


def _report_break(trace: Trace, reasoning: Reasoning, ended: str) -> Report:
    """Report thoughts after which the answer never began."""
    return Report(
        title=f"The model stopped within its thoughts: `{reasoning.field}` breaks off, and content is empty.",
        detail=f"`{reasoning.field}` contains {counted(len(reasoning.text), 'character')} and ends with "
        f"{reasoning.text.rstrip()[-40:]!r}; {ended}. {_describe_prompt(trace)}",
        evidence=(in_message(reasoning.field, reasoning.text), in_message("content")),
        fix=(_LIMIT, think_less(trace), Step("Ask again: the answer was not written.")),
        certainty=Certainty.INFERRED,
    )


def _report_in_new_field(trace: Trace) -> Report | None:
    """Report a part of a stream that is only reasoning under its newer name, which older clients do not read."""
    stream = trace.chat_stream
    if stream is None or asked_server(trace) or stream.finish_reason is not None or returned_calls(trace):
        return None
    if not stream.deltas or (stream.body and '"reasoning"' not in stream.body):
        return None  # of another API, whose fields have other names
    is_part = stream.error is None or "ended without a finish reason" in stream.error
    if not is_part or {name for name, text in stream.message.items() if text} - {"role"} != {"reasoning"}:
        return None
    return Report(
        title="The copied part of the stream contains only reasoning, in the field `reasoning`.",
        detail="vLLM renamed `reasoning_content` to `reasoning`: a client or proxy that knows only the older name "
        "shows nothing until the answer begins. The pieces themselves are as they should be.",
        evidence=(in_message("reasoning", as_text(stream.message["reasoning"])),),
        fix="Read both names in the client or proxy, or use a release of it that does. To judge the answer, copy the "
        "stream to its end.",
        certainty=Certainty.INFERRED,
        severity=Severity.NOTE,
    )


def _is_lone(trace: Trace, chat: ChatResult) -> bool:
    """Return whether a message was pasted alone, with its empty content."""
    return chat.finish_reason is None and trace.chat_stream is None and not chat.body and "content" in chat.message


def _describe_prompt(trace: Trace) -> str:
    if prompt_of(trace) is None:
        return "Whether the prompt left a reasoning block open is unknown."
    opened = open_think_tail(trace)
    return (
        "The prompt leaves no reasoning block open." if opened is None else f"The prompt ends with `{opened.opener}`."
    )


def _is_of_vendor(chat: ChatResult) -> bool:
    """Return whether an API answered in which reasoning has its own place, and no server's parser looks for it."""
    return '"candidates"' in chat.body or ('"stop_reason"' in chat.body and '"thinking"' in chat.body)


def _is_ollama(chat: ChatResult) -> bool:
    return '"done_reason"' in chat.body and '"eval_count"' in chat.body


RULE: Rule = TraceRule(
    code="PD459",
    name="nothing-but-reasoning",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.ANSWER,
    threads=("vllm-project/recipes#425", "vllm-project/vllm#53284", "ollama/ollama#12831", "ollama/ollama#15288"),
)
