"""The answers to further questions as JSON, for the command line and the page; their fields are in the documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prompt_debugger.core.base.types import Api, JSONObject, VllmOutcome
from prompt_debugger.core.render.probes import ProbeAnswer
from prompt_debugger.core.tools.experiments.compare import Comparison
from prompt_debugger.core.tools.experiments.difference import TokenDifference
from prompt_debugger.core.tools.experiments.documents import (
    ApisDocument,
    CodesDocument,
    ComparisonDocument,
    CountDocument,
    DifferenceDocument,
    Document,
    ProbeDocument,
    ReleasesDocument,
    RunsDocument,
    SplitsDocument,
    TurnsDocument,
    WhatIfDocument,
)
from prompt_debugger.core.tools.experiments.oracle import CountAnswer
from prompt_debugger.core.tools.experiments.releases import ReleaseTable
from prompt_debugger.core.tools.experiments.runs import RunComparison, explanation_of, sentence_of
from prompt_debugger.core.tools.experiments.turns import TurnReport
from prompt_debugger.core.tools.experiments.what_if import WhatIf
from prompt_debugger.core.tools.grammar import GrammarVerdict

# What each option adds to a document; the verdict on constrained decoding is written as it is.
ANSWERS: Mapping[str, type] = {
    "apis": ApisDocument,
    "comparison": RunsDocument,
    "constrained": GrammarVerdict,
    "probe": ProbeDocument,
    "prompt-tokens": CountDocument,
    "releases": ReleasesDocument,
    "splits": SplitsDocument,
    "turns": TurnsDocument,
    "what-if": WhatIfDocument,
}


def apis_to_json(runs: Mapping[Api, JSONObject | None], differences: Sequence[object]) -> JSONObject:
    """Return the runs of a request by several APIs, and what differs between them."""
    return _dump(ApisDocument.model_validate({"apis": runs, "differences": differences}))


def what_if_to_json(report: WhatIf) -> JSONObject:
    """Return every switch and what it does."""
    return _dump(WhatIfDocument.model_validate(report))


def comparison_to_json(comparison: Comparison) -> JSONObject:
    """Return what two setups make of one request."""
    return _dump(ComparisonDocument.model_validate(comparison))


def answer_to_json(answer: CountAnswer) -> JSONObject:
    """Return what explains a number of prompt tokens."""
    return _dump(CountDocument.model_validate(answer))


def turns_to_json(report: TurnReport) -> JSONObject:
    """Return a conversation, turn by turn."""
    return _dump(TurnsDocument.model_validate(report))


def difference_to_json(difference: TokenDifference) -> JSONObject:
    """Return a difference; long stretches are cut, and further ones only counted."""
    return _dump(DifferenceDocument.model_validate(difference))


def probes_to_json(answers: Sequence[ProbeAnswer]) -> JSONObject:
    """Return what a template supports, by the name of the probe."""
    return {one.name: _dump(ProbeDocument.model_validate(one)) for one in answers}


def splits_to_json(outcome: VllmOutcome) -> JSONObject:
    """Return what streaming in every chunking showed."""
    return _dump(SplitsDocument.model_validate(outcome))


def releases_to_json(table: ReleaseTable) -> JSONObject:
    """Return which release takes which calls."""
    return _dump(ReleasesDocument.model_validate(table))


def runs_to_json(comparison: RunComparison) -> JSONObject:
    """Return two runs side by side: `left` is the run compared with, `right` the new one."""
    return _dump(
        RunsDocument.model_validate(
            {
                "sentence": sentence_of(comparison, "the other run", "this run"),
                "explanation": explanation_of(comparison, "the other run", "this run"),
                "request": comparison.request,
                "facts": [fact for fact in comparison.facts if fact.differs],
                "prompt": comparison.prompt,
                "raw": comparison.raw,
                "message": comparison.message,
                "findings": CodesDocument.model_validate(comparison),
            }
        )
    )


def _dump(document: Document) -> JSONObject:
    dumped: JSONObject = document.model_dump(mode="json", by_alias=True)
    return dumped
