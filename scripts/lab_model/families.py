"""Tool families: what each one is called, asked with and answered by.

A family is one meaning (weather, search, …) under many names and parameter
names, so that both must be read from the declaration in the prompt. The last
family has no name of its own: it is invented for every request.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from scripts.lab_model import names

Value = str | int | float

LANGUAGES = ("French", "German", "Spanish", "Italian", "Dutch", "Polish", "Japanese", "Chinese", "English", "Czech")
CURRENCIES = ("EUR", "USD", "GBP", "JPY", "CHF", "CNY", "PLN", "CAD")
WEATHER = ("sunny", "rain", "cloudy", "light snow", "windy", "clear sky", "fog", "thunderstorm")


@dataclass(frozen=True, slots=True)
class Slot:
    """One parameter of a family.

    Attributes:
        keys: Names it may be declared under; the first is the usual one.
        json_type: Its JSON Schema type, before spelling variants.
        make: Draws a value.
        options: Values listed as `enum`, or none.
        optional_phrase: For an optional parameter, how a user mentions it.
    """

    keys: tuple[str, ...]
    json_type: str
    make: Callable[[Random], Value]
    options: tuple[str, ...] = ()
    optional_phrase: str | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """One meaning of a tool.

    Attributes:
        tool_names: Names it may be declared under; none means an invented one.
        descriptions: Descriptions it may be declared with.
        slots: Its parameters.
        phrases: What a user says; slots by number, as in `{0}`, the tool as `{name}`.
        result: Draws what the tool returns.
    """

    tool_names: tuple[str, ...]
    descriptions: tuple[str, ...]
    slots: tuple[Slot, ...]
    phrases: tuple[str, ...]
    result: Callable[[Random], str]


OPEN_MAKERS: tuple[Callable[[Random], Value], ...] = (names.make_place, names.make_text, names.make_person)


def _number(low: int, high: int) -> Callable[[Random], Value]:
    def make(rng: Random) -> Value:
        whole = rng.randint(low, high if rng.random() < 0.3 else min(high, 99))
        return whole if rng.random() < 0.8 else whole + rng.randint(1, 9) / 10

    return make


def _integer(low: int, high: int) -> Callable[[Random], Value]:
    return lambda rng: rng.randint(low, high)


def _one_of(options: tuple[str, ...]) -> Callable[[Random], Value]:
    return lambda rng: rng.choice(options)


def _weather_result(rng: Random) -> str:
    degrees = rng.randint(-9, 39)
    sky = rng.choice(WEATHER)
    return rng.choice(
        (
            sky,
            f"{sky}, {degrees} C",
            f"{degrees}°C and {sky}",
            f'{{"temperature": {degrees}, "condition": "{sky}"}}',
            f'{{"sky": "{sky}"}}',
        )
    )


def _time_result(rng: Random) -> str:
    clock = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}"
    return rng.choice((clock, clock, f'{{"time": "{clock}"}}'))


def _text_result(rng: Random) -> str:
    text = names.make_text(rng)
    count = rng.randint(1, 99)
    return rng.choice((text, f"{count} results", f"{count} results: {text}", f'{{"text": "{text}"}}', f"ok, {text}"))


def _number_result(rng: Random) -> str:
    number = rng.randint(1, 9999)
    return rng.choice((str(number), f"{number / 10}", f'{{"result": {number}}}'))


def _status_result(rng: Random) -> str:
    number = rng.randint(100, 999)
    return rng.choice(
        ("ok", "done", "sent", f"booked, number {number}", f'{{"status": "ok", "id": {number}}}', "no table free")
    )


_PLACE = Slot(("city", "location", "place", "town", "city_name"), "string", names.make_place)
_UNIT = Slot(("unit", "units"), "string", _one_of(("celsius", "fahrenheit")), ("celsius", "fahrenheit"), " in {}")
_QUERY = Slot(("query", "q", "text", "keywords"), "string", names.make_text)
_LIMIT = Slot(("limit", "max_results", "top_k"), "integer", _integer(1, 20), (), ", at most {} results")
_TEXT = Slot(("text", "message", "body", "sentence"), "string", names.make_text)
_COUNTRY = Slot(("country", "name", "country_name"), "string", names.make_place)

FAMILIES: tuple[Family, ...] = (
    Family(
        ("get_weather", "weather", "get_current_weather", "get_forecast", "get_current_temperature"),
        (
            "Get the weather of a city.",
            "Current weather in a given place",
            "Get the current weather in a given location",
        ),
        (_PLACE, _UNIT),
        (
            "What's the weather in {0}?",
            "What is the weather in {0}?",
            "What is the weather like in {0}?",
            "What's the weather like in {0} today?",
            "How is the weather in {0} right now?",
            "weather {0} please",
            "weather in {0}",
            "Is it raining in {0}?",
            "How warm is it in {0} today?",
            "Tell me the weather in {0}.",
            "Please tell me the temperature in {0}",
            "Check the weather for {0}",
            "How's the weather in {0}?",
            "What's the weather like in {0}?",
            "What's the weather going to be in {0} tomorrow?",
            "Can you tell me the weather in {0}?",
            "Could you check the weather in {0}?",
            "Get the weather for {0}",
            "Get the weather in {0}.",
            "I want to know the weather in {0}",
            "What is the temperature in {0}?",
            "What's the current weather in {0}?",
            "Is it cold in {0}?",
            "Do I need an umbrella in {0}?",
        ),
        _weather_result,
    ),
    Family(
        ("get_time", "current_time", "get_local_time"),
        ("Tell the local time.", "Get the current time in a city"),
        (Slot(("city", "place", "location", "timezone"), "string", names.make_place),),
        (
            "What time is it in {0}?",
            "Tell me the time in {0}",
            "local time in {0} please",
            "How late is it in {0} now?",
            "What is the time in {0}?",
            "What's the time in {0}?",
            "Can you tell me the time in {0}?",
            "What is the local time in {0} right now?",
        ),
        _time_result,
    ),
    Family(
        ("search", "web_search", "search_web", "search_docs", "google_search"),
        ("Search the web.", "Find documents about a topic", "Search for information on the web"),
        (_QUERY, _LIMIT),
        (
            "Search for {0}",
            "Search the web for {0}",
            "find docs about {0}",
            "look up {0}",
            "google {0}",
            "Please search: {0}",
            "Find something about {0}",
            "Can you search for {0}?",
            "Search {0}",
            "I am looking for {0}",
            "What can you find about {0}?",
        ),
        _text_result,
    ),
    Family(
        ("translate", "translate_text"),
        ("Translate a text.", "Translate text into another language"),
        (_TEXT, Slot(("target_language", "language", "to", "target"), "string", _one_of(LANGUAGES))),
        (
            "Translate {0} to {1}",
            'Translate "{0}" to {1}',
            'Translate "{0}" into {1}.',
            'Say "{0}" in {1}',
            'How do you say "{0}" in {1}?',
        ),
        _text_result,
    ),
    Family(
        ("send_message", "send_email", "notify"),
        ("Send a message to a person.", "Write to somebody"),
        (
            Slot(("to", "recipient", "person"), "string", names.make_person),
            Slot(_TEXT.keys[1:], "string", names.make_text),
        ),
        (
            "Send {0} a message: {1}",
            "Tell {0}: {1}",
            'Write to {0} "{1}"',
            "Send this to {0}: {1}",
            "Send a message to {0} saying: {1}",
        ),
        _status_result,
    ),
    Family(
        ("book_table", "reserve_table", "book_restaurant"),
        ("Book a table at a restaurant.", "Reserve a table"),
        (
            Slot(("restaurant", "place", "name"), "string", names.make_place),
            Slot(("people", "guests", "party_size"), "integer", _integer(2, 20)),
            Slot(
                ("time", "hour"), "string", lambda rng: f"{rng.randint(11, 22)}:{rng.choice(('00', '15', '30', '45'))}"
            ),
        ),
        (
            "Book a table at {0} for {1} people at {2}",
            "Reserve a table for {1} at {0}, {2} o'clock",
            "I need a table at {0} for {1} people at {2}.",
        ),
        _status_result,
    ),
    *(
        Family(
            tool_names,
            (description, f"{description[:-1]} and return the result"),
            (
                Slot(("a", "x", "first", "first_number"), "number", _number(1, 9999)),
                Slot(("b", "y", "second", "second_number"), "number", _number(1, 9999)),
            ),
            phrases,
            _number_result,
        )
        for tool_names, description, phrases in (
            (
                ("multiply", "multiply_numbers"),
                "Multiply two numbers.",
                (
                    "What is {0} times {1}?",
                    "Multiply {0} by {1}",
                    "multiply {0} and {1}",
                    "What is {0} * {1}?",
                    "Compute {0} x {1}",
                ),
            ),
            (
                ("add", "add_numbers", "sum"),
                "Add two numbers.",
                (
                    "What is {0} plus {1}?",
                    "Add {0} and {1}",
                    "add {0} to {1}",
                    "What is {0} + {1}?",
                    "Compute {0} + {1}",
                ),
            ),
            (
                ("divide", "divide_numbers"),
                "Divide two numbers.",
                ("What is {0} divided by {1}?", "Divide {0} by {1}", "What is {0} / {1}?"),
            ),
        )
    ),
    Family(
        ("get_population", "population"),
        ("Get the population of a country.", "How many people live in a country"),
        (_COUNTRY,),
        (
            "How many people live in {0}?",
            "What is the population of {0}?",
            "population of {0}",
            "What's the population of {0}?",
        ),
        _number_result,
    ),
    Family(
        ("convert_currency", "convert", "exchange"),
        ("Convert money between currencies.", "Convert an amount to another currency"),
        (
            Slot(("amount", "value"), "number", _number(1, 9999)),
            Slot(("from_currency", "source", "from"), "string", _one_of(CURRENCIES)),
            Slot(("to_currency", "target", "to"), "string", _one_of(CURRENCIES)),
        ),
        ("Convert {0} {1} to {2}", "How much is {0} {1} in {2}?", "What are {0} {1} in {2}?"),
        _number_result,
    ),
    Family(
        ("set_timer", "timer", "start_timer"),
        ("Set a timer.", "Start a timer for some minutes"),
        (Slot(("minutes", "duration"), "integer", _integer(1, 90)),),
        ("Set a timer for {0} minutes", "Start a timer of {0} minutes", "timer {0} minutes please"),
        _status_result,
    ),
    Family(
        (),
        ("Does what its name says.", "A tool of our own", "Internal tool"),
        (Slot((), "string", names.make_text),),
        ("Use {name} with {0}", "Call {name} with {0}", "Run {name} on {0}", "Please call {name} for {0}"),
        _text_result,
    ),
)
