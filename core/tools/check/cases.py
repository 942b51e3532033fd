"""The failing cells as cases for `parse --cases`: what a parser was given, to try again by hand."""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.check.run import Check


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
                "raw": ideal.raw.removesuffix(ideal.end) if ideal.raw.count(ideal.end) == 1 else ideal.raw,
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
