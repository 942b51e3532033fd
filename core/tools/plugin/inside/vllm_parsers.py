# ruff: noqa: ANN401 - the objects of vLLM are untyped
"""The two classes that vLLM asks for, over the streams; releases 0.11 to 0.32.

What differs between releases is asked for, never derived from a version: where the value types
lie, how a field is called, whether a parser learns of the end of a stream. Nothing here
raises: a parser that does costs the whole answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import FORMATS, TABLES
from prompt_debugger.core.parse.reasoning import reasoning_is_open
from prompt_debugger.core.tools.plugin.inside.call_stream import CallStream
from prompt_debugger.core.tools.plugin.inside.deltas import Delta, Whole
from prompt_debugger.core.tools.plugin.inside.ends import end_ids, end_texts, ends_here
from prompt_debugger.core.tools.plugin.inside.reasoning_stream import ReasoningStream
from prompt_debugger.core.tools.plugin.inside.server_frame import ServerCall, server_call, takes_content_of_calls_alone
from prompt_debugger.core.tools.plugin.inside.vllm_release import (
    KNOWS_THE_END,
    REASONING,
    TOOLS,
    TYPES,
    add_reasoning,
    calls_in_history,
    message_of,
    safely,
    special_texts,
    template_tail,
    tools_of,
    wants_calls,
)
from prompt_debugger.core.tools.plugin.inside.whole import family_of_prompt, split_whole

_TAIL_TOKENS = 64


class Setting:
    """What the file that was written decides, and what the server runs."""

    family = "auto"
    has_reasoning_parser = False


class PluginToolParser(TOOLS.ToolParser):  # type: ignore[misc]  # vLLM is not read by mypy
    """Reads tool calls with Prompt Debugger's readers."""

    engine_based_streaming = True
    structural_tag_model: str | None = None

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self._special_texts = special_texts(tokenizer)
        self._ends = end_ids(tokenizer, end_texts(Setting.family))
        self._stream: CallStream | None = None
        self._text = ""

    def adjust_request(self, request: Any) -> Any:
        """Keep special tokens in the output: the markers of calls are among them."""
        request = super().adjust_request(request)
        if wants_calls(request) and hasattr(request, "skip_special_tokens"):
            request.skip_special_tokens = False
        return request

    @safely(lambda self, model_output, request: _no_calls(model_output))
    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """Read a whole output."""
        if not wants_calls(request):
            return _no_calls(model_output)
        stream, whole = self._new_stream(request), Whole()
        whole.add(stream.feed(model_output))
        whole.add(stream.finish())
        if not whole.calls:
            content = whole.content or model_output
            reports_calls = content != model_output and takes_content_of_calls_alone()
            return TYPES.ExtractedToolCallInformation(
                tools_called=reports_calls, tool_calls=[], content=content or None
            )
        calls = [
            TYPES.ToolCall(
                id=one.id, type="function", function=TYPES.FunctionCall(name=one.name, arguments=one.arguments)
            )
            for one in whole.calls.values()
        ]
        self._note(whole.calls.values())
        return TYPES.ExtractedToolCallInformation(tools_called=True, tool_calls=calls, content=whole.content or None)

    @safely(lambda self, previous_text, current_text, delta_text, *rest: TYPES.DeltaMessage(content=delta_text))
    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        """Read the next piece of an output."""
        if not wants_calls(request):
            return TYPES.DeltaMessage(content=delta_text) if delta_text else None
        if KNOWS_THE_END:
            self._stream = self._stream or self._new_stream(request)
            return self._as_delta_message(self._stream.feed(delta_text))
        server = server_call()
        if previous_text != self._text:
            self._stream = None  # one parser for several choices: begin again from this one's text
        if self._stream is None:
            self._stream = self._new_stream(request, is_patient=server is not None)
            self._stream.feed(previous_text)
        self._text = current_text
        is_last = server.is_last if server else ends_here(self._ends, request, current_token_ids, delta_token_ids)
        delta = self._stream.feed(delta_text)
        if is_last:
            delta += self._stream.finish()
        reasoning = getattr(server, "reasoning_parser", None)
        if isinstance(reasoning, PluginReasoningParser) and delta_token_ids is reasoning.content_ids:
            delta += Delta(reasoning=reasoning.last_reasoning)  # this server forgets what was before the closing tag
        return self._as_delta_message(delta)

    @safely(lambda self: None)
    def finish_streaming(self) -> Any:
        """Give out what was held back; releases from 0.24 on say when the output ends."""
        return None if self._stream is None else self._as_delta_message(self._stream.finish())

    def read_rest(self, text: str, request: Any) -> Any:
        """Read a text that is all there is of an output, behind reasoning that a stream ended with."""
        if not wants_calls(request):
            return TYPES.DeltaMessage(content=text or None)
        self._stream, self._text = self._new_stream(request), text
        return self._as_delta_message(self._stream.feed(text) + self._stream.finish())

    def _new_stream(self, request: Any, *, is_patient: bool = True) -> CallStream:
        return CallStream(
            Setting.family,
            ReadContext(tools=tools_of(request), special_texts=self._special_texts),
            splits_reasoning=Setting.has_reasoning_parser,
            calls_before=calls_in_history(request),
            is_patient=is_patient,
        )

    def _as_delta_message(self, delta: Delta) -> Any:
        for piece in delta.calls:
            if piece.index == len(self.prev_tool_call_arr):
                self.prev_tool_call_arr.append({"name": piece.name, "arguments": ""})
                self.streamed_args_for_tool.append("")
            self.streamed_args_for_tool[piece.index] += piece.arguments
            self.prev_tool_call_arr[piece.index]["arguments"] = self.streamed_args_for_tool[piece.index]
        self.current_tool_id = len(self.prev_tool_call_arr) - 1
        return message_of(delta)

    def _note(self, calls: Iterable[Any]) -> None:
        self.prev_tool_call_arr = [{"name": one.name, "arguments": one.arguments} for one in calls]
        self.streamed_args_for_tool = [one.arguments for one in calls]


class PluginReasoningParser(REASONING.ReasoningParser):  # type: ignore[misc]  # as above
    """Splits reasoning with Prompt Debugger's readers."""

    engine_based_streaming = True

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        Setting.has_reasoning_parser = True
        self.model_tokenizer = tokenizer
        self._special_texts = special_texts(tokenizer)
        self._ends = end_ids(tokenizer, end_texts(Setting.family))
        self._tail = template_tail(tokenizer, kwargs.get("chat_template_kwargs"))
        self._family = family_of_prompt(self._tail, Setting.family)
        self._stream: ReasoningStream | None = None
        self._text = ""
        self._has_given_all = False
        self.content_ids: list[int] | None = None
        self.last_reasoning = ""

    @property
    def reasoning_start_str(self) -> str | None:
        """The usual opener."""
        tags = self._family.conventions.reasoning
        return None if tags is None else tags.openers[0]

    @property
    def reasoning_end_str(self) -> str | None:
        """The usual closer."""
        tags = self._family.conventions.reasoning
        return None if tags is None else tags.closers[0]

    def adjust_request(self, request: Any) -> Any:
        """Keep special tokens in the output where the tags are among them."""
        tags = self._family.conventions.reasoning
        if tags is not None and self._special_texts & {*tags.openers, *tags.closers}:
            request.skip_special_tokens = False
        return request

    @safely(lambda self, input_ids: True)
    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Return whether reasoning is over after these tokens: a prompt's, or an output's as far as it has come.

        0.11 asks of both after each delta, and drops the text after the reasoning where both are said to have ended.
        """
        if self._stream is not None:
            is_asked_twice = (server := server_call()) is not None and server.prompt_ids is input_ids
            return self._stream.has_ended and not self._has_given_all and not is_asked_twice
        if self._family.conventions.reasoning is None:
            return True
        self._take_prompt(input_ids)
        return self._is_open() is False

    @safely(lambda self, input_ids, delta_ids: False)
    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        """Return whether reasoning is over after these tokens of an output."""
        if self._stream is not None:
            return self._stream.has_ended
        tags = self._family.conventions.reasoning
        ids = list(input_ids)[-(8 + len(list(delta_ids))) :]
        text = self.model_tokenizer.decode(ids, skip_special_tokens=False)
        return tags is None or any(closer.strip() in text for closer in tags.closers)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Return whether the text so far ends reasoning."""
        return self._stream is not None and self._stream.has_ended

    @safely(lambda self, input_ids: list(input_ids))
    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """Return the tokens after the last closing tag."""
        self.content_ids = self._ids_after_closer(input_ids)
        return self.content_ids

    def _ids_after_closer(self, input_ids: list[int]) -> list[int]:
        closer = (self.reasoning_end_str or "").strip()
        for start in range(len(input_ids), 0, -1):
            if closer and closer in self.model_tokenizer.decode(input_ids[start - 1 :], skip_special_tokens=False):
                return self._after(input_ids, start - 1, closer)
        return list(input_ids)

    @safely(lambda self, model_output, request: (None, model_output))
    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """Split a whole output."""
        tail = template_tail(self.model_tokenizer, getattr(request, "chat_template_kwargs", None)) or self._tail
        context = ReadContext(tools=tools_of(request), prompt_tail=tail, special_texts=self._special_texts)
        reasoning, rest, reading = split_whole(model_output, Setting.family, context)
        content = rest if wants_calls(request) or reading.calls else reading.content
        return reasoning or None, content or None

    def extract_reasoning_content(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """Do the same, under the name of earlier releases."""
        return self.extract_reasoning(model_output, request)  # type: ignore[no-any-return]  # untyped by `safely`

    @safely(lambda self, previous_text, current_text, delta_text, *rest: TYPES.DeltaMessage(content=delta_text))
    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> Any:
        """Split the next piece of an output."""
        if KNOWS_THE_END:
            self._stream = self._stream or self._new_stream()
            return message_of(self._stream.feed(delta_text))
        server = server_call()
        if self._stream is None or previous_text != self._text:
            self._take_prompt(server.prompt_ids if server else ())
            self._stream = self._new_stream()
            self._stream.feed(previous_text)
        self._text = current_text
        delta = self._stream.feed(delta_text)
        if server is None:
            is_last = ends_here(self._ends, None, current_token_ids, delta_token_ids)
            return message_of(delta + self._end() if is_last else delta)
        if server.is_last:
            delta += self._stream.finish()
            if not server.hands_on:
                return self._all(delta, server)
        self.last_reasoning = delta.reasoning
        return message_of(delta)

    def _take_prompt(self, ids: Sequence[int]) -> None:
        if ids:
            self._tail = self.model_tokenizer.decode(list(ids)[-_TAIL_TOKENS:], skip_special_tokens=False)

    def _all(self, delta: Delta, server: ServerCall) -> Any:
        """Return the last message of a stream, calls and all: its server asks no other parser in this step."""
        self._has_given_all = True
        if not isinstance(server.tool_parser, PluginToolParser):
            return message_of(delta)
        message = server.tool_parser.read_rest(delta.content, server.request)
        return add_reasoning(message, delta.reasoning)

    def extract_reasoning_content_streaming(self, *args: Any, **kwargs: Any) -> Any:
        """Do the same, under the name of earlier releases."""
        return self.extract_reasoning_streaming(*args, **kwargs)

    @safely(lambda self: None)
    def finish_streaming(self) -> Any:
        """Give out what was held back; what begins with a call is read as calls."""
        return None if self._stream is None or self._stream.has_ended else message_of(self._end())

    def _end(self) -> Delta:
        assert self._stream is not None
        rest = self._stream.finish()
        calls = CallStream(Setting.family, ReadContext(special_texts=self._special_texts))
        return Delta(reasoning=rest.reasoning) + calls.feed(rest.content) + calls.finish()

    def _new_stream(self) -> ReasoningStream:
        if Setting.family in FORMATS:
            return ReasoningStream(self._family, is_open=self._is_open())
        return ReasoningStream(
            self._family, is_open=self._is_open(), call_markers=TABLES.call_markers, unseen=TABLES.unseen
        )

    def _is_open(self) -> bool | None:
        tags = self._family.conventions.reasoning
        return None if tags is None else reasoning_is_open(self._tail, tags, self._family.conventions.turn_texts)

    def _after(self, ids: list[int], start: int, closer: str) -> list[int]:
        stop = next(
            stop
            for stop in range(start + 1, len(ids) + 1)
            if closer in self.model_tokenizer.decode(ids[start:stop], skip_special_tokens=False)
        )
        return list(ids[stop:])


def _no_calls(text: str) -> Any:
    return TYPES.ExtractedToolCallInformation(tools_called=False, tool_calls=[], content=text or None)


def register(name: str, family: str) -> None:
    """Make both parsers known to this server."""
    Setting.family = family
    PluginToolParser.structural_tag_model = _structural_tag(family)
    if PluginToolParser.structural_tag_model is not None:
        PluginToolParser.supports_required_and_named = False
    TOOLS.ToolParserManager.register_module(name, module=PluginToolParser)
    REASONING.ReasoningParserManager.register_module(name, module=PluginReasoningParser)


def _structural_tag(family: str) -> str | None:
    """Return the grammar with which this vLLM constrains the family's calls, where its own parser has one."""
    known = FORMATS.get(family)
    if known is None or not known.facts.grammars or not hasattr(TOOLS.ToolParser, "get_structural_tag"):
        return None
    try:
        own = TOOLS.ToolParserManager.get_tool_parser(known.facts.grammars[0].parser)
    except Exception:  # noqa: BLE001 - a release without that parser says so in its own way
        return None
    tag = getattr(own, "structural_tag_model", None)
    return tag if isinstance(tag, str) else None
