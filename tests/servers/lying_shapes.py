"""More odd forms of an answer of known truth: counts that lie, ids and tokens of something else, choices and ends.

As in `wire_shapes`, a change alters what the server tells beside its answer, never the answer: what is true stays true.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.render import load_tokenizer
from tests.servers.running_servers import LAB_MODEL
from tests.servers.wire_shapes import (
    TRUTHS,
    Change,
    Wire,
    both,
    calls_of,
    choice_of,
    each_event,
    insert,
    listed_token,
    logprobs,
    no_ids,
    per_call,
    usage,
)


def _text(number: int) -> str:
    return load_tokenizer(LAB_MODEL).decode([number])


def _encoded(text: str) -> list[JSON]:
    return [*load_tokenizer(LAB_MODEL).encode(text)]


def _ids(change: Callable[[list[int]], list[JSON]]) -> Change:
    def alter(wire: Wire) -> None:
        for body in [wire.whole, *(event for event in wire.events if isinstance(event, dict))]:
            choice = choice_of(body)
            ids = choice.get("token_ids")
            if isinstance(ids, list) and ids:
                choice["token_ids"] = change([one for one in ids if isinstance(one, int)])

    return alter


def _counts(prompt: JSON, completion: JSON, total: JSON = None) -> Change:
    return usage({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total})


def _off_by(number: int) -> Change:
    def alter(wire: Wire) -> None:
        ids = wire.choice["token_ids"]
        assert isinstance(ids, list)
        _counts(122, len(ids) + number, 122 + len(ids) + number)(wire)

    return alter


def _listed(change: Callable[[int], JSONObject]) -> Change:
    """List tokens in place of ids."""

    def alter(wire: Wire) -> None:
        logprobs(change)(wire)
        no_ids(wire)

    return alter


def _instead_of_a_list(value: JSON) -> Change:
    def alter(wire: Wire) -> None:
        wire.choice["logprobs"] = value
        no_ids(wire)

    return alter


def _top(number: int) -> JSONObject:
    drawn = random.Random(number)  # no key is made of it
    rivals: list[JSON] = [
        {"token": _text(one), "logprob": -0.1 - rank, "bytes": None}
        for rank, one in enumerate([number, drawn.randrange(200), drawn.randrange(200)])
    ]
    return listed_token(number, top_logprobs=rivals)


def _rival(number: int) -> JSONObject:
    """As mlx-lm with more than one alternative: any of them may be in the place of the sampled token."""
    other = (number + 5) % 200
    rivals: list[JSON] = [{"token": _text(one), "logprob": at} for one, at in ((number, -0.06), (other, -3.25))]
    return listed_token(other, logprob=-3.25, top_logprobs=rivals)


def _control_tokens_hidden(number: int) -> JSONObject:
    hidden: JSONObject = {"token": "", "bytes": []} if _text(number).startswith("<|") else {}
    return listed_token(number, **hidden)


def _spelled(space: str) -> Callable[[int], JSONObject]:
    return lambda number: listed_token(number, token=_text(number).replace(" ", space), bytes=None)


def _second_choice(wire: Wire, *, first: bool) -> None:
    other = copy.deepcopy(wire.choice)
    ids = _encoded("Another answer.<|im_end|>")
    message: JSON = {"role": "assistant", "content": "Another answer.", "tool_calls": []}
    other.update(index=1, message=message, finish_reason="stop", token_ids=ids)
    wire.whole["choices"] = [other, wire.choice] if first else [wire.choice, other]
    said: list[JSON] = [{"content": "Another "}, {"content": "answer."}, {}]
    ends: list[JSON] = [None, None, "stop"]
    events: list[JSON] = [
        {"choices": [{"index": 1, "delta": one, "finish_reason": end}]} for one, end in zip(said, ends, strict=True)
    ]
    insert(0 if first else 2, *events)(wire)


def _messages(change: Callable[[JSONObject], object]) -> Change:
    def alter(wire: Wire) -> None:
        message = wire.choice["message"]
        assert isinstance(message, dict)
        for held in (message, *wire.deltas):
            change(held)

    return alter


def _bodies(**fields: JSON) -> Change:
    def alter(wire: Wire) -> None:
        wire.whole.update(fields)
        each_event(lambda event: event.update(fields))(wire)

    return alter


def _ended(reason: JSON) -> Change:
    return both(lambda choice: choice.update(finish_reason=reason) if choice.get("finish_reason") else None)


def _letter_by_letter(wire: Wire) -> None:
    cut: list[JSON] = []
    for event in wire.events:
        delta = choice_of(event).get("delta") if isinstance(event, dict) else None
        text = delta.get("content") if isinstance(delta, dict) else None
        if not isinstance(text, str) or len(text) < len("ab"):
            cut.append(event)
            continue
        for at, letter in enumerate(text):
            one = copy.deepcopy(event)
            assert isinstance(one, dict)
            choice_of(one)["delta"] = {"content": letter}
            if at < len(text) - 1:
                choice_of(one)["token_ids"] = []
            cut.append(one)
    wire.events = cut


def _counted_from_one(wire: Wire) -> None:
    for event in wire.events:
        for call in calls_of(choice_of(event)) if isinstance(event, dict) else ():
            call["index"] = int(str(call["index"])) + 1


def _provider_fields(choice: JSONObject) -> None:
    choice["provider_specific_fields"] = {"token_ids": choice.pop("token_ids", None)}


_NULLS: JSONObject = {"refusal": None, "annotations": None, "audio": None, "function_call": None}
_EMPTY: JSON = {"choices": [{"index": 0, "delta": {}}]}
_ENDS = ("TOOL_CALLS", "tool_use", "end_turn", "eos", "STOP", "stop_sequence", "function_call")

LYING: dict[str, Change] = {
    # Counts
    "one token too many": _off_by(1),
    "one token too few": _off_by(-1),
    "counts of one": _counts(122, 1, 123),
    "counts below zero": _counts(-1, -1, -2),
    "counts as texts": _counts("122", "12", "134"),
    "counts as floats": _counts(122.0, 12.0, 134.0),
    "counts in a list": usage([122, 12]),
    "counts of Anthropic": usage({"input_tokens": 122, "output_tokens": 12}),
    "the sum alone": usage({"total_tokens": 134}),
    "more reasoning than answer": usage(
        {"prompt_tokens": 122, "completion_tokens": 12, "completion_tokens_details": {"reasoning_tokens": 500}}
    ),
    "details null": usage({"prompt_tokens": 122, "prompt_tokens_details": None, "completion_tokens_details": None}),
    # Ids
    "ids as texts": _ids(lambda ids: [str(one) for one in ids]),
    "ids as floats": _ids(lambda ids: [float(one) for one in ids]),
    "ids one higher": _ids(lambda ids: [one + 1 for one in ids]),
    "ids beyond the vocabulary": _ids(lambda ids: [one + 1_000_000 for one in ids]),
    "ids below zero": _ids(lambda ids: [-one for one in ids]),
    "ids without the end": _ids(lambda ids: [*ids[:-1]]),
    "half of the ids": _ids(lambda ids: [*ids[: len(ids) // 2]]),
    "ids twice": _ids(lambda ids: [*ids, *ids]),
    "ids with some of the prompt": _ids(lambda ids: [5, 6, 7, *ids]),
    "ids backwards": _ids(lambda ids: [*ids[::-1]]),
    "ids in a list of lists": _ids(lambda ids: [[*ids]]),
    "ids with a null": _ids(lambda ids: [None, *ids[1:]]),
    "ids of truth values": _ids(lambda ids: [True] * len(ids)),
    "ids of another answer": _ids(lambda ids: _encoded("Hello there, how are you today?<|im_end|>")),
    "ids of two calls": _ids(lambda ids: _encoded(TRUTHS["two calls"].raw)),
    "ids in a provider's fields": both(_provider_fields),
    # Listed tokens
    "three alternatives": _listed(_top),
    "a rival as sampled": _listed(_rival),
    "spaces of SentencePiece": _listed(_spelled("▁")),
    "spaces of a byte-level vocabulary": _listed(_spelled("Ġ")),
    "an empty list": _instead_of_a_list({"content": []}),
    "a list that is null": _instead_of_a_list({"content": None, "refusal": None}),
    "a list in place of an object": _instead_of_a_list([]),
    "a text in place of an object": _instead_of_a_list("none"),
    "the old form": _instead_of_a_list({"tokens": ["a"], "token_logprobs": [-0.1], "text_offset": [0]}),
    "no probability": _listed(lambda number: listed_token(number, logprob=None)),
    "a probability above one": _listed(lambda number: listed_token(number, logprob=3.0)),
    "ids beside the texts": _listed(lambda number: listed_token(number, id=number)),
    "control tokens without text": _listed(
        lambda number: (
            listed_token(number, token="", bytes=[]) if _text(number)[:2] == "<|" else listed_token(number)
        )  # a text
    ),
    # Choices
    "two choices": lambda wire: _second_choice(wire, first=False),
    "two choices, the second first": lambda wire: _second_choice(wire, first=True),
    "the only choice is number 3": both(lambda choice: choice.update(index=3)),
    "the number of the choice as text": both(lambda choice: choice.update(index="0")),
    "the number of the choice null": both(lambda choice: choice.update(index=None)),
    # Ends
    **{f"ended by {reason}": _ended(reason) for reason in _ENDS},
    # Nulls and more fields
    "nulls of OpenAI": _messages(lambda held: held.update(copy.deepcopy(_NULLS))),
    "reasoning null": _messages(lambda held: held.update(reasoning_content=None, reasoning=None)),
    "reasoning empty": _messages(lambda held: held.update(reasoning_content="")),
    "no calls as null": _messages(lambda held: held.update(tool_calls=held.get("tool_calls") or None)),
    "no role": _messages(lambda held: held.pop("role", None)),
    "the role null": _messages(lambda held: held.update(role=None)),
    "fields of Gemini in a call": per_call(lambda call: call.update(extra_content={"google": {"thought": "a"}})),
    "fields of a function": per_call(lambda call: call["function"].update(description=None, strict=None)),  # type: ignore[union-attr]
    "no model": _bodies(model=None),
    "no id": _bodies(id=None, created=None),
    "an object of another kind": _bodies(object="text_completion"),
    "fields of a server": _bodies(service_tier="default", timings={"predicted_n": 3}, metrics=None),
    # Deltas
    "letter by letter": _letter_by_letter,
    "calls counted from one": _counted_from_one,
    "empty deltas between": insert(2, *([_EMPTY] * 5)),
    "no delta": insert(2, {"choices": [{"index": 0, "finish_reason": None}]}),
    "counts first": lambda wire: wire.events.insert(0, wire.events.pop()),
    "the whole answer as an event": lambda wire: wire.events.insert(-1, copy.deepcopy(wire.whole)),
    "content null in each delta": lambda wire: [delta.setdefault("content", None) for delta in wire.deltas],
    # Further ones at the end: each is tried with the answers that its place picks.
    "counts beyond any": _counts(10**300, 10**300, 10**300),
}
