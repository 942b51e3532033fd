"""What `parse --splits`, `parse --releases` and `run --compare-with` print under `--json`; as in `documents`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AliasPath, BeforeValidator, Field

from prompt_debugger.core.base.types import JSON, Finding, JSONObject
from prompt_debugger.core.tools.experiments.documents import Document, Spanned
from prompt_debugger.core.tools.experiments.releases import CallHistory
from prompt_debugger.core.tools.experiments.runs import Fact


def _codes(findings: Sequence[Finding]) -> list[str]:
    return [finding.code for finding in findings]


_Codes = Annotated[tuple[str, ...], BeforeValidator(_codes)]


class TrialDocument(Document):
    """One chunking that was tried.

    Attributes:
        name: As people are told it.
        deltas: How many deltas it has.
        difference: In what its message differs from that of the whole; `null` if in nothing.
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
        parts_at: The delta of it, from 0, at which the streamed message leaves the whole one.
        difference: In what they differ, in plain words.
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
        tools_called: What the parser said about having found calls, where it was heard.
    """

    version: str
    error: str | None
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


class ChangeDocument(Document):
    """A field in which two runs differ.

    Attributes:
        path: Where it is, such as `messages[2].content`.
        kind: Whether both have it, or only one.
        left: The first run's value; `null` if added.
        right: The second's; `null` if removed.
    """

    path: str
    kind: Literal["changed", "removed", "added"]
    left: JSON
    right: JSON


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
        only_left: Of the first run that the second has not.
        only_right: Likewise of the second.
        in_both: Of both.
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
    request: tuple[ChangeDocument, ...]
    facts: tuple[Fact, ...]
    prompt: TextsDocument
    raw: TextsDocument
    message: tuple[ChangeDocument, ...] | None
    findings: CodesDocument
