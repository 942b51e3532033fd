"""What the questions to a request, an output and two runs print under `--json`, field by field.

Each answer is a pydantic model that picks its fields from the value by their names; where it takes one from
another place of the value, or under another name, its annotation says so. The docstrings describe the fields;
`docs/schema` is made from both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from prompt_debugger.core.base.types import JSON, SCHEMA_VERSION, Api, Finding, JSONObject
from prompt_debugger.core.render.probes import Support
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.core.tools.experiments.difference import Hunk
from prompt_debugger.core.tools.experiments.releases import CallHistory
from prompt_debugger.core.tools.experiments.runs import Fact
from prompt_debugger.core.tools.experiments.switches import AbsentSwitch, Switch, Topic
from prompt_debugger.core.tools.experiments.turn_causes import BreakCause
from prompt_debugger.core.tools.experiments.variant import RenderFailure
from prompt_debugger.core.tools.experiments.what_if import EffectKind

_HUNKS = 50  # stretches of a difference that are listed
_TEXT = 2_000  # characters of a stretch that are shown
_Unit = Literal["token", "word"]


class Document(BaseModel):
    """Filled from the attributes of a value."""

    model_config = ConfigDict(from_attributes=True, frozen=True, protected_namespaces=())


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"


def _first_hunks(hunks: Sequence[Hunk]) -> Sequence[Hunk]:
    return hunks[:_HUNKS]


def _names(switches: Sequence[Switch]) -> list[str]:
    return [switch.name for switch in switches]


Spanned = tuple[int, int]
_Cut = Annotated[str, AfterValidator(_cut)]


class PlaceDocument(Document):
    """Where two renders part, in one of them.

    Attributes:
        char: Character of the text, from 0.
        text: The text around it.
        field: Request field that it shows, if any.
        template_line: Line of the template that wrote it, from 1, where known.
    """

    char: int
    text: str
    field: str | None
    template_line: int | None


class HunkDocument(Document):
    """A stretch in which two renders differ.

    Attributes:
        before_span: Units of the first render.
        after_span: Units of the second.
        before: Their text, cut if it is long.
        after: Their text, likewise.
    """

    before_span: Spanned
    after_span: Spanned
    before: _Cut
    after: _Cut


class DifferenceDocument(Document):
    """In what two renders differ.

    Attributes:
        unit: What is counted.
        first: Index of the first unit that differs, from 0.
        removed: Units of the first render that the second lacks.
        added: Units of the second render that the first lacks.
        before: The first difference in the first render.
        after: The first difference in the second.
        hunks: The first stretches, in order.
        hunk_count: How many there are.
        is_aligned: False if the two are too long and too unlike to be aligned: their middle is then one stretch.
    """

    unit: _Unit
    first: int
    removed: int
    added: int
    before: PlaceDocument
    after: PlaceDocument
    hunks: Annotated[tuple[HunkDocument, ...], BeforeValidator(_first_hunks)]
    hunk_count: Annotated[int, BeforeValidator(len)] = Field(validation_alias="hunks")
    is_aligned: bool


class SwitchDocument(Document):
    """One thing set otherwise.

    Attributes:
        name: Stable name, such as `no-generation-prompt`.
        topic: What it is about.
        change: What it does, without a subject.
    """

    name: str
    topic: Topic
    change: str


class EffectDocument(Document):
    """What a switch does.

    Attributes:
        switch: The switch.
        kind: Whether it changes the prompt, changes nothing, fails, or mends a request that does not render.
        sentence: The same in plain words.
        fields: Request fields that it sets otherwise; empty for what the request cannot say.
        unit_count: Tokens or words of the prompt with it; `null` if it fails.
        difference: What it takes out of the prompt and puts in.
        failure: Why there is no prompt.
        text: The prompt with it, where there was none without.
    """

    switch: SwitchDocument
    kind: EffectKind
    sentence: str
    fields: tuple[str, ...]
    unit_count: int | None
    difference: DifferenceDocument | None
    failure: RenderFailure | None
    text: str | None


class WhatIfDocument(Document):
    """`what_if` of `render --what-if`: every switch and what it does.

    Attributes:
        unit: What is counted.
        unit_count: Tokens or words of the prompt as pasted; `null` if it fails.
        failure: Why the request as pasted gives no prompt.
        effects: One per switch.
        untried: Names of switches that were not tried: rendering took all the time it may.
        absent: Switches that do not apply to this request, and why.
    """

    unit: _Unit
    unit_count: int | None
    failure: RenderFailure | None
    effects: tuple[EffectDocument, ...]
    untried: Annotated[tuple[str, ...], BeforeValidator(_names)]
    absent: tuple[AbsentSwitch, ...]


class SideDocument(Document):
    """What one of two setups gives.

    Attributes:
        text: The prompt; `null` if the template fails.
        unit_count: Its tokens or words.
        failure: Why there is no prompt.
    """

    text: str | None
    unit_count: int | None
    failure: RenderFailure | None


class ComparisonDocument(Document):
    """What two setups make of one request.

    Attributes:
        left: What the first gives.
        right: What the second gives.
        is_same_text: Whether the texts are equal.
        difference: Where their tokens differ; `null` if they do not, or if there is nothing to compare.
        renumbered: Tokens with the same bytes in both, but another id.
    """

    left: SideDocument
    right: SideDocument
    is_same_text: bool
    difference: DifferenceDocument | None
    renumbered: int


class ExplanationDocument(Document):
    """A way to a number of prompt tokens.

    Attributes:
        switches: What is set otherwise; empty for the request as pasted.
        token_count: Tokens of the prompt.
        off_by: That minus what the server counted.
        also: Names of other ways that lead to the very same prompt.
    """

    switches: tuple[SwitchDocument, ...]
    token_count: int
    off_by: int
    also: tuple[tuple[str, ...], ...]


class CountDocument(Document):
    """`prompt_tokens` of `render --prompt-tokens`: which render explains what a server counted.

    Attributes:
        counted: What the server counted.
        as_pasted: Tokens of our own render; `null` if the template fails on it.
        sentence: The answer in one sentence.
        is_exact: Whether some way gives the number.
        exact_count: How many different prompts have exactly that many tokens.
        tie_count: How many of them are equally simple with the first; above 1 is a tie.
        explanations: The ways that come nearest, exact ones first, then those with fewest switches.
        rendered_count: Prompts rendered.
        left_out: Combinations that were not tried.
        failed: Names of switches under which the template fails.
    """

    counted: int
    as_pasted: int | None
    sentence: str
    is_exact: bool
    exact_count: int
    tie_count: int
    explanations: tuple[ExplanationDocument, ...]
    rendered_count: int
    left_out: int
    failed: tuple[str, ...]


class BreakDocument(Document):
    """Where a prompt stops beginning with the one before it, and why.

    Attributes:
        first: Index of the first unit that differs, from 0.
        before: What stood there: earlier prompt and output.
        after: What stands there in the next prompt.
        lost: Units behind that place that were computed and cannot be used again.
        cause: Why.
        sentence: The same in plain words.
        is_proved: Whether rendering with this one cause made the difference disappear; else it is concluded.
        remedies: Names of switches with which the next prompt goes on where the model ended.
    """

    first: int
    before: PlaceDocument
    after: PlaceDocument
    lost: int
    cause: BreakCause = Field(validation_alias=AliasPath("cause", "cause"))
    sentence: str = Field(validation_alias=AliasPath("cause", "sentence"))
    is_proved: bool = Field(validation_alias=AliasPath("cause", "is_proved"))
    remedies: tuple[str, ...]


class TurnDocument(Document):
    """One assistant turn and the prompt that follows it.

    Attributes:
        message_index: Index of the assistant message, from 0.
        next_index: How many messages the next prompt holds.
        known: Units of the earlier prompt and the model's output.
        next_count: Units of the next prompt.
        kept: Units at the beginning that both share.
        prefill: Units of the next prompt that have to be computed.
        is_raw: Whether the output is what the model wrote; else it is its message as rendered.
        broken: Where and why the two part; `null` if the next prompt goes on.
        failure: Why there is no prompt to compare.
    """

    message_index: int
    next_index: int
    known: int
    next_count: int
    kept: int
    prefill: int
    is_raw: bool
    broken: BreakDocument | None = Field(serialization_alias="break")
    failure: RenderFailure | None


class TurnsDocument(Document):
    """`turns` of `render --turns`: a conversation, turn by turn.

    Attributes:
        unit: What is counted.
        lost: Units computed once that could not be used again, over all turns.
        skipped: Earlier turns that were not looked at.
        turns: One per assistant message that a prompt leads to.
    """

    unit: _Unit
    lost: int
    skipped: int
    turns: tuple[TurnDocument, ...]


class ProbeDocument(Document):
    """What a template supports: one answer, under its name.

    Attributes:
        title: What was asked, in a few words.
        support: The answer.
        detail: What was seen, a sentence or two.
        quote: The prompt around it; "" if there is nothing to show.
        template_line: Line of the template that wrote it or failed, from 1, where known.
        template_column: Column, from 1, where known.
    """

    title: str
    support: Support
    detail: str
    quote: str
    template_line: int | None
    template_column: int | None


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
