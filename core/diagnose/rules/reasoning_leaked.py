r"""The model's reasoning is in content.

What it finds:
    Characters that the format's own rules read as reasoning and that the message has in
    content; without raw output, a content that starts with an opening reasoning marker, or
    closes one that it never opened (an inference, and a warning). Markers in code or
    quotation marks are not reported, nor what the request asked for (`reasoning_format: "raw"`).
    Of an answer of a hosted API it says what its client can do; of a parser that leaves the
    block in content on purpose (`minimax_m2_append_think`), which one splits it.

Why it matters:
    Users read the model's thoughts, and the next request sends them back as if they had been said.

Bad:
    `"content": "They ask for the weather.</think>\n\n15 °C."`

Good:
    `"reasoning": "They ask for the weather.", "content": "15 °C."`

Source:
    tracker: vllm-project/vllm#12999, deepseek-ai/DeepSeek-R1#350, vllm-project/vllm#13125.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Fate, SegmentKind, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.calls.unparsed_calls import family_of_model
from prompt_debugger.core.diagnose.fields import body_of, content_of, returned_calls
from prompt_debugger.core.diagnose.fixes import FlagsFix
from prompt_debugger.core.diagnose.hosted import hosted_by
from prompt_debugger.core.diagnose.parser_setup import way_for_thoughts
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.thinking import switched_off
from prompt_debugger.core.diagnose.trace_queries import (
    UNREAD_THOUGHTS,
    TracePart,
    comparison,
    fates_within,
    in_message,
    in_raw,
    open_think_tail,
    opens_with_thought,
    prompt_end,
)
from prompt_debugger.core.formats import FORMATS, TABLES, ReasoningPair

_KEEP_BLOCK = ("_append_think", "-append-think")  # ends of the names of parsers that leave the block in content
_PARSED = "Send `reasoning_format` as `parsed` (the thoughts then come in `message.reasoning`) or `hidden`. Else: "
_ASK_VENDOR = {
    "Groq": _PARSED,
    "Cerebras": _PARSED,
    "MiniMax": "Send `reasoning_split: true` (the thoughts then come in `reasoning_details`). Else: ",
    "OpenRouter": "Ask for `reasoning`, which OpenRouter splits off for most models, or take another provider. Else: ",
}


def find(trace: Trace) -> Iterator[Report]:
    """Report leaked reasoning, from the best evidence there is."""
    if _is_asked_for(trace):
        return
    certainty = comparison(trace)
    if (other := _parser_that_splits(trace)) is not None:
        yield from _kept_by_parser(trace, other)
    elif certainty is not None and trace.parse is not None:
        yield from _from_ledger(trace, certainty)
    elif trace.parse is None and trace.chat is not None:
        yield from _from_message(trace)


def _is_asked_for(trace: Trace) -> bool:
    """Return whether the request wants reasoning within content, in the words of Groq, llama.cpp or SGLang."""
    body = body_of(trace)
    return body.get("reasoning_format") in ("raw", "none") or body.get("separate_reasoning") is False


def _parser_that_splits(trace: Trace) -> str | None:
    """Return the parser to use in place of one that leaves the block where it is; `None` of all others."""
    parser = trace.reasoning_parser or ""
    return next((parser.removesuffix(end) for end in _KEEP_BLOCK if parser.endswith(end)), None)


def _kept_by_parser(trace: Trace, other: str) -> Iterator[Report]:
    """Report a block that the server's parser leaves in content on purpose."""
    opened = opens_with_thought(content_of(trace.chat.message) or "") if trace.chat is not None else None
    if opened is None:
        return
    yield Report(
        title=f"The server's reasoning parser leaves the thoughts in content: `{trace.reasoning_parser}`.",
        detail=f"This parser writes the block into content, with `{opened.opener}` before it and `{opened.closer}` "
        "after it, so that the next request sends it back to the model. It fills no field for reasoning.",
        evidence=(in_message("content", opened.opener),),
        fix=f"To get thoughts and answer apart, start the server with `--reasoning-parser {other}`, and send the "
        "thoughts back with each message. Otherwise split the text in the client.",
        certainty=Certainty.OBSERVED,
        severity=Severity.WARNING,
    )


def _from_ledger(trace: Trace, certainty: Certainty) -> Iterator[Report]:
    assert trace.parse is not None
    leaked = [
        span
        for segment in trace.parse.parsed.segments
        if segment.kind is SegmentKind.REASONING
        for span, fate in fates_within(trace, segment)
        if fate is Fate.CONTENT and trace.parse.raw[span.start : span.stop].strip()
    ]
    if leaked:
        opened = opens_with_thought(trace.parse.raw)
        count = sum(stop - start for start, stop in leaked)
        yield Report(
            title=f"{count} characters of reasoning are in content.",
            detail=_cause(trace),
            evidence=(*(in_raw(trace, span) for span in leaked), in_message("content")),
            fix=way_for_thoughts(trace) or (_fix(trace) if opened is None else _fix_of_whole_block(trace, opened)),
            certainty=certainty,
        )


def _from_message(trace: Trace) -> Iterator[Report]:
    assert trace.chat is not None
    content = content_of(trace.chat.message) or ""
    opened = opens_with_thought(content)
    marker = opened.opener if opened is not None else _unopened_closer(trace, content)
    if marker is None:
        return
    at, vendor = content.find(marker), hosted_by(trace)
    own = way_for_thoughts(trace) or (_fix(trace) if opened is None else _fix_of_whole_block(trace, opened))
    yield Report(
        title="Content contains a reasoning block.",
        detail=f"`{marker}` is at character {at} of content. {_cause(trace, vendor)}",
        evidence=(in_message("content", marker, Span(at, at + len(marker))),),
        fix=own if vendor is None else _fix_at_vendor(vendor, marker, content, opened),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _unopened_closer(trace: Trace, content: str) -> str | None:
    """Return a closing tag that content never opened, unless it is quoted or the prompt shows no open block."""
    if prompt_end(trace) is not None and open_think_tail(trace) is None:
        return None
    for opener, closer in TABLES.reasoning_pairs:
        at = content.find(closer)
        quoted = at > 0 and (content[at - 1] in "`\"'" or "```" in content[:at])
        if at != -1 and opener not in content and not quoted:
            return closer
    return None


def _cause(trace: Trace, vendor: str | None = None) -> str:
    server = trace.server
    if vendor is not None:
        return f"{vendor} returned the text as the model wrote it."
    if server is not None and server.has_reasoning_parser is False:
        return "The server runs no reasoning parser."
    if switched_off(trace) is not None:
        return (
            "The request switches thinking off, and the model thought all the same: the switch may have turned off the "
            "server's parser alone."
        )
    if open_think_tail(trace) is not None:
        return "The prompt opens the reasoning block, so the output contains only the closing marker."
    return "The server's parser did not split this output."


def _fix(trace: Trace) -> str:
    if trace.server is not None and trace.server.has_reasoning_parser is False:
        return f"Start the server with {_reasoning_parser(trace)}."
    if (switch := switched_off(trace)) is not None:
        return f"Leave `{switch}` out, so that template and parser agree, and look at the answer again."
    return (
        f"Start the server with {_reasoning_parser(trace)}. If it runs one, take one that treats the block as open "
        "from the start, as it is where the template opens it."
    )


def _fix_of_whole_block(trace: Trace, pair: ReasoningPair) -> str:
    """Return what helps where the block has both of its tags, so that any parser of the family would split it."""
    if pair in UNREAD_THOUGHTS:
        return f"Split the answer at `{pair.closer}` in the client: no reasoning parser that is known reads these tags."
    beside = " to answers with tool calls as well" if returned_calls(trace) else ""
    return (
        f"The block has its opening tag: start the server with {_reasoning_parser(trace)}, or check why it is not "
        f"applied{beside}."
    )


def _reasoning_parser(trace: Trace) -> str:
    """Return the flag with the parser of the model's family, where its name or its output shows one."""
    written = () if trace.parse is None or trace.parse.parsed.format not in FORMATS else (trace.parse.parsed.format,)
    named = [family for model in model_names(trace) if (family := family_of_model(model)) is not None]
    for family in (*written, *named):
        if parsers := FORMATS[family].facts.reasoning_parsers:
            return f"the `--reasoning-parser` for this model's family (`{parsers[0]}` in vLLM)"
    return "the `--reasoning-parser` for this model's family"


def _fix_at_vendor(vendor: str, marker: str, content: str, pair: ReasoningPair | None) -> str:
    """Return what a client can do where no flag of the server is its own to set."""
    ask = _ASK_VENDOR.get(vendor, "")
    closer = marker if pair is None else pair.closer
    if closer not in content:
        return f"{ask}Take `{marker}` out of the text in the client: nothing closes the block.".strip()
    return f"{ask}Split the text at `{closer}` in the client, and keep the part before it out of the history.".strip()


RULE: Rule = TraceRule(
    code="PD409",
    name="reasoning-leaked",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#12999", "deepseek-ai/DeepSeek-R1#350", "vllm-project/vllm#13125"),
    fixes=(FlagsFix("reasoning"),),
)
