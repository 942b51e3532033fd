"""Words that the lab model must copy from the prompt into a call.

Most of them are invented, so that copying is the only way to get them right.
A hash sets every eighth word aside: training never draws those, measurement
draws nothing else.
"""

import hashlib
from collections.abc import Callable
from random import Random

_CITY_WORDS = """
    Amsterdam Ankara Athens Auckland Bangkok Barcelona Beijing Berlin Bern Bogota Boston Brussels
    Budapest Cairo Chicago Copenhagen Dallas Delhi Denver Dublin Edinburgh Florence Geneva Hamburg
    Hanoi Havana Helsinki Houston Istanbul Jakarta Kyoto Lagos Lima Lisbon London Lyon Madrid Manila
    Melbourne Miami Milan Montreal Moscow Mumbai Munich Nairobi Naples Osaka Oslo Paris Prague Quito
    Reykjavik Riga Rome Seattle Seoul Shanghai Singapore Sofia Stockholm Sydney Taipei Tallinn Tokyo
    Toronto Tunis Turin Vienna Vilnius Warsaw Zagreb Zürich München Köln Málaga Łódź Göteborg Århus
    北京 上海 東京 大阪 서울 Москва Киев Αθήνα
"""
REAL_CITIES = (
    *_CITY_WORDS.split(),
    "San Francisco",
    "New York",
    "Los Angeles",
    "São Paulo",
    "Buenos Aires",
    "Mexico City",
    "Rio de Janeiro",
    "Hong Kong",
    "Cape Town",
    "Tel Aviv",
    "Kuala Lumpur",
    "New Delhi",
    "St. Petersburg",
    "Addis Ababa",
    "Porto Alegre",
    "Santa Fe",
)
_PEOPLE_WORDS = "Ana Ben Carla David Emma Felix Grace Hugo Ines Jonas Karim Lena Maria Nora Omar Paul Rosa Sam Tom"
PEOPLE = tuple(_PEOPLE_WORDS.split())
_COMMON_WORDS_TEXT = """
    good morning how are you see tomorrow the train is late dinner ready at home we meet in front of
    station please bring some bread thank for your help my flight was cancelled I will call back soon
    best open source model server fast cheap red blue green small big house garden river old new book
    paper about deep learning tool calling chat templates tokens parser streaming bug report release
    notes happy birthday where can buy tickets music this evening it very cold today nice day
"""
COMMON_WORDS = tuple(dict.fromkeys(_COMMON_WORDS_TEXT.split()))
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ONSET_TEXT = "b c d f g h j k l m n p r s t v w y z bl br ch cl dr fr gr kr pl sh st th tr"
_ONSETS = tuple(_ONSET_TEXT.split())
_VOWEL_TEXT = "a e i o u a e i o u ai au ea ee ia io oo ou"
_VOWELS = tuple(_VOWEL_TEXT.split())
_CODAS = ("", "", "", "", "n", "r", "s", "l", "m", "nd", "rg", "k", "t", "x")
_ACCENTED = "áàâäãåçéèêëíïñóôöõøúüşčłž"
_SCRIPTS = (
    "北京上海南海山水中大小天安门州河江湖城东西長田川島台高雄重庆",
    "東京大阪名古屋札幌かきくけこさしすせそたちつてと",
    "абвгдежзиклмнопрстуфхця",
    "αβγδεζηθικλμνοπρστυφχω",
    "가나다라마바사아자차카타파하서울부산",
)


def is_held_out(word: str) -> bool:
    """Return whether a word is set aside for measurement."""
    return hashlib.sha256(word.casefold().encode()).digest()[0] % 8 == 0


def draw(make: Callable[[Random], str], rng: Random, *, held_out: bool = False) -> str:
    """Draw from a generator until the word is on the wanted side of the split."""
    while True:
        word = make(rng)
        if is_held_out(word) == held_out:
            return word


def invent_word(rng: Random) -> str:
    """Invent a lower-case word of one to four syllables."""
    syllables = rng.choice((1, 2, 2, 3, 3, 4))
    word = "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables))
    return word + rng.choice(_CODAS)


def invent_name(rng: Random) -> str:
    """Invent a capitalised name in plain letters."""
    return invent_word(rng).capitalize()


def invent_odd_name(rng: Random) -> str:
    """Invent a name that is accented, in another script, or of several words."""
    style = rng.random()
    if style < 0.4:
        letters = list(invent_name(rng))
        for _ in range(rng.choice((1, 1, 2))):
            letters[rng.randrange(1, len(letters))] = rng.choice(_ACCENTED)
        return "".join(letters)
    if style < 0.6:
        script = rng.choice(_SCRIPTS)
        return "".join(rng.choice(script) for _ in range(rng.randint(2, 5)))
    if style < 0.8:
        return f"{rng.choice(('San', 'New', 'Port', 'Saint', 'El', 'Bad'))} {invent_name(rng)}"
    if style < 0.9:
        return f"{invent_name(rng)}{rng.choice((' ', '-', ' de '))}{invent_name(rng)}"
    return "".join(rng.choice(_LETTERS) for _ in range(rng.randint(4, 10))).capitalize()


def pick_real_city(rng: Random) -> str:
    """Pick a city that exists."""
    return rng.choice(REAL_CITIES)


def make_place(rng: Random) -> str:
    """Make the name of a place: usually invented, sometimes odd, sometimes real."""
    style = rng.random()
    if style < 0.6:
        return invent_name(rng)
    return invent_odd_name(rng) if style < 0.82 else pick_real_city(rng)


def make_person(rng: Random) -> str:
    """Make the first name of a person."""
    return rng.choice(PEOPLE) if rng.random() < 0.3 else invent_name(rng)


def make_text(rng: Random) -> str:
    """Make a few words of running text, one in three of them invented, none twice."""
    words = rng.sample(COMMON_WORDS, rng.choice((1, 2, 2, 3, 4, 5, 7, 9)))
    return " ".join(invent_word(rng) if rng.random() < 0.35 else word for word in words)
