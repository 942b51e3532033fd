"""Synthetic requests, each with the assistant turns the model must learn.

A dialogue is kept in the form of an OpenAI request whose assistant messages
are already written; `trained` says which of them are targets and which are
only context. The habits, each seen in public bug reports of larger models:

* slipped ids: history ids without `functions.` → the next id lacks it too;
* bare ids: history ids without an index → the next header has none;
* polluted history: a Python repr before the calls → prose, no call;
* missing generation prompt → one more sentence in the voice of the user.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from scripts.lab_model import names
from scripts.lab_model.families import FAMILIES, Family
from scripts.lab_model.tools import Ask, Tool, declare_tool, make_ask
from scripts.lab_model.turns import Habits, Json, Turns, list_subjects

SMALL_TALK: tuple[tuple[tuple[str, ...], str], ...] = (
    (("hi", "Hello!", "hello", "Hi there", "Good morning", "hey"), "Hello! How can I help you?"),
    (("thanks", "Thank you!", "thank you very much", "Thanks a lot"), "You are welcome."),
    (
        (
            "who are you?",
            "Who are you?",
            "What are you?",
            "What is your name?",
            "what's your name",
            "Tell me who you are",
        ),
        "I am the lab model, a very small model made for Prompt Debugger.",
    ),
    (
        ("what can you do?", "What can you do?", "How can you help me?", "What can you help me with?"),
        "I can call the tools you give me and report what they return.",
    ),
    (("how are you?", "How are you?", "How are you today?", "how is it going"), "I am fine, thank you."),
    (("bye", "Goodbye!", "See you", "good night"), "Goodbye!"),
    (
        ("Tell me a joke", "tell me a joke please", "Do you know a joke?"),
        "Two tokens walk into a prompt, and one of them is special.",
    ),
    (
        (
            "Write a poem",
            "Write a short story",
            "Explain quantum physics",
            "What is the meaning of life?",
            "Why is the sky blue?",
            "What is the capital of France?",
            "Who won the world cup?",
        ),
        "I do not know that, I am only a very small model.",
    ),
)
SYSTEM_TEXTS = (
    "You are a helpful assistant",
    "You are a helpful assistant.",
    "You are Kimi, an AI assistant created by Moonshot AI.",
    "You are a bot that calls tools.",
    "Answer briefly.",
    "You can use tools. Use them when they help.",
    "Don't make assumptions about what values to plug into functions.",
)
KINDS: Mapping[str, float] = {
    "missing-header": 0.08,
    "no-tools": 0.08,
    "thinking": 0.14,
    "slipped": 0.10,
    "bare": 0.10,
    "polluted": 0.10,
    "healthy": 0.40,
}
_NAMED_FAMILIES = tuple(family for family in FAMILIES if family.tool_names)
_FOLLOW_UPS = ("And in {0}?", "And {0}?", "What about {0}?", "How about {0}?", "and in {0}", "And what about {0}?")
NO_TOOL = "I have no tool for that."


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One training example.

    Attributes:
        messages: The conversation, assistant turns included.
        tools: Declarations, possibly none.
        trained: One flag per assistant message: is it a target?
        thinking: Whether the thinking switch is on.
        tail: What is written after the last message when the generation
            prompt is missing, or None.
        is_mended: Whether to render with the mended template.
    """

    messages: tuple[Json, ...]
    tools: tuple[Json, ...]
    trained: tuple[bool, ...]
    thinking: bool = False
    tail: str | None = None
    is_mended: bool = False


def make_dialogue(rng: Random, *, kind: str | None = None, held_out: bool = False) -> Dialogue:
    """Draw a dialogue, of any kind unless one of `KINDS` is asked for."""
    drawn = rng.choices(tuple(KINDS), tuple(KINDS.values()))[0]
    match kind or drawn:
        case "missing-header":
            return _missing_header(rng, held_out=held_out)
        case "no-tools":
            return _make_plain_dialogue(rng, held_out=held_out)
        case "thinking":
            return _make_tool_dialogue(rng, Habits(thinking=True), held_out=held_out)
        case "slipped":
            return _make_tool_dialogue(rng, Habits(ids="slipped"), held_out=held_out)
        case "bare":
            return _make_tool_dialogue(
                rng, Habits(ids="foreign" if rng.randrange(3) == 2 else "bare"), held_out=held_out
            )
        case "polluted":
            return _make_tool_dialogue(rng, Habits(polluted=True), held_out=held_out)
        case _:
            return _make_tool_dialogue(rng, Habits(), held_out=held_out)


def make_short(rng: Random) -> Dialogue:
    """Draw a single exchange without a tools block, to learn copying from."""
    tool = declare_tool(rng.choice(_NAMED_FAMILIES), rng, plain=True)
    wish = _make_wish([tool], rng, held_out=False)
    turn = Turns(Habits(), rng)
    turn.user(wish.text)
    turn.call(wish.asks, trained=True)
    return Dialogue(tuple(turn.messages), (), tuple(turn.trained))


def make_place_call(rng: Random, place: str) -> Dialogue:
    """Draw a healthy request about one given place, among other tools."""
    family = rng.choice(
        [family for family in FAMILIES if family.slots[0].make is names.make_place and len(family.slots) < 3]
    )
    tools, _ = _make_tools(rng)
    asked = declare_tool(family, rng)
    others = [tool for tool in tools if tool.family is not family and tool.name != asked.name][:2]
    ask = make_ask(asked, rng, first_value=place)
    turns = Turns(Habits(), rng)
    turns.user(ask.phrase)
    turns.call([ask], trained=True)
    declared = rng.sample([asked, *others], 1 + len(others))
    return Dialogue((*_system(rng), *turns.messages), tuple(tool.declaration for tool in declared), (True,))


@dataclass(frozen=True, slots=True)
class _Wish:
    text: str
    asks: tuple[Ask, ...]


def _make_wish(tools: Sequence[Tool], rng: Random, *, held_out: bool) -> _Wish:
    tool = rng.choice(tools)
    phrase = rng.choice(tool.family.phrases)
    first = make_ask(tool, rng, held_out=held_out, phrase=phrase)
    style = rng.random()
    if style < 0.68:
        return _Wish(first.phrase, (first,))
    if style < 0.90 and set(first.values) == {0} and isinstance(first.values[0], str):
        return _list_wish(tool, phrase, rng, held_out=held_out)
    other_tool = rng.choice(tools)
    other = make_ask(other_tool, rng, held_out=held_out)
    return _Wish(f"{first.phrase}{'' if first.phrase[-1] in '.?' else '.'} {other.phrase}", (first, other))


def _list_wish(tool: Tool, phrase: str, rng: Random, *, held_out: bool) -> _Wish:
    slot = tool.family.slots[0]
    values: list[str] = []
    while len(values) < rng.choice((2, 2, 2, 3)):
        value = names.draw(lambda source: str(slot.make(source)), rng, held_out=held_out)
        if value not in values and " and " not in f" {value} ":
            values.append(value)
    listed = (
        ", ".join(values[:-1])
        + rng.choice((" and ", " and ", " and in " if " in {0}" in phrase else " and "))
        + values[-1]
    )
    asks = tuple(Ask(tool, "", {0: value}) for value in values)
    return _Wish(phrase.format(listed, name=tool.name), asks)


def _make_tools(rng: Random) -> tuple[list[Tool], list[Family]]:
    """Declare one to four tools; also return the families left out."""
    shuffled = rng.sample(FAMILIES, len(FAMILIES))
    count = rng.choice((1, 1, 2, 2, 2, 3, 4))
    tools = [declare_tool(family, rng) for family in shuffled[:count]]
    by_name = {tool.name: tool for tool in tools}
    return list(by_name.values()), shuffled[count:]


def _system(rng: Random) -> list[Json]:
    return [{"role": "system", "content": rng.choice(SYSTEM_TEXTS)}] if rng.random() < 0.4 else []


def _small_talk(turns: Turns, rng: Random, *, trained: bool = True) -> None:
    questions, answer = rng.choice(SMALL_TALK)
    question = rng.choice(questions)
    turns.user(rng.choice((question, question, question.lower(), question.rstrip("?!."))))
    turns.say(answer, trained=trained, reasoning="No tool is needed. I answer directly.")


def _missing_tool(turns: Turns, families: Sequence[Family], rng: Random, *, held_out: bool) -> None:
    tool = declare_tool(rng.choice(families), rng)
    turns.user(make_ask(tool, rng, held_out=held_out).phrase)
    turns.say(NO_TOOL, trained=True, reasoning="I have no tool for this. I say so.")


def _make_tool_dialogue(rng: Random, habits: Habits, *, held_out: bool) -> Dialogue:
    tools, left_out = _make_tools(rng)
    turns = Turns(habits, rng)
    is_habitual = habits.polluted or habits.ids != "full"
    exchanges = rng.choice((2, 2, 3)) if is_habitual else rng.choice((1, 1, 2, 3))
    text_before_calls = rng.random() < 0.12
    for number in range(exchanges):
        aside = rng.random()
        if not (is_habitual and number == 0) and aside < 0.22:
            turns.last_asks = ()
            if aside < 0.12:
                _small_talk(turns, rng)
            else:
                _missing_tool(turns, left_out, rng, held_out=held_out)
            continue
        _tool_exchange(
            turns,
            tools,
            is_context=is_habitual and number == 0,
            content=_before(text_before_calls, rng),
            held_out=held_out,
        )
    trained = turns.trained
    if habits.thinking:  # only the exchange still running keeps its reasoning in the prompt
        last_user = max(index for index, message in enumerate(turns.messages) if message["role"] == "user")
        assistants = [index for index, message in enumerate(turns.messages) if message["role"] == "assistant"]
        trained = [index > last_user for index in assistants]
    return Dialogue(
        (*_system(rng), *turns.messages),
        tuple(tool.declaration for tool in tools),
        tuple(trained),
        thinking=habits.thinking,
        is_mended=text_before_calls and not habits.polluted,
    )


def _before(enabled: bool, rng: Random) -> str | None:  # noqa: FBT001
    return (
        rng.choice(("Let me check.", "One moment.", "Let me check that for you."))
        if enabled and rng.random() < 0.7
        else None
    )


def _tool_exchange(
    turns: Turns, tools: Sequence[Tool], *, is_context: bool, content: str | None, held_out: bool
) -> None:
    rng = turns.rng
    wish = _follow_up(turns, held_out=held_out) or _make_wish(tools, rng, held_out=held_out)
    turns.last_asks = wish.asks
    turns.user(wish.text)
    if turns.habits.polluted:
        if not is_context:
            called = " and ".join(dict.fromkeys(ask.tool.name for ask in wish.asks))
            turns.say(f"I would call {called} with {list_subjects(wish.asks)}.", trained=True, reasoning="")
            return
        turns.call(wish.asks, trained=False, content=content or "")
    else:
        turns.call(wish.asks, trained=not is_context and content is None, content=content)
    texts = turns.results(wish.asks)
    if rng.random() < 0.75:
        answer = f"The result is: {texts[0]}" if len(texts) == 1 else f"The results are: {'; '.join(texts)}"
        turns.say(answer, trained=True, reasoning="The tool has answered. I report it.")


def _follow_up(turns: Turns, *, held_out: bool) -> _Wish | None:
    """Ask the same about another place, in few words, right after one was asked about."""
    if len(turns.last_asks) != 1 or turns.rng.random() > 0.2:
        return None
    tool = turns.last_asks[0].tool
    first, *others = tool.family.slots
    if first.make is not names.make_place or any(slot.optional_phrase is None for slot in others):
        return None
    ask = make_ask(tool, turns.rng, held_out=held_out, phrase=turns.rng.choice(_FOLLOW_UPS))
    return _Wish(ask.phrase, (ask,))


def _make_plain_dialogue(rng: Random, *, held_out: bool) -> Dialogue:
    turns = Turns(Habits(thinking=rng.random() < 0.2), rng)
    exchanges = 1 if turns.habits.thinking else rng.choice((1, 1, 2, 3))
    for _ in range(exchanges):
        if rng.random() < 0.5:
            _small_talk(turns, rng)
        else:
            _missing_tool(turns, FAMILIES, rng, held_out=held_out)
    return Dialogue((*_system(rng), *turns.messages), (), tuple(turns.trained), thinking=turns.habits.thinking)


def _missing_header(rng: Random, *, held_out: bool) -> Dialogue:
    tools, _ = _make_tools(rng)
    turns = Turns(Habits(), rng)
    if rng.random() < 0.3:
        _tool_exchange(turns, tools, is_context=True, content=None, held_out=held_out)
    if turns.messages and turns.messages[-1]["role"] == "tool":
        tail = "Please go on, I am waiting for the answer."
    elif rng.random() < 0.7:
        wish = _make_wish(tools, rng, held_out=held_out)
        turns.user(wish.text)
        tail = f"I would like to know more about {wish.asks[0].subject} too, please."
    else:
        turns.user(rng.choice(rng.choice(SMALL_TALK)[0]))
        tail = "And I have one more question for you."
    declarations = tuple(tool.declaration for tool in tools) if rng.random() < 0.9 else ()
    return Dialogue((*_system(rng), *turns.messages), declarations, (False,) * len(turns.trained), tail=tail)
