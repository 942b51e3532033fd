# ruff: noqa: ANN401 - the objects of vLLM are untyped
"""One parser on one output, through the chat server's own code, for releases without the unified layer.

Each of those releases joined its two parser interfaces in the server, and each
a little differently: what `tools_called` without a call means, when content is
`None`, when `finish_reason` is rewritten. So nothing is copied here: the
release's own `OpenAIServingChat` is made without an engine, its two generators
are fed results as an engine would give them, and what they return is read.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from vllm.outputs import CompletionOutput, RequestOutput

from prompt_debugger.core.parse.engines.vllm_worker import release
from prompt_debugger.core.parse.engines.vllm_worker.harmony import PARSERS
from prompt_debugger.core.parse.engines.vllm_worker.message import GrowingMessage, Message
from prompt_debugger.core.parse.engines.vllm_worker.piece import Piece
from prompt_debugger.core.parse.engines.vllm_worker.runs import Setting

# What the server's constructor would set, over all releases; an engine and a model are what it lacks.
_SERVER: dict[str, Any] = {
    "response_role": "assistant", "enable_auto_tools": True, "tool_call_id_type": "random", "request_logger": None,
    "enable_log_outputs": False, "enable_log_deltas": False, "enable_prompt_tokens_details": False,
    "enable_force_include_usage": False, "return_tokens_as_token_ids": False, "log_error_stack": False,
    "model_config": None, "models": None, "system_fingerprint": None, "default_chat_template_kwargs": {},
}  # fmt: skip
_CHAT_SERVER: Any = release.chat_server()


class ParserClasses(NamedTuple):
    """The two legacy parsers of a server, by class and name."""

    tool: Any
    reasoning: Any
    tool_name: str | None
    reasoning_name: str | None


def effective_kwargs(request: Any, given: dict[str, Any] | None) -> dict[str, Any]:
    """Return the template kwargs that the server would pass to the parser."""
    return given if given is not None else dict(request.chat_template_kwargs or {})


@functools.lru_cache(maxsize=256)
def compose(tool: str | None, reasoning: str | None) -> ParserClasses:
    """Return the classes that the server would use for these two parser names."""
    return ParserClasses(
        None if tool is None else release.tool_registry().get_tool_parser(tool),
        None if reasoning is None else release.reasoning_registry().get_reasoning_parser(reasoning),
        tool,
        reasoning,
    )


def new_parser(setting: Setting) -> tuple[Any, Any]:
    """Return fresh parsers; raises if they refuse the tokenizer."""
    classes: ParserClasses = setting.parser_class
    tool = None if classes.tool is None else _new_tool_parser(setting)
    return tool, None if classes.reasoning is None else _new_reasoning_parser(setting)


def adjust(setting: Setting) -> Any:
    """Return the request as the parsers want it; they may ask that special tokens be kept."""
    classes: ParserClasses = setting.parser_class
    request = setting.request
    if hasattr(classes.reasoning, "adjust_request"):
        request = _new_reasoning_parser(setting).adjust_request(request=request)
    if classes.tool is not None and request.tool_choice != "none":
        request = _new_tool_parser(setting).adjust_request(request=request)
    return request


def parse_whole(setting: Setting, pieces: Sequence[Piece]) -> Message:
    """Let the server make its message of the whole output."""
    message = Message()
    server = _build_server(setting, message)
    text, ids = "".join(piece.text for piece in pieces), [piece.id for piece in pieces]
    results = _results(setting, [(text, ids)])
    response = _run(_call(server.chat_completion_full_generator, setting, results))
    if not hasattr(response, "choices"):
        raise RuntimeError(f"the server answers with an error: {_error_text(response.model_dump())}")
    choice = response.choices[0].model_dump()
    made = choice["message"]
    message.reasoning = made.get("reasoning") or made.get("reasoning_content")
    message.content = made.get("content")
    message.calls = [{"id": call.get("id"), **_function(call)} for call in made.get("tool_calls") or []]
    message.finish_reason = choice["finish_reason"]
    return message


def parse_deltas(
    setting: Setting,
    pieces: Sequence[Piece],
    ends: Sequence[int],
    watch: Callable[[int, GrowingMessage], None] | None = None,
) -> Message:
    """Let the server stream the output in deltas that end after so many pieces each, and assemble what comes."""
    server = _build_server(setting, Message())
    parts = [pieces[start:end] for start, end in zip((0, *ends), ends, strict=False)]
    fed: list[int] = []
    results = _results(setting, [("".join(p.text for p in part), [p.id for p in part]) for part in parts], fed)
    growing = GrowingMessage()
    for chunk in _events(_call(server.chat_completion_stream_generator, setting, results)):
        if "error" in chunk:
            raise RuntimeError(f"the server breaks off with an error: {_error_text(chunk)}")
        for choice in chunk.get("choices", ()):
            growing.add(_delta(choice["delta"]), first_only=False)
        if watch is not None and fed:
            watch(fed[-1], growing)
    return growing.message()


def finish_reason(setting: Setting, message: Message, sampled: str | None) -> str | None:
    """Return the whole answer's finish reason as the server rewrote the sampler's; `None` if it cannot be known."""
    return sampled if message.finish_reason == (setting.sampled or "stop") else message.finish_reason


def _build_server(setting: Setting, message: Message) -> Any:
    classes: ParserClasses = setting.parser_class
    server = object.__new__(_CHAT_SERVER.OpenAIServingChat)
    is_harmony = not PARSERS.isdisjoint((classes.tool_name, classes.reasoning_name))
    server.__dict__.update(_SERVER, use_harmony=is_harmony, parser_cls=None)
    server.tool_parser = None if classes.tool is None else _watched(classes.tool, message)
    server.reasoning_parser = server.reasoning_parser_cls = classes.reasoning
    manager: Any = getattr(_CHAT_SERVER, "ParserManager", None)
    if hasattr(manager, "get_parser"):  # releases that already streamed through the unified layer
        names = {"tool_parser_name": classes.tool_name, "reasoning_parser_name": classes.reasoning_name}
        server.parser_cls = manager.get_parser(**names, enable_auto_tools=True)
    return server


def _watched(tool_class: Any, message: Message) -> Any:
    """Return the parser class, made to note what it says about having found calls."""

    def extract_tool_calls(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = tool_class.extract_tool_calls(self, *args, **kwargs)
        message.tools_called = bool(found.tools_called)
        return found

    return type(tool_class.__name__, (tool_class,), {"extract_tool_calls": extract_tool_calls})


def _new_tool_parser(setting: Setting) -> Any:
    made = setting.parser_class.tool
    takes_tools = "tools" in inspect.signature(made.__init__).parameters
    return made(setting.tokenizer, setting.request.tools) if takes_tools else made(setting.tokenizer)


def _new_reasoning_parser(setting: Setting) -> Any:
    made = setting.parser_class.reasoning
    kinds = inspect.signature(made.__init__).parameters.values()
    takes_kwargs = any(one.kind is one.VAR_KEYWORD or one.name == "chat_template_kwargs" for one in kinds)
    more = {"chat_template_kwargs": setting.template_kwargs} if takes_kwargs else {}
    return made(setting.tokenizer, **more)


def _call(method: Any, setting: Setting, results: AsyncIterator[Any]) -> Any:
    """Call one of the server's generators with those arguments that this release has."""
    wants_parser = setting.parser_class.reasoning is not None
    known: dict[str, Any] = {
        "request": setting.request, "result_generator": results, "request_id": "chatcmpl-0", "model_name": "model",
        "conversation": [], "tokenizer": setting.tokenizer, "request_metadata": SimpleNamespace(),
        "enable_force_include_usage": False, "chat_template_kwargs": setting.template_kwargs,
    }  # fmt: skip
    taken = inspect.signature(method).parameters
    if "reasoning_parser" in taken:
        known["reasoning_parser"] = _new_reasoning_parser(setting) if wants_parser else None
    return method(**{name: value for name, value in known.items() if name in taken})


async def _results(
    setting: Setting, parts: Sequence[tuple[str, list[int]]], fed: list[int] | None = None
) -> AsyncIterator[Any]:
    """Yield what an engine would: each part once, the last with a finish reason; `fed` gets their numbers."""
    for index, (text, ids) in enumerate(parts):
        if fed is not None:
            fed.append(index)
        is_last = index == len(parts) - 1
        output = CompletionOutput(
            index=0,
            text=text,
            token_ids=ids,
            cumulative_logprob=None,
            logprobs=None,
            finish_reason=(setting.sampled or "stop") if is_last else None,
        )
        yield RequestOutput(
            request_id="chatcmpl-0",
            prompt=None,
            prompt_token_ids=list(setting.prompt_ids or ()),
            prompt_logprobs=None,
            outputs=[output],
            finished=is_last,
        )


def _events(stream: Any) -> Iterator[dict[str, Any]]:
    """Yield what a server-sent event stream carries."""
    while True:
        try:
            event = str(_run(stream.__anext__()))
        except StopAsyncIteration:
            return
        if event.startswith("data: {"):
            yield json.loads(event.removeprefix("data: "))


def _run(step: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits."""
    try:
        step.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the server's code waits for something that only a running server provides")


def _delta(delta: dict[str, Any]) -> Any:
    calls = [
        SimpleNamespace(index=call.get("index", 0), id=call.get("id"), function=call.get("function"))
        for call in delta.get("tool_calls") or ()
    ]
    reasoning = delta.get("reasoning") or delta.get("reasoning_content")
    return SimpleNamespace(content=delta.get("content"), reasoning=reasoning, tool_calls=calls)


def _function(call: dict[str, Any]) -> dict[str, str | None]:
    function = call.get("function") or {}
    return {"name": function.get("name"), "arguments": function.get("arguments")}


def _error_text(answer: dict[str, Any]) -> str:
    error = answer.get("error") or answer
    return str(error.get("message") if isinstance(error, dict) else error)[:300]
