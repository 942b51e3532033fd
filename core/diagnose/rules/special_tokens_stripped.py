"""Special tokens were stripped before the tool parser saw the output.

What it finds:
    Calls in the raw output that were not returned, whose markers are special tokens of this
    vocabulary, and content that equals the raw output with exactly the special tokens
    removed. The raw tokens were right, so the stage is `parse`. Silent if the server's
    parser belongs to another family: that explains it.

Why it matters:
    The parser looks for markers that the detokenizer has removed. What is left
    reads like broken prose: `functions.get_weather:0{"city": "Paris"}`.

Bad:
    `skip_special_tokens: true` with a parser that does not switch it off.

Good:
    `skip_special_tokens: false` for requests with tools.

Source:
    tracker: vllm-project/vllm#16190, vllm-project/vllm#25281, vllm-project/vllm#39352.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import KEEP_SPECIAL_TOKENS, Step, parse_it_yourself
from prompt_debugger.core.diagnose.fields import content_of
from prompt_debugger.core.diagnose.fixes import RequestFix, setting
from prompt_debugger.core.diagnose.own_names import has_own_names, is_made_for
from prompt_debugger.core.diagnose.parser_setup import is_of_unknown_make
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    comparison,
    dropped_calls,
    in_message,
    in_raw,
    offline_method,
)
from prompt_debugger.core.diagnose.words import listed
from prompt_debugger.core.formats import TABLES


def find(trace: Trace) -> Iterator[Report]:
    """Compare content with the raw output without special tokens."""
    certainty = comparison(trace)
    dropped = dropped_calls(trace)
    if certainty is None or trace.parse is None or trace.chat is None or trace.vocabulary is None or not dropped:
        return
    parser, name = trace.tool_parser, trace.parse.parsed.format
    if parser is not None and name in TABLES.tool_parsers and not is_made_for(trace.server, name):
        return
    raw, content = trace.parse.raw, content_of(trace.chat.message) or ""
    gone = [text for text in trace.vocabulary.special.values() if text and text in raw]
    markup = "".join(raw[call.char_span.start : call.char_span.stop] for _, call in dropped)
    stripped = raw
    for text in sorted(gone, key=len, reverse=True):
        stripped = stripped.replace(text, "")
    if not any(text in markup for text in gone) or not content.strip() or content.strip() != stripped.strip():
        return
    yield Report(
        title="Special tokens were stripped before the tool parser saw the output.",
        detail=f"Content is the raw output without {listed([text for text in gone if text in markup], 6)}.",
        evidence=(*(in_raw(trace, call.char_span) for _, call in dropped), in_message("content", content)),
        fix=tuple(_fix(trace, name, parser)),
        certainty=Certainty.INFERRED if parser is None else certainty,
    )


def _fix(trace: Trace, name: str, parser: str | None) -> Iterator[Step]:
    """Return what to try; first whether the parser is the right one, where it is not known which one runs.

    Args:
        trace: The run.
        name: The format of the output.
        parser: The server's parser, if it is known.
    """
    readers = TABLES.tool_parsers.get(name, ())
    if (method := offline_method(trace)) is not None:
        how = parse_it_yourself(method, readers)
        keeps = f"Pass `SamplingParams(skip_special_tokens=False)` to `LLM.{method}`. {how}"
        yield Step(keeps, {"skip_special_tokens": False})
        return
    if parser is None:
        whose = "for vLLM " if is_of_unknown_make(trace) else ""
        flag = (
            f": {whose}`--enable-auto-tool-choice --tool-call-parser {readers[0]}`"
            if readers and not has_own_names(trace.server)
            else ""
        )
        yield Step(f"Check whether the server runs a tool parser that reads the format `{name}`{flag}.")
    yield KEEP_SPECIAL_TOKENS
    yield Step("Use a release whose parser asks for special tokens itself.")


RULE: Rule = TraceRule(
    code="PD407",
    name="special-tokens-stripped",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("vllm-project/vllm#16190", "vllm-project/vllm#25281", "vllm-project/vllm#39352"),
    explains=("PD401", "PD402", "PD413"),
    fixes=(RequestFix("special tokens kept", setting(skip_special_tokens=False)),),
)
