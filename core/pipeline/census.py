"""Stage C put together: format, reading, ledger, and token spans of the calls."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from prompt_debugger.core.base.comparable import compare_outputs
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import (
    Comparability,
    JSONObject,
    Parse,
    ParsedMessage,
    Span,
    Token,
    TokenTable,
    Trace,
)
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.formats import read_scored
from prompt_debugger.core.parse import TOGETHER, build_ledger
from prompt_debugger.core.parse.spelled_markers import hide_spelled_markers
from prompt_debugger.core.pipeline.reread_calls import Believed, believe, families_of, families_of_name

PROMPT_TAIL_CHARS = 200


def take_census(trace: Trace, *, special_texts: frozenset[str]) -> Parse:
    """Read the raw output of a trace and account for it against the chat message."""
    raw = trace.raw
    if raw is None:
        raise ValueError("the census needs a raw output")
    prompt_text = trace.prompt_tail if trace.prompt is None else trace.prompt.text
    context = ReadContext(
        tools=trace.request.tools,
        prompt_tail=prompt_text[-PROMPT_TAIL_CHARS:],
        finish_reason=raw.finish_reason,
        special_texts=special_texts,
    )
    message = None if trace.chat is None else trace.chat.message
    comparability = compare_outputs(trace)
    return read_raw(
        raw.text,
        context,
        message=message,
        tokens=raw.tokens,
        comparability=comparability or TOGETHER,
        families=families_of(trace.server),
        forced=_forced_tool(trace.sent or trace.request.body),
    )


def _forced_tool(body: JSONObject) -> str | None:
    """Return the name of the tool that a request forces; `None` if it forces none by name."""
    name = as_object(as_object(body.get("tool_choice")).get("function")).get("name")
    return name if isinstance(name, str) else None


def read_raw(
    raw: str,
    context: ReadContext,
    *,
    message: JSONObject | None,
    tokens: Sequence[Token] | None = None,
    wanted: str = "auto",
    comparability: Comparability = TOGETHER,
    families: Sequence[str] = (),
    forced: str | None = None,
) -> Parse:
    """Read a raw text by the best or the wanted format, and account for it against a message.

    Where its tokens are known, the text of a control token that is spelled in ordinary tokens is text. Where a parser
    returned calls that the format leaves as text, `families`, those of the parser, are asked, too. Of the tool that
    the request forced, some servers have the model write the arguments alone.
    """
    hidden = None if tokens is None else hide_spelled_markers(raw, tokens, context.special_texts)
    scores, parsed = read_scored(raw if hidden is None else hidden.text, context, wanted)
    if hidden is not None:
        scores, parsed = hidden.show_scores(scores), hidden.show_reading(parsed)
    if message is not None and comparability.certainty is not None and wanted == "auto" and hidden is None:
        scores, parsed = believe(raw, Believed(scores, parsed), message, context, families, forced)
    if tokens is not None:
        parsed = add_token_spans(parsed, tokens)
    return Parse(raw, scores, parsed, build_ledger(raw, parsed, message, comparability))


def believe_parser(
    parse: Parse, message: JSONObject, context: ReadContext, parser: str, tokens: Sequence[Token] | None
) -> Parse:
    """Return the reading of an output with the calls in it that a parser of that name returned."""
    reading = Believed({**parse.format_scores}, parse.parsed)
    scores, parsed = better = believe(parse.raw, reading, message, context, families_of_name(parser))
    if better is reading:
        return parse
    return replace(parse, format_scores=scores, parsed=parsed if tokens is None else add_token_spans(parsed, tokens))


def add_token_spans(parsed: ParsedMessage, tokens: Sequence[Token]) -> ParsedMessage:
    """Return `parsed` with the token span of every call filled in."""

    def token_span(char_span: Span) -> Span:
        if isinstance(tokens, TokenTable):  # whose tokens need not be made to find them
            start = bisect_right(tokens.edges, char_span.start, 1) - 1
            return Span(start, bisect_left(tokens.edges, char_span.stop, 0, len(tokens)))
        first = bisect_right(tokens, char_span.start, key=lambda token: token.char_span.stop)
        return Span(first, bisect_left(tokens, char_span.stop, key=lambda token: token.char_span.start))

    calls = tuple(replace(call, token_span=token_span(call.char_span)) for call in parsed.calls)
    return replace(parsed, calls=calls)
