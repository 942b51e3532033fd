"""Long texts are tokenized in the sandbox: thirty characters of template can write a text that takes gigabytes.

The library needs some fifty bytes for each character, holds the interpreter's lock all the while, and cannot be
interrupted.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple, Protocol

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.render.tokenizers.untrusted import failure_of
from prompt_debugger.core.sandbox import Limits, is_inside, job, sandbox_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Library

LONG_CHARS = 100_000
MAX_CHARS = 20_000_000
MAX_TOKENS = 2_000_000  # each becomes a value of its own in the page

_HINT = (
    "Check the template for repetitions that make the prompt huge, and `tokenizer.json` for patterns that never finish."
)
_KEPT = 2  # vocabularies that a process keeps


def _warm_up() -> None:
    import tokenizers  # noqa: F401 - compiled: it must be at hand before the process is locked


class LongEncoding(NamedTuple):
    """What the library says of a text, as far as it is used."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class Savable(Protocol):
    """What the library's tokenizer does besides tokenizing."""

    def to_str(self) -> str:
        """Return what a `tokenizer.json` with all of this holds."""


class Source:
    """A vocabulary as it travels: its file's text and a name for it, made when first needed."""

    def __init__(self, backend: Savable) -> None:
        self._backend = backend
        self._text: str | None = None
        self._key = ""

    def encode(self, text: str) -> LongEncoding:
        """Return the encoding of a long text, made in the sandbox.

        Raises:
            SandboxError: It takes more time or memory than any prompt should.
            RenderError: It has more characters or tokens than can be shown.
        """
        if len(text) > MAX_CHARS:
            message = f"the text has {len(text):,} characters; at most {MAX_CHARS:,} are tokenized"
            raise RenderError(message, _HINT)
        if self._text is None:
            self._text = self._backend.to_str()
            self._key = hashlib.sha256(self._text.encode("utf-8", "surrogatepass")).hexdigest()
        sandbox = sandbox_of("tokens")
        found = sandbox.call(encode_long, self._key, text, None)
        if found is None:  # this process has not seen the vocabulary yet
            found = sandbox.call(encode_long, self._key, text, self._text)
        assert found is not None
        ids, starts, stops = found
        return LongEncoding(ids, list(zip(starts, stops, strict=True)))


def is_long(text: str) -> bool:
    """Return whether a text is tokenized in the sandbox; inside a sandbox everything is limited already."""
    return len(text) > LONG_CHARS and not is_inside()


@job(
    "tokenizing the text",
    Limits(cpu_s=20.0, wall_s=120.0, memory_mb=2048, answer_mb=128),
    sandbox="tokens",
    warm_up=_warm_up,
    hint=_HINT,
)
def encode_long(key: str, text: str, source: str | None) -> tuple[list[int], list[int], list[int]] | None:
    """Return ids, and the first character and the end of each; `None` if the vocabulary is not known here yet.

    Args:
        key: Name of the vocabulary.
        text: What to tokenize.
        source: The vocabulary, as the library writes it to a file.

    Raises:
        RenderError: There are too many tokens, or the vocabulary fails at the text.
    """
    from tokenizers import Tokenizer as Library

    if source is not None:
        _LOADED[key] = Library.from_str(source)
        while len(_LOADED) > _KEPT:
            _LOADED.popitem(last=False)
    if key not in _LOADED:
        return None
    _LOADED.move_to_end(key)
    try:
        encoding = _LOADED[key].encode(text, add_special_tokens=False)
    except BaseException as error:  # noqa: BLE001  # the library panics
        raise failure_of(error) from None
    ids = encoding.ids
    if len(ids) > MAX_TOKENS:
        raise RenderError(
            f"The text has {len(ids):,} tokens; at most {MAX_TOKENS:,} are allowed.",
            _HINT,
        )
    offsets = encoding.offsets
    return ids, [start for start, _ in offsets], [stop for _, stop in offsets]


_LOADED: OrderedDict[str, Library] = OrderedDict()
