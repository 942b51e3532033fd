"""The outside contract of `verify`: a row of the results, and the summary. K2VV's names; ours under `debugger`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from prompt_debugger.core.base.types import JSON, SCHEMA_VERSION, Api, Basis, JSONObject, Stage
from prompt_debugger.core.base.types.base import LEFT_OUT_IF_NONE
from prompt_debugger.core.report.wire.documents import WIRE


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTokens:
    """How long the prompt is.

    Attributes:
        server: By the server's `usage`.
        local: By our own render.
    """

    __pydantic_config__ = WIRE

    server: int | None
    local: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAccount:
    """What the debugger says of one answer. Counts are of tool calls, `null` where nothing can be said.

    Attributes:
        evidence: What the raw output rests on; `null` where there is the message alone.
        written: Calls of the raw output.
        returned: Calls of the message; `null` without an answer.
        dropped: Written and not returned.
        altered: Returned with another name or other arguments.
        invented: Returned and not written.
        cut: Calls inside which the output ends.
        leaked: Calls that are in content under finish reason `stop`.
        stage: The guilty stage; `null` if nothing is wrong or nothing can be said.
        codes: Rules that found an error or a warning.
        errors: Those of them that found an error.
        attempts: How often it was asked for.
        verdict: The run in one sentence.
        tools: By tool: calls written, and those dropped, altered or cut.
        prompt_tokens: Length of the prompt, by the server and by us.
        valid_2020_12: Whether the calls are valid by draft 2020-12 whatever draft their schema names.
        labels: MiniMax's fields of the row.
        error: Why the answer could not be read.
        stream_differs: Fields in which a streamed answer differs from what the server's own parsers read in the same
            output when they get it whole; left out where nothing differs, or nothing was compared.
        grammar: Of watched traffic, whether the grammar that the request asks for was in force: `in-force`, `never` or
            `unknown`; left out where it asks for none.
    """

    __pydantic_config__ = WIRE

    evidence: Basis | None = None
    written: int | None = None
    returned: int | None = None
    dropped: int | None = None
    altered: int | None = None
    invented: int | None = None
    cut: int | None = None
    leaked: int | None = None
    stage: Stage | None = None
    codes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    attempts: int
    verdict: str | None = None
    tools: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    prompt_tokens: PromptTokens | None = None
    valid_2020_12: bool | None = None
    labels: JSONObject | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    error: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    stream_differs: tuple[str, ...] | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    grammar: Literal["in-force", "never", "unknown"] | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRow:
    """One row of the results of `verify`.

    Attributes:
        data_index: Number of the line in the dataset, from 1.
        request: The body as prepared.
        extra_body: Further fields that were sent.
        response: The answer, streamed ones put together; of a row that was given up, why.
        status: Whether there is an answer.
        finish_reason: The server's word.
        tool_calls_valid: Whether all calls are valid; `null` unless it is `tool_calls`.
        last_run_at: When it was answered or given up.
        duration_ms: How long the answer took.
        hash: MD5 of the prepared body.
        debugger: What K2VV cannot see.
    """

    __pydantic_config__ = WIRE

    data_index: int
    request: JSONObject
    extra_body: JSONObject
    response: JSON
    status: Literal["success", "failed"]
    finish_reason: str | None
    tool_calls_valid: bool | None
    last_run_at: str
    duration_ms: int
    hash: str
    debugger: RowAccount


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95 % interval.

    Attributes:
        value: From 0 to 1; `null` where `n` is 0.
        low: Lower end.
        high: Upper end.
        n: The denominator.
    """

    __pydantic_config__ = WIRE

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRecord:
    """Tokens, summed over the answers that count them.

    Attributes:
        prompt_tokens: Of the prompts.
        completion_tokens: Of the outputs.
        total_tokens: Of both.
    """

    __pydantic_config__ = WIRE

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRecord:
    """Two sets of answers to the same requests; "official" are those that are compared with.

    Attributes:
        source: Which results were compared with.
        n_compared: Rows that both answered.
        n_skipped: Rows of either side that the other does not have or that failed.
        failures: Rows that failed here.
        official_failures: Rows that failed there.
        requests_differ: Compared rows whose requests are not the same.
        tp: Both finished with `tool_calls`.
        fp: Here `tool_calls`, there not.
        fn: The reverse.
        tn: Neither.
        precision: TP/(TP+FP).
        recall: TP/(TP+FN).
        tool_call_f1: Their harmonic mean.
        differences: By name: the rate here less the rate there, over the compared rows.
    """

    __pydantic_config__ = WIRE

    source: str
    n_compared: int
    n_skipped: int
    failures: int
    official_failures: int
    requests_differ: int
    tp: int
    fp: int
    fn: int
    tn: int
    precision: Rate
    recall: Rate
    tool_call_f1: Rate
    differences: Mapping[str, Rate]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryAccount:
    """What the debugger says of all answers together.

    Attributes:
        schema_version: Raised if a meaning changes.
        dataset: File name.
        endpoint: Address of the server; "the lab" for ours.
        shard: Which part of the dataset.
        rows: Rows of the dataset that were to be asked.
        remaining: Those that were not answered, or not read, when it ended.
        stopped: Why it ended early; `null` if it did not.
        evidence: Rows by what their account rests on; `none` is the message alone.
        compared: Rows whose raw output was compared with the message.
        written: Calls of the raw outputs of compared rows.
        returned: Calls of all messages.
        dropped: Written and not returned.
        altered: Returned with another name or other arguments.
        invented: Returned and not written.
        cut: Calls inside which the output ends.
        leaked: Calls that are in content under finish reason `stop`.
        rates: Shares with intervals and denominators.
        by_code: Rows by rule that found an error or a warning.
        by_stage: Rows by guilty stage.
        by_tool: By tool: calls written, and those dropped, altered or cut.
        attempts: How many attempts were made, over all rows.
        first_attempt_success: Rows answered at the first attempt.
        draft_disagreements: Rows whose validity depends on the draft of JSON Schema.
        prompt_token_differences: Rows whose prompt has another length than our render.
        minimax: MiniMax's figures, where rows are labelled.
        not_judged: Rows that ask for a check of MiniMax's that is not judged, by its name.
        baseline: The paired figures, where there is something to compare with.
        gates: The expressions of `--fail-if` and whether they hold.
        error: Why it ended, if it could not go on.
        api: By which API the rows were asked.
        rows_that_differ: Of rows asked by several APIs, the share that differs from the first one's answers; left out
            where there is one API.
    """

    __pydantic_config__ = WIRE

    schema_version: int = SCHEMA_VERSION
    dataset: str
    endpoint: str
    shard: str
    rows: int
    remaining: int
    stopped: str | None = None
    evidence: Mapping[str, int]
    compared: int
    written: int
    returned: int
    dropped: int
    altered: int
    invented: int
    cut: int
    leaked: int
    rates: Mapping[str, Rate]
    by_code: Mapping[str, int]
    by_stage: Mapping[str, int]
    by_tool: Mapping[str, tuple[int, int]]
    attempts: int
    first_attempt_success: int
    draft_disagreements: int
    prompt_token_differences: int
    minimax: Mapping[str, Rate] | None = None
    not_judged: Mapping[str, int] = dataclasses.field(default_factory=dict)
    baseline: PairedRecord | None = None
    gates: Mapping[str, bool] = dataclasses.field(default_factory=dict)
    error: JSONObject | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    api: Api = Api.CHAT
    rows_that_differ: Rate | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifySummary:
    """What `verify --json` prints: the summary of the results.

    Attributes:
        model: Model name that was sent.
        success_count: Rows with an answer.
        failure_count: Rows that were given up.
        finish_stop: Answers that finished with `stop`.
        finish_tool_calls: With `tool_calls`.
        finish_others: With anything else.
        finish_others_detail: Those by their word.
        schema_validation_error_count: Answers with `tool_calls` whose calls are not valid.
        successful_tool_call_count: Answers with `tool_calls` whose calls are.
        usage: Tokens.
        eval_started_at: When the first question went out.
        eval_finished_at: When the last answer was read.
        eval_duration_ms: How long it took, interruptions left out.
        debugger: What K2VV cannot see.
    """

    __pydantic_config__ = WIRE

    model: str | None
    success_count: int
    failure_count: int
    finish_stop: int
    finish_tool_calls: int
    finish_others: int
    finish_others_detail: Mapping[str, int]
    schema_validation_error_count: int
    successful_tool_call_count: int
    usage: UsageRecord
    eval_started_at: str
    eval_finished_at: str
    eval_duration_ms: int
    debugger: SummaryAccount
