"""Traces built by hand from core values, for views that are tested without a server."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from prompt_debugger.core.base.types import (
    Basis,
    CallMatch,
    CallOutcome,
    CallStatus,
    Certainty,
    ChatResult,
    Comparability,
    Completion,
    Conclusion,
    Fate,
    Finding,
    FindingEvidence,
    FormatScore,
    JSONObject,
    Ledger,
    LedgerEntry,
    Parse,
    ParsedMessage,
    Place,
    Prompt,
    PromptDifference,
    PromptSpan,
    Request,
    Segment,
    SegmentKind,
    Server,
    Severity,
    Span,
    SpanKind,
    Stage,
    Token,
    TokenKind,
    ToolCallAttempt,
    Trace,
    Verdict,
    Vocabulary,
)

SPECIAL = (
    "<|im_system|>",
    "<|im_user|>",
    "<|im_assistant|>",
    "<|im_middle|>",
    "<|im_end|>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
)
_PIECES = re.compile("(" + "|".join(map(re.escape, SPECIAL)) + r")|(\s?[^\W_]+|\s+|.)", re.DOTALL)

TEMPLATE = """{%- for message in messages -%}
  {{- '<|im_' + message['role'] + '|>' + message['role'] + '<|im_middle|>' -}}
  {{- message['content'] -}}
  {{- '<|im_end|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_assistant|>assistant<|im_middle|>' -}}
{%- endif -%}
"""

PROMPT_TEXT = (
    "<|im_system|>system<|im_middle|>You are a helpful assistant<|im_end|>"
    "<|im_user|>user<|im_middle|>What's the weather in Paris?\nIn  Celsius, please.<|im_end|>"
    "<|im_assistant|>assistant<|im_middle|>"
)
RAW_TEXT = (
    "<|tool_calls_section_begin|><|tool_call_begin|>get_weather<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
)


def tokens_of(text: str, *, field: str | None = None, line: int | None = None) -> tuple[Token, ...]:
    """Return a plausible token table of `text`: words, whitespace, control tokens."""
    tokens = []
    for match in _PIECES.finditer(text):
        piece = match.group()
        is_special = match.group(1) is not None
        tokens.append(
            Token(
                id=163_000 + SPECIAL.index(piece) if is_special else sum(map(ord, piece)) % 9_000,
                text=piece,
                char_span=Span(*match.span()),
                kind=TokenKind.SPECIAL if is_special else TokenKind.TEXT,
                piece=piece.encode("utf-8", "surrogatepass"),
                field=None if is_special else field,
                template_line=(2 if is_special else 3) if line is None else line,
            )
        )
    return tuple(tokens)


def prompt_of(text: str, *, source: str = "server", template: str | None = TEMPLATE) -> Prompt:
    """Return a prompt whose one span is the whole text."""
    spans = (PromptSpan(Span(0, len(text)), SpanKind.TEMPLATE, template_line=2),) if text else ()
    return Prompt(
        source="server" if source == "server" else "local",
        text=text,
        spans=(*spans[:0], *_spans(text)),
        tokens=tokens_of(text, field="messages[1].content"),
        template=template,
    )


def _spans(text: str) -> tuple[PromptSpan, ...]:
    middle = len(text) // 2
    spans = (
        PromptSpan(Span(0, middle), SpanKind.TEMPLATE, template_line=2),
        PromptSpan(Span(middle, len(text)), SpanKind.REQUEST, field="messages[1].content", template_line=3),
    )
    return tuple(span for span in spans if span.char_span.start < span.char_span.stop)


def dropped_call_trace() -> Trace:
    """Return a whole run in which the server dropped the one call that the model wrote."""
    body: JSONObject = {
        "model": "lab-model",
        "messages": [
            {"role": "system", "content": "You are a helpful assistant"},
            {"role": "user", "content": "What's the weather in Paris?\nIn  Celsius, please."},
        ],
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
    }
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": []}
    raw = Completion(
        text=RAW_TEXT,
        token_ids=tuple(token.id for token in tokens_of(RAW_TEXT)),
        finish_reason="stop",
        evidence=Basis.SAME_RUN,
        elapsed_s=0.412,
        tokens=tokens_of(RAW_TEXT),
    )
    chat = ChatResult(message, "stop", token_ids=raw.token_ids, elapsed_s=0.42)
    local = prompt_of(PROMPT_TEXT.replace("helpful assistant", "helpful assistant."), source="local")
    return Trace(
        request=Request(body=body, text=json.dumps(body, indent=2)),
        sent=body,
        server=Server(
            "http://127.0.0.1:8123/v1",
            kind="vllm",
            version="0.32.0",
            model="lab-model",
            tool_parser="kimi_k2",
            is_lab=True,
        ),
        evidence=Basis.SAME_RUN,
        prompt=prompt_of(PROMPT_TEXT),
        local_prompt=local,
        prompt_difference=PromptDifference(
            first_token=9,
            first_char=59,
            server="a helpful assistant<|im_end|>",
            local="a helpful assistant.<|im_end|>",
            cause="The server's template has another default system message.",
        ),
        generation_prompt="<|im_assistant|>assistant<|im_middle|>",
        vocabulary=Vocabulary(size=4_096, special={163_000 + i: text for i, text in enumerate(SPECIAL)}),
        raw=raw,
        chat=chat,
        chat_stream=replace(chat, finish_reason="tool_calls"),
        parse=dropped_call_parse(),
        findings=(dropped_call_finding(), second_finding()),
        verdict=Verdict(
            dropped_calls=1,
            altered_calls=0,
            invented_calls=0,
            stage=Stage.PARSE,
            sentence="The model wrote 1 tool call, the server returned none. Guilty stage: parse.",
            conclusion=Conclusion.FAULT,
        ),
    )


def dropped_call_parse() -> Parse:
    """Return the census and the ledger of `RAW_TEXT`, its call lost."""
    name = RAW_TEXT.index("get_weather")
    arguments = RAW_TEXT.index("{")
    stop = RAW_TEXT.index("}") + 1
    end = RAW_TEXT.index("<|im_end|>")
    call = ToolCallAttempt(
        name="get_weather",
        arguments=RAW_TEXT[arguments:stop],
        arguments_json={"city": "Paris"},
        id="get_weather",
        status=CallStatus.COMPLETE,
        place=Place.BODY,
        char_span=Span(RAW_TEXT.index("<|tool_call_begin|>"), RAW_TEXT.index("<|tool_calls_section_end|>")),
        name_span=Span(name, name + 11),
        arguments_span=Span(arguments, stop),
        problem="the header has no `:N`",
    )
    ledger = Ledger(
        entries=(
            LedgerEntry(Span(0, name), Fate.MARKUP),
            LedgerEntry(Span(name, name + 11), Fate.LOST),
            LedgerEntry(Span(name + 11, arguments), Fate.MARKUP),
            LedgerEntry(Span(arguments, stop), Fate.LOST),
            LedgerEntry(Span(stop, end), Fate.MARKUP),
            LedgerEntry(Span(end, len(RAW_TEXT)), Fate.END),
        ),
        matches=(CallMatch(0, None, (), CallOutcome.DROPPED),),
        comparability=Comparability(Certainty.OBSERVED),
    )
    segments = (Segment(Span(0, len(RAW_TEXT)), SegmentKind.MARKUP),)
    parsed = ParsedMessage("kimi_k2", None, None, (call,), segments)
    return Parse(RAW_TEXT, {"kimi_k2": FormatScore(1.0, "its markers")}, parsed, ledger)


def dropped_call_finding() -> Finding:
    """Return the finding that names the dropped call."""
    start = RAW_TEXT.index("get_weather")
    return Finding(
        code="PD401",
        name="dropped-call",
        severity=Severity.ERROR,
        stage=Stage.PARSE,
        title="A tool call of the raw output is not in the message",
        detail=(
            "The model wrote `get_weather` with a header that has no index; "
            "the server's kimi_k2 parser wants `functions.NAME:N` and passes over it silently."
        ),
        evidence=(
            FindingEvidence("raw", char_span=Span(start, start + 11), quote="get_weather"),
            FindingEvidence("request", field="messages[1].content", quote="What's the weather in Paris?"),
            FindingEvidence("prompt", token_span=Span(14, 16), quote="weather in"),
            FindingEvidence("message", field="tool_calls"),
        ),
        fix='Send tool call ids of the form "functions.get_weather:0" in the history.',
        links=("https://github.com/vllm-project/vllm/issues/1",),
    )


def second_finding() -> Finding:
    """Return a finding that is probably caused by the first."""
    return Finding(
        code="PD502",
        name="finish-reason-contradiction",
        severity=Severity.WARNING,
        stage=Stage.CONTRACT,
        title="Streaming and non-streaming give different finish reasons",
        detail='"stop" in the message, "tool_calls" in the stream.',
        follows="PD401",
    )
