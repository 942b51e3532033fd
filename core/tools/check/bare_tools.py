"""Templates that expect tools without the wrapper of the API, and which servers pass them so."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.tools.check.answers import SIMPLEST_CALL, TOOLS
from prompt_debugger.core.tools.check.ideal import Ideal, Writer
from prompt_debugger.core.tools.check.model import CheckedModel


def words_on_bare_tools(model: CheckedModel, ideals: Sequence[Ideal]) -> str:
    """Return that a template which fails renders tools without their wrapper, which some servers give it; "" if not."""
    simplest = next((ideal for ideal in ideals if ideal.answer.name == SIMPLEST_CALL), None)
    if simplest is None or simplest.refusal is None:
        return ""
    bare = tuple(as_object(tool["function"]) for tool in TOOLS)
    written = Writer(model.renderer(), model.end_texts, bare).write(simplest.answer)
    if written.refusal is not None:
        return ""
    return (
        'It renders where tools come without the wrapper `{"type": "function", "function": …}`: LMDeploy passes them '
        "so, and SGLang tries it when the first attempt fails; vLLM and transformers do not."
    )
