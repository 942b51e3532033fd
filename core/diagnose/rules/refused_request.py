"""The server refused the request.

What it finds:
    An answer of status 400 or 422 to the request as it was pasted, or of another error
    status with a message about the request: an unknown model, a schema that the server
    cannot use, a context that is too short; and an error that was pasted. The server's own
    words decide whose fault it is: a flag that the server was started without is its
    setting, and a failure that names nothing in the request is the server's own. Known
    messages are explained, and what they refer to is looked up in the request
    (docs/known-errors.md). What a template refuses is PD221, output that the server could
    not read PD445.

Why it matters:
    Nothing ran: no model read anything. The server's message usually names the field.

Bad:
    `"stop_token_ids": [151645]` for a vocabulary of 600 entries.

Good:
    A request with fields that this server accepts.

Source:
    derived: the status and message of the server.
    tracker: vllm-project/vllm#41114, vllm-project/vllm#44505, z-lab/paroquant#31, n8n-io/n8n#29353.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import Certainty, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.fixes import drop_named_fields
from prompt_debugger.core.diagnose.refusals.quoted_values import place_of_quoted
from prompt_debugger.core.diagnose.refusals.understand import Understood, flag_of_refusal, understand
from prompt_debugger.core.diagnose.refusals.words import (
    MAX_SUBJECT,
    evidence_of,
    explanation,
    field_in_words,
    heading,
    held_path,
    is_raised_inside,
    links_of,
    named_field,
    remedy_of,
    spots,
    title_words,
)
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.schemas import schema_faults
from prompt_debugger.core.diagnose.trace_queries import TracePart
from prompt_debugger.core.known_errors import Cause

_SUBJECTS = {
    Cause.SETTING: "The server's settings do not allow this request",
    Cause.CONTEXT: "The request does not fit the server's context",
    Cause.MODEL_NAME: "The server does not serve the model that the request names",
    Cause.SERVER: "The server failed on the request",
    Cause.POLICY: "The provider's content filter blocked the prompt",
    Cause.QUOTA: "The plan or billing of the account does not allow the request",
    Cause.RATE: "The request exceeds the rate limit of the account",
    Cause.BUSY: "The server has no capacity for the request at the moment",
    Cause.ACCESS: "The server did not accept the API key",
    Cause.LOADING: "The server is still loading the model",
    Cause.ADDRESS: "The request was sent to a wrong address",
    Cause.CONNECTION: "No complete answer came from the server",
    Cause.UNCLEAR: "An error was reported",
    Cause.CLIENT: "The client refused the request before it was sent",
}
# Causes where a known sentence says more than the cause does.
_OF_SENTENCE = (Cause.REQUEST, Cause.CLIENT, Cause.SETTING, Cause.SERVER)
_REFUSED = "The server refused the request"
_PULLS = "try pulling it"  # Ollama's words of a model that was not fetched
_NOT_STARTED = "The server did not start"  # as the tables say it of flags that it refused
_FIXES = {
    Cause.CONTEXT: "Shorten the messages or the tools, or lower `max_tokens` if prompt and answer together are too "
    "long; or start the server with a longer context (`--max-model-len` of vLLM, `-c` of llama.cpp).",
    Cause.SERVER: "Check the server's log for this request: its answer names nothing that the request could change.",
    Cause.POLICY: (
        "Change the text that triggers the filter, or the filter's setting; the body of the answer often says "
        "which category it was."
    ),
    Cause.QUOTA: "Check the plan and billing of the account that the key belongs to: waiting does not help.",
    Cause.RATE: "Wait, or raise the limit of the account. Where this request alone is larger than the limit, shorten "
    "the messages or the tools, or lower `max_tokens`.",
    Cause.BUSY: "Wait, then run again; the request itself needs no change.",
    Cause.LOADING: "Wait until the model is loaded, then run again; the request itself needs no change.",
    Cause.ACCESS: "Set the environment variable that `--api-key-env` names (OPENAI_API_KEY by default), or Key under "
    "Target, to a key of this server.",
}
_INSIDE = (
    "Check that the releases of the programs in the traceback belong together, and search the bug tracker of the one "
    "that raised it for these words. To learn more, paste the request that it was working on as well."
)
_UNPLACED = (
    "Find out which program printed it, and search its bug tracker for these words. To learn more, paste the error "
    "with the request that caused it, or with the server's log from that time; `capture` records both request and "
    "answer."
)
_MORE = (
    "Change what the message names. To learn more, paste it with the request that caused it, or with the server's log "
    "from that time; `capture` records both request and answer."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report the refusal in the server's words."""
    if trace.refusal is None:
        return
    understood = _placed(trace, understand(trace.refusal))
    if understood.cause is Cause.OUTPUT or understood.stage is Stage.RENDER:
        return
    is_of_target = understood.cause is Cause.MODEL_NAME and _names_another_model(trace)
    found = () if is_of_target else spots(trace, understood)
    field = None if is_of_target else _field(understood)
    subject = _subject(understood)
    if understood.cause is Cause.CONNECTION and trace.refusal.status is not None:
        subject = _subject_of_answer(understood)
    if is_of_target:
        subject = "The server does not serve the model that the target names"
    yield Report(
        title=f"{subject}: {title_words(understood)}.",
        detail=f"{heading(trace.refusal, trace.refusal.field)} {explanation(understood, found)}",
        evidence=evidence_of(trace, understood, found, field),
        fix=_fix_of_target(trace) if is_of_target else _fix(trace, understood),
        stage=understood.stage,
        certainty=understood.certainty,
        links=links_of(understood),
    )


def _placed(trace: Trace, understood: Understood) -> Understood:
    """Return a refusal with the field whose value it quotes, where it names none."""
    classified = understood.classified
    if classified is None or understood.field is not None or understood.cause is not Cause.REQUEST:
        return understood
    place = place_of_quoted(_sent_form(trace), understood.words)
    if place is None:
        return understood
    return replace(understood, field=place, classified=replace(classified, parts={**classified.parts, "field": place}))


def _subject(understood: Understood) -> str:
    """Return what happened: of a class what is true for all of it."""
    classified = understood.classified
    if understood.known is None and classified is not None and classified.error.cause is understood.cause:
        return classified.error.subject
    if understood.known is not None and understood.known.error.means.startswith(_NOT_STARTED):
        return _NOT_STARTED
    if understood.known is not None and understood.cause in _OF_SENTENCE:
        subject = understood.known.error.subject
        return subject if len(subject) <= MAX_SUBJECT else _SUBJECTS.get(understood.cause, _REFUSED)
    if is_raised_inside(understood) and understood.speaker is not None:
        title = understood.speaker.title  # `vLLM` is written as it is
        return f"{capitalized(title) if title.startswith('the ') else title} raised an error"
    if understood.cause is Cause.REQUEST and understood.certainty is Certainty.INFERRED:
        is_answer = understood.refusal.status is not None
        return "An error was returned instead of an answer" if is_answer else _SUBJECTS[Cause.UNCLEAR]
    return _SUBJECTS.get(understood.cause, _REFUSED)


def _subject_of_answer(understood: Understood) -> str:
    """Return what happened where a server answered that a connection failed: it lies further on."""
    is_unreached = understood.classified is not None and understood.classified.error.name == "unreachable"
    return "The server did not reach another one that it needs" if is_unreached else _SUBJECTS[Cause.SERVER]


def _names_another_model(trace: Trace) -> bool:
    """Return whether the run named a model in place of the request's."""
    sent = trace.sent.get("model")
    return isinstance(sent, str) and sent != trace.request.body.get("model")


def _fix_of_target(trace: Trace) -> str:
    return (
        f"Set the target's model (Model under Target, `--model`) to one that the server serves{_served(trace)}, "
        "or leave it empty; the request itself needs no change."
    )


def _served(trace: Trace) -> str:
    if trace.server is None or not trace.server.base_url:
        return " (`/v1/models` lists them)"
    refused = trace.sent.get("model") or trace.request.body.get("model")
    names = ", ".join(f"`{name}`" for name in trace.server.served_models[:8] if name != refused)
    return f": {names}" if names else ""  # it was asked for a list and gave none


def _field(understood: Understood) -> str | None:
    """Return the field to point at."""
    if understood.cause is Cause.MODEL_NAME:
        return "model"
    if understood.cause in (Cause.REQUEST, Cause.CLIENT):
        return named_field(understood)
    return None


def _fix(trace: Trace, understood: Understood) -> str:
    refusal, cause = understood.refusal, understood.cause
    if cause is Cause.MODEL_NAME:
        return _fix_of_model(trace, understood)
    known = understood.known
    if cause is Cause.CONTEXT:
        return known.error.remedy if known is not None and known.error.remedy else _FIXES[cause]
    ours = refusal.field if refusal.field and not held_path(trace.request.body, refusal.field) else None
    if ours and held_path(trace.sent, ours):
        return f"This program added `{ours}` for the run; the request itself needs no change."
    if known is not None and known.error.remedy and (known.error.is_distinctive or cause is not Cause.REQUEST):
        return known.error.remedy
    if cause is Cause.SETTING and flag_of_refusal(refusal):
        return _fix_of_setting(understood)
    if understood.classified is not None:
        return _fix_of_class(trace, understood)
    if cause is Cause.SETTING:
        return _fix_of_setting(understood)
    if is_raised_inside(understood):
        return _INSIDE
    if cause in _FIXES:
        return _fix_of_failure(trace, _FIXES[cause]) if cause is Cause.SERVER else _FIXES[cause]
    field = refusal.field or understood.field or field_in_words(refusal.message, trace.request.body)
    return _fix_of_request(trace, field, understood)


def _fix_of_failure(trace: Trace, otherwise: str) -> str:
    """Return where to look if a server failed; a schema that it took unchecked is looked at first."""
    tools = request_tools(trace.request)
    broken = next((one.name for one in tools if one.parameters is not None and schema_faults(one.parameters)), None)
    if broken is None:
        return otherwise
    return (
        f"Correct the schema of tool `{broken}` first: it is not valid JSON Schema, and a server that does not check "
        "it can fail on it. If that does not help, check the server's log for this request."
    )


def _fix_of_model(trace: Trace, understood: Understood) -> str:
    """Return what the sentence itself says that helps; else the models that the server serves, or where they show."""
    served = _served(trace)
    own = "" if understood.known is None else understood.known.error.remedy
    if own and "`/v1/models`" not in own and not served.startswith(":"):
        return own
    pull = "Fetch it on the server (`ollama pull NAME`), or set" if _PULLS in understood.refusal.message else "Set"
    return f"{pull} `model` to one that the server serves{served}."


def _fix_of_class(trace: Trace, understood: Understood) -> str:
    """Return what helps against errors of the class, and where in the request the field is that the words name."""
    held = held_path(_sent_form(trace), understood.field) if understood.field else ""
    where = f" In the request it is at `{held}`." if held and held != understood.field else ""
    remedy = remedy_of(understood) + where
    return _fix_of_failure(trace, remedy) if understood.cause is Cause.SERVER else remedy


def _fix_of_setting(understood: Understood) -> str:
    flag = flag_of_refusal(understood.refusal)
    if flag is None:
        return "Serve a model whose template supports tools, or send the request without `tools`."
    companion = " and `--tool-call-parser NAME`" if flag == "--enable-auto-tool-choice" else ""
    return f"Start the server with `{flag}`{companion}; the request itself needs no change."


def _sent_form(trace: Trace) -> JSONObject:
    """Return the body in the form in which the server read it, whose fields its words name."""
    return trace.request.body if trace.request.native is None else trace.request.native


def _fix_of_request(trace: Trace, field: str | None, understood: Understood) -> str:
    if field is None:
        return _MORE if trace.request.body or understood.says_its_stage else _UNPLACED
    if held := held_path(_sent_form(trace), field):
        return f"Change `{held}` as the server asks."
    if not trace.request.body:
        return f"Change `{field}` of the request as the server asks."
    return f"The request contains no `{field}`: send it as the server asks, or leave out what needs it."


RULE: Rule = TraceRule(
    code="PD100",
    name="refused-request",
    severity=Severity.ERROR,
    stage=Stage.REQUEST,
    find=find,
    stands_in_part=True,
    needs=TracePart.REFUSAL,
    threads=("vllm-project/vllm#41114", "vllm-project/vllm#44505", "z-lab/paroquant#31", "n8n-io/n8n#29353"),
    fixes=(drop_named_fields(),),
)
