"""Our own render of a request, as the reference library does it on the request as pasted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import JSON, JSONObject, Prompt, PromptSpan, TokenTable
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.render.job import Fault, RenderJob, RenderOutcome
from prompt_debugger.core.render.kwargs import add_reads, explain_kwargs
from prompt_debugger.core.render.request_variables import Variables, read_variables
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer
from prompt_debugger.core.render.vllm_view import MEDIA_CAUSE
from prompt_debugger.core.render.vllm_view.content import has_media
from prompt_debugger.core.render.worker import shared_worker

Renderer: TypeAlias = Callable[[RenderJob], RenderOutcome]
_WANTS_MAPPING = re.compile(r"item pairs from a mapping|has no attribute 'items'")
_NOTHING: Mapping[str, JSON] = MappingProxyType({})
_NO_TOKENS: Mapping[str, str] = MappingProxyType({})


def render_local(
    body: JSONObject,
    *,
    template: str,
    tokenizer: Tokenizer | None = None,
    special_tokens: Mapping[str, str] = _NO_TOKENS,
    template_kwargs: Mapping[str, JSON] = _NOTHING,
    add_generation_prompt: bool | None = None,
    renderer: Renderer | None = None,
) -> Prompt:
    """Render a request and say where every character came from.

    Args:
        body: The request, rendered exactly as pasted.
        template: Jinja source.
        tokenizer: Returns the tokens and the special tokens; `None` for text and spans alone.
        special_tokens: Named special tokens such as `bos_token`, over those of the tokenizer.
        template_kwargs: Template variables, which the request's own override.
        add_generation_prompt: Overrides the request, whose default is true.
        renderer: Runs the job; the shared worker process if not given.

    Returns:
        The prompt; its `identical` is false, and its spans unknown, if the traced render
        differs from the plain one.

    Raises:
        RenderError: The template failed; with its line and column where they are known.
    """
    named_tokens = {**special_tokens_of(tokenizer), **special_tokens}
    variables = read_variables(
        body,
        special_tokens=named_tokens,
        template_kwargs=template_kwargs,
        add_generation_prompt=add_generation_prompt,
    )
    causes = (MEDIA_CAUSE,) if has_media(body.get("messages")) else ()
    job = RenderJob(template, variables.variables, variables.continue_final_message, causes)
    outcome = run(job, renderer)
    kwargs = explain_kwargs(variables, body, special_tokens=named_tokens, server_defaults=template_kwargs)
    prompt = prompt_of(outcome, variables, template=template, tokenizer=tokenizer)
    return replace(prompt, kwargs=add_reads(kwargs, outcome))


def generation_prompt(
    template: str,
    body: JSONObject,
    *,
    tokenizer: Tokenizer | None = None,
    special_tokens: Mapping[str, str] = _NO_TOKENS,
    template_kwargs: Mapping[str, JSON] = _NOTHING,
    renderer: Renderer | None = None,
) -> str | None:
    """Return the text that opens the assistant turn: what `add_generation_prompt` adds at the end.

    Returns:
        "" if the switch changes nothing, or changes something else than the end; `None` if no such text is wanted, as
        the template's assistant turns have no header: a text and a call each begin with a marker of their own.

    Raises:
        RenderError: The template failed.
    """
    plain_body = {key: value for key, value in body.items() if key != "continue_final_message"}
    variables = read_variables(
        plain_body,
        special_tokens={**special_tokens_of(tokenizer), **special_tokens},
        template_kwargs=template_kwargs,
        add_generation_prompt=False,
    )
    without, with_it = (
        run(RenderJob(template, one.variables, is_traced=False), renderer).text
        for one in (variables, variables.generating())
    )
    if (added := with_it[len(without) :] if with_it.startswith(without) else "") or not with_it:
        return added
    return None if _speaks_without_header(template, variables, with_it, renderer) else ""


_ANSWERS: tuple[JSONObject, ...] = (
    {"role": "assistant", "content": "zqanswer"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "zq0000000", "type": "function", "function": {"name": "zqcall", "arguments": {"zqkey": "zqvalue"}}}
        ],
    },
)
_FIRST_MARKER = re.compile(r"\s*(<[^<>\s]{1,60}>)")


def _speaks_without_header(template: str, variables: Variables, prompt: str, renderer: Renderer | None) -> bool:
    """Return whether a text and a call in the history follow the prompt with a different marker each."""
    markers = []
    for answer in _ANSWERS:
        prepared = tuple(
            replace(one, value=[*one.value, answer]) if one.name == "messages" and isinstance(one.value, list) else one
            for one in variables.variables
        )
        try:
            text = run(RenderJob(template, prepared, is_traced=False), renderer).text
        except RenderError:
            return False
        opened = _FIRST_MARKER.match(text, len(prompt.rstrip())) if text.startswith(prompt.rstrip()) else None
        markers.append(opened.group(1) if opened else "")
    return all(markers) and len(set(markers)) == len(markers)


def special_tokens_of(tokenizer: Tokenizer | None) -> Mapping[str, str]:
    """Return the named special tokens that a tokenizer's files declare."""
    return tokenizer.special_tokens if isinstance(tokenizer, FastTokenizer) else _NO_TOKENS


def run(job: RenderJob, renderer: Renderer | None) -> RenderOutcome:
    """Run one job.

    Raises:
        RenderError: The template failed.
    """
    outcome = (renderer or shared_worker().render)(job)
    if outcome.fault is not None:
        error = error_of(outcome.fault, job.template)
        messages = next((one.value for one in job.variables if one.name == "messages"), None)
        order = broken_order(outcome.fault.message, messages) if outcome.fault.kind == "TemplateError" else ""
        error.hint = f"{order} {error.hint}".strip()
        raise error
    return outcome


def error_of(fault: Fault, template: str = "") -> RenderError:
    """Return the error that says in plain words how a template failed, with the line of it."""
    message, hint = _wording(fault)
    lines = template.split("\n")
    source = lines[fault.line - 1] if fault.line is not None and 0 < fault.line <= len(lines) and template else None
    return RenderError(message, hint, template_line=fault.line, template_column=fault.column, source_line=source)


def _wording(fault: Fault) -> tuple[str, str]:
    if fault.kind == "TemplateError":
        return f"The template refuses this request: {fault.message}", "It calls `raise_exception` itself at this place."
    if fault.kind in ("Missing filter", "Missing test"):
        missing = fault.kind.removeprefix("Missing ")
        return (
            f"The template uses the {missing} {fault.message}",
            f"Chat templates have Jinja's own {missing}s and no others: vLLM and transformers fail here as well.",
        )
    if fault.kind in ("TemplateSyntaxError", "TemplateAssertionError"):
        return f"The template is not valid Jinja: {fault.message}", "Correct the template at this place."
    if fault.kind == "TypeError" and _WANTS_MAPPING.search(fault.message):
        return (
            f"the template expected an object, got a string: {fault.message}",
            "vLLM and llama.cpp decode the arguments of earlier tool calls before they render; transformers does not: "
            "give them as an object there, or guard the template with `is string`.",
        )
    if fault.kind == "UndefinedError":
        return (
            f"the template uses something that is not defined: {fault.message}",
            "Provide the field, or test it with `is defined`.",
        )
    if fault.kind == "SecurityError":
        return (
            f"The sandbox forbids what the template does: {fault.message}",
            "The reference library forbids it as well.",
        )
    if fault.kind in ("MemoryError", "TooLong"):
        return fault.message, "Check the template for huge repetitions or widths."
    return f"The template failed with {fault.kind}: {fault.message}", "Check the values that it uses at this place."


def prompt_of(outcome: RenderOutcome, variables: Variables, *, template: str, tokenizer: Tokenizer | None) -> Prompt:
    """Return an outcome as a local prompt, with tokens if there is a tokenizer."""
    return Prompt(
        source="local",
        text=outcome.text,
        spans=outcome.spans,
        tokens=tokens_of(outcome.text, outcome.spans, tokenizer),
        identical=outcome.is_identical,
        effective_kwargs=variables.effective_kwargs(),
        unread=outcome.unread,
        template=template,
        note=_note(outcome),
        branches=outcome.branches,
    )


def tokens_of(text: str, spans: tuple[PromptSpan, ...], tokenizer: Tokenizer | None) -> TokenTable | None:
    """Return the attributed tokens of a text; `None` without a tokenizer."""
    return None if tokenizer is None else tokenizer.tokens_of_text(text, spans)


def _note(outcome: RenderOutcome) -> str:
    media = outcome.applied.get(MEDIA_CAUSE)
    handed = ""
    if media:
        parts = "part" if len(media) == 1 else "parts"
        handed = f" For {len(media)} {parts} with media, the template got only the type, as vLLM passes it on."
    if outcome.is_identical:
        return f"Our own render of the request as pasted.{handed}"
    return f"Our own render of the request as pasted, without attribution: {outcome.doubt}.{handed}"


_ALTERNATE = re.compile(r"\balternat", re.IGNORECASE)
_SYSTEM_FIRST = re.compile(r"system (?:message|prompt|role).{0,40}(?:begin|first|start)", re.IGNORECASE)
_MAX_PAIRS = 3


def broken_order(complaint: str, messages: JSON) -> str:
    """Return which messages a template's complaint about their order is about; "" if it is about something else.

    Args:
        complaint: What the template says.
        messages: The messages that it was given.

    >>> broken_order("Roles must alternate", [{"role": "user"}, {"role": "user"}])
    'messages[0] and messages[1] both have the role `user`.'
    """
    if not isinstance(messages, list):
        return ""
    roles = [as_object(message).get("role") for message in messages]
    if _SYSTEM_FIRST.search(complaint):
        late = [index for index, role in enumerate(roles) if index > 0 and role in ("system", "developer")]
        return "" if not late else f"messages[{late[0]}] has the role `{roles[late[0]]}` and is not the first message."
    if not _ALTERNATE.search(complaint):
        return ""
    pairs = [
        f"messages[{index}] and messages[{index + 1}] both have the role `{first}`"
        for index, (first, second) in enumerate(pairwise(roles))
        if first == second and first in ("user", "assistant")
    ]
    if pairs:
        return "; ".join(pairs[:_MAX_PAIRS]) + "."
    spoken = [(index, role) for index, role in enumerate(roles) if role not in ("system", "developer")]
    if spoken and spoken[0][1] in ("assistant", "tool", "function"):
        return f"messages[{spoken[0][0]}] is the first turn and has the role `{spoken[0][1]}`, not `user`."
    other = next((f"messages[{index}] has the role `{role}`." for index, role in spoken if role == "tool"), "")
    return other
