"""What an answer says about its own run, checked for consistency: what contradicts itself is not evidence.

Ids, token texts, counts, log-probabilities and the message come from different places of a server. Where two of them
cannot both be true of one run, nothing may rest on either:

| seen | known of |
|---|---|
| at temperature 0 a listed token is far less likely than another at its place | mlx-lm with `top_logprobs` above 1 |
| more ids than tokens counted | ids of several choices in one list |
| the text of the ids, or of the listed tokens, has next to nothing of the message | another model's tokenizer |
| the listed tokens are the content, and the message has a call or reasoning as well | OpenAI's list, of content alone |
| that text has the words of the message from the last one to the first | ids put together from their end |

Near misses: penalties, a bias or a grammar change what is sampled and not always what is listed; a parser may take a
part of the text away. So a list whose text contains all of the message is believed, and a text is only called foreign
where most of the message is missing from it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from prompt_debugger.core.base.comparable import may_constrain
from prompt_debugger.core.base.json_values import as_number, as_object, as_text, objects_in
from prompt_debugger.core.base.text import remove_whitespace
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, TokenLogprob
from prompt_debugger.core.complete.logprob_text import text_of_tokens
from prompt_debugger.core.complete.shapes import parse_json

_FAR_NATS = 1.0  # ties and rounding are far below
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_GRAM = 4
_MIN_GRAMS = 10  # less text proves nothing
_FOREIGN_SHARE = 0.5
_MAX_CHARS = 200_000
_WORD = re.compile(r"[^\W_]+")
_MIN_WORDS = 5  # whose order is no accident
_CONTENT_ALONE = (
    "The listed tokens are those of the content, and the message has more than that, so the list may be of the content "
    "alone and is not used."
)
_REVERSED = "The {} the message from its end to its beginning, so they are not used."
# What changes sampling and is not always in the listed probabilities.
_CHANGES_SAMPLING = (
    "logit_bias", "presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty", "min_tokens",
    "bad_words", "allowed_token_ids", "structured_outputs", "guided_json", "guided_regex", "guided_choice",
    "guided_grammar", "grammar", "thinking_token_budget", "use_beam_search", "ignore_eos",
)  # fmt: skip


def contradiction_in_list(chat: ChatResult, body: JSONObject, text: str | None) -> str | None:
    """Return why the listed tokens cannot be those of the run, one sentence; `None` if nothing shows it."""
    tokens = chat.logprobs or ()
    if not any(token.text or token.piece for token in tokens):
        return None  # ids alone
    listed = text_of_tokens(tokens)
    if text is not None and remove_whitespace(listed) == remove_whitespace(text):
        return None
    if all(token.token_id is None for token in tokens) and _is_content_alone(listed, chat.message):
        return _CONTENT_ALONE
    if _contains_message(listed, chat.message):
        return None
    found = _least_likely(tokens) if _takes_likeliest(body) else None
    if found is not None:
        index, token, rival = found
        return (
            f"The listed log-probabilities contradict themselves, so they are not used: token {index}, {token.text!r}, "
            f"has {token.logprob:.2f} where {rival[0]!r} has {rival[1]:.2f}, and temperature 0 picks the most likely."
        )
    if text is None and is_reversed(listed, chat.message):
        return _REVERSED.format("listed tokens spell")
    if text is None and is_foreign(listed, chat.message):
        return "The texts of the listed tokens do not make up the message that they came with, so the list is not used."
    return None


def contradiction_in_ids(chat: ChatResult, choices: int = 1) -> str | None:
    """Return why the ids of an answer cannot be those of its run, one sentence; `None` if nothing shows it.

    Args:
        chat: The answer.
        choices: How many the request asks for; the server's count is of all together.
    """
    counted = None if chat.usage is None else chat.usage.completion_tokens
    if chat.token_ids is None or not counted or choices > 1 or len(chat.token_ids) <= counted + 1:
        return None
    return f"The server gave {len(chat.token_ids)} ids and counted {counted} tokens, so the ids are not used."


def contradiction_in_text(text: str, message: JSONObject) -> str | None:
    """Return why decoded ids cannot be the output that a message comes from, one sentence; `None` if they may be."""
    if not is_foreign(text, message):
        return None
    return (
        "The ids of the run decode to a text that has almost nothing in common with the message, so they "
        "are not used. Wrong tokenizer?"
    )


def contradiction_in_order(text: str, message: JSONObject) -> str | None:
    """Return why decoded ids are not in the order of their run, one sentence; `None` if they may be."""
    return _REVERSED.format("ids of the run spell") if is_reversed(text, message) else None


def is_reversed(text: str, message: JSONObject) -> bool:
    """Return whether the words that a message and a text have once each come in the text from the last to the first.

    >>> is_reversed(" day very a was this and ended rain the", {"content": "the rain ended and this was a very day"})
    True
    >>> is_reversed("ended the rain and this was a very day", {"content": "the rain ended and this was a very day"})
    False
    """
    wanted = _WORD.findall(" ".join(_pieces(message))[:_MAX_CHARS])
    counts = Counter(found[0] for found in _WORD.finditer(text[:_MAX_CHARS]))
    places = {found[0]: found.start() for found in _WORD.finditer(text[:_MAX_CHARS])}
    asked = Counter(wanted)
    order = [places[word] for word in wanted if asked[word] == 1 and counts[word] == 1]
    return len(order) >= _MIN_WORDS and all(one > other for one, other in pairwise(order))


def is_foreign(text: str, message: JSONObject) -> bool:
    """Return whether most of a message is missing from the text that should be the output it was made of.

    >>> is_foreign("I will look: Paris has 21 degrees today.", {"content": "Paris has 21 degrees today."})
    False
    >>> is_foreign("zebra quantum lattice of seven", {"content": "Paris has 21 degrees today."})
    True
    """
    text = text[:_MAX_CHARS]
    known = _grams(remove_whitespace(text)) | _grams(remove_whitespace(_ESCAPE.sub(_unescaped, text)))
    wanted = set().union(*(_grams(remove_whitespace(piece[:_MAX_CHARS])) for piece in _pieces(message)))
    return len(wanted) >= _MIN_GRAMS and len(wanted & known) < _FOREIGN_SHARE * len(wanted)


def _is_content_alone(listed: str, message: JSONObject) -> bool:
    """Return whether a text is the content of a message that has calls or reasoning as well.

    >>> _is_content_alone("I look.", {"content": "I look.", "reasoning": "They ask."})
    True
    >>> _is_content_alone("I look.", {"content": "I look."})
    False
    """
    content = as_text(message.get("content"))
    is_all = bool(content) and remove_whitespace(listed) == remove_whitespace(content or "")
    return is_all and len([*_pieces(message)]) > 1


def _contains_message(text: str, message: JSONObject) -> bool:
    pieces = [remove_whitespace(piece) for piece in _pieces(message)]
    whole = remove_whitespace(text)
    return bool(pieces) and all(piece in whole for piece in pieces)


def _pieces(message: JSONObject) -> Iterator[str]:
    """Yield the texts of a message that the model must have written: content, reasoning, names, texts in arguments."""
    for key in ("content", "reasoning", "reasoning_content"):
        if text := as_text(message.get(key)):
            yield text
    for call in objects_in(message.get("tool_calls")):
        function = as_object(call.get("function"))
        if name := as_text(function.get("name")):
            yield name
        yield from _texts(_read(function.get("arguments")))


def _read(arguments: JSON) -> JSON:
    if not isinstance(arguments, str):
        return arguments
    try:
        return parse_json(arguments)
    except ValueError:
        return arguments


def _texts(value: JSON) -> Iterator[str]:
    """Yield the keys and texts of a value."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _grams(text: str) -> set[str]:
    return {text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1)}


def _least_likely(tokens: Sequence[TokenLogprob]) -> tuple[int, TokenLogprob, tuple[str, float]] | None:
    """Return the token that is furthest below a rival of another text, its place and the rival; `None` if none is."""
    below = [
        (token.logprob - token.top[0][1], index)
        for index, token in enumerate(tokens)
        if token.top and token.top[0][0] != token.text and token.logprob < token.top[0][1] - _FAR_NATS
    ]
    if not below:
        return None
    _, index = min(below)
    return index, tokens[index], tokens[index].top[0]


def _takes_likeliest(body: JSONObject) -> bool:
    """Return whether a request takes the likeliest token everywhere, and nothing that is known changes which it is."""
    temperature = as_number(body.get("temperature"))
    kind = as_object(body.get("response_format")).get("type", "text")
    is_free = kind == "text" and not may_constrain(body)
    return temperature == 0 and is_free and not any(body.get(name) for name in _CHANGES_SAMPLING)
