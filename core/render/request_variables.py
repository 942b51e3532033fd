"""Request body -> template variables, by the precedence that vLLM uses.

Lowest to highest: the server's default kwargs, the request's tools, `chat_template_kwargs`,
then top-level `add_generation_prompt`, `continue_final_message`, `documents`,
`reasoning_effort` and the `enable_thinking` derived from it. Messages and tools
stay exactly as they were pasted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.render.job import Variable

# Parameters of the reference library's `apply_chat_template`: they never become template variables.
NOT_VARIABLES = frozenset(
    {
        "chat_template",
        "continue_final_message",
        "max_length",
        "padding",
        "return_assistant_tokens_mask",
        "return_dict",
        "return_tensors",
        "tokenize",
        "tokenizer_kwargs",
        "truncation",
    }
)
_CLASHING = ("messages", "conversation", "conversations")
REQUEST_KWARGS = "chat_template_kwargs"
_SERVER_DEFAULTS = "template_kwargs"


class Variables(NamedTuple):
    """What reaches a template.

    Attributes:
        variables: All of it, `messages` among them.
        continue_final_message: Whether the prompt ends inside the last message.
    """

    variables: tuple[Variable, ...]
    continue_final_message: bool

    def effective_kwargs(self) -> dict[str, JSON]:
        """Return the variables besides messages and tools."""
        shown = {one.name: one.value for one in self.variables if one.name not in ("messages", "tools")}
        if shown.get("documents", 0) is None:
            del shown["documents"]
        return shown

    def generating(self) -> Variables:
        """Return the same with the assistant turn opened at the end."""
        switched = (replace(one, value=True) if one.name == "add_generation_prompt" else one for one in self.variables)
        return self._replace(variables=tuple(switched))


def read_variables(
    body: JSONObject,
    *,
    special_tokens: Mapping[str, str],
    template_kwargs: Mapping[str, JSON],
    add_generation_prompt: bool | None,
) -> Variables:
    """Return the template variables of a request.

    Args:
        body: The request as pasted.
        special_tokens: Named special tokens of the tokenizer.
        template_kwargs: Defaults of the server.
        add_generation_prompt: Overrides the request.

    Raises:
        RenderError: There are no messages, or switches contradict each other.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RenderError("The request has no messages to render.", "Give `messages` at least one message.")
    found: dict[str, Variable] = {name: Variable(name, text) for name, text in special_tokens.items()}
    _overlay(found, template_kwargs, _SERVER_DEFAULTS)
    if isinstance(body.get("tools"), list):
        found["tools"] = Variable("tools", body["tools"], ("tools",))
    kwargs = body.get(REQUEST_KWARGS)
    if isinstance(kwargs, dict):
        _overlay(found, kwargs, REQUEST_KWARGS)
    _overlay_top_level(found, body, kwargs if isinstance(kwargs, dict) else {})
    continues, generates = _endings(body, add_generation_prompt=add_generation_prompt)
    root = ("add_generation_prompt",) if "add_generation_prompt" in body else ()
    found["add_generation_prompt"] = Variable("add_generation_prompt", generates, root)
    found["messages"] = Variable("messages", messages, ("messages",))
    for name in ("tools", "documents"):
        found.setdefault(name, Variable(name, None))
    return Variables(tuple(found.values()), continues)


def _overlay(found: dict[str, Variable], kwargs: Mapping[str, JSON], root: str) -> None:
    for name, value in kwargs.items():
        if name in _CLASHING:
            raise RenderError(f"`{root}.{name}` clashes with the request's messages.", "Remove it.")
        # A server's own defaults count as they are, even null: only the request's values can be "unset".
        if name not in NOT_VARIABLES and (root == _SERVER_DEFAULTS or not is_unset(value)):
            found[name] = Variable(name, value, (root, name))


def _overlay_top_level(found: dict[str, Variable], body: JSONObject, kwargs: Mapping[str, JSON]) -> None:
    for name in ("documents", "reasoning_effort"):
        if not is_unset(body.get(name)):
            found[name] = Variable(name, body[name], (name,))
    effort = body.get("reasoning_effort")
    if effort is not None and "enable_thinking" not in kwargs:
        found["enable_thinking"] = Variable("enable_thinking", effort != "none", ("reasoning_effort",))


def is_unset(value: JSON) -> bool:  # any JSON
    """Return whether vLLM takes a value of the request for none at all."""
    return value is None or value == "auto"


def _endings(body: JSONObject, *, add_generation_prompt: bool | None) -> tuple[bool, bool]:
    """Return whether the prompt continues the last message, and whether it opens an assistant turn."""
    continues = body.get("continue_final_message") is True
    asked = body.get("add_generation_prompt") if add_generation_prompt is None else add_generation_prompt
    generates = asked if isinstance(asked, bool) else not continues
    if continues and generates:
        hint = "Set one of them to false."
        raise RenderError("`continue_final_message` and `add_generation_prompt` exclude each other.", hint)
    return continues, generates
