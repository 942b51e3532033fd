"""What minijinja says, the template engine of TGI, Dynamo, mistral.rs and other servers in Rust."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "minijinja"

_KINDS = "https://docs.rs/minijinja/latest/minijinja/enum.ErrorKind.html"
_LACKS = "The template uses a {kind} that this template engine does not have; after *in* comes the line."
_OTHER = "Update the server, whose newer engine may have it, or serve a copy of the template without it."


def _lacking(kind: str, says: str, example: str, source: str = _KINDS) -> KnownError:
    means = _LACKS.format(kind=kind)
    return KnownError(says, Stage.RENDER, means, _OTHER, source, example=example, cause=Cause.SETTING)


SENTENCES: tuple[KnownError, ...] = (
    _lacking(
        "test",
        "unknown test: test {name:word} is unknown",
        "unknown test: test iterable is unknown (in <string>:99)",
        "https://github.com/huggingface/tgi-gaudi/issues/218",
    ),
    _lacking(
        "filter",
        "unknown filter: filter {name:word} is unknown",
        "unknown filter: filter shuffle is unknown (in <string>:3)",
    ),
    _lacking(
        "function", "unknown function: {name:word} is unknown", "unknown function: strftime is unknown (in chat:12)"
    ),
    _lacking(
        "method",
        "unknown method: {type:word} has no method named {name:word}",
        "unknown method: string has no method named wrap (in chat:7)",
    ),
)
