"""The program as a library: `render` a request, `parse` a raw output, `run` both, `diagnose` what already exists.

    import prompt_debugger as pd

`check` tries a model's template on parsers, `verify` a dataset on a server. Each has a twin for `async` code
(`render_async`, …). What is worked on may come from
untrusted users: a template, an answer of a server and a schema that could take forever are
worked on in the killable sandbox, as on the page. The values that come
back are those of `core.base.types`; `to_json` makes of them what the commands print with `--json`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar, cast, runtime_checkable

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.base.types import Finding, JSONObject, Parse, Prompt, Request, Trace
from prompt_debugger.core.evidence import gather_evidence, show_evidence
from prompt_debugger.core.pipeline import CaseParser, Progress, Target, render_case
from prompt_debugger.core.pipeline.case_parser import ALL
from prompt_debugger.core.report import parse_to_json, prompt_to_json, trace_to_json
from prompt_debugger.core.request import read_request
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools import verify as verification
from prompt_debugger.core.tools.check import (
    Check,
    Checker,
    Place,
    Wanted,
    check_to_json,
    load_model,
    load_served,
    open_engines,
    refuse_choice,
)
from prompt_debugger.core.tools.lab import LabPool

P = ParamSpec("P")
T = TypeVar("T")


def _next_to(function: Callable[P, T]) -> Callable[P, Coroutine[None, None, T]]:
    """Return the `async` twin of a function: it works in a thread, and cancelling ends the work itself."""

    @wraps(function)
    async def twin(*args: P.args, **kwargs: P.kwargs) -> T:
        return await in_thread(function, *args, **kwargs)

    twin.__name__ = twin.__qualname__ = f"{function.__name__}_async"
    return twin


def _waiting(function: Callable[P, Coroutine[None, None, T]]) -> Callable[P, T]:
    """Return the plain twin of an `async` function: it waits for the end, in a thread where a loop runs already."""

    @wraps(function)
    def twin(*args: P.args, **kwargs: P.kwargs) -> T:
        return outside_a_loop(lambda: asyncio.run(function(*args, **kwargs)))

    twin.__name__ = twin.__qualname__ = function.__name__.removesuffix("_async")
    return twin


@dataclass(frozen=True, slots=True)
class Rendered:
    """What `render` returns.

    Attributes:
        prompt: Text, tokens and where each character came from.
        findings: What there is to say about it, worst first.
    """

    prompt: Prompt
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What `parse` returns.

    Attributes:
        parse: The census of the output, the ledger against the message, and what parsers made of it.
        findings: What there is to say about it, worst first.
        notes: What could not be checked, and why.
    """

    parse: Parse
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """What `verify` returns.

    Attributes:
        summary: K2VV's fields, and under `debugger` the calls that were lost, by rule and stage, with intervals.
        rows: One per request, by its number.
        failed_gates: Those of `fail_if` that hold.
    """

    summary: JSONObject
    rows: tuple[JSONObject, ...]
    failed_gates: tuple[str, ...] = ()


def render(
    request: str | Mapping[str, object] | Request,
    *,
    tokenizer: str | Path | None = None,
    chat_template: str | None = None,
    template_kwargs: Mapping[str, object] | None = None,
    special_tokens: Mapping[str, str] | None = None,
    add_generation_prompt: bool | None = None,
) -> Rendered:
    """Render a request with a chat template, as an inference engine would.

    Args:
        request: Body of a chat completion, or a text that contains one: JSON, a curl command, an `openai` call.
        tokenizer: Folder or `org/model[@revision]`; `"lab-model"` is the lab's own. Without one there are no tokens.
        chat_template: Jinja source that overrides the tokenizer's own.
        template_kwargs: Further variables of the template.
        special_tokens: Such as `{"bos_token": "<s>"}`, for a template without a tokenizer.
        add_generation_prompt: Whether the assistant's turn is opened; `None` takes the request's word, else yes.

    Raises:
        RequestError: The request cannot be read.
        RenderError: There is no template, it failed, or the tokenizer cannot be loaded.
    """
    case: JSONObject = {
        "request": _request(request).body,
        "tokenizer": None if tokenizer is None else str(tokenizer),
        "chat_template": chat_template,
        "template_kwargs": _object(template_kwargs or {}),
        "special_tokens": dict(special_tokens or {}),
        "add_generation_prompt": add_generation_prompt,
    }
    return Rendered(*render_case(case))


def parse(
    raw: str,
    *,
    tools: Sequence[Mapping[str, object]] = (),
    message: Mapping[str, object] | None = None,
    prompt_tail: str = "",
    finish_reason: str | None = None,
    format: str = "auto",  # the contract's name for it
    parsers: Sequence[str] = (),
    engines: Sequence[str] = (),
    token_ids: Sequence[int] | None = None,
    tokenizer: str | Path | None = None,
) -> Parsed:
    """Read a raw output: its calls, and what became of every character.

    Args:
        raw: What the model wrote, special tokens included.
        tools: Those of the request; without any, parsers are asked as if those that the output calls were declared.
        message: What the server returned; the ledger is against it.
        prompt_tail: End of the prompt, which tells whether reasoning was open.
        finish_reason: The server's word.
        format: Family to read it with; `auto` takes the one that fits best.
        parsers: Parsers to ask as well, such as `vllm:hermes` or `sglang@0.5.23:qwen25`; the ledger is against the
            first where there is no `message`.
        engines: Engines all of whose tool parsers are asked, such as `vllm`, `vllm@0.11.0` or `sglang`; `all` for every
            engine that is here. vLLM must be installed, or the release downloaded before (`parse --fetch`).
        token_ids: Of `raw`, where they are known.
        tokenizer: For token spans, and for the parsers.

    Raises:
        RequestError: A value is of the wrong kind.
        RenderError: The tokenizer cannot be loaded.
        EngineError: A parser was asked for and its engine is not there.
        SandboxError: The check took too much; a schema that does is left out, and named in `notes`.
    """
    case: JSONObject = {
        "raw": raw,
        **({"tools": [_object(tool) for tool in tools]} if tools else {}),
        "message": None if message is None else _object(message),
        "prompt_tail": prompt_tail,
        "finish_reason": finish_reason,
        "format": format,
        "parsers": [*parsers, *(name if name == ALL else f"{name.replace('==', '@')}:*" for name in engines)],
        "token_ids": None if token_ids is None else list(token_ids),
        "tokenizer": None if tokenizer is None else str(tokenizer),
    }
    return outside_a_loop(lambda: _parse_case(case))


async def run_async(
    request: str | Mapping[str, object] | Request,
    endpoint: str | Target | None = None,
    *,
    model: str | None = None,
    api_key: str | None = None,
    tokenizer: str | Path | None = None,
    chat_template: str | None = None,
    labs: LabPool | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Trace:
    """Run a request through all stages against a server: render, complete, parse, diagnose.

    Args:
        request: Body of a chat completion, or a text that contains one: JSON, a curl command, an `openai` call.
        endpoint: Base URL, up to and including `/v1`, or a whole `Target`, which the next four then do not change.
            `None` takes the one that the pasted text names, else boots the lab, which needs vLLM.
        model: Name to send; `None` keeps the request's own, else takes the server's first.
        api_key: Sent as bearer token; never in the result.
        tokenizer: Folder or hub id; `None` means what the server says of its model.
        chat_template: Jinja source that overrides the tokenizer's own.
        labs: Labs to use and to leave running; `None` stops the one that it boots.
        on_progress: Called with what is known so far, in this thread.

    Returns:
        The complete trace: prompt, raw output, message, ledger, findings, verdict.

    Raises:
        DebuggerError: The run could not be done. What a server or a model did wrong is not an exception but a finding.
    """
    read = _request(request)
    target = endpoint
    if not isinstance(target, Target):
        target = Target(target or read.base_url, model, api_key, tokenizer, chat_template)
    if target.base_url is not None or labs is not None:
        return await pipeline.run(read, target, labs, on_progress)
    pool = LabPool()
    try:
        return await pipeline.run(read, target, pool, on_progress)
    finally:
        await asyncio.to_thread(pool.stop_all)


@runtime_checkable
class Dumps(Protocol):
    """An object of a client's library that can write itself as JSON: a `ChatCompletion` of `openai`, for one."""

    def model_dump_json(self) -> str:
        """Return it as JSON text."""
        ...


async def diagnose_async(
    evidence: str | Mapping[str, object] | Sequence[object] | Dumps,
    request: str | Mapping[str, object] | Request | None = None,
    prompt: str | None = None,
) -> Trace:
    """Say what evidence shows: an answer, a stream, a raw output, an error, a log, as the command `inspect` does.

    Args:
        evidence: As text, as a JSON value, or as an object of a client's library that has `model_dump_json`.
        request: What was asked, where the evidence does not hold it; rules see more with it.
        prompt: The prompt that the model read, where it is known.

    Returns:
        The trace as far as the evidence goes, with findings and verdict. No server is asked.

    Raises:
        RequestError: It is nothing that is known.
        SandboxError: Reading it takes too much.
    """
    asked = None if request is None else _request(request)
    return await show_evidence(gather_evidence([_text_of(evidence)], request=asked, prompt=prompt))


async def check_async(
    model: str | Path | None = None,
    *,
    chat_template: str | Path | None = None,
    tool_parser: str | None = None,
    reasoning_parser: str | None = None,
    engine: str = "vllm",
    release: str | None = None,
    thorough: bool = False,
    api_key: str | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Check:
    """Check which of an engine's parsers read what a model's chat template teaches it to write; no weights are needed.

    Args:
        model: Folder, `org/model[@revision]`, `"lab-model"`, template file, or URL of a server.
        chat_template: Jinja file that wins over the model's own.
        tool_parser: The only one to check; `None` for all.
        reasoning_parser: Likewise.
        engine: Whose parsers are asked: `vllm`, `sglang`, `mlx-lm`, `lmdeploy`, or `all` of them that are here.
        release: Of the engine; `None` is the installed vLLM, of others the newest that was fetched.
        thorough: More answers, and many more chunkings.
        api_key: For a server as `model`.
        on_progress: Gets lines of progress.

    Raises:
        RequestError: One parser or release was chosen of all engines.
        RenderError: There is no template, or the model cannot be read.
        EngineError: The engine is not there.
    """
    refuse_choice(engine, {"tool_parser": tool_parser, "reasoning_parser": reasoning_parser, "release": release})
    file = None if chat_template is None else str(chat_template)
    name = None if model is None else str(model)
    if name is not None and name.startswith(("http://", "https://")):
        loaded = await load_served(Place(name, api_key, None, file))
    else:
        loaded = await in_thread(load_model, name, template_file=file)
    tools = None if tool_parser is None else (tool_parser,)
    with open_engines(release, engine) as (engines, absent):
        checker = Checker(engines, on_progress or (lambda _: None), api_key, absent)
        return await checker.check(loaded, Wanted(tools, reasoning_parser, thorough, release=release))


async def verify_async(
    dataset: str | Path | Sequence[Mapping[str, object]],
    endpoint: str | Target | None = None,
    *,
    model: str | None = None,
    api_key: str | None = None,
    tokenizer: str | Path | None = None,
    limit: int | None = None,
    concurrency: int | None = None,
    fail_if: Sequence[str] = (),
    journal: str | Path | None = None,
    labs: LabPool | None = None,
    on_progress: Callable[[verification.Progress], None] | None = None,
) -> Verified:
    """Ask a server for every request of a dataset, and count which calls are lost, where and why.

    Args:
        dataset: A file with one chat body per line, or the bodies.
        endpoint: As for `run`; `None` is the lab, which `labs` starts.
        model: Name to send.
        api_key: Sent as bearer token; never in the result.
        tokenizer: Folder or hub id; `None` means what the server says of its model.
        limit: At most so many requests.
        concurrency: Requests under way at once; `None` finds a number.
        fail_if: Gates such as `"dropped_rate > 0.5%"`.
        journal: SQLite file from which the same call continues; `None` keeps nothing.
        labs: Labs that may be started.
        on_progress: Called whenever something changed.

    Raises:
        RequestError: The dataset or a gate cannot be read.
        BackendError: The server cannot be reached.
    """
    gates = [verification.read_gate(text) for text in fail_if]
    target = endpoint if isinstance(endpoint, Target) else Target(endpoint, model, api_key, tokenizer)
    with scratch("verify-call") as folder:
        path = await in_thread(_dataset_file, dataset, folder / "dataset.jsonl")
        plan = verification.Plan(
            dataset=path,
            targets=(target,),
            journal=folder / "journal.sqlite" if journal is None else Path(journal),
            preparation=verification.Preparation(model=model),
            limit=limit,
            concurrency=concurrency,
        )
        with verification.Journal(plan.journal) as opened:
            outcome = await verification.verify(plan, opened, clock=time.monotonic, labs=labs, on_progress=on_progress)
            if outcome.error is not None:
                raise outcome.error
            rows = tuple(opened.rows(0))
            summary, held = verification.gated_summary(rows, outcome.about(plan), gates)
            return Verified(summary, rows, tuple(text for text, holds in held.items() if holds))


diagnose = _waiting(diagnose_async)
check = _waiting(check_async)
verify = _waiting(verify_async)
render_async = _next_to(render)
parse_async = _next_to(parse)
run = _waiting(run_async)


def to_json(result: Rendered | Parsed | Trace | Check | Verified) -> JSONObject:
    """Return what the commands print with `--json`."""
    if isinstance(result, Check):
        return check_to_json(result)
    if isinstance(result, Verified):
        return result.summary
    if isinstance(result, Rendered):
        return prompt_to_json(result.prompt, findings=result.findings)
    if isinstance(result, Parsed):
        return parse_to_json(result.parse, findings=result.findings, notes=result.notes)
    return trace_to_json(result)


def _object(value: Mapping[str, object]) -> JSONObject:
    """Take what a caller calls a JSON object for one; what is not one is refused where it is used."""
    return cast(JSONObject, dict(value))


def _text_of(evidence: str | Mapping[str, object] | Sequence[object] | Dumps) -> str:
    if isinstance(evidence, str):
        return evidence
    if isinstance(evidence, Dumps):
        return evidence.model_dump_json()
    try:
        return json.dumps(evidence, ensure_ascii=False, default=_dumped)
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(f"The evidence cannot be written as JSON: {error}.", "Give its text.") from None


def _dumped(value: object) -> object:
    """Return what JSON can hold of an object of a client's library."""
    if isinstance(value, Dumps):
        return json.loads(value.model_dump_json())
    raise TypeError(f"{type(value).__name__} is not JSON")


def _request(request: str | Mapping[str, object] | Request) -> Request:
    if isinstance(request, Request):
        return request
    if isinstance(request, str):
        return read_request(request)
    try:
        return read_request(json.dumps(request, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(f"The request is not JSON: {error}") from None


def _dataset_file(dataset: str | Path | Sequence[Mapping[str, object]], path: Path) -> Path:
    """Return the file of a dataset; bodies are written to `path`."""
    if isinstance(dataset, (str, Path)):
        if not Path(dataset).is_file():
            raise RequestError(f"There is no dataset {str(dataset)!r}.", "Give a file of requests.", field="dataset")
        return Path(dataset)
    lines = (json.dumps(_request(body).body, ensure_ascii=True) + "\n" for body in dataset)
    path.write_text("".join(lines), encoding="ascii")
    return path


def _parse_case(case: JSONObject) -> Parsed:
    with CaseParser() as parser:
        return Parsed(*parser.parse(case))


def outside_a_loop(function: Callable[[], T]) -> T:
    """Call what runs its own event loop; where one is running already, as in a notebook, in a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return function()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function).result()
