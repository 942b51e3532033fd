"""The answers that a model is made to give: one per way in which parsers are known to lose something.

Every text in them is a word of ours (`zq…`) that no template writes on its own: where it is missing from what a
template prints, the template lost it, and no parser is blamed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from prompt_debugger.core.base.types import JSON, JSONObject

SIMPLEST_CALL = "one-call"
REASONED_CALL = "reasoning-and-call"
USER_WORDS = "zqWhat is the weather?"
_CONTENT, _THOUGHT = "zqLet me look at that.", "zqFirst I think about it."
_CODE = 'def zqcode(a, b):\n\tif a < b and "x" != \'y\':\n        return "<b>" + a  # 100% \\n\n\n    return b\n'
_SEED = 20_251
_THOROUGH_ANSWERS = 12
_LONG_CHARS = 1_500
_ALPHABET = "abcXYZ019 _-.,:;!?'\"\\/<>{}[]()|&%$#@=+*~\n\téßñ漢字🙂"


@dataclass(frozen=True, slots=True)
class AnswerCall:
    """A tool call of an answer.

    Attributes:
        name: Its name.
        arguments: Its arguments.
    """

    name: str
    arguments: JSONObject


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model wants to say.

    Attributes:
        name: Stable name, such as `two-calls`.
        about: What it tries, a few words.
        content: Its visible text; `None` for none.
        reasoning: Its hidden thinking; `None` for none.
    """

    name: str
    about: str
    calls: tuple[AnswerCall, ...] = ()
    content: str | None = None
    reasoning: str | None = None


def _tool(name: str, properties: JSONObject, required: list[JSON]) -> JSONObject:
    schema: JSONObject = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": "A tool of a check.", "parameters": schema}}


def _book_trip(options: JSONObject, note: JSON) -> JSONObject:
    """Return the tool with a parameter of every type, given the schema of its object and the type of its note."""
    properties: JSONObject = {
        "place": {"type": "string"},
        "days": {"type": "integer"},
        "budget": {"type": "number"},
        "flexible": {"type": "boolean"},
        "stops": {"type": "array", "items": {"type": "string"}},
        "options": options,
        "note": {"type": note},
    }
    return _tool("book_trip", properties, ["place"])


TOOLS: tuple[JSONObject, ...] = (
    _tool("get_weather", {"city": {"type": "string"}}, ["city"]),
    _tool("search", {"query": {"type": "string"}, "limit": {"type": "integer"}}, ["query"]),
    _tool("list_items", {}, []),
    _tool("run_code", {"code": {"type": "string"}, "language": {"type": "string"}}, ["code"]),
    _book_trip({"type": "object", "additionalProperties": True}, ["string", "null"]),
)

# For templates that fail for a parameter of two types.
PLAIN_TOOLS: tuple[JSONObject, ...] = (*TOOLS[:-1], _book_trip({"type": "object"}, "string"))

_ONE = AnswerCall("get_weather", {"city": "zqParis"})
_SEARCH = AnswerCall("search", {"query": "zqnews of today"})
_TYPES: JSONObject = {
    "place": "zqRome", "days": 3, "budget": 99.5, "flexible": True, "stops": ["zqPisa", "zqSiena"],
    "options": {"seat": "zqaisle"},
}  # fmt: skip
_NESTED: JSONObject = {
    "place": 'zqa "quoted" \\ place',
    "options": {"zqdeep": {"list": [1, [2, {"three": None}], "}"], "empty": {}, "none": []}, "key with space": "]"},
}

ANSWERS: tuple[Answer, ...] = (
    Answer("text", "a text and no call", content=_CONTENT),
    Answer(SIMPLEST_CALL, "one call", (_ONE,)),
    Answer("no-arguments", "a call without arguments", (AnswerCall("list_items", {}),)),
    Answer("two-calls", "two calls of different tools", (_ONE, _SEARCH)),
    Answer("same-tool-twice", "two calls of the same tool", (_ONE, AnswerCall("get_weather", {"city": "zqOslo"}))),
    Answer("types", "text, integer, number, boolean, array and object", (AnswerCall("book_trip", _TYPES),)),
    Answer("null", "an argument that is null", (AnswerCall("book_trip", {"place": "zqBern", "note": None}),)),
    Answer(
        "text-like-numbers",
        "texts that look like a number, a boolean and null",
        (AnswerCall("book_trip", {"place": "zq7", "stops": ["007", "true"], "note": "1e3"}),),
    ),
    Answer("nested", "nested objects and arrays, escaped quotes", (AnswerCall("book_trip", _NESTED),)),
    Answer(
        "unicode",
        "accents, Chinese, emoji, right-to-left text",
        (AnswerCall("search", {"query": "zqçé ñ 漢字 🙂👩‍👩‍👧 שלום \u00a0é"}),),
    ),
    Answer(
        "code",
        "program text: line breaks, tabs, quotes, angle brackets",
        (AnswerCall("run_code", {"code": _CODE, "language": "python"}),),
    ),
    Answer(
        "white-space",
        "whitespace around an argument",
        (AnswerCall("search", {"query": "  zqpadded\n\n"}),),
    ),
    Answer("long", "a very long argument", (AnswerCall("search", {"query": ("zqlong word, " * 120)[:_LONG_CHARS]}),)),
    Answer("text-and-call", "a text before a call", (_SEARCH,), content=_CONTENT),
    Answer("reasoning-and-text", "reasoning and a text", content=_CONTENT, reasoning=_THOUGHT),
    Answer(REASONED_CALL, "reasoning and a call", (_SEARCH,), reasoning=_THOUGHT),
    Answer("reasoning-text-and-call", "reasoning, a text and a call", (_SEARCH,), _CONTENT, _THOUGHT),
)


def answers(*, is_thorough: bool = False) -> tuple[Answer, ...]:
    """Return the answers to try; thorough ones are random JSON values, the same ones every time."""
    return ANSWERS + (tuple(map(_drawn, range(_THOROUGH_ANSWERS))) if is_thorough else ())


def _drawn(number: int) -> Answer:
    chance = random.Random(_SEED + number)
    arguments: JSONObject = {"place": f"zqdrawn{number} {_drawn_text(chance)}"}
    if chance.random() < 0.7:
        arguments["days"] = chance.choice((0, -1, 2**53, chance.randrange(10**6)))
    if chance.random() < 0.7:
        arguments["budget"] = chance.choice((0.5, -2.25, 1e-7, 1e21, float(chance.randrange(100)) + 0.25))
    if chance.random() < 0.5:
        arguments["flexible"] = chance.random() < 0.5
    if chance.random() < 0.6:
        arguments["stops"] = [_drawn_text(chance) for _ in range(chance.randrange(4))]
    if chance.random() < 0.6:
        arguments["options"] = {f"k{index}": _drawn_value(chance, 2) for index in range(chance.randrange(4))}
    return Answer(f"drawn-{number + 1}", "random JSON values", (AnswerCall("book_trip", arguments),))


def _drawn_text(chance: random.Random) -> str:
    return "".join(chance.choice(_ALPHABET) for _ in range(chance.randrange(24)))


def _drawn_value(chance: random.Random, depth: int) -> JSON:
    kind = chance.randrange(7 if depth else 5)
    if kind == 5:
        return [_drawn_value(chance, depth - 1) for _ in range(chance.randrange(3))]
    if kind == 6:
        return {_drawn_text(chance): _drawn_value(chance, depth - 1) for _ in range(chance.randrange(3))}
    plain: tuple[JSON, ...] = (_drawn_text(chance), chance.randrange(-1000, 1000), chance.random(), True, None)
    return plain[kind]
