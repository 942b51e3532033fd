"""The page's own work on what visitors sent, as sandbox jobs: pasted requests, shared runs, bundles, comparisons.

Imports no gradio: the sandbox's processes import this file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError, SandboxError
from prompt_debugger.core.base.types import JSON, ChatResult, Completion, Finding, JSONObject, Request, Trace
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.pipeline import CaseParser
from prompt_debugger.core.pipeline.reading import apply_step, judge_outcomes, read_run
from prompt_debugger.core.report import (
    Bundle,
    moment_words,
    parse_to_json,
    read_bundle,
    redact_json,
    unpack_bundle,
    write_bundle,
)
from prompt_debugger.core.request import read_request
from prompt_debugger.core.sandbox import Limits as JobLimits
from prompt_debugger.core.sandbox import job, sandbox_of
from prompt_debugger.core.sandbox.values import admit
from prompt_debugger.core.tools.sessions import Exchange, gather_pasted
from prompt_debugger.ui.present import RunView, header_payload, notices_payload, pack_payload, unpack_payload
from prompt_debugger.ui.present.comparison import NamedRun, comparison_payload
from prompt_debugger.ui.present.header import server_facts
from prompt_debugger.ui.present.verdict import verdict_payload
from prompt_debugger.ui.present.words import joined, shortened
from prompt_debugger.ui.report import SharedRun, again_payload, describe_bundle, link_state, share_trace
from prompt_debugger.ui.web.limits import LimitError, Limits, check_length, check_request_limits, mask_keys

Payloads = dict[str, str | None]

MAX_TITLE = 200  # characters
MAX_EXCHANGES = 400  # of sessions in one text
_SIDES = 2  # of a comparison; a side has a name and a text
_MAX_WORDS = 2_000  # characters of how a run ended

_OF_SCHEMAS = frozenset({"cpu", "wall", "memory", "crash"})  # limits that a schema can hit

_PICTURE_VIEWS = ("header", "verdict", "ledger", "findings")


def warm_up() -> None:
    """Make every form of a run once: the files of a report are read, and libraries import what they do late."""
    text = '{"messages": [{"role": "user", "content": "hi"}], "tools": []}'
    request = read_pasted(text, Limits(), hides_keys=True)
    chat = ChatResult({"role": "assistant", "content": "hi"}, "stop")
    trace = Trace(request, sent=request.body, raw=Completion("hi", None, "stop"), chat=chat)
    for step in read_run(trace, frozenset()):
        trace = apply_step(trace, step)
    for form in FORMS:
        share_as(form, trace)
    make_link(f"curl http://localhost/v1/chat/completions -d '{text}'", {})
    reopened_payloads(read_bundle(write_bundle(trace)))
    comparison_payload(NamedRun("A", trace), NamedRun("B", trace))


for _traveller in (Bundle, Exchange, Limits, LimitError):
    admit(_traveller)


@job("reading a raw output", JobLimits(cpu_s=6.0, memory_mb=1024))
def parse_locked(case: JSONObject, *, is_wary: bool = False) -> tuple[JSONObject, tuple[Finding, ...]]:
    """Return the `parse` document of a case that asks no parser, and its findings.

    Args:
        case: The case.
        is_wary: Whether schemas that may take long are left out.
    """
    with CaseParser(is_locked=True, is_wary=is_wary) as parser:
        parse, findings, notes = parser.parse(case)
    return parse_to_json(parse, findings=findings, notes=notes), findings


async def parse_in_sandbox(case: JSONObject) -> tuple[JSONObject, tuple[Finding, ...]]:
    """Return what `parse_locked` does; if that takes too much, without the schemas that may be why.

    Raises:
        SandboxError: No schema is why.
    """
    try:
        return await sandbox_of().run(parse_locked, case)
    except SandboxError as error:
        if error.limit not in _OF_SCHEMAS or not (case.get("tools") or case.get("request")):
            raise
    return await sandbox_of().run(parse_locked, case, is_wary=True)


@job("reading the sessions", JobLimits(cpu_s=6.0, memory_mb=1024))
def read_sessions(text: str) -> tuple[tuple[Exchange, ...], tuple[str, ...]]:
    """Return the exchanges of a pasted text in their order, and what was left out."""
    gathered = gather_pasted(text)
    return tuple(gathered.exchanges[:MAX_EXCHANGES]), tuple(gathered.unread)


@job("reading the request", JobLimits(cpu_s=4.0, memory_mb=1024), warm_up=warm_up)
def read_pasted(text: str, limits: Limits, *, hides_keys: bool) -> Request:
    """Return the request in a pasted text.

    Raises:
        RequestError: It cannot be read, or asks for too much.
    """
    check_length(text, limits)
    request = read_evidence(text).request
    if request is None:
        raise RequestError("It contains no request.", "Press Run to see what it shows.")
    check_request_limits(request, limits)
    return mask_keys(request) if hides_keys else request


@job("reading the request", JobLimits(cpu_s=2.0, memory_mb=1024))
def check_pasted(text: str, *, is_public: bool) -> str:
    """Return the payload of the lines under the editor."""
    try:
        return notices_payload(read_request(text), is_public=is_public)
    except RequestError as error:
        return notices_payload(error)


@job("making a link", JobLimits(cpu_s=4.0, memory_mb=1024))
def make_link(text: str, choices: JSONObject) -> tuple[JSONObject, tuple[str, ...]]:
    """Return what a link carries, and what is to be said about it."""
    return link_state(text, choices)


@job("masking what looks like a secret in this run", JobLimits(cpu_s=20.0, wall_s=120.0, memory_mb=2048))
def share_as(form: str, trace: Trace, title: str = "", place: str = "") -> tuple[JSONObject, bytes]:
    """Return a run in one form in which it may be shared: the header of its payload, and the file.

    Args:
        form: `html`, `picture`, `markdown`, `bundle`, `run_link`, or `kept`: a bundle with a line of the history.
        trace: The run.
        title: What a person calls it; "" leaves the name that it has.
        place: Where it opens, such as `prompt.t87`.
    """
    return FORMS[form](share_trace(replace(trace, title=title.strip()[:MAX_TITLE] or trace.title), place))


@job("writing a test of this run", JobLimits(cpu_s=20.0, wall_s=120.0, memory_mb=2048))
def upstream_source(trace: Trace, engine: str) -> str:
    """Return the failing test for maintainers that a run makes, secrets covered.

    Raises:
        RequestError: It makes none.
    """
    return share_trace(trace).upstream_test(engine)


@job("masking what looks like a secret in this conversation", JobLimits(cpu_s=20.0, wall_s=120.0, memory_mb=2048))
def mask_document(document: JSONObject) -> bytes:
    """Return a document in which it may be shared, as JSON text."""
    return (json.dumps(redact_json(document), ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


@job("reading the bundle", JobLimits(cpu_s=15.0, wall_s=120.0, memory_mb=3072))
def read_packed(packed: str, limit: int) -> Bundle:
    """Return the bundle that a browser packed: gzip in base64.

    Raises:
        RequestError: It is not a bundle, or is longer than `limit`.
    """
    return read_bundle(unpack_bundle(packed, limit), max_chars=limit)


class Reopened(NamedTuple):
    """A bundle, ready to be shown: `sentence` says where it comes from, `name` what ran where, and how it ended."""

    trace: Trace
    text: str
    sentence: str
    name: str
    payloads: Payloads


admit(Reopened)


@job("opening the bundle", JobLimits(cpu_s=15.0, wall_s=120.0, memory_mb=3072))
def reopen(packed: str, limit: int, *, is_kept: bool = False) -> Reopened:
    """Read a bundle and draw it.

    Raises:
        RequestError: It is not a bundle, is longer than `limit`, or cannot be shown.
    """
    bundle = read_packed(packed, limit)
    # A lone surrogate cannot be sent; in JSON its escape is the same character.
    text = bundle.trace.request.text.encode("utf-8", "backslashreplace").decode()
    try:
        payloads = kept_payloads(bundle) if is_kept else reopened_payloads(bundle)
    except Exception:  # noqa: BLE001  # a bundle can be whole and still tell nonsense
        problem = "this bundle cannot be shown: its parts do not match"
        raise RequestError(problem, "Request it again.") from None
    facts = _line_of(bundle.trace)
    name = joined(str(facts["title"]), str(facts["target"]), str(facts["badge"]))
    return Reopened(bundle.trace, text, describe_bundle(bundle), name, payloads)


@job("showing a cell of a check", JobLimits(cpu_s=10.0, memory_mb=1024))
def shown_cell(trace: Trace, origin: str) -> Payloads:
    """Return the views of one parser on one answer of a check, marked as such."""
    return marked_payloads(trace, "from a check", origin)


@job("showing a row of a verification", JobLimits(cpu_s=15.0, wall_s=120.0, memory_mb=2048))
def shown_row(trace: Trace, origin: str) -> Payloads:
    """Return the views of one row of a verification, marked as such; arguments as `shown_cell`."""
    return marked_payloads(trace, "from verify", origin)


@job("comparing two runs", JobLimits(cpu_s=20.0, wall_s=120.0, memory_mb=3072))
def compare_packed(packed: str, limit: int) -> str:
    """Return the payload of two runs side by side, which a browser packed together: `[[name, bundle], …]`.

    Raises:
        RequestError: One of them is not a bundle of a finished run, or both are longer than `limit`.
    """
    try:
        pair = json.loads(unpack_bundle(packed, limit))
    except (ValueError, RecursionError):
        pair = None
    if not (isinstance(pair, list) and len(pair) == _SIDES and all(map(_is_named, pair))):
        raise RequestError("The two runs did not arrive completely.", "Choose them again.")
    return comparison_payload(*on_one_basis(*(_named_run(str(name), str(text), limit) for name, text in pair)))


def on_one_basis(left: NamedRun, right: NamedRun) -> tuple[NamedRun, NamedRun]:
    """Return two runs with findings by the same means: both without parsers' answers where one was never asked."""
    for asked, other in ((left, right), (right, left)):
        if _has_answers(asked.trace) and not _has_answers(other.trace) and _was_to_be_asked(other.trace):
            return _found_without_answers(left), _found_without_answers(right)
    return left, right


def _found_without_answers(run: NamedRun) -> NamedRun:
    judged = run.trace
    for step in judge_outcomes(run.trace, {}):
        judged = apply_step(judged, step)
    return run._replace(trace=replace(run.trace, findings=judged.findings))


def _has_answers(trace: Trace) -> bool:
    return trace.parse is not None and bool(trace.parse.parsers)


def _was_to_be_asked(trace: Trace) -> bool:
    return trace.raw is not None and has_lost_calls(trace)


def has_lost_calls(trace: Trace) -> bool:
    """Return whether calls of a run came back otherwise than written, so that vLLM's parsers are asked about it."""
    verdict = trace.verdict
    return verdict is not None and verdict.dropped_calls + verdict.altered_calls + verdict.invented_calls > 0


def _is_named(side: object) -> bool:
    if not (isinstance(side, list) and len(side) == _SIDES and all(isinstance(part, str) for part in side)):
        return False
    return len(side[0]) <= MAX_TITLE


def _named_run(name: str, text: str, limit: int) -> NamedRun:
    try:
        trace = read_bundle(text, max_chars=limit).trace
    except RequestError as error:
        raise RequestError(f"In {name}: {error.message}", error.hint) from None
    if trace.verdict is None:
        raise RequestError(f"There is no finished run in {name}.", "Choose another.")
    return NamedRun(name, trace)


def reopened_payloads(bundle: Bundle) -> Payloads:
    """Return the views of an opened run, marked as such."""
    return marked_payloads(bundle.trace, "reopened", describe_bundle(bundle))


def kept_payloads(bundle: Bundle) -> Payloads:
    """Return the views of a run that the browser kept, marked as such."""
    when = f" of {moment_words(bundle.trace.started)}" if bundle.trace.started else ""
    edited = " The file was modified after it was written." if bundle.is_edited else ""
    origin = f"Your run{when}, kept in this browser; no server was asked again.{edited}"
    return marked_payloads(bundle.trace, "kept", origin)


_TAGS = {"recorded": "recorded \u00b7 Run repeats it live"}


NO_NOTICES: JSONObject = {"state": "ok", "summary": "", "items": []}


def marked_payloads(trace: Trace, mark: str, origin: str, *, state: str = "done", run: int = 0) -> Payloads:
    """Return the views of a run that was not made now, marked where the page says what is under test and what came out.

    The mark is one word, the origin a sentence.
    """
    payloads = RunView(run=run).finish(trace)
    facts: list[JSON] = [["", mark, origin], *server_facts(trace)]
    verdict, _ = unpack_payload(payloads["verdict"] or "")
    payloads["header"] = header_payload(facts)
    # What ran without a request, such as a pasted output, has no messages to count.
    payloads["notices"] = notices_payload(trace.request) if trace.request.body else pack_payload(NO_NOTICES)
    changes: JSONObject = {
        "state": state,
        "tag": [_TAGS.get(mark, mark), origin],
        "detail": f"{origin} {verdict['detail']}".rstrip(),
    }
    payloads["verdict"] = pack_payload({**verdict, **changes})
    return payloads


def as_it_ended(payloads: Payloads, trace: Trace, ended: object) -> Payloads:
    """Return the views of a run without verdict with the badge and sentence that it ended with: stopped, or an error.

    The browser kept `ended`; anything but a badge and a sentence changes nothing.
    """
    if trace.verdict is not None or not isinstance(ended, dict):
        return payloads
    words = {name: str(ended[name])[:_MAX_WORDS] for name in ("badge", "sentence") if ended.get(name)}
    verdict, _ = unpack_payload(payloads["verdict"] or "")
    return {**payloads, "verdict": pack_payload({**verdict, **words})}


def _html(run: SharedRun) -> tuple[JSONObject, bytes]:
    return {"kind": "file", "name": f"{run.stem}.html", "type": "text/html"}, run.html.encode("utf-8")


def _markdown(run: SharedRun) -> tuple[JSONObject, bytes]:
    data = run.markdown.encode("utf-8", "replace")
    return {"kind": "markdown", "name": f"{run.stem}.md", "type": "text/markdown"}, data


def _bundle(run: SharedRun) -> tuple[JSONObject, bytes]:
    return {"kind": "file", "name": f"{run.stem}.json", "type": "application/json"}, run.bundle.encode("utf-8")


def _picture(run: SharedRun) -> tuple[JSONObject, bytes]:
    payloads = RunView(explains=False).finish(run.trace)
    parts: JSONObject = {
        name: unpack_payload(payload)[0] if (payload := payloads.get(name)) else None for name in _PICTURE_VIEWS
    }
    parts["title"] = shortened(" ".join(run.trace.title.split()), 120)
    parts["facts"] = unpack_payload(again_payload(run.trace))[0]["facts"]
    return {"kind": "picture", "name": f"{run.stem}.png", "parts": parts}, run.packed.encode()


def _run_link(run: SharedRun) -> tuple[JSONObject, bytes]:
    state: JSONObject = {"request": run.trace.request.text, "run": run.short_bundle}
    note = "The link leaves out received answers, stream events and second answers; the report includes them."
    return {"kind": "link", "state": state, "notes": [note]}, b""


def _kept(run: SharedRun) -> tuple[JSONObject, bytes]:
    header, data = _bundle(run)
    return {"kind": "kept", **_line_of(run.trace), "name": header["name"]}, data


def _line_of(trace: Trace) -> JSONObject:
    """Return what a list of runs says of one."""
    strip, _ = unpack_payload(verdict_payload(trace))
    server = trace.server
    target = "no server" if server is None else "lab" if server.is_lab else server.base_url
    parts = (target, None if server is None else server.model, None if server is None else server.tool_parser)
    facts: JSONObject = {name: strip[name] for name in ("badge", "tone", "sentence")}
    return {**facts, "target": joined(*parts), "title": trace.title[:80]}


FORMS: Mapping[str, Callable[[SharedRun], tuple[JSONObject, bytes]]] = {
    "html": _html,
    "picture": _picture,
    "markdown": _markdown,
    "bundle": _bundle,
    "run_link": _run_link,
    "kept": _kept,
}
