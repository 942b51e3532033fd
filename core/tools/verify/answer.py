"""An answer as the journal keeps it, and as a row of the results shows it."""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object, decode_json
from prompt_debugger.core.base.types import JSON, Api, ChatResult, JSONObject, Refusal, Trace
from prompt_debugger.core.report.wire import dump_document, trace_from_json, trace_to_json
from prompt_debugger.core.report.wire.verification import RowAccount, VerifyRow
from prompt_debugger.core.tools.verify.dataset import Row

# What we ask for besides the answer; it is in the trace, and would fill the results.
_ABOUT_THE_RUN = ("prompt_token_ids", "prompt_text", "prompt_logprobs", "__verbose")
_ABOUT_THE_CHOICE = ("token_ids", "provider_specific_fields")


class Answer(NamedTuple):
    """An answer to a row, at a time in ISO 8601; `chat` is empty if the request was refused."""

    row: Row
    extra_body: JSONObject
    chat: ChatResult
    at: str
    duration_ms: int
    api: Api = Api.CHAT

    @property
    def sent(self) -> JSONObject:
        """The body that was asked, in the form of chat completions."""
        return {**self.row.body, **self.extra_body}


def answer_to_json(answer: Answer, refusal: Refusal | None = None) -> JSONObject:
    """Return an answer, or the refusal in place of one, as the journal keeps it."""
    row = answer.row
    chat = answer.chat if refusal is None else None
    trace = Trace(request=row.request(answer.extra_body), chat=chat, refusal=refusal, api=answer.api)
    return {
        "row": {"index": row.index, "body": row.body, "hash": row.hash, "labels": row.labels},
        "extra_body": answer.extra_body,
        "at": answer.at,
        "duration_ms": answer.duration_ms,
        "run": trace_to_json(trace, whole=True),
    }


def answer_from_json(document: JSONObject) -> tuple[Answer, Trace]:
    """Return what the journal kept, and the run as far as it is known."""
    row = document["row"]
    extra = document["extra_body"]
    assert isinstance(row, dict)
    assert isinstance(extra, dict)
    trace = trace_from_json(document["run"])
    chat = trace.chat or ChatResult(message={}, finish_reason=None)
    asked = Row(int(str(row["index"])), as_object(row["body"]), str(row["hash"]), as_object(row["labels"]))
    return Answer(asked, extra, chat, str(document["at"]), int(str(document["duration_ms"])), trace.api), trace


def row_of_answer(answer: Answer, *, valid: bool | None, account: RowAccount) -> JSONObject:
    """Return the row of the results of an answer."""
    row = VerifyRow(
        data_index=answer.row.index,
        request=answer.row.body,
        extra_body=answer.extra_body,
        response=_response(answer),
        status="success",
        finish_reason=answer.chat.finish_reason,
        tool_calls_valid=valid,
        last_run_at=answer.at,
        duration_ms=answer.duration_ms,
        hash=answer.row.hash,
        debugger=account,
    )
    return dump_document(row)


def row_of_failure(row: Row, extra_body: JSONObject, reason: str, *, at: str, account: RowAccount) -> JSONObject:
    """Return the row of the results of a request that was given up or refused."""
    failed = VerifyRow(
        data_index=row.index,
        request=row.body,
        extra_body=extra_body,
        response={"error": reason},
        status="failed",
        finish_reason=None,
        tool_calls_valid=None,
        last_run_at=at,
        duration_ms=0,
        hash=row.hash,
        debugger=account,
    )
    return dump_document(failed)


def calls_of(chat: ChatResult) -> list[JSON]:
    """Return the calls of a message."""
    calls = chat.message.get("tool_calls")
    return list(calls) if isinstance(calls, list) else []


def _response(answer: Answer) -> JSON:
    """Return the answer as a chat completion: a stream, or an answer of another API, is assembled as one."""
    chat = answer.chat
    if answer.api is Api.CHAT and answer.sent.get("stream") is not True:
        return _drop_ours(decode_json(chat.body))
    usage = chat.usage
    reported: JSON = None
    if usage is not None:
        reported = {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.total_tokens,
        }
    choice: JSONObject = {"index": 0, "message": chat.message, "finish_reason": chat.finish_reason}
    return {"object": "chat.completion", "choices": [choice], "usage": reported}


def _drop_ours(whole: JSON) -> JSON:
    if not isinstance(whole, dict):
        return whole
    choices = whole.get("choices")
    kept = {key: value for key, value in whole.items() if key not in _ABOUT_THE_RUN}
    if isinstance(choices, list):
        kept["choices"] = [
            {key: value for key, value in choice.items() if key not in _ABOUT_THE_CHOICE}
            if isinstance(choice, dict)
            else choice
            for choice in choices
        ]
    return kept
