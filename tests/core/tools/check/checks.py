"""Checks made of a template and of cells that a test chooses, without any parser."""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.recommend import Ranking, recommend
from prompt_debugger.core.tools.check.run import Check, write_answers
from prompt_debugger.core.tools.check.template import check_template
from tests.core.tools.check.templates import HERMES

RIGHT = Cell(True, True, None)  # whole, streamed
WRONG = Cell(False, None, "it loses \x00 it")
STREAMS_WRONG = Cell(True, False, "streamed otherwise", streamed_usual=False)


def check_of(template: str = HERMES, *, cells: Mapping[str, Cell] | None = None, parser: str = "vllm:hermes") -> Check:
    """Return a check in which one parser reads all but the cells that are given."""
    model = CheckedModel("ours", template)
    tools, ideals = write_answers(model, is_thorough=False, renderer=run_job)
    row = {ideal.answer.name: RIGHT for ideal in ideals if ideal.is_whole} | dict(cells or {})
    ranking = Ranking("hermes", "ours")
    chosen = recommend(ideals, {parser: row}, [parser], ranking)
    template_check = check_template(model, ideals, renderer=run_job)
    return Check(model, "0.32.0", ideals, tools, {parser: row}, chosen, "hermes", template_check)
