"""What `run --experiments`, `shrink` and `report` print under `--json`; `docs/schema` is made from this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True)


class ExperimentDocument(_Document):
    """A variant of the request, and what came of it.

    Attributes:
        name: What was changed; `unchanged` comes first.
        finding: Code of the finding that it is to cure; `null` for several or none.
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


class CureDocument(_Document):
    """What would cure a finding: `cure` of a finding under `run --experiments`, `null` where nothing is known.

    Attributes:
        name: What it changes, in few words.
        kind: The request, the template, the server's flags, or the client.
        patch: JSON Patch of the request; empty for other kinds.
        command: Flags, or a command, for the server; "" for other kinds.
        tried: Whether the changed run was made.
        worked: Whether the finding was gone and no other error had come; `null` if not tried.
    """

    name: str
    kind: Literal["request", "template", "flags", "client"]
    patch: list[dict[str, JsonValue]]
    command: str
    tried: bool
    worked: bool | None


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

    engine: Literal["vllm", "sglang", "llama.cpp"]
    test: str
    run: bool
    version: str | None
    fails: bool | None
    told: str


MENDED: Mapping[str, type] = {
    "cure": CureDocument,
    "experiments": ExperimentDocument,
    "shrink": ShrunkDocument,
    "upstream-test": UpstreamTestDocument,
}
