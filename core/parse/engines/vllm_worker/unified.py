# ruff: noqa: ANN401 - the objects of vLLM and transformers are untyped
"""One parser on one output, whole or in deltas, through vLLM's unified layer, as the server runs it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from vllm.parser import ParserManager

from prompt_debugger.core.parse.engines.vllm_worker.harmony import PARSERS
from prompt_debugger.core.parse.engines.vllm_worker.message import GrowingMessage, Message
from prompt_debugger.core.parse.engines.vllm_worker.piece import Piece
from prompt_debugger.core.parse.engines.vllm_worker.runs import Setting, is_forced

_COMPOSED = ("tool_parser_cls", "reasoning_parser_cls", "tool_strict_level")


def effective_kwargs(request: Any, given: dict[str, Any] | None) -> dict[str, Any]:
    """Return the template kwargs that the server would tell the parser."""
    if given is not None:
        return given
    kwargs: dict[str, Any] = request.build_chat_params(None, "auto").chat_template_kwargs
    return kwargs


@functools.lru_cache(maxsize=256)
def compose(tool: str | None, reasoning: str | None) -> Any:
    """Return the class that the server would use for these two parser names."""
    is_harmony = not PARSERS.isdisjoint((tool, reasoning))
    more = {"is_harmony": is_harmony} if _takes(ParserManager.get_parser, "is_harmony") else {}  # 0.23 has none
    made = ParserManager.get_parser(
        tool_parser_name=tool, reasoning_parser_name=reasoning, enable_auto_tools=True, **more
    )
    if made is None or not is_harmony:
        return made
    # There is one class for harmony, whose parsers the next call replaces: a subclass keeps them.
    return type(made.__name__, (made,), {name: getattr(made, name) for name in _COMPOSED if hasattr(made, name)})


def new_parser(setting: Setting) -> Any:
    """Return a fresh parser; one serves one output."""
    return setting.parser_class(
        setting.tokenizer, setting.request.tools, chat_template_kwargs=setting.template_kwargs, model_config=None
    )


def adjust(setting: Setting) -> Any:
    """Return the request as the parser wants it; it may ask that special tokens be kept."""
    cls = setting.parser_class
    if (
        getattr(cls, "always_adjust_request", False)
        or cls.reasoning_parser_cls is not None
        or setting.request.tool_choice != "none"
    ):
        return new_parser(setting).adjust_request(setting.request)
    return setting.request


def parse_whole(setting: Setting, pieces: Sequence[Piece]) -> Message:
    """Parse the output at once, and put the message together as the server does."""
    parser, request = new_parser(setting), setting.request
    if setting.prompt_ids is not None and hasattr(parser, "set_prompt_token_ids"):  # 0.26 has none
        parser.set_prompt_token_ids(list(setting.prompt_ids))
    text, ids = "".join(piece.text for piece in pieces), [piece.id for piece in pieces]
    more = {"model_output_token_ids": ids} if _takes(parser.parse, "model_output_token_ids") else {}  # 0.23 has none
    reasoning, content, calls = parser.parse(text, request, enable_auto_tools=True, **more)
    message = Message(reasoning if request.include_reasoning else None, content)
    if may_call(setting):
        made = list(calls or [])[: 1 if request.parallel_tool_calls is False else None]
        message.calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in made]
        if is_forced(request):
            message.content = content or ""
    return message


def parse_deltas(
    setting: Setting,
    pieces: Sequence[Piece],
    ends: Sequence[int],
    watch: Callable[[int, GrowingMessage], None] | None = None,
) -> Message:
    """Parse the output in deltas that end after so many pieces each, and assemble what comes."""
    parser, request = new_parser(setting), setting.request
    prompt_ids = list(setting.prompt_ids or ())
    growing = GrowingMessage()
    start = 0
    for index, end in enumerate(ends):
        part = pieces[start:end]
        delta = parser.parse_delta(
            "".join(piece.text for piece in part),
            [piece.id for piece in part],
            request,
            prompt_token_ids=prompt_ids,
            finished=end == ends[-1],
        )
        start = end
        if delta is not None:
            growing.add(delta, first_only=request.parallel_tool_calls is False)
        if watch is not None:
            watch(index, growing)
    return growing.message()


def _takes(function: Callable[..., Any], name: str) -> bool:
    return name in inspect.signature(function).parameters


def may_call(setting: Setting) -> bool:
    """Return whether the server would put tool calls into its message at all."""
    if is_forced(setting.request):
        return True
    return setting.parser_class.tool_parser_cls is not None and setting.request.tool_choice not in (None, "none")


def finish_reason(setting: Setting, message: Message, sampled: str | None) -> str | None:
    """Return the whole answer's finish reason as the server rewrites the sampler's; `None` if it cannot be known."""
    request = setting.request
    if message.calls and not is_forced(request):
        return "tool_calls"
    if request.tool_choice == "required" and sampled == "stop":
        return "tool_calls"
    return sampled
