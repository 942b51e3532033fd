"""5 · What the diagnosis says."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Literal

from prompt_debugger.core.base.types.base import LEFT_OUT_IF_EMPTY, LEFT_OUT_IF_NONE, JSONObject, Span, Stage
from prompt_debugger.core.base.types.frozen import value


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Certainty(StrEnum):
    """Whether a finding was seen or concluded."""

    OBSERVED = "observed"
    INFERRED = "inferred"


@value(frozen=True, slots=True)
class FindingEvidence:
    """Where to look.

    Attributes:
        where: Which text: `request`, `prompt`, `raw`, `message` or `server`.
        char_span: Characters of that text.
        token_span: Tokens of that text.
        field: Field path, for `request` and `message`.
        quote: The text itself, shortened.
        native_field: The same place in the body or answer of another API that `field` was read from.
    """

    where: Literal["request", "prompt", "raw", "message", "server"] = dataclasses.field(metadata={"alias": "in"})
    char_span: Span | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    token_span: Span | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    field: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    quote: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    native_field: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


@value(frozen=True, slots=True)
class FixChange:
    """One field that a tried fix changed, as text to read.

    Attributes:
        field: Its path.
        before: What was there, as JSON, shortened; `null` where there was nothing.
        after: What is there now; `null` where it was removed.
    """

    field: str
    before: str | None
    after: str | None


@value(frozen=True, slots=True)
class FixProof:
    """A fix that was tried on the server of the run, and what came of it.

    Attributes:
        name: What was changed, in few words.
        sentence: How it ended.
        worked: Whether the finding was gone and no other error had come.
        changes: Each changed field of the request, as text to read.
        patch: The same as a JSON Patch of the request; empty where something else was changed.
        written: Calls that the model wrote in the changed run; `null` if they were not counted.
        returned: Calls that the server returned there.
    """

    name: str
    sentence: str
    worked: bool
    changes: tuple[FixChange, ...] = ()
    patch: tuple[JSONObject, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    written: int | None = None
    returned: int | None = None

    @property
    def words(self) -> str:
        """How it ended, and what was changed."""
        changed = "; ".join(f"`{one.field}`: {one.before} → {one.after}" for one in self.changes)
        return f"{self.sentence} Changed: {changed}." if changed else f"{self.sentence} Changed: {self.name}."


@value(frozen=True, slots=True)
class Finding:
    """What a rule reported.

    Attributes:
        code: Stable code such as `PD201`.
        name: The defect in kebab case, such as `double-bos`.
        severity: How bad it is.
        stage: The stage at fault.
        title: One short sentence.
        detail: What was seen, with the values.
        evidence: Where to look, most telling first.
        fix: What to change.
        links: Known reports of the same fault.
        certainty: Seen or concluded.
        follows: Code of an earlier finding that may explain this one.
        proof: Its fix was tried, and a person added the result to the report.
    """

    code: str
    name: str
    severity: Severity
    stage: Stage
    title: str
    detail: str
    evidence: tuple[FindingEvidence, ...] = ()
    fix: str = ""
    links: tuple[str, ...] = ()
    certainty: Certainty = Certainty.OBSERVED
    follows: str | None = None
    proof: FixProof | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


class Conclusion(StrEnum):
    """What the verdict comes to; no face says more than this.

    `FAULT` names a guilty stage; `NOTHING_LOST` and `NO_FAULT` are of a whole comparison, the latter with characters
    missing that no rule calls a fault; `UNKNOWN` is an output and an answer that cannot be judged; `UNCHECKED`
    is a run without the one or the other.
    """

    FAULT = "fault"
    NOTHING_LOST = "nothing-lost"
    NO_FAULT = "no-fault"
    UNKNOWN = "unknown"
    UNCHECKED = "unchecked"


@value(frozen=True, slots=True)
class Verdict:
    """The run in one sentence.

    Attributes:
        dropped_calls: Calls in the raw text that the message lacks; drafts inside reasoning and cut calls do not count.
        altered_calls: Calls that came back with another name or other arguments.
        invented_calls: Calls of the message that the raw text does not hold.
        stage: The guilty stage; `None` if nothing is wrong, or an error that was pasted alone does not say.
        sentence: A sentence that can be quoted.
        conclusion: What it comes to.
    """

    dropped_calls: int
    altered_calls: int
    invented_calls: int
    stage: Stage | None
    sentence: str
    conclusion: Conclusion = Conclusion.UNKNOWN
