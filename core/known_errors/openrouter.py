"""What OpenRouter says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "OpenRouter"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "No endpoints found that support tool use.",
        Stage.REQUEST,
        "No provider of that model supports tools.",
        "Choose a model that is listed with tools, or send the request without `tools`.",
        "https://github.com/evalstate/fast-agent/issues/122",
        field="tools",
        cause=Cause.SETTING,
    ),
    KnownError(
        "No endpoints found that can handle the requested parameters.",
        Stage.REQUEST,
        "With these fields and filters, no provider is left.",
        "Remove `require_parameters`, or the field that no provider supports.",
        "https://github.com/block/buzz/issues/3018",
        field="provider",
        cause=Cause.SETTING,
    ),
    KnownError(
        "No endpoints found matching your data policy",
        Stage.REQUEST,
        "The privacy settings of the account exclude all providers of that model.",
        "Change the data policy of the account, or choose another model.",
        "https://openrouter.ai/docs/faq",
        field="model",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Tool message must have tool_call_id",
        Stage.REQUEST,
        "A tool result does not say which call it answers.",
        "Give each message with the role `tool` the `tool_call_id` of its call.",
        "https://github.com/apmantza/pi-free/pull/232",
        field="messages",
        look=Look.ID_ABSENT,
    ),
    KnownError(
        "No cookie auth credentials found",
        Stage.REQUEST,
        "OpenRouter got no key with the request: the header `Authorization: Bearer …` is absent, empty or of another "
        "form.",
        "Set the key (`OPENROUTER_API_KEY`, which begins with `sk-or-`) where the program that sends the request reads "
        "it, and check that no proxy removes the header.",
        "https://github.com/mims-harvard/Medea/issues/1",
        cause=Cause.ACCESS,
    ),
    KnownError(
        "No auth credentials found",
        Stage.REQUEST,
        "OpenRouter got no key with the request: the header `Authorization: Bearer …` is absent, empty or of another "
        "form.",
        "Set the key (`OPENROUTER_API_KEY`, which begins with `sk-or-`) where the program that sends the request reads "
        "it, and check that no proxy removes the header.",
        "https://github.com/musistudio/claude-code-router/issues/227",
        cause=Cause.ACCESS,
        is_distinctive=False,
    ),
    KnownError(
        "Token limit reached",
        Stage.COMPLETE,
        "The provider stopped the answer at the limit of its tokens.",
        "Raise `max_tokens` of the request, shorten the messages, or choose another provider of the model.",
        "https://openrouter.ai/docs/api-reference/errors",
        cause=Cause.REQUEST,
        look=Look.SMALL_LIMIT,
        is_distinctive=False,
    ),
)
