"""What the experiments with a request, an output or two runs print under `--json`, field by field.

Most values are written as they are (`dump_document`). What picks, renames or moves fields has a pydantic model here:
it takes them from the value by their names; where it takes one from another place, or under another name, its
annotation says so. The docstrings describe the fields; `docs/schema` is made from both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from prompt_debugger.core.base.types import SCHEMA_VERSION, Api, Finding, JSONObject, VllmOutcome
from prompt_debugger.core.render.probes import ProbeAnswer
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.core.tools.experiments.json_changes import JsonChange
from prompt_debugger.core.tools.experiments.oracle import CountAnswer
from prompt_debugger.core.tools.experiments.releases import CallHistory, ReleaseTable
from prompt_debugger.core.tools.experiments.runs import Fact, RunComparison, explanation_of, sentence_of
from prompt_debugger.core.tools.experiments.turns import TurnReport
from prompt_debugger.core.tools.experiments.what_if import WhatIf
from prompt_debugger.core.tools.grammar import GrammarVerdict, InForce

Spanned = tuple[int, int]


class Document(BaseModel):
    """Filled from the attributes of a value."""

    model_config = ConfigDict(from_attributes=True, frozen=True, protected_namespaces=())


def _codes(findings: Sequence[Finding]) -> list[str]:
    return [finding.code for finding in findings]


_Codes = Annotated[tuple[str, ...], BeforeValidator(_codes)]


class TrialDocument(Document):
    """One chunking that was tried.

    Attributes:
        name: Its name for people.
        deltas: How many deltas it has.
        difference: How its message differs from that of the whole parse; `null` if it does not.
    """

    name: str
    deltas: int
    difference: str | None


class SplitsDocument(Document):
    """One of `splits` of `parse --splits`: what streaming in every chunking showed of a parser.

    Attributes:
        equal: Whether every chunking gave what the whole parse gave; `null` if streaming was not compared.
        trials: Every chunking that was tried.
        smallest_split: The deltas of the smallest failing one.
        parts_at: Index of the delta in it, from 0, at which the streamed message diverges from the whole one.
        difference: How they differ, in plain words.
        before: The message before that delta; `null` if there is none.
        after: The message after it.
        streamed: The message at the end.
    """

    equal: bool | None = Field(validation_alias="stream_equal")
    trials: tuple[TrialDocument, ...]
    smallest_split: tuple[str, ...]
    parts_at: int | None
    difference: str | None = Field(validation_alias="first_unequal")
    before: JSONObject | None = Field(None, validation_alias=AliasPath("parting", "before"))
    after: JSONObject | None = Field(None, validation_alias=AliasPath("parting", "after"))
    streamed: JSONObject | None = Field(None, validation_alias=AliasPath("parting", "streamed"))


class ReleaseDocument(Document):
    """What one release made of the output.

    Attributes:
        version: The release.
        error: Why it could not be asked, or what went wrong in the parser.
        content: The content it gives.
        tool_calls: The calls it gives.
        finish_reason: The server's, where its own code was run.
        tools_called: Whether the parser reported calls, where it reports that.
        control: Whether the parser reads a healthy call; where it does not, the rest of the row proves nothing.
    """

    version: str
    error: str | None
    control: bool | None = None
    content: str | None = Field(None, validation_alias=AliasPath("outcome", "content"))
    tool_calls: tuple[JSONObject, ...] = Field((), validation_alias=AliasPath("outcome", "tool_calls"))
    finish_reason: str | None = Field(None, validation_alias=AliasPath("outcome", "finish_reason"))
    tools_called: bool | None = Field(None, validation_alias=AliasPath("outcome", "tools_called"))


class ReleasesDocument(Document):
    """`releases` of `parse --releases`: which release takes which calls.

    Attributes:
        parser: Name of the parser, without a release.
        rows: One per release, oldest first.
        calls: One per call that any release takes, in the order of the output.
    """

    parser: str
    rows: tuple[ReleaseDocument, ...]
    calls: tuple[CallHistory, ...]


class TextHunkDocument(Document):
    """A stretch in which two texts differ.

    Attributes:
        left_span: Units of the first.
        right_span: Units of the second.
        left: Their text.
        right: Their text.
    """

    left_span: Spanned = Field(validation_alias="before_span")
    right_span: Spanned = Field(validation_alias="after_span")
    left: str = Field(validation_alias="before")
    right: str = Field(validation_alias="after")


class TextsDocument(Document):
    """Two prompts, or two outputs.

    Attributes:
        left_count: Tokens or words of the first; `null` if the run has no such text.
        right_count: Likewise of the second.
        is_same: Whether both are the same; `null` if one is missing.
        unit: What is counted where they differ.
        first: Index of the first unit that differs, from 0.
        hunks: The stretches, in order.
    """

    left_count: int | None
    right_count: int | None
    is_same: bool | None
    unit: Literal["token", "word"] | None = Field(None, validation_alias=AliasPath("difference", "unit"))
    first: int | None = Field(None, validation_alias=AliasPath("difference", "first"))
    hunks: tuple[TextHunkDocument, ...] = Field((), validation_alias=AliasPath("difference", "hunks"))


class CodesDocument(Document):
    """Codes of the findings.

    Attributes:
        only_left: Those that only the first run has.
        only_right: Those that only the second run has.
        in_both: Those that both have.
    """

    only_left: _Codes
    only_right: _Codes
    in_both: _Codes


class RunsDocument(Document):
    """`comparison` of `run --compare-with`: `left` is the run compared with, `right` the new one.

    Attributes:
        sentence: The comparison in one sentence.
        explanation: Which stage explains the others, inferred from what differs first; "" where nothing differs.
        request: Fields of the requests that differ.
        facts: What the runs and their servers say differently.
        prompt: The prompts.
        raw: The raw outputs.
        message: Fields of the returned messages that differ; `null` if a run has no message.
        findings: What was found in one, and in both.
    """

    sentence: str
    explanation: str
    request: tuple[JsonChange, ...]
    facts: tuple[Fact, ...]
    prompt: TextsDocument
    raw: TextsDocument
    message: tuple[JsonChange, ...] | None
    findings: CodesDocument


class ApisDocument(Document):
    """What `run --api all` prints: one request by three APIs.

    Attributes:
        schema_version: Raised if a meaning changes.
        apis: The `run` document by each API; `null` where there is no run.
        differences: What differs, in the order of a run.
        error: Why there is no run at all.
    """

    schema_version: int = SCHEMA_VERSION
    apis: dict[Api, JSONObject | None]
    differences: tuple[ApiDifference, ...]
    error: JSONObject | None = None


# What each option adds to a document.
ANSWERS: Mapping[str, type] = {
    "apis": ApisDocument,
    "comparison": RunsDocument,
    "constrained": GrammarVerdict,
    "grammar": InForce,
    "probe": ProbeAnswer,
    "prompt-tokens": CountAnswer,
    "releases": ReleasesDocument,
    "splits": SplitsDocument,
    "turns": TurnReport,
    "what-if": WhatIf,
}


def apis_to_json(runs: Mapping[Api, JSONObject | None], differences: Sequence[object]) -> JSONObject:
    """Return the runs of a request by several APIs, and what differs between them."""
    return _dump(ApisDocument.model_validate({"apis": runs, "differences": differences}))


def probes_to_json(answers: Sequence[ProbeAnswer]) -> JSONObject:
    """Return what a template supports, by the name of the probe."""
    return {one.name: dump_document(one) for one in answers}


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
