"""Ollama: the OpenAI endpoints over its own; of these, only the version and the list of tags are asked for here.

    GET /api/version   version
    GET /api/tags      models

Its `/v1/completions` is not a raw completion: the prompt goes through the chat template once more.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.engines._record import Engine, Marks


def _is_ollama(answers: Sequence[JSONObject]) -> bool:
    """Return whether an address is Ollama's: it has both, where others have a version alone at the same path."""
    version, tags = answers
    return isinstance(version.get("version"), str) and isinstance(tags.get("models"), list)


ENGINE = Engine(
    kind="ollama",
    title="Ollama",
    takes_several=True,
    marks=Marks(owners=("library",), paths=("/api/version", "/api/tags"), is_it=_is_ollama, order=40),
    no_raw_run=(
        "Ollama's `/v1/completions` puts its prompt through the chat template once more, so it does not run this prompt"
    ),
)
