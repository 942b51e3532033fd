"""What is added to a request so that a server tells more of the run, and what to do when it refuses that.

| server | chat | raw completion |
|---|---|---|
| llama.cpp | `verbose`, `return_tokens` | the same |
| vLLM | `return_token_ids`, `return_prompt_text` | `return_token_ids`, `skip_special_tokens: false` |
| any other | vLLM's, and `logprobs` for the text of each token | vLLM's |

A stream gets fewer: llama.cpp puts its ids into whole answers, and refuses `logprobs` with tools in a stream. A
field of ours that a server refuses is a note about evidence; the request without it is what counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from prompt_debugger.core.errors import BackendError
from prompt_debugger.core.types import JSONObject

REFUSED = frozenset({400, 422})
_VLLM: JSONObject = {"return_token_ids": True, "return_prompt_text": True}
_LLAMA_CPP: JSONObject = {"verbose": True, "return_tokens": True}


def chat_fields(server_kind: str, body: JSONObject) -> JSONObject:
    """Return what is added to a chat request that is not streamed."""
    if server_kind == "llama.cpp":
        return dict(_LLAMA_CPP)
    if server_kind == "vllm" or "logprobs" in body:
        return dict(_VLLM)
    return {**_VLLM, "logprobs": True}


def stream_fields(server_kind: str) -> JSONObject:
    """Return what is added to a streamed chat request, besides asking for `usage`."""
    return {} if server_kind == "llama.cpp" else dict(_VLLM)


def completion_fields(server_kind: str) -> JSONObject:
    """Return what is added to a raw completion besides vLLM's fields."""
    return dict(_LLAMA_CPP) if server_kind == "llama.cpp" else {}


def fields_to_drop(error: BackendError, added: Iterable[str], *, may_be_unnamed: bool) -> tuple[str, ...]:
    """Return the fields of ours for whose sake a server may have refused a request.

    Args:
        error: The refusal.
        added: The fields that were added.
        may_be_unnamed: Whether the server may refuse a field without naming it; then all are dropped.

    Returns:
        Nothing if it was no refusal, or one that has to do with something else.
    """
    names = tuple(added)
    if error.status not in REFUSED:
        return ()
    said = f"{error.message} {error.body}"
    named = {name for name in names if name in said}
    for group in (_VLLM, _LLAMA_CPP):  # who does not know one does not know the other
        named |= set(group) if named & set(group) else set()
    return tuple(name for name in names if name in named) or (names if may_be_unnamed else ())
