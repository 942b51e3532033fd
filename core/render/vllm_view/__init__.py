"""What vLLM, or llama.cpp, does to a request before its template sees it, one named cause at a time.

Each cause is a small function on the wrapped request: it replaces values by ones that
still know their place, and says in a sentence what it changed. Applying them one by one
is how a difference between the server's prompt and ours is explained.

Source: vLLM 0.32, `renderers/chat_utils.py`, `renderers/hf.py`,
`entrypoints/openai/chat_completion/protocol.py`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prompt_debugger.core.render.trace.derive import derived_array, peek_all
from prompt_debugger.core.render.trace.values import TracedDict, TracedList
from prompt_debugger.core.render.vllm_view.calls import decode_arguments, drop_empty_calls, reorder_calls
from prompt_debugger.core.render.vllm_view.content import (
    content_as_parts,
    content_as_text,
    media_parts,
    strip_billing_header,
)
from prompt_debugger.core.render.vllm_view.llama_cpp import (
    join_content,
    keep_message_keys,
    rename_developer_in_place,
    rewrite_tools_in_full,
)
from prompt_debugger.core.render.vllm_view.messages import keep_known_keys, rename_developer, rename_reasoning
from prompt_debugger.core.render.vllm_view.tools import rewrite_tools
from prompt_debugger.core.render.vllm_view.view import Cause, View

# vLLM's in its order, then llama.cpp's; a subset is applied in this order too.
CAUSES: Mapping[str, Cause] = {
    "reasoning-names": rename_reasoning,
    "billing-header": strip_billing_header,
    "content-openai": content_as_parts,
    "content-string": content_as_text,
    "media-parts": media_parts,
    "call-key-order": reorder_calls,
    "message-keys": keep_known_keys,
    "empty-calls": drop_empty_calls,
    "arguments-decoded": decode_arguments,
    "developer-role": rename_developer,
    "tools-rewritten": rewrite_tools,
    "llama-cpp-content": join_content,
    "llama-cpp-developer": rename_developer_in_place,
    "llama-cpp-message-keys": keep_message_keys,
    "llama-cpp-tools": rewrite_tools_in_full,
}
# What the reference library's own render is given besides: no template prints what an `image_url` holds.
MEDIA_CAUSE = "media-parts"
# What llama.cpp's server does; decoding arguments it shares with vLLM.
LLAMA_CPP_CAUSES = (
    "arguments-decoded",
    "llama-cpp-content",
    "llama-cpp-developer",
    "llama-cpp-message-keys",
    "llama-cpp-tools",
)


def usual_causes(content_format: str, *, knows_developer: bool) -> tuple[str, ...]:
    """Return what vLLM does by default for a template, whose content format is `openai` or `string`."""
    left_out = {"content-string" if content_format == "openai" else "content-openai", MEDIA_CAUSE}
    if knows_developer:
        left_out.add("developer-role")
    left_out.update(name for name in CAUSES if name.startswith("llama-cpp-"))
    return tuple(name for name in CAUSES if name not in left_out)


def apply_causes(
    variables: Mapping[str, object], causes: Sequence[str]
) -> tuple[dict[str, object], dict[str, tuple[str, ...]]]:
    """Apply causes to wrapped template variables.

    Args:
        variables: As the template would get them; not changed.
        causes: Names out of `CAUSES`.

    Returns:
        The variables as the server would pass them on, and for each cause that changed
        something what it did, as sentences without their subject.
    """
    messages, tools = variables.get("messages"), variables.get("tools")
    entries = [entry for entry in peek_all(messages) if isinstance(entry, TracedDict)]
    if not isinstance(messages, TracedList) or len(entries) != len(messages):
        return dict(variables), {}
    view = View(entries, tools if isinstance(tools, TracedList) else None)
    applied: dict[str, tuple[str, ...]] = {}
    for name, cause in CAUSES.items():
        if name in causes:
            view.changes = []
            cause(view)
            if view.changes:
                applied[name] = tuple(view.changes)
    made = dict(variables)
    made["messages"] = derived_array(view.messages, messages._field)
    if view.tools is not None:
        made["tools"] = view.tools
    return made, applied
