"""Errors of gateways and servers in the forms of their own, live: whose fault each is, and that no other is blamed.

What is true of each was written down before it was asked; the forms are those that their documentation and code show.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON, Stage
from tests.core.complete.faulty_server import answer
from tests.servers.test_hosted_shapes import run

LOADS = 'Failed to load model "lab-model". Error: insufficient system resources.'
HOOKS = "The guardrail checks defined in the config failed. You can find more in the `hook_results` object."
NO_NAME = "Failed to deserialize the JSON body into the target type: tools[0].function: missing field `name`"


class Said(NamedTuple):
    """An error, and what is true of it.

    Attributes:
        status: Of the answer.
        body: Of the answer.
        stage: Where the fault is.
        says: Part of title or fix.
        never: What would be false.
    """

    status: int
    body: JSON
    stage: Stage
    says: str
    never: str = "does not serve the model"


ERRORS = {
    "TabbyAPI, no model": Said(400, {"detail": "No model loaded"}, Stage.COMPLETE, "Load a model", "Change what"),
    "oMLX, a large model": Said(
        507,
        {"error": {"message": "Model lab-model (23.5GB) exceeds available memory"}},
        Stage.COMPLETE,
        "little memory",
    ),
    "LM Studio, a model that it could not load": Said(
        404, {"error": {"message": LOADS, "code": "model_not_found", "param": "model"}}, Stage.COMPLETE, "little memory"
    ),
    "Portkey, a guardrail": Said(
        446, {"error": {"message": HOOKS, "type": "hooks_failed"}}, Stage.COMPLETE, "content filter", "`hook_results`:"
    ),
    "LiteLLM, a guardrail": Said(
        400, {"error": {"message": "{'error': 'Violated guardrail policy'}"}}, Stage.COMPLETE, "content filter"
    ),
    "Writer, a list of faults": Said(
        400,
        {"tpe": "validation", "errors": [{"description": "tool_choice must be one of auto, none"}], "extras": None},
        Stage.REQUEST,
        "tool_choice must be one of auto, none",
        "without its reason",
    ),
    "Dynamo, a tool without a name": Said(
        400,
        {"message": NO_NAME, "type": "Bad Request", "code": 400},
        Stage.REQUEST,
        "`tools[0].function.name`",
        "schema",
    ),
    "Fireworks, a field of a tool": Said(
        400,
        {"error": {"message": "Extra inputs are not permitted, field: 'tools[0].function.strict'"}},
        Stage.REQUEST,
        "Leave `tools[0].function.strict` out",
        "`tools[0].strict`",
    ),
    "a model that is not there": Said(
        404,
        {"error": {"message": "The model was not found", "code": "model_not_found"}},
        Stage.REQUEST,
        "Set `model`",
        "load",
    ),
    "a schema that lacks a type": Said(
        400, {"error": {"message": "tools[0].parameters: missing field `properties`"}}, Stage.REQUEST, "schema"
    ),
}
PASS: dict[str, tuple[int, JSON, str]] = {
    "any-llm, a budget": (403, {"detail": "User 'a' has exceeded budget limit"}, "plan and billing"),
    "Dynamo, busy": (503, {"message": "All workers are busy, please retry later", "code": 503}, "wait, then run again"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_gateway_s_error_is_laid_to_who_made_it(name: str) -> None:
    status, body, stage, says, never = ERRORS[name]
    trace = run(answer(status, body))

    assert trace.verdict is not None
    assert trace.verdict.stage is stage
    (finding,) = trace.findings
    said = f"{finding.title} {finding.fix}"
    assert says in said
    assert never not in said


@pytest.mark.parametrize("name", PASS)
def test_a_gateway_s_refusal_of_the_account_or_for_a_time_blames_no_key(name: str) -> None:
    status, body, says = PASS[name]
    with pytest.raises(BackendError) as raised:
        run(answer(status, body))

    assert says in str(raised.value.hint)
    assert "API key" not in str(raised.value.hint)
