"""The render stage alone, from a line of a case file; and what both stages read out of such a line."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from prompt_debugger.core.base.errors import RenderError, RequestError, shorten
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import Finding, JSONObject, Prompt, Request, Trace
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.pipeline.diagnosis import read_trace
from prompt_debugger.core.pipeline.explained import explained_for
from prompt_debugger.core.render import generation_prompt, load_template, load_tokenizer, render_local
from prompt_debugger.core.request.other_bodies import convert_body
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.experiments import RenderSetup

T = TypeVar("T")


def render_case(case: JSONObject) -> tuple[Prompt, tuple[Finding, ...]]:
    """Render the request of a case.

    Args:
        case: `request`, and optionally `chat_template`, `tokenizer`, `special_tokens`,
            `template_kwargs`, `add_generation_prompt`, as the outside contract names them.

    Returns:
        The prompt and what there is to say about it.

    Raises:
        RequestError: A field is missing or of the wrong kind.
        RenderError: There is no template, or it failed.
    """
    trace, prompt = prompt_of_case(case)
    return prompt, diagnose_trace(trace)


async def check_case(case: JSONObject) -> tuple[Prompt, tuple[Finding, ...]]:
    """Render the request of a stranger's case, which is diagnosed in the sandbox; else as `render_case`.

    Raises:
        RequestError: A field is missing or of the wrong kind.
        RenderError: There is no template, or it failed.
        SandboxError: Checking the request takes too much.
    """
    trace, prompt = await in_thread(prompt_of_case, case)
    special = () if trace.vocabulary is None else trace.vocabulary.special.values()
    return prompt, (await read_trace(trace, frozenset(special))).findings


def prompt_of_case(case: JSONObject) -> tuple[Trace, Prompt]:
    """Return a run up to the prompt of a case, nothing of it judged, and this prompt; the rest as `render_case`."""
    body, setup = case_setup(case)
    tokenizer = setup.tokenizer
    with explained_for(body):
        prompt = render_local(
            body,
            template=setup.template,
            tokenizer=tokenizer,
            special_tokens=setup.special_tokens,
            template_kwargs=setup.template_kwargs,
            add_generation_prompt=take_field(case, "add_generation_prompt", bool, None),
        )
    vocabulary = None if tokenizer is None else tokenizer.vocabulary
    trace = Trace(
        request=Request(body=body, text=""),
        local_prompt=prompt,
        prompt=prompt,
        vocabulary=vocabulary,
        generation_prompt=_generation_prompt(setup.template, body, tokenizer),
    )
    return trace, prompt


def case_setup(case: JSONObject) -> tuple[JSONObject, RenderSetup]:
    """Return the request of a case and what it is rendered with.

    Raises:
        RequestError: A field is missing or of the wrong kind.
        RenderError: There is no template, or the tokenizer cannot be loaded.
    """
    body = take_field(case, "request", dict, None)
    if body is None:
        raise RequestError("The case has no `request`.", "Put the chat completion body there.", field="request")
    converted = convert_body(body)
    body = body if converted is None else converted.body
    source = take_field(case, "tokenizer", str, None)
    tokenizer = None if source is None else cached_tokenizer(source)
    template = take_field(case, "chat_template", str, None)
    if template is None and source is not None:
        name = take_field(case, "template_name", str, None)
        template = _cached_template(source, has_tools=bool(body.get("tools")), name=name)
    if template is None:
        raise RenderError("There is no chat template.", "Give `chat_template`, or a `tokenizer` that has one.")
    special = take_field(case, "special_tokens", dict, {}) or {}
    return body, RenderSetup(
        template=template,
        tokenizer=tokenizer,
        special_tokens={name: text for name, text in special.items() if isinstance(text, str)},
        template_kwargs=take_field(case, "template_kwargs", dict, {}) or {},
    )


@lru_cache(maxsize=8)
def cached_tokenizer(source: str) -> Tokenizer:
    """Return the tokenizer of a folder or hub id; `lab-model` is the lab's own."""
    return load_tokenizer(source)


@lru_cache(maxsize=8)
def _cached_template(source: str, *, has_tools: bool, name: str | None) -> str | None:
    return load_template(source, has_tools=has_tools, name=name)


def _generation_prompt(template: str, body: JSONObject, tokenizer: Tokenizer | None) -> str | None:
    try:
        return generation_prompt(template, body, tokenizer=tokenizer)
    except RenderError:
        return None


def take_field(case: JSONObject, key: str, kind: type[T], default: T | None) -> T | None:
    """Return a field of a case, or the default if it is absent.

    Raises:
        RequestError: It is of another kind.
    """
    value = case.get(key)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise RequestError(f"`{key}` is {shorten(value)}, expected {kind.__name__}.", field=key)
    return value
