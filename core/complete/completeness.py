"""Whether a raw text is all that the model wrote, or lacks the control tokens. Decided here and nowhere else.

Many servers take the control tokens out of what they show. What is left of a tool call then reads like prose,
and nothing may be concluded from what is missing in it. From the surest to the weakest:

| what is known | the text is |
|---|---|
| ids, decoded with control tokens kept | whole |
| vLLM, which is asked to keep them and does | whole |
| the server counted as many tokens as the text has, or the end token more | whole |
| the server counted more | stripped |
| the text still holds control tokens | whole |
| nothing of this | unknown |

A count proves something only if the tokenizer at hand counts as the server does, which the prompt shows. Near
misses: the end token is counted everywhere and shown nowhere; a model may write a word in more tokens than its
tokenizer would; of a stop string nothing is shown, though its tokens are counted; a character that is cut in the
middle comes as U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import Completeness, Completion
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete.engines import ControlTokens, Engine, engine_of
from prompt_debugger.core.formats import find_stripped_calls

# In that many tokens, one word may be written in more tokens than the tokenizer would; one such is always allowed.
_TOKENS_PER_ODD_WORD = 50
_END_REASONS = frozenset({"stop", "eos", "eos_token", "end_turn"})
_CALL_OBJECT = re.compile(r'\{\s*"(?:name|function|tool|tool_name)"\s*:\s*"[^"]*"\s*,\s*"(?:arguments|parameters)"')
_REPLACEMENT = "\ufffd"
_HOW = "Evidence that would settle it: the ids of the run (vLLM gives them with `return_token_ids`)"


@dataclass(frozen=True, slots=True)
class Witness:
    """What else is known of the run of a raw text.

    Attributes:
        server_kind: Which server software gave it.
        tokenizer: Counts tokens, and knows the control tokens.
        prompt_length: Tokens of the prompt by that tokenizer, to see whether the server counts as it does.
        tokenizes_alike: False if the server's ids of a text are known and are not that tokenizer's.
        has_stop_strings: Whether the request has stop strings, which the text does not show.
        tool_names: Tools of the request.
    """

    server_kind: str
    tokenizer: Tokenizer | None = None
    prompt_length: int | None = None
    tokenizes_alike: bool = True
    has_stop_strings: bool = False
    tool_names: Sequence[str] = ()

    @property
    def engine(self) -> Engine:
        """What is known of that software."""
        return engine_of(self.server_kind)


class _Judgement(NamedTuple):
    completeness: Completeness
    reason: str


def decoded_from_ids(completion: Completion) -> Completion:
    """Return a completion whose text is its ids, decoded with control tokens kept."""
    reason = "The text was decoded from the ids that the model wrote, with control tokens kept."
    return replace(completion, completeness=Completeness.WHOLE, completeness_reason=reason)


def judge_completeness(completion: Completion, witness: Witness) -> Completion:
    """Return a completion whose text is the server's own, with the judgement on it."""
    judgement = _judge(completion, witness)
    return replace(completion, completeness=judgement.completeness, completeness_reason=judgement.reason)


def has_shape_of_call(text: str, tool_names: Sequence[str]) -> bool:
    """Return whether a text without markup reads like what is left of a tool call.

    >>> has_shape_of_call('functions.get_weather:0{"city": "Paris"}', ["get_weather"])
    True
    >>> has_shape_of_call("I would call get_weather for that.", ["get_weather"])
    False
    """
    if _CALL_OBJECT.search(text) or any(True for _ in find_stripped_calls(text, tuple(tool_names))):
        return True
    names = "|".join(re.escape(name) for name in tool_names if name)
    return bool(names) and re.search(rf"(?<!\w)(?:{names})(?!\w)[^\w{{]{{0,8}}\d{{0,3}}\s*\{{", text) is not None


def _judge(completion: Completion, witness: Witness) -> _Judgement:
    if witness.engine.control_tokens is ControlTokens.KEPT:
        title = witness.engine.title
        reason = (
            f"The server is {title}, was asked to keep control tokens (`skip_special_tokens: false`), and keeps them."
        )
        return _Judgement(Completeness.WHOLE, reason)
    by_count = _judge_by_count(completion, witness)
    if by_count is not None and by_count.completeness is not Completeness.UNKNOWN:
        return by_count
    kept = _kept_tokens(completion.text, witness)
    if by_count is None and kept:
        return _Judgement(Completeness.WHOLE, f"The text still contains control tokens, such as `{kept[0]}`.")
    return by_count or _Judgement(Completeness.UNKNOWN, _why_unknown(completion, witness))


def _judge_by_count(completion: Completion, witness: Witness) -> _Judgement | None:
    """Judge by the server's count of tokens; `None` if there is none, or it is not in the tokenizer's tokens."""
    tokenizer, counted = witness.tokenizer, _counted_tokens(completion)
    if tokenizer is None or counted is None:
        return None
    if (problem := _other_counting(completion, witness)) is not None:
        return _Judgement(Completeness.UNKNOWN, problem)
    length = len(tokenizer.encode(completion.text))
    hidden = counted - length
    ended = completion.finish_reason in _END_REASONS
    if hidden == 0:
        return _Judgement(Completeness.WHOLE, f"The text has {length} tokens, and the server counted as many.")
    if hidden == 1 and ended and not has_shape_of_call(completion.text, witness.tool_names):
        reason = f"The server counted {counted} tokens: the {length} of the text, and the end token."
        return _Judgement(Completeness.WHOLE, reason)
    if hidden < 0:
        reason = f"The text has {length} tokens, of which the server counted only {counted}. {_HOW}."
        return _Judgement(Completeness.UNKNOWN, reason)
    return _judge_hidden(completion, witness, counted, hidden)


def _judge_hidden(completion: Completion, witness: Witness, counted: int, hidden: int) -> _Judgement:
    """Judge a text that has fewer tokens than the server counted."""
    figures = f"The server counted {counted} tokens, and the text has {counted - hidden}"
    missing = hidden - (completion.finish_reason in _END_REASONS)
    allowance = 1 + counted // _TOKENS_PER_ODD_WORD
    if _has_other_explanation(completion, witness) or missing <= allowance:
        if _kept_tokens(completion.text, witness) and missing <= allowance:
            reason = f"{figures}, control tokens among them: a word was written in more tokens than needed."
            return _Judgement(Completeness.WHOLE, reason)
        return _Judgement(Completeness.UNKNOWN, f"{figures}: control tokens may be missing from it. {_HOW}.")
    if _kept_tokens(completion.text, witness):
        reason = f"{figures}, control tokens among them, so it may spell them out or lack some. {_HOW}."
        return _Judgement(Completeness.UNKNOWN, reason)
    reason = (
        f"{figures}: {missing} that the model wrote are missing from it, so its control tokens were removed. {_HOW}."
    )
    return _Judgement(Completeness.STRIPPED, reason)


def _counted_tokens(completion: Completion) -> int | None:
    """Return the server's count of output tokens; zero for a text that is not empty is not a count."""
    counted = None if completion.usage is None else completion.usage.completion_tokens
    return None if counted is None or (counted == 0 and completion.text) else counted


def _other_counting(completion: Completion, witness: Witness) -> str | None:
    """Return how the prompt shows that server and tokenizer count differently; `None` if it does not."""
    if not witness.tokenizes_alike:
        why = "The server tokenizes the prompt differently from the local tokenizer"
        return f"{why}, so its count of output tokens does not show whether control tokens are missing. {_HOW}."
    counted = None if completion.usage is None else completion.usage.prompt_tokens
    if not counted or witness.prompt_length is None or abs(counted - witness.prompt_length) <= 1:  # one may be BOS
        return None
    return (
        f"The server counted {counted} prompt tokens where the local tokenizer counts "
        f"{witness.prompt_length}, so the count of output tokens does not show whether control tokens are "
        f"missing. {_HOW}, or the model's own tokenizer."
    )


def _has_other_explanation(completion: Completion, witness: Witness) -> bool:
    """Return whether tokens may be missing for another reason: a stop string, or a character that was cut."""
    is_cut = completion.text.endswith(_REPLACEMENT)
    return is_cut or witness.has_stop_strings or isinstance(completion.stop_reason, str)


def _kept_tokens(text: str, witness: Witness) -> tuple[str, ...]:
    """Return the control tokens that a text holds; nothing of a server that leaves only some of them in."""
    if witness.tokenizer is None or witness.engine.control_tokens is ControlTokens.LEFT_OUT:
        return ()
    return tuple(token for token in witness.tokenizer.vocabulary.special.values() if token and token in text)


def _why_unknown(completion: Completion, witness: Witness) -> str:
    if witness.engine.control_tokens is ControlTokens.LEFT_OUT:
        why = f"{witness.engine.title}'s server leaves control tokens out of its text"
    else:
        why = "The server gives text only, and nothing shows whether control tokens are missing from it"
    if witness.tokenizer is None:
        how = "or the model's tokenizer (`--tokenizer`) to count with"
    else:
        how = "or the server's count of tokens (`usage`)" if _counted_tokens(completion) is None else ""
    return f"{why}. {_HOW}{', ' if how else ''}{how}."
