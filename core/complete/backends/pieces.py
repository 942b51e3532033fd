"""The bytes of ids by a server's own vocabulary, where its tokenizer is not at hand.

    llama.cpp   POST /tokenize  content, with_pieces            →  tokens: [{id, piece: text or bytes}]
    vLLM        POST /tokenize  prompt, return_token_strs       →  tokens: [id], token_strs: [vocabulary entry]

Both tokenize a text, so what is asked is the text of the ids. A model may write a word in other tokens than the
tokenizer would; ids that the answer does not hold are asked for one by one, as text.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.engines import Endpoints

_MOST_SINGLE_IDS = 100


async def request_reported_tokens(
    connection: HttpConnection, endpoints: Endpoints, model: str | None, token_ids: Sequence[int], text: str
) -> tuple[bytes | str, ...] | None:
    """Return of each id its bytes, or its vocabulary entry as the tokenizer spells it.

    Args:
        connection: Where to.
        endpoints: How this server software is asked.
        model: Name of the model, where the server wants it.
        token_ids: The ids.
        text: What they decode to.

    Returns:
        One per id; `None` if the server does not tell those of each.
    """
    try:
        known = await endpoints.pieces(connection, model, text)
        missing = sorted(set(token_ids) - set(known))
        if not known or len(missing) > _MOST_SINGLE_IDS:
            return None
        alone = {one: (await endpoints.text(connection, model, [one])).encode("utf-8", "replace") for one in missing}
    except BackendError:
        return None
    return tuple(alone[one] if one in alone else known[one] for one in token_ids)
