"""Would constrained decoding have let a raw output through? One question from a case, one answer."""

from __future__ import annotations

from core.parse.grammar import GrammarEngine, first_illegal_token, verdict_to_json
from core.pipeline.cases import cached_tokenizer
from core.types import JSON, JSONObject, Parse


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
    verdict = first_illegal_token(
        parse.raw,
        [item for item in ids if isinstance(item, int)] if isinstance(ids, list) else None,
        cached_tokenizer(source) if isinstance(source, str) else None,
        [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else [],
        parse.parsed.format,
        level,
        engine=engine,
        prompt_tail=_text(case.get("prompt_tail")) or "",
        finish_reason=_text(case.get("finish_reason")),
    )
    return verdict_to_json(verdict)


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None
