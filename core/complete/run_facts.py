"""Where the answers of different servers put what is known of the very run: ids, prompt, how sampling ended.

| server | output ids | prompt ids | prompt text | more |
|---|---|---|---|---|
| vLLM | `choices[i].token_ids` | `prompt_token_ids` | `prompt_text` | |
| LiteLLM before vLLM | `choices[i].provider_specific_fields.token_ids` | `prompt_token_ids` | `prompt_text` | |
| llama.cpp | `__verbose.tokens` | | `__verbose.prompt` | `stop_type`, `generation_settings.grammar` |

A raw completion's stream has the same fields in each of its events.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass

from prompt_debugger.core.complete.reading import READING, read
from prompt_debugger.core.complete.shapes import ids_of, objects_of, parse_object, text_of
from prompt_debugger.core.errors import BackendError
from prompt_debugger.core.json_values import as_object
from prompt_debugger.core.room import job
from prompt_debugger.core.room.values import admit
from prompt_debugger.core.types import JSONObject

_PROXIED = "provider_specific_fields"
_VERBOSE = "__verbose"
_FINISH_BY_STOP_TYPE = {"eos": "stop", "word": "stop", "limit": "length"}
_DETAILS = "completion_tokens_details"
_GRAMMAR_FIELDS = ("grammar", "grammar_lazy", "grammar_triggers")


def output_ids(answer: JSONObject, choice: JSONObject) -> tuple[int, ...] | None:
    """Return the output ids that an answer, or one event of a stream, gives for a choice."""
    places = (choice, as_object(choice.get(_PROXIED)))
    found = next((ids for place in places if (ids := ids_of(place.get("token_ids"))) is not None), None)
    return ids_of(as_object(answer.get(_VERBOSE)).get("tokens")) if found is None else found


def prompt_ids(answer: JSONObject) -> tuple[int, ...] | None:
    """Return the ids of the prompt, where an answer tells them."""
    places = (answer, *_proxied(answer), *objects_of(answer.get("choices")))
    return next((ids for place in places if (ids := ids_of(place.get("prompt_token_ids"))) is not None), None)


def prompt_text(answer: JSONObject) -> str | None:
    """Return the text of the prompt, where an answer tells it."""
    for place in (answer, *_proxied(answer)):
        text = text_of(place.get("prompt_text"))
        if text is not None:
            return text
    return text_of(as_object(answer.get(_VERBOSE)).get("prompt"))


@admit
@dataclass(frozen=True, slots=True)
class RunFacts:
    """What an answer tells of its run beside what it holds.

    Attributes:
        sampler_word: llama.cpp's own word for why sampling ended, in the words of `finish_reason`.
        tells_grammar: Whether it tells which grammar was put on the run, be it none.
        grammar: The grammar that llama.cpp put on this very run, as JSON text; `None` if there was none.
        counts_reasoning: Whether it counts the tokens of the reasoning; `None` if it says nothing of it.
    """

    sampler_word: str | None = None
    tells_grammar: bool = False
    grammar: str | None = None
    counts_reasoning: bool | None = None


async def facts_of(body: str) -> RunFacts:
    """Return what an answer tells of its run.

    Args:
        body: The answer as received; a long one is read in the room.
    """
    if _VERBOSE not in body and _DETAILS not in body:
        return RunFacts()
    with suppress(BackendError):  # it took too much
        return await read(len(body), read_facts, body)
    return RunFacts()


@job("reading what the answer tells of its run", READING)
def read_facts(body: str) -> RunFacts:
    """Return what an answer tells of its run."""
    answer = parse_object(body)
    verbose, usage = as_object(answer.get(_VERBOSE)), as_object(answer.get("usage"))
    settings = as_object(verbose.get("generation_settings"))
    grammar: JSONObject = {key: settings[key] for key in _GRAMMAR_FIELDS if key in settings}
    return RunFacts(
        _FINISH_BY_STOP_TYPE.get(text_of(verbose.get("stop_type")) or ""),
        "generation_settings" in verbose,
        json.dumps(grammar, ensure_ascii=False) if settings.get("grammar") else None,
        usage[_DETAILS] is not None if _DETAILS in usage else None,
    )


def stop_word(answer: JSONObject) -> str | None:
    """Return the stop string that llama.cpp says it ended at."""
    return text_of(as_object(answer.get(_VERBOSE)).get("stopping_word")) or None


def _proxied(answer: JSONObject) -> tuple[JSONObject, ...]:
    places = (answer, *objects_of(answer.get("choices")))
    return tuple(as_object(place.get(_PROXIED)) for place in places)
