"""The page of families and engines: what a cell says, and that the page has every family with complete calls."""

from __future__ import annotations

import re

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import ParserAccount, VllmOutcome
from scripts.engines_page import (
    ENGINES,
    PAGE,
    Row,
    ask_all,
    cells_of,
    counts_of,
    differences_of,
    families_of,
    first_of,
    outputs_of,
    page_of,
)
from tests.conftest import ROOT

RIGHT, WRONG = ParserAccount(0, 0, 0, 0, 0), ParserAccount(1, 0, 0, 0, 0)


def outcome(account: ParserAccount = RIGHT, *, usual: bool = True, every: bool = True, words: str = "") -> VllmOutcome:
    return VllmOutcome(
        None,
        None,
        (),
        account=account,
        usual_stream_equal=usual,
        stream_equal=usual and every,
        first_unequal="cut in two",
        words=words or None,
    )


@pytest.mark.parametrize(
    ("outcomes", "cell", "difference"),
    [
        ((outcome(), outcome()), "`p` ✓", ""),
        ((outcome(), outcome(every=False)), "`p` ~", "cut in two"),
        ((outcome(usual=False),), "`p` whole", "cut in two"),
        ((outcome(), outcome(WRONG, words="No call.")), "`p` 1 of 2", '1 dropped: "No call."'),
    ],
)
def test_a_cell_says_how_far_a_parser_reads(outcomes: tuple[VllmOutcome, ...], cell: str, difference: str) -> None:
    row = Row("p", outcomes)

    assert (row.cell, row.difference) == (cell, difference)


def test_the_parser_that_a_family_uses_first_is_shown_and_one_that_does_better_is_named() -> None:
    asked = {"greedy": (outcome(), outcome()), "own": (outcome(), outcome(WRONG)), "even": (outcome(), outcome(WRONG))}

    row = first_of(("own", "even", "greedy"), asked)

    assert (row.parser, row.cell) == ("own", "`own` 1 of 2")
    assert row.difference == "1 dropped (`greedy` reads 2 of 2 whole)"
    assert first_of(("own", "even"), {name: asked[name] for name in ("own", "even")}).better == ""
    assert first_of(("gone", "greedy"), asked).parser == "greedy"


def test_an_engine_without_a_parser_for_the_family_has_a_dash_and_no_difference() -> None:
    rows = {"kimi_k2": dict.fromkeys(ENGINES, Row()) | {"sglang": Row("kimi_k2", (outcome(),))}}
    page = page_of(rows, "2026-11-24")

    assert "| kimi_k2 | – | `kimi_k2` ✓ | – | – | – |" in page
    assert "**kimi_k2**" not in page


def test_the_page_has_a_row_for_every_family_whose_cases_have_complete_calls_and_counts_them() -> None:
    page = PAGE.read_text(encoding="utf-8")
    families = sorted(folder.name for folder in (ROOT / "tests" / "cases").iterdir() if outputs_of(folder.name))
    counts = counts_of(families)

    assert re.findall(r"^\| (\w+) \| [`–]", page, re.MULTILINE) == families
    assert f"Asked are {counts['outputs']} outputs of {counts['families']}\nfamilies" in page
    assert re.search(r"on 20\d\d-\d\d-\d\d, with vLLM \S+, SGLang \S+, mlx-lm \S+, LMDeploy \S+, transf", page)


@pytest.mark.vllm
async def test_the_script_gives_the_rows_that_the_page_has() -> None:
    page = PAGE.read_text(encoding="utf-8")

    try:
        rows = await ask_all(["function_xml", "glm45", "hunyuan_v3"])
    except EngineError as error:
        pytest.skip(f"an engine cannot be had: {error.message}")

    of_page = [line for line in page.splitlines() if re.match(r"(\| |\* \*\*)(function_xml|glm45|hunyuan_v3)\b", line)]
    assert [line.rstrip("\n") for line in (*cells_of(rows), *differences_of(rows))] == of_page


def test_help_and_a_family_that_there_is_not_ask_no_engine(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as helped:
        families_of(["--help"])
    with pytest.raises(SystemExit) as refused:
        families_of(["kimi_k2", "kimi_k9"])

    shown = capsys.readouterr()
    assert (helped.value.code, refused.value.code) == (0, 2)
    assert "FAMILY" in shown.out
    assert "kimi_k9" in shown.err
    assert families_of(["kimi_k2"]) == ["kimi_k2"]
    assert families_of([]) == []
