"""The prompt alone, as the server itself renders it, without running the model."""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSONObject, Request, Server, Trace
from prompt_debugger.core.base.wire import name_model
from prompt_debugger.core.complete import ENGINES, Gathered, ServerClient
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.pipeline.opening import renderer_for
from prompt_debugger.core.pipeline.target import Target, client_of, requested_model
from prompt_debugger.core.sandbox import in_thread


async def render_on_server(request: Request, target: Target) -> Trace:
    """Ask a server for the prompt of a request, and compare it with our own render.

    Args:
        request: What to render.
        target: With a `base_url`; a vLLM with `--enable-scale-out`, its GPU-less renderer, or a llama.cpp server.

    Returns:
        A trace with `prompt`, `local_prompt` where a template is available, and the findings.

    Raises:
        BackendError: The server cannot be reached, has no renderer, or refuses the request.
    """
    if target.base_url is None:
        raise BackendError("No server to get a prompt from.", "Give --endpoint URL.", kind="refused")
    async with client_of(target) as client:
        server = await client.probe(requested_model(request, target))
        body = name_model(request.body, server.model)
        gathered = await _prompt_of(client, server, body)
        renderer = (await renderer_for(client, server, target)).use_reported_tokens(gathered)
    local = await in_thread(renderer.render_local, request.body)
    prompt = await in_thread(renderer.explain_server, body, gathered)
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


async def _prompt_of(client: ServerClient, server: Server, body: JSONObject) -> Gathered:
    """Ask for the prompt in the server's own way."""
    if "render" in server.features:
        answer = await client.render(body)
        return Gathered(sent=body, prompt_token_ids=answer.token_ids, server=server)
    if "apply_template" in server.features:
        reported = await client.apply_template(body)
        return Gathered(
            sent=body,
            prompt_token_ids=reported.token_ids,
            prompt_text=reported.text,
            prompt_pieces=reported.pieces,
            server=server,
        )
    raise BackendError(
        f"{server.base_url} has no endpoint that renders prompts.",
        "; ".join(f"{one.title} has one {one.when_it_renders}" for one in ENGINES.values() if one.when_it_renders)
        + ".",
        kind="refused",
    )
