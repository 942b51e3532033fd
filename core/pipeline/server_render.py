"""Stage A alone, by the server itself: the prompt it would use, without running the model."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from core.complete import Gathered, ServerClient
from core.diagnose import diagnose_trace
from core.errors import BackendError
from core.pipeline.rendering import load_renderer
from core.pipeline.target import Target
from core.types import Request, Trace


async def render_on_server(request: Request, target: Target) -> Trace:
    """Ask a server for the prompt of a request, and compare it with our own render.

    Args:
        request: What to render.
        target: With a `base_url`; an engine with `--enable-scale-out`, or the GPU-less renderer.

    Returns:
        A trace with `prompt`, `local_prompt` where a template is at hand, and the findings.

    Raises:
        BackendError: The server cannot be reached, has no renderer, or refuses the request.
    """
    if target.base_url is None:
        raise BackendError("no server to ask for a prompt", "Give --endpoint URL.", kind="refused")
    async with ServerClient(target.base_url, api_key=target.api_key, guard=target.guard) as client:
        server = await client.probe()
        if "render" not in server.features:
            raise BackendError(
                f"{target.base_url} has no endpoint that renders",
                "vLLM has one with --enable-scale-out, or as renderer: python app.py lab --renderer --lab-model DIR.",
                kind="refused",
            )
        body = {**request.body, "model": target.model or server.model}
        answer = await client.render(body)
        info = None if target.tokenizer or "tokenizer_info" not in server.features else await client.tokenizer_info()
    renderer = await asyncio.to_thread(load_renderer, target, server, info)
    gathered = Gathered(sent=body, prompt_token_ids=answer.token_ids)
    local = await asyncio.to_thread(renderer.render_local, request.body)
    prompt = await asyncio.to_thread(renderer.explain_server, body, gathered)
    trace = Trace(
        request=request,
        sent=body,
        server=server,
        prompt=prompt,
        local_prompt=local,
        prompt_difference=renderer.compare(prompt, local),
        generation_prompt=renderer.generation_prompt(request.body),
        vocabulary=renderer.vocabulary,
    )
    return replace(trace, findings=diagnose_trace(trace))
