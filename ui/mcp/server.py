"""The tools as the Model Context Protocol has them: descriptions, progress, cancellation, resources."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from prompt_debugger import __version__
from prompt_debugger.core.api import check_async
from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.check import Check, check_to_json, serve_commands
from prompt_debugger.core.tools.check.engine_choice import Asked
from prompt_debugger.ui.mcp.answers import Answer, answer, finding_lines, finding_records
from prompt_debugger.ui.mcp.kept import PARTS, Kept
from prompt_debugger.ui.mcp.parameters import (
    Answered,
    Body,
    Code,
    Endpoint,
    Engine,
    Example,
    Handle,
    Parsers,
    Part,
    Release,
    Requested,
    RunHandle,
    Text,
    ToCheck,
    Where,
)
from prompt_debugger.ui.mcp.tools import Caller, Tools
from prompt_debugger.ui.rule_pages import index_page, rule_page, rule_pages
from prompt_debugger.ui.web.admission.kinds import Kind
from prompt_debugger.ui.web.admission.visitors import Network, visitor_of
from prompt_debugger.ui.web.failures import as_debugger_error, as_visitors_see
from prompt_debugger.ui.web.limits import check_length
from prompt_debugger.ui.web.targets import NoServerError

INSTRUCTIONS = """Finds out why a tool call of a language model was lost, altered or never written: in the request, the
chat template, the model's output, or the server's parser.
Have a request and a server: `run`. Have an answer, stream, log or error already: `diagnose`.
Then `explain` a finding, `try_fix` it on the same server, `shrink` the request for a bug report.
Every result has a handle; `more` shows its parts, `report` as Markdown for an issue."""

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ASKS = ToolAnnotations(read_only_hint=True, open_world_hint=True)
Ctx = Context[Any, Any]


def build_server(tools: Tools, proxies: tuple[Network, ...] = ()) -> MCPServer[Any]:
    """Return the server of some tools; the `proxies` are believed on who calls."""
    server: MCPServer[Any] = MCPServer(
        "prompt-debugger",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
    )
    runner = _ToolRunner(tools, proxies)
    _add_offline_tools(server, runner)
    _add_server_tools(server, runner)
    _add_resources(server, runner)
    return server


class _ToolRunner:
    """Runs a tool for a client: counts the call, reports its progress, and makes errors readable."""

    def __init__(self, tools: Tools, proxies: tuple[Network, ...]) -> None:
        self.tools = tools
        self._proxies = proxies

    async def call(self, ctx: Ctx, kind: Kind, work: Callable[[Caller], Awaitable[Answer]]) -> CallToolResult:
        """Return what a tool answers."""
        updates: asyncio.Queue[str] = asyncio.Queue()
        caller = self.caller(ctx)
        telling = asyncio.create_task(_report_progress(ctx, updates))
        try:
            with self.tools.admitted(caller, kind):
                found = await work(caller._replace(report=updates.put_nowait))
            await updates.join()
        except Exception as error:  # noqa: BLE001  # a bug of ours must reach the client as an answer, too
            return _refusal(self._shown(error))
        finally:
            telling.cancel()
        return CallToolResult(content=[TextContent(type="text", text=found.text)], structured_content=found.document)

    def _shown(self, error: Exception) -> DebuggerError:
        """Return an error in the words of a tool: a page has fields where this has parameters and options."""
        settings = self.tools.settings
        if isinstance(error, NoServerError):
            return RequestError(error.message, "Give `endpoint`, or start this server with --endpoint URL.")
        known = as_debugger_error(error, logs_words=not settings.public)
        return as_visitors_see(known, settings) if settings.public else known

    def caller(self, ctx: Ctx) -> Caller:
        """Return who calls; over standard input there is one client."""
        request = ctx.request_context.request
        if request is None:
            return Caller()
        peer = None if request.client is None else request.client.host
        visitor = visitor_of(peer, request.headers.getlist("x-forwarded-for"), self._proxies)
        return Caller(request.headers.get("mcp-session-id", visitor), visitor)


async def _report_progress(ctx: Ctx, updates: asyncio.Queue[str]) -> None:
    """Pass on how far the work is: the number of steps so far, and a sentence."""
    count = 0
    while True:
        sentence = await updates.get()
        count += 1
        try:
            await ctx.report_progress(count, None, sentence)
        finally:
            updates.task_done()


def _refusal(error: DebuggerError) -> CallToolResult:
    text = f"{error.message} {error.hint}".strip()
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content={"error": error.to_json()}, is_error=True
    )


def _add_offline_tools(server: MCPServer[Any], runner: _ToolRunner) -> None:
    tools = runner.tools

    @server.tool(annotations=_READS)
    async def diagnose(
        text: Text,
        ctx: Ctx,
        request: Answered = "",
        prompt: Annotated[str, Field(description="The prompt that the model read, if it is known.")] = "",
    ) -> CallToolResult:
        """Start here with evidence at hand: was a tool call lost, altered or never written, where, and why?

        Reads an answer, a stream, a raw output, a log or an error, and asks no server. Returns the verdict, findings
        with fixes, and a handle. With a request and a server use `run`: it sees what the model really wrote.
        """
        return await runner.call(ctx, Kind.EDIT, lambda _: tools.diagnose(text, request, prompt))

    @server.tool(annotations=_READS)
    async def render(
        request: Body,
        ctx: Ctx,
        chat_template: Annotated[str, Field(description="Jinja source; overrides the tokenizer's own.")] = "",
        tokenizer: Annotated[
            str, Field(description="Folder or org/model[@revision]; default: the configured one.")
        ] = "",
    ) -> CallToolResult:
        """Show the prompt that a chat template makes of a request, and what is wrong with it, such as a double BOS."""
        return await runner.call(ctx, Kind.TEMPLATE, lambda _: tools.render(request, chat_template, tokenizer))

    @server.tool(annotations=_READS)
    async def parse(
        raw: Annotated[str, Field(description="What the model wrote, special tokens included.")],
        ctx: Ctx,
        message: Annotated[
            dict[str, Any] | None, Field(description="Assistant message that the server returned for it.")
        ] = None,
        tools_of_request: Requested = None,
        parsers: Parsers = None,
        prompt_tail: Annotated[str, Field(description="End of the prompt: was reasoning already open?")] = "",
        finish_reason: Annotated[str, Field(description="As the server reported it, such as stop or length.")] = "",
    ) -> CallToolResult:
        """List the tool calls in a raw output, and what became of each in the server's message or in named parsers."""
        case: JSONObject = {"raw": raw, "message": message, "prompt_tail": prompt_tail, "parsers": [*(parsers or [])]}
        case.update(tools=[*(tools_of_request or [])], finish_reason=finish_reason or None)
        return await runner.call(ctx, Kind.PARSERS if parsers else Kind.EDIT, lambda _: tools.parse(case))

    @server.tool(annotations=_READS)
    async def explain(
        code: Code, ctx: Ctx, handle: Annotated[str, Field(description="A result that contains the finding.")] = ""
    ) -> CallToolResult:
        """Explain a finding: what the rule finds, why it matters, examples, sources; with a handle, its evidence."""
        return await runner.call(ctx, Kind.CLICK, lambda _: tools.explain(code, handle))

    @server.tool(annotations=_READS)
    async def more(
        handle: Handle,
        ctx: Ctx,
        part: Part = "document",
        offset: Annotated[int, Field(description="Character to begin with.", ge=0)] = 0,
    ) -> CallToolResult:
        """Show a part of an earlier result, 8,000 characters at a time, such as a report for an issue."""
        return await runner.call(ctx, Kind.SHARE, lambda _: tools.more(handle, part, offset))

    if not tools.settings.public:  # there the operator's model is checked, on the page

        @server.tool(annotations=_READS)
        async def check(
            ctx: Ctx,
            model: Annotated[str, Field(description="Folder, org/model@revision, template file, or server URL.")] = "",
            chat_template: Annotated[
                str, Field(description="Jinja file or source; overrides the model's own; may be given without one.")
            ] = "",
            engine: Annotated[Engine, Field(description="Whose parsers; `all`: which engine should be used?")] = "vllm",
            release: Release = "",
            tool_parser: Annotated[str, Field(description="Check only this tool parser (faster).")] = "",
            reasoning_parser: Annotated[str, Field(description="Check only this reasoning parser (faster).")] = "",
        ) -> CallToolResult:
            """Check which parsers of vLLM, SGLang, mlx-lm or LMDeploy read what a model's template makes it write.

            Needs no weights and no server; takes one to two minutes with all parsers. Returns the command to start a
            server with, and what does not work.
            """
            wanted = ToCheck(model, chat_template, engine, release, tool_parser, reasoning_parser)
            return await runner.call(ctx, Kind.PARSERS, lambda caller: check_model(tools, caller, wanted))


def _add_server_tools(server: MCPServer[Any], runner: _ToolRunner) -> None:
    tools = runner.tools

    @server.tool(annotations=_ASKS)
    async def run(
        ctx: Ctx,
        request: Body = "",
        example: Example = "",
        endpoint: Endpoint = "",
        model: Annotated[str, Field(description="Model name to send; default: the request's own.")] = "",
        tokenizer: Annotated[str, Field(description="Folder or org/model[@revision] of the served model.")] = "",
        tool_parser: Annotated[str, Field(description="Only for the lab (no endpoint): vLLM's tool parser.")] = "",
        reasoning_parser: Annotated[str, Field(description="Only for the lab: vLLM's reasoning parser.")] = "",
    ) -> CallToolResult:
        """Start here with a request: run it on a server, compare what the model wrote with what the server returned.

        Returns the verdict (which calls were lost, at which stage, why), findings with fixes, and a handle. `try_fix`
        then tries the fix of a finding whose `change.can_try` is true.
        """
        where = Where(endpoint, model, tokenizer, tool_parser, reasoning_parser)
        return await runner.call(
            ctx, Kind.RUN, lambda caller: tools.run(caller, where, request=request, example=example)
        )

    @server.tool(annotations=_ASKS)
    async def try_fix(handle: RunHandle, code: Code, ctx: Ctx) -> CallToolResult:
        """Try the fix of a finding: run the request again with the change that it suggests, on the same server.

        Returns whether the finding is gone, what was changed, and a handle whose part `report` (see `more`) has
        the fault, the change and the result: for an issue.
        """
        return await runner.call(ctx, Kind.EXPERIMENT, lambda caller: tools.try_fix(caller, handle, code))

    @server.tool(annotations=_ASKS)
    async def shrink(
        handle: RunHandle,
        ctx: Ctx,
        code: Annotated[str, Field(description="Finding to keep; default: the first error.")] = "",
    ) -> CallToolResult:
        """Make the request of a run as small as possible while the finding stays: for a bug report."""
        return await runner.call(ctx, Kind.EXPERIMENT, lambda caller: tools.shrink(caller, handle, code))


def _add_resources(server: MCPServer[Any], runner: _ToolRunner) -> None:
    tools = runner.tools

    @server.resource("prompt-debugger://rules", mime_type="text/markdown")
    def rules() -> str:
        """List every rule with its code, severity and what it finds."""
        return index_page()

    @server.resource("prompt-debugger://rules/{code}", mime_type="text/markdown")
    def rule(code: str) -> str:
        """Explain one rule."""
        page = rule_pages().get(code.upper())
        if page is None:
            raise RequestError(f"There is no rule {code!r}.")
        return rule_page(page)

    @server.resource("prompt-debugger://runs/{handle}/{part}", mime_type="text/plain")
    async def saved(handle: str, part: str, ctx: Ctx) -> str:
        """Show a part of a kept run."""
        with tools.admitted(runner.caller(ctx), Kind.SHARE):
            return await in_thread(tools.kept.part, handle, part)

    @server.resource("prompt-debugger://parts", mime_type="application/json")
    def parts() -> str:
        """List the parts that a run has."""
        return json.dumps(["document", *PARTS])


_MAX_REASONS = 8
_VERDICTS = {
    "works": "works",
    "works-with-limits": "works, with limits",
    "unknown": "cannot be judged from what was given",
    "nothing-works": "no parser reads the notation that the template teaches",
}


async def check_model(tools: Tools, caller: Caller, wanted: ToCheck) -> Answer:
    """Say which engine and parsers to serve a model with, and what does not work."""
    own = tools.settings.target
    check_length(wanted.chat_template, tools.limits)
    with _template_file(wanted.chat_template) as template:
        check = await check_async(
            wanted.model or None,
            chat_template=template,
            tool_parser=wanted.tool_parser or None,
            reasoning_parser=wanted.reasoning_parser or None,
            engine=wanted.engine,
            release=wanted.release or None,
            api_key=own.api_key if wanted.model == own.base_url else None,
            on_progress=caller.report,
        )
    if template not in (None, wanted.chat_template):  # the client keeps the text, under this name if it is to serve it
        check = replace(check, model=replace(check.model, template_file=Path(template).name))
    return await in_thread(_answer, tools, check)


def _answer(tools: Tools, check: Check) -> Answer:
    document = check_to_json(check)
    handle = tools.kept.keep(Kept(lambda: document))
    lines = list(_engine_lines(check))
    reasons = check.recommendation.reasons
    lines += reasons[:_MAX_REASONS]
    lines += [f"… and {len(reasons) - _MAX_REASONS} more reasons."] if len(reasons) > _MAX_REASONS else []
    lines += [*finding_lines(check.findings), f'Kept as handle "{handle}": `more` shows every parser and answer.']
    found = finding_records(check.findings)
    fields = {name: document[name] for name in ("model", "release", "recommended")}
    engines: JSONObject = {kind: _engine_record(one) for kind, one in check.asked.items()}
    return answer(lines, {"handle": handle, **fields, "engines": engines, "findings": found})


def _engine_lines(check: Check) -> Iterator[str]:
    """Yield what each engine that was asked makes of the model, the one to take first."""
    commands = serve_commands(check)
    for kind, one in check.asked.items():
        verdict = _VERDICTS[one.recommendation.verdict]
        start = commands.get(kind)
        command = f" Start it with: {start.command}" if start and one.recommendation.name else ""
        yield f"{title_of(kind)} {one.release}: {verdict}.{command}"


def _engine_record(asked: Asked) -> JSONObject:
    chosen = asked.recommendation
    return {
        "release": asked.release,
        "verdict": chosen.verdict,
        "tool_parser": chosen.tool_parser,
        "reasoning_parser": chosen.reasoning_parser,
    }


@contextmanager
def _template_file(given: str) -> Iterator[str | None]:
    """Give the file of a template that is one, or is the text of one."""
    if "\n" not in given and "{{" not in given and "{%" not in given:
        yield given or None
        return
    with scratch("mcp") as folder:
        path = folder / "chat_template.jinja"
        path.write_text(given, encoding="utf-8")
        yield str(path)
