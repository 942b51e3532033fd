"""What has to change after a refusal, and at which stage it arose, for words that no known sentence explains."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import Certainty, Refusal, Stage
from prompt_debugger.core.diagnose.refusals.understand import flag_of_refusal, understand
from prompt_debugger.core.known_errors import Cause

ODD = "Zorgle frobnication went sideways here"
SURE, LIKELY = Certainty.OBSERVED, Certainty.INFERRED


@pytest.mark.parametrize(
    ("refusal", "cause", "stage", "certainty"),
    [
        (Refusal(500, ODD), Cause.SERVER, Stage.COMPLETE, SURE),
        (Refusal(499, ODD), Cause.REQUEST, Stage.REQUEST, SURE),
        (Refusal(500, ODD, "tools"), Cause.REQUEST, Stage.REQUEST, LIKELY),
        (Refusal(500, f"{ODD} in a schema"), Cause.REQUEST, Stage.REQUEST, LIKELY),
        (Refusal(400, ODD), Cause.REQUEST, Stage.REQUEST, SURE),
        (Refusal(None, ODD), Cause.REQUEST, Stage.REQUEST, LIKELY),
        (Refusal(404, "no Model zork here"), Cause.MODEL_NAME, Stage.REQUEST, SURE),
        (Refusal(400, "no Model zork here"), Cause.REQUEST, Stage.REQUEST, SURE),
        (Refusal(404, "no zork here at all"), Cause.REQUEST, Stage.REQUEST, SURE),
        (Refusal(400, "zorgling requires --enable-zorgle to be set"), Cause.SETTING, Stage.COMPLETE, SURE),
        (Refusal(401, "zork", code="invalid_api_key"), Cause.ACCESS, Stage.COMPLETE, SURE),
        (Refusal(400, "zork", code="context_length_exceeded"), Cause.CONTEXT, Stage.REQUEST, SURE),
        (Refusal(400, "The prompt exceeds the context of 4096 tokens, start with --ctx-size 8192"),
         Cause.CONTEXT, Stage.REQUEST, LIKELY),
        (Refusal(429, "rate limit exceeded"), Cause.RATE, Stage.COMPLETE, LIKELY),
        (Refusal(503, "server overloaded, use --max-queue 9"), Cause.BUSY, Stage.COMPLETE, LIKELY),
    ],
    ids=lambda value: f"{value.status} {value.message}" if isinstance(value, Refusal) else str(value),
)  # fmt: skip
def test_status_words_and_code_together_say_what_has_to_change(
    refusal: Refusal, cause: Cause, stage: Stage, certainty: Certainty
) -> None:
    read = understand(refusal)

    assert (read.cause, read.stage, read.certainty) == (cause, stage, certainty)


@pytest.mark.parametrize(
    ("refusal", "says"),
    [
        (Refusal(None, ODD), False),
        (Refusal(400, ODD), True),
        (Refusal(None, ODD, "tools[0]"), True),
        (Refusal(None, "zorgling requires --enable-zorgle to be set"), True),
    ],
    ids=str,
)
def test_words_alone_say_no_stage(refusal: Refusal, *, says: bool) -> None:
    assert understand(refusal).says_its_stage is says


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        ('"auto" tool choice requires --enable-auto-tool-choice', "--enable-auto-tool-choice"),
        ("tools param requires --jinja flag", "--jinja"),
        ("Start the server WITH the option --api-key", "--api-key"),
        ("see --help", None),
        ("it requires -- nothing", None),
        ("requires a b c d --jinja", None),
    ],
)
def test_a_flag_is_one_that_the_server_asks_for(words: str, flag: str | None) -> None:
    assert flag_of_refusal(Refusal(400, words)) == flag


def test_the_exception_is_said_with_words_too_short_to_mean_anything_alone() -> None:
    assert understand(Refusal(None, "zork", code="KeyError")).words == "KeyError: zork"
    assert understand(Refusal(None, ODD, code="KeyError")).words == ODD
    assert understand(Refusal(None, "zork", code="bad_thing")).words == "zork"
