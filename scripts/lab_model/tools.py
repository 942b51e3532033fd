"""Tools as one request declares them, and what a user asks of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from scripts.lab_model import names
from scripts.lab_model.families import OPEN_MAKERS, Family, Slot, Value

TYPE_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "string": ("string", "string", "string", "string", "str"),
    "integer": ("integer", "integer", "integer", "number", "int"),
    "number": ("number", "number", "number", "float", "integer", "int"),
}
_HINTS = {"string": "Name, e.g. San Francisco, CA", "integer": "A whole number", "number": "A number"}
_OPENINGS = ("Hi, ", "Hello! ", "Please: ", "Hey, ", "OK. ", "One question: ")
_CLOSINGS = (" Thanks!", " Thank you.", " It is urgent.")


@dataclass(frozen=True, slots=True)
class Tool:
    """A family as one request declares it.

    Attributes:
        family: What the tool means.
        name: Its declared name.
        keys: Declared parameter name of each declared slot, by slot index.
        required: Slot indices listed as required.
        declaration: The entry of the request's `tools`.
    """

    family: Family
    name: str
    keys: Mapping[int, str]
    required: tuple[int, ...]
    declaration: Mapping[str, object]


def declare_tool(family: Family, rng: Random, *, plain: bool = False) -> Tool:
    """Declare a family under one of its names; `plain` takes the usual wording."""
    name = _choose(family.tool_names, rng, plain=plain, unknown_share=0)
    keys: dict[int, str] = {}
    required: list[int] = []
    properties: dict[str, object] = {}
    lists_required = plain or rng.random() < 0.85
    for index, slot in enumerate(family.slots):
        if slot.optional_phrase is not None and (plain or rng.random() < 0.6):
            continue
        free = [key for key in slot.keys if key not in keys.values()]
        keys[index] = _choose(free, rng, plain=plain, unknown_share=0.08)
        if slot.optional_phrase is None or (slot.options and lists_required and rng.random() < 0.3):
            required.append(index)
        properties[keys[index]] = _declare_slot(slot, keys[index], rng, plain=plain)
    function: dict[str, object] = {"name": name}
    if plain or rng.random() < 0.92:
        function["description"] = rng.choice(family.descriptions)
    schema: dict[str, object] = {"type": "object", "properties": properties}
    if lists_required:
        schema["required"] = [keys[index] for index in required]
    if not plain and rng.random() < 0.12:
        schema["additionalProperties"] = False
    if not plain and rng.random() < 0.12:
        schema = dict(reversed(schema.items()))
    function["parameters"] = schema
    return Tool(family, name, keys, tuple(required), {"type": "function", "function": function})


def _choose(known: Sequence[str], rng: Random, *, plain: bool, unknown_share: float) -> str:
    """Choose an identifier: the usual one, another, or one that no one knows."""
    if not known or (not plain and rng.random() < unknown_share):
        return "_".join(names.invent_word(rng) for _ in range(rng.choice((1, 2))))
    return known[0] if plain or rng.random() < 0.5 else rng.choice(known)


def _declare_slot(slot: Slot, key: str, rng: Random, *, plain: bool) -> dict[str, object]:
    spelled = slot.json_type if plain else rng.choice(TYPE_SPELLINGS[slot.json_type])
    declared: dict[str, object] = {"type": spelled}
    if not plain and rng.random() < 0.4:
        declared["description"] = rng.choice(
            (f"The {key}", f"{key.capitalize().replace('_', ' ')} to use", _HINTS[slot.json_type])
        )
    if slot.options and rng.random() < 0.7:
        declared["enum"] = list(slot.options)
    if not plain and rng.random() < 0.2:
        declared = dict(reversed(declared.items()))
    return declared


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing a user wants: the words, and the call that serves it."""

    tool: Tool
    phrase: str
    values: Mapping[int, Value]

    @property
    def arguments(self) -> dict[str, Value]:
        """Arguments of the call, in the order of declaration."""
        return {self.tool.keys[index]: self.values[index] for index in self.tool.keys if index in self.values}

    @property
    def subject(self) -> str:
        """The value that names the ask in prose."""
        return str(self.values[0])


def make_ask(
    tool: Tool, rng: Random, *, held_out: bool = False, phrase: str | None = None, first_value: str | None = None
) -> Ask:
    """Fill the slots of a tool and phrase the wish; a phrase or first value may be given."""
    values: dict[int, Value] = {}
    suffix = ""
    for index, slot in enumerate(tool.family.slots):
        if index not in tool.keys:
            continue
        if slot.optional_phrase is None or rng.random() < 0.5:
            given = first_value if index == 0 else None
            values[index] = given or _make_value(slot, rng, held_out=held_out)
            suffix += slot.optional_phrase.format(values[index]) if slot.optional_phrase else ""
        elif index in tool.required:
            values[index] = slot.options[0]
    wording = phrase or rng.choice(tool.family.phrases)
    text = wording.format(*(values.get(index, "") for index in range(len(tool.family.slots))), name=tool.name)
    if suffix and text[-1] in "?.":
        text = text[:-1] + suffix + text[-1]
    else:
        text += suffix
    if rng.random() < 0.08:
        text = rng.choice(_OPENINGS) + text
    if text[-1] in "?." and rng.random() < 0.06:
        text += rng.choice(_CLOSINGS)
    return Ask(tool, text, values)


def _make_value(slot: Slot, rng: Random, *, held_out: bool) -> Value:
    if slot.make not in OPEN_MAKERS:
        return slot.make(rng)
    return names.draw(lambda source: str(slot.make(source)), rng, held_out=held_out)
