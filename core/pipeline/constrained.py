"""Would constrained decoding have let a raw output through? Asked of a case or of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.types import JSONObject, Parse, Trace
from prompt_debugger.core.pipeline.cases import cached_tokenizer
from prompt_debugger.core.pipeline.census import PROMPT_TAIL_CHARS
from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.tools.grammar import (
    GrammarEngine,
    GrammarVerdict,
    JudgedOutput,
    enforcement_of_request,
    first_illegal_token,
)

# What the request asks for, with each `--tool-strict-level` that a server may have been started with.
REQUEST_LEVELS: Mapping[str, Literal["auto", "function", "parameter"]] = {
    "request": "auto",
    "request+envelope": "function",
    "request+strict": "parameter",
}


def judge_constrained(case: JSONObject, parse: Parse, level: str, engine: GrammarEngine) -> JSONObject:
    """Return the first place where constrained decoding would have stepped in, as JSON.

    Args:
        case: The case that was read; its tools, tokenizer, ids and prompt tail count.
        parse: What was read of it; its format decides the grammar.
        level: Enforcement, as vLLM has it: `auto`, `auto+strict`, `required`, ….
        engine: XGrammar; it starts at the first question.

    Returns:
        The verdict; `sentence` says it in words.

    Raises:
        EngineError: XGrammar is not installed, or the level is unknown.
    """
    source, tools, ids = case.get("tokenizer"), case.get("tools"), case.get("token_ids")
    judged = JudgedOutput(
        parse.raw,
        [item for item in ids if isinstance(item, int)] if isinstance(ids, list) else None,
        cached_tokenizer(source) if isinstance(source, str) else None,
        as_text(case.get("prompt_tail")) or "",
        as_text(case.get("finish_reason")),
    )
    declared = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return dump_document(first_illegal_token(judged, declared, parse.parsed.format, level, engine=engine))


def judge_trace(trace: Trace, level: str, engine: GrammarEngine, tokenizer: str | Path | None = None) -> GrammarVerdict:
    """Return what constrained decoding would have made of a run's raw output.

    Args:
        trace: A complete run.
        level: As in `LEVELS`, or `forced:TOOL`; `request` is what the request itself asks for, `request+envelope`
            and `request+strict` the same with `--tool-strict-level` on the server.
        engine: XGrammar; it starts at the first question.
        tokenizer: Folder or hub id of the model's tokenizer; without it the text is judged, not the ids.

    Raises:
        EngineError: There is no raw output, XGrammar is not installed, or the level is unknown.
        RenderError: The tokenizer cannot be loaded.
    """
    if trace.raw is None or trace.parse is None:
        raise EngineError("There is no raw output to check.", "Run the request first.")
    known = level in REQUEST_LEVELS
    enforcement = enforcement_of_request(trace.request.body, REQUEST_LEVELS[level]) if known else level
    ids = trace.raw.token_ids
    judged = JudgedOutput(
        trace.parse.raw,
        ids,
        None if ids is None or tokenizer is None else cached_tokenizer(str(tokenizer)),
        "" if trace.prompt is None else trace.prompt.text[-PROMPT_TAIL_CHARS:],
        trace.raw.finish_reason,
    )
    return first_illegal_token(judged, trace.request.tools, trace.parse.parsed.format, enforcement, engine=engine)
