"""Switches that do not apply to a request, each with the reason, so that no one has to guess."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.experiments.switches.switch import Topic, messages_of
from prompt_debugger.core.tools.experiments.variant import Variant

_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class AbsentSwitch:
    """A switch that has nothing to change.

    Attributes:
        name: Its stable name.
        topic: What it is about.
        reason: Why it does not apply, without a capital and a full stop.
    """

    name: str
    topic: Topic
    reason: str


def explain_absent(
    variant: Variant, found: Iterable[str], *, has_other_template: bool = False
) -> Iterator[AbsentSwitch]:
    """Yield every named switch that was not found to apply, with the reason."""
    names = frozenset(found)
    for topic, reasons in _REASONS.items():
        for name, reason in reasons.items():
            if name not in names:
                yield AbsentSwitch(name, topic, reason(variant))
    if not any("=" in name or (name.startswith("without-") and name not in _FIXED) for name in names):
        yield AbsentSwitch("NAME=VALUE", Topic.KWARGS, "no variable of this template has an effect")
    if not has_other_template:
        yield AbsentSwitch("other-template", Topic.TEMPLATE, "no second version of the template is given")


def _continuing(variant: Variant) -> str:
    if variant.body.get("continue_final_message") is True:
        return "the last message is already left open"
    last: JSON = (messages_of(variant.body) or [None])[-1]
    role = last.get("role") if isinstance(last, dict) else None
    if role == "assistant":
        return "the last message has no content to continue"
    return f"the last message has the role `{role}`, not `assistant`" if role else "there is no last message"


def _explain_system(variant: Variant) -> str:
    roles = [one.get("role") for one in messages_of(variant.body) if isinstance(one, dict)]
    return "the request has a system message" if any(role in _ROLES for role in roles) else "it has no system message"


def _tools(otherwise: str) -> Callable[[Variant], str]:
    return lambda variant: otherwise if variant.body.get("tools") else "the request has no tools"


def _calls(otherwise: str) -> Callable[[Variant], str]:
    return lambda variant: otherwise if _has(variant.body, "tool_calls") else "the history has no tool calls"


def _reasoning(otherwise: str) -> Callable[[Variant], str]:
    def reason(variant: Variant) -> str:
        has_any = _has(variant.body, "reasoning") or _has(variant.body, "reasoning_content")
        return otherwise if has_any else "the history carries no reasoning"

    return reason


def _bos(variant: Variant) -> str:
    if variant.setup.tokenizer is None:
        return "there is no tokenizer"
    if not variant.setup.named_tokens.get("bos_token"):
        return "the tokenizer has no BOS"
    return "the tokenizer does not add BOS on its own"


def _always(reason: str) -> Callable[[Variant], str]:
    return lambda variant: reason


def _has(body: JSONObject, key: str) -> bool:
    return any(isinstance(message, dict) and message.get(key) for message in messages_of(body))


_REASONS: Mapping[Topic, Mapping[str, Callable[[Variant], str]]] = MappingProxyType(
    {
        Topic.ENDING: {
            "no-generation-prompt": _always("no assistant turn is opened now"),
            "generation-prompt": _always("an assistant turn is opened already"),
            "continue-final-message": _continuing,
        },
        Topic.SYSTEM: {"without-system": _explain_system, "empty-system": _explain_system},
        Topic.TOOLS: {
            "without-tools": _tools("there is nothing to leave out"),
            "tools-as-vllm": _tools("vLLM would write them in the same way"),
            "tools-sorted-keys": _tools("their keys are sorted"),
            "tools-sorted": _tools("they are sorted by name"),
            "tools-unwrapped": _tools("none of them has a wrapper"),
            "tools-wrapped": _tools("all of them have their wrapper"),
        },
        Topic.CONTENT: {
            "content-null": _always('no content is ""'),
            "content-empty": _always("no content is null"),
            "content-as-parts": _always("no content is a string"),
            "content-as-text": _always("no content is a list of text parts"),
            "content-trimmed": _always("no content starts or ends with whitespace"),
        },
        Topic.CALLS: {
            "arguments-as-object": _calls("no arguments are given as text of an object"),
            "arguments-as-text": _calls("no arguments are given as an object"),
            "ids-normalised": _calls("the call ids have that form"),
        },
        Topic.REASONING: {
            "without-reasoning": _reasoning("there is nothing to leave out"),
            "reasoning-as-reasoning_content": _reasoning("it is sent only under that name"),
            "reasoning-as-reasoning": _reasoning("it is sent only under that name"),
        },
        Topic.SERVER: {
            "as-vllm": _always("vLLM would change nothing"),
            "bos-in-front": _bos,
        },
    }
)
_FIXED = frozenset(name for reasons in _REASONS.values() for name in reasons)
