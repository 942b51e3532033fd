"""What `run --experiments`, `shrink` and `report` print under `--json`; `docs/schema` is made from this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class ChangeDocument(_Document):
    """A variant against the unchanged request, over pairs of runs with the same number, and so the same seed.

    Attributes:
        returned: Calls that came back more; fewer are negative.
        better: Pairs in which more calls came back.
        worse: Pairs in which fewer did.
        pairs: How many pairs there are.
    """

    returned: int
    better: int
    worse: int
    pairs: int


class ExperimentDocument(_Document):
    """A variant of the request, and what came of it.

    Attributes:
        name: What was changed; `unchanged` comes first.
        finding: Code of the finding that it is to remove; `null` for several or none.
        change: JSON Patch of the request; `null` if the request is as it was.
        n: How many runs were made.
        written: Whole calls in the raw outputs, over all runs.
        returned: Calls in the answers.
        dropped: Calls that were written and not returned.
        valid: Returned calls that pass their schema.
        finish_reasons: How often the server said which.
        interval: Wilson's 95 % interval of returned per written; 0 to 1 where none was written.
        command: Flags with which the variant's server is started; "" if it is the same one.
        problem: Why a run could not be made; "" if all could.
        against_unchanged: Change of the calls returned, run by run; `null` for the unchanged request itself.
        trigger_margin: Mean probability of the marker that opens a call, less that of its best rival, where a call
            could have begun; `null` where the server gave no log probabilities.
    """

    name: str
    finding: str | None
    change: list[dict[str, JsonValue]] | None
    n: int
    written: int
    returned: int
    dropped: int
    valid: int
    finish_reasons: dict[str, int]
    interval: tuple[float, float]
    command: str = ""
    problem: str = ""
    against_unchanged: ChangeDocument | None = None
    trigger_margin: float | None = None


class FixDocument(_Document):
    """What would fix a finding: `cure` of a finding under `run --experiments`, `null` where nothing is known.

    Attributes:
        name: What it changes, in few words.
        kind: The request, the template, the server's flags, or the client.
        patch: JSON Patch of the request; empty for other kinds.
        command: Flags, or a command, for the server; "" for other kinds.
        diff: What is changed in the chat template, as a unified diff; "" for other kinds.
        client: Source of a function that corrects the message of an answer; "" for other kinds.
        alternatives: Further fixes of the same finding.
        tried: Whether the changed run was made.
        worked: Whether the finding was gone and no other error had come; `null` if not tried.
        prompt_difference: Which tokens of the prompt the changed run has, and which it lacks; `null` if not tried,
            or if the prompt is the same.
    """

    name: str
    kind: Literal["request", "template", "flags", "client"]
    patch: list[dict[str, JsonValue]]
    command: str
    tried: bool
    worked: bool | None
    diff: str = ""
    client: str = ""
    alternatives: list[FixDocument] = []
    prompt_difference: dict[str, JsonValue] | None = None


class TriggerMarginDocument(_Document):
    """How likely a call was where one could have begun: `trigger_margin` of a run with log probabilities and tools.

    Attributes:
        token_index: Index of that token in the output, from 0.
        wrote: Text of the token that was written there.
        marker: The marker that opens a call; of several tokens the first.
        probability: Its probability, 0 to 1; where the server does not list it, the most it can be.
        is_listed: Whether the server lists it.
        rival: Text of the likeliest other token.
        rival_probability: Its probability.
        margin: The one less the other.
        sentence: The same in words.
    """

    token_index: int
    wrote: str
    marker: str
    probability: float
    is_listed: bool
    rival: str
    rival_probability: float
    margin: float
    sentence: str


class ShrunkDocument(_Document):
    """The smallest request that still fails in the same way.

    Attributes:
        request: The request.
        steps: How many reductions were tried.
        asked: How many runs the server made.
        size: Characters of the request before and after.
        finding: Code of the finding that stayed.
        confirmed: In how many of three confirming runs it was there.
    """

    request: dict[str, JsonValue]
    steps: int
    asked: int
    size: tuple[int, int]
    finding: str
    confirmed: int


class ShrunkOutputDocument(_Document):
    """The smallest raw output that a parser still reads wrongly in the same way.

    Attributes:
        raw: The output.
        tools: The tools that it takes.
        parser: The parser.
        fault: `dropped`, `altered` or `invented` calls, an `error`, or another message in a `stream`.
        call: The tool of the call concerned; `null` where it is none's.
        steps: How many outputs were tried.
        size: Characters of output and tools before and after.
        test: A failing test for vLLM's maintainers; "" for other parsers, and where no whole call is left.
    """

    raw: str
    tools: list[JsonValue]
    parser: str
    fault: Literal["dropped", "altered", "invented", "error", "stream"]
    call: str | None
    steps: int
    size: tuple[int, int]
    test: str


class UpstreamTestDocument(_Document):
    """A test for maintainers, and how it ended here.

    Attributes:
        engine: Whose parser it is for.
        test: Its source.
        run: Whether it was run here.
        version: Release that ran it; `null` if none did.
        fails: Whether its assertion failed; `null` if it was not run.
        told: The assertion's words, or why it could not be run.
    """

    engine: str
    test: str
    run: bool
    version: str | None
    fails: bool | None
    told: str


DOCUMENTS: Mapping[str, type] = {
    "cure": FixDocument,
    "experiments": ExperimentDocument,
    "shrink": ShrunkDocument,
    "shrink-output": ShrunkOutputDocument,
    "trigger-margin": TriggerMarginDocument,
    "upstream-test": UpstreamTestDocument,
}
