"""Where the server's prompt and ours diverge, and why."""

from __future__ import annotations

from bisect import bisect_right

from prompt_debugger.core.base.text import excerpt, first_divergence
from prompt_debugger.core.base.types import Prompt, PromptDifference

_AROUND = 60  # characters shown after the first difference


def compare_prompts(server: Prompt, local: Prompt) -> PromptDifference | None:
    """Return the first difference between two prompts; `None` if they are equal.

    Token ids are compared where both are known, else the texts. The cause is named only
    if rendering with it made the server's text (`explain_server_prompt`).
    """
    first_char = first_divergence(server.text, local.text)
    server_ids, local_ids = server.token_ids, local.token_ids
    if server_ids is not None and local_ids is not None:
        first_token = first_divergence(server_ids, local_ids)
        if first_token is None:
            return None
    elif first_char is None:
        return None
    else:
        first_token = _token_at(server if server.tokens is not None else local, first_char)
    if first_char is None:
        first_char = _char_at(server, first_token)
    return PromptDifference(
        first_token=first_token,
        first_char=first_char,
        server=excerpt(server.text, first_char, min(len(server.text), first_char + _AROUND)),
        local=excerpt(local.text, first_char, min(len(local.text), first_char + _AROUND)),
        cause="; ".join(server.proof) if server.proof else None,
    )


def _token_at(prompt: Prompt, char: int) -> int:
    tokens = prompt.tokens or ()
    return bisect_right(tokens, char, key=lambda token: token.char_span.stop)


def _char_at(prompt: Prompt, token: int) -> int:
    tokens = prompt.tokens or ()
    return tokens[token].char_span.start if token < len(tokens) else len(prompt.text)
