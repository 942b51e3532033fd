"""A script that renders or runs a conversation itself → the body of the same prompt.

What such a call is given becomes the body that a server would be sent for the same prompt: arguments that are the
template's are `chat_template_kwargs`.

    tok = AutoTokenizer.from_pretrained("m")    tok.apply_chat_template(messages, tools=…, enable_thinking=True)
    llm = LLM(model="m")                        llm.chat(messages, SamplingParams(max_tokens=64), tools=…)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.request.python_values import Unreadable, Values, dotted_name

_LOADERS: Final = ("from_pretrained", "LLM", "load", "pipeline")
_TEMPLATE: Final = ("conversation", "tools", "documents", "chat_template", "add_generation_prompt")
_CHAT: Final = ("messages", "sampling_params")
_OF_BODY: Final = frozenset(
    {
        "messages", "tools", "documents", "chat_template", "add_generation_prompt", "continue_final_message",
        "chat_template_kwargs", "chat_template_content_format", "mm_processor_kwargs",
    }
)  # fmt: skip
_OF_CALLER: Final = frozenset(
    {
        "tokenize", "padding", "truncation", "max_length", "return_tensors", "return_dict", "tokenizer_kwargs",
        "processor_kwargs", "return_assistant_tokens_mask", "use_tqdm", "lora_request", "load_audio_from_video",
        "video_load_backend", "num_frames", "video_fps", "sample_indices_fn",
    }
)  # fmt: skip


class LocalCall(NamedTuple):
    """What a call renders or runs.

    Attributes:
        body: The body that a server would be sent for it.
        remarks: What a reader has to know of it, each with the path of the field that it is about.
    """

    body: JSONObject
    remarks: tuple[tuple[str, str], ...]


class LocalModels:
    """The tokenizers and models that a snippet loads, by the names they were given."""

    def __init__(self) -> None:
        self._loads: dict[str, ast.Call] = {}

    def learn(self, statement: ast.stmt) -> None:
        """Remember what a statement gives a name, if it loads a model or its tokenizer."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if _is_load(call):
                self._loads[name] = call
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Call() as call) if _is_load(call):
                self._loads.update((element.id, call) for element in elements if isinstance(element, ast.Name))
            case _:
                pass

    def body(self, call: ast.Call, values: Values) -> LocalCall | None:
        """Return what a call renders or runs; `None` if it is another call.

        Raises:
            Unreadable: Its messages cannot be known without running the snippet.
        """
        if not isinstance(call.func, ast.Attribute):
            return None
        load = self._load_of(call.func.value)
        is_template = call.func.attr == "apply_chat_template"
        if not is_template and (call.func.attr != "chat" or load is None or _name_of(load) != "LLM"):
            return None
        arguments = dict(_arguments(call, _TEMPLATE if is_template else _CHAT))
        messages = arguments.pop("conversation", None) or arguments.pop("messages", None)
        if messages is None:
            return None
        return _call_of(messages, arguments, values, self._model(load, values), is_template=is_template)

    def _load_of(self, owner: ast.expr) -> ast.Call | None:
        if isinstance(owner, ast.Call):
            return owner if _is_load(owner) else None
        while isinstance(owner, ast.Attribute):  # as of `pipe.tokenizer`
            owner = owner.value
        return self._loads.get(owner.id) if isinstance(owner, ast.Name) else None

    def _model(self, load: ast.Call | None, values: Values) -> str | None:
        named = {} if load is None else {keyword.arg: keyword.value for keyword in load.keywords}
        is_pipeline = load is not None and _name_of(load) == "pipeline"
        node = named.get("model") or (load.args[0] if load is not None and load.args and not is_pipeline else None)
        try:
            model = None if node is None else values.value_of(node)
        except Unreadable:
            return None
        return model if isinstance(model, str) else None


def _call_of(
    messages: ast.expr, arguments: dict[str, ast.expr], values: Values, model: str | None, *, is_template: bool
) -> LocalCall:
    body: JSONObject = {} if model is None else {"model": model}
    found, remarks = values.value_of(messages), []
    if isinstance(found, list) and found and isinstance(found[0], list):
        remarks.append(("messages", f"Of {len(found)} conversations in one call the first one was read."))
        found = found[0]
    body["messages"] = found
    values.remember(body, "messages", messages)
    kwargs: JSONObject = {}
    for name, node in arguments.items():
        try:
            _add(body, kwargs if is_template else {}, name, node, values)
        except Unreadable as unreadable:
            if name not in _OF_CALLER:
                remarks.append((name, f"`{name}` is left out: {unreadable.message}"))
    if kwargs:
        body["chat_template_kwargs"] = {**kwargs, **as_object(body.get("chat_template_kwargs"))}
    if is_template and "add_generation_prompt" not in arguments:
        body["add_generation_prompt"] = False
        remarks.append(
            ("add_generation_prompt", "`apply_chat_template` adds no generation prompt unless it is asked to.")
        )
    if not is_template and body.get("max_tokens") is None:
        remarks.append(
            ("max_tokens", "Without `max_tokens`, `LLM.chat` ends after 16 tokens, a server at the end of its context.")
        )
    return LocalCall(body, tuple(remarks))


def _add(body: JSONObject, kwargs: JSONObject, name: str, node: ast.expr, values: Values) -> None:
    """Add an argument to the body, or to what the template reads.

    Raises:
        Unreadable: Its value cannot be known without running the snippet.
    """
    value = values.value_of(node)
    if name == "sampling_params":
        body.update(as_object(value))
    elif name in _OF_BODY and value is not None:
        body[name] = value
        values.remember(body, name, node)
    elif name not in _OF_CALLER and name not in _OF_BODY:
        kwargs[name] = value
        values.remember(kwargs, name, node)


def _arguments(call: ast.Call, names: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    yield from zip(names, call.args, strict=False)
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value


def _is_load(call: ast.Call) -> bool:
    return _name_of(call) in _LOADERS


def _name_of(call: ast.Call) -> str:
    return dotted_name(call.func).rpartition(".")[2]
