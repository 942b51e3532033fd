"""Where a run goes: the lab or an endpoint, what answers there, and what renders for it.

A run of one request, a verification of thousands and a look at a server's own prompt
begin with the same three steps.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from prompt_debugger.core.base.errors import BackendError, LabError
from prompt_debugger.core.base.types import Server
from prompt_debugger.core.complete import ServerClient, families_of_parser
from prompt_debugger.core.pipeline.rendering import Renderer, load_renderer
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.lab import Lab, LabPool, LabProgress, start_words


async def lease_lab(
    stack: AsyncExitStack,
    target: Target,
    labs: LabPool | None,
    on_progress: Callable[[LabProgress], None] | None = None,
) -> tuple[Lab, Target]:
    """Boot the lab for a target without an endpoint, until the stack is left.

    Returns:
        The lab; and the target with the lab's model and, unless one is named, its tokenizer.

    Raises:
        LabError: None may be booted, or it did not start.
    """
    if labs is None:
        raise LabError("No endpoint was given, and starting a lab is disabled.", "Give an endpoint.")
    lab = await stack.enter_async_context(labs.lease(target.lab, on_progress))
    return lab, replace(target, tokenizer=target.tokenizer or Path(target.lab.model_dir), model=lab.model)


async def look_at(client: ServerClient, target: Target, model: str | None, *, is_lab: bool) -> Server:
    """Return what answers; the parsers are those of the lab's settings, else those that the person named.

    Raises:
        BackendError: Nothing that is known answers.
    """
    server = await client.probe(model)
    if is_lab:
        spec = target.lab
        return replace(
            server,
            is_lab=True,
            tool_parser=spec.tool_parser,
            reasoning_parser=spec.reasoning_parser,
            start_command=start_words(spec),
        )
    tool_parser = target.tool_parser or server.tool_parser
    return replace(
        server,
        tool_parser=tool_parser,
        parser_families=families_of_parser(server.kind, tool_parser),
        reasoning_parser=target.reasoning_parser or server.reasoning_parser,
    )


async def renderer_for(client: ServerClient, server: Server, target: Target) -> Renderer:
    """Return what renders for a server: template and tokenizer that the person named, else those it tells of.

    Raises:
        RenderError: The person named a tokenizer that cannot be loaded.
    """
    info = None
    if "tokenizer_info" in server.features:
        try:
            info = await client.tokenizer_info()
        except BackendError:  # it has the endpoint and fails at it: what else it says may do
            info = None
    return await in_thread(load_renderer, target, server, info)
