"""Where the answers of different servers put what is known of the very run: ids, prompt, how sampling ended.

| server | output ids | prompt ids | prompt text | more |
|---|---|---|---|---|
| vLLM | `choices[i].token_ids` | `prompt_token_ids` | `prompt_text` | |
| LiteLLM before vLLM | `choices[i].provider_specific_fields.token_ids` | `prompt_token_ids` | `prompt_text` | |
| NVIDIA Dynamo | `nvext.completion_token_ids` | `nvext.prompt_token_ids` | | |
| llama.cpp | `__verbose.tokens` | | `__verbose.prompt` | `stop_type`, `generation_settings.grammar` |

vLLM's places are looked at first, no matter who answers, then those that the records of server software name. A raw
completion's stream has the same fields in each of its events.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.engines import ENGINES
from prompt_debugger.core.complete.reading import READING, read
from prompt_debugger.core.complete.shapes import ids_of, parse_object
from prompt_debugger.core.sandbox import job
from prompt_debugger.core.sandbox.values import admit

_PROXIED = "provider_specific_fields"
_VERBOSE = "__verbose"
_FINISH_BY_STOP_TYPE = {"eos": "stop", "word": "stop", "limit": "length"}
_DETAILS = "completion_tokens_details"
_PLACES = tuple(engine.answer_places for engine in ENGINES.values())
_OUTPUT_IDS = tuple(place.output_ids for place in _PLACES if place.output_ids)
_CHOICE_OUTPUT_IDS = tuple(place.choice_output_ids for place in _PLACES if place.choice_output_ids)
_PROMPT_IDS = tuple(place.prompt_ids for place in _PLACES if place.prompt_ids)
_PROMPT_TEXT = tuple(place.prompt_text for place in _PLACES if place.prompt_text)
_GRAMMAR_FIELDS = ("grammar", "grammar_lazy", "grammar_triggers")


def output_ids(answer: JSONObject, choice: JSONObject) -> tuple[int, ...] | None:
    """Return the output ids that an answer, or one event of a stream, gives for a choice."""
    for place in (choice, as_object(choice.get(_PROXIED))):
        if (ids := ids_of(place.get("token_ids"))) is not None:
            return ids
    own = _own_ids(choice, _CHOICE_OUTPUT_IDS)
    return _own_ids(answer, _OUTPUT_IDS) if own is None else own


def prompt_ids(answer: JSONObject) -> tuple[int, ...] | None:
    """Return the ids of the prompt, where an answer reports them."""
    for place in (answer, *_proxied(answer), *objects_in(answer.get("choices"))):
        if (ids := ids_of(place.get("prompt_token_ids"))) is not None:
            return ids
    return _own_ids(answer, _PROMPT_IDS)


def prompt_text(answer: JSONObject) -> str | None:
    """Return the text of the prompt, where an answer reports it."""
    for place in (answer, *_proxied(answer)):
        if (text := as_text(place.get("prompt_text"))) is not None:
            return text
    return next((text for keys in _PROMPT_TEXT if (text := as_text(_at(answer, keys))) is not None), None)


@admit
@dataclass(frozen=True, slots=True)
class RunFacts:
    """What an answer tells of its run besides its message.

    Attributes:
        sampler_word: llama.cpp's own word for why sampling ended, in the words of `finish_reason`.
        reports_grammar: Whether it reports which grammar was put on the run, even if none was.
        grammar: The grammar that llama.cpp put on this very run, as JSON text; `None` if there was none.
        counts_reasoning: Whether it counts the tokens of the reasoning; `None` if it says nothing of it.
    """

    sampler_word: str | None = None
    reports_grammar: bool = False
    grammar: str | None = None
    counts_reasoning: bool | None = None


async def facts_of(body: str) -> RunFacts:
    """Return what an answer, as received, tells of its run; a long one is read in the sandbox."""
    if _VERBOSE not in body and _DETAILS not in body:
        return RunFacts()
    with suppress(BackendError):  # it took too much
        return await read(len(body), read_facts, body)
    return RunFacts()


@job("reading what the answer reports about its run", READING)
def read_facts(body: str) -> RunFacts:
    """Return what an answer tells of its run."""
    answer = parse_object(body)
    verbose, usage = as_object(answer.get(_VERBOSE)), as_object(answer.get("usage"))
    settings = as_object(verbose.get("generation_settings"))
    grammar: JSONObject = {key: settings[key] for key in _GRAMMAR_FIELDS if key in settings}
    return RunFacts(
        _FINISH_BY_STOP_TYPE.get(as_text(verbose.get("stop_type")) or ""),
        "generation_settings" in verbose,
        json.dumps(grammar, ensure_ascii=False) if settings.get("grammar") else None,
        usage[_DETAILS] is not None if _DETAILS in usage else None,
    )


def stop_word(answer: JSONObject) -> str | None:
    """Return the stop string that llama.cpp says it ended at."""
    return as_text(as_object(answer.get(_VERBOSE)).get("stopping_word")) or None


def _own_ids(value: JSONObject, places: Sequence[tuple[str, ...]]) -> tuple[int, ...] | None:
    """Return the ids from the places that the records of server software name."""
    for keys in places:
        if (ids := ids_of(_at(value, keys))) is not None:
            return ids
    return None


def _at(value: JSONObject, keys: tuple[str, ...]) -> JSON:
    """Return what some keys lead to; `None` if they lead nowhere."""
    for key in keys[:-1]:
        value = as_object(value.get(key))
    return value.get(keys[-1])


def _proxied(answer: JSONObject) -> tuple[JSONObject, ...]:
    places = (answer, *objects_in(answer.get("choices")))
    return tuple(as_object(place.get(_PROXIED)) for place in places)
