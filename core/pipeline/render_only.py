"""As much of a run as needs no server: the request rendered with the target's own files, and what there is to say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from prompt_debugger.core.base.assets import LAB_MODEL_NAME
from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import Prompt, Request, Server, Trace
from prompt_debugger.core.pipeline.diagnosis import read_trace
from prompt_debugger.core.pipeline.rendering import Renderer, load_renderer
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.sandbox import in_thread


async def render_request(request: Request, target: Target) -> Trace:
    """Return a run up to the prompt: local render, and the findings on request and prompt.

    Where the lab model's template takes the place of another model's, its prompt is shown and said to be that, and
    the findings are those on the request alone.

    Raises:
        RenderError: The named tokenizer cannot be loaded.
        SandboxError: Checking the request takes too much.
    """
    named = replace(target, tokenizer=target.tokenizer or Path(target.lab.model_dir))
    found = await in_thread(load_renderer, named, Server(""))
    renderer = found.use_template_of(request.body, "vllm").for_one_run()
    local, failure = await in_thread(_render, renderer, request)
    trace = Trace(
        request,
        local_prompt=local,
        generation_prompt=await in_thread(renderer.generation_prompt, request.body),
        vocabulary=renderer.vocabulary,
        notes=() if local is not None else (failure or renderer.note,),
    )
    model = "" if target.tokenizer or target.chat_template or not target.lab.is_lab_model else model_of_others(request)
    if not model:
        return await check_rendered(trace, renderer.special_texts)
    alone = await check_rendered(Trace(request), frozenset())
    note = f"Rendered with the template of the lab model: that of `{model[:60]}` is not known here."
    if local is None:
        note = f"The template of `{model[:60]}` is not known here, and that of the lab model refuses this request."
    shown = None if local is None else replace(local, note=note)
    return replace(trace, local_prompt=shown, notes=(note,), findings=alone.findings)


def model_of_others(request: Request) -> str:
    """Return the model that a request is for, if the lab model's template cannot be that model's; else ""."""
    model = request.body.get("model")
    has_own = isinstance(request.body.get("chat_template"), str)
    return model if isinstance(model, str) and model not in ("", LAB_MODEL_NAME) and not has_own else ""


def _render(renderer: Renderer, request: Request) -> tuple[Prompt | None, str]:
    """Return the local prompt, or why the template gave none."""
    try:
        return renderer.try_local(request.body), ""
    except RenderError as error:
        line = "" if error.template_line is None else f", line {error.template_line}"
        return None, f"The chat template failed{line}: {error.message.rstrip('.')}. {error.hint}".strip()


async def check_rendered(trace: Trace, special_texts: frozenset[str]) -> Trace:
    """Return a run that ended with the local prompt, with the findings on request and prompt.

    Raises:
        SandboxError: Checking the request takes too much.
    """
    return replace(await read_trace(trace, special_texts), verdict=None)
