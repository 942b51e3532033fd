"""What a template's text and what it renders show without a parser: which model it is, and why it fails."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.complete import parser_names_of, title_of
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.tools.check.answers import SIMPLEST_CALL, TOOLS
from prompt_debugger.core.tools.check.ideal import Ideal, Writer
from prompt_debugger.core.tools.check.model import CheckedModel

_MIN_MARKERS = 2  # markers of one family: one alone may be a quotation


def words_of(model: CheckedModel, ideals: Sequence[Ideal]) -> str:
    """Return what shows which model it is: its template, what that renders, the special tokens of its vocabulary."""
    special = () if model.tokenizer is None else model.tokenizer.vocabulary.special.values()
    rendered = (text for ideal in ideals for text in (ideal.prompt, ideal.raw))
    return "\n".join((model.template, *special, *rendered))


def family_in(template: str) -> tuple[str, str] | None:
    """Return the family most of whose call markers a template contains, and the first of them; `None` if unclear."""
    found = {
        name: [marker for marker in one.call_markers if len(marker) > 2 and marker in template]
        for name, one in FORMATS.items()
    }
    ranked = sorted(found, key=lambda name: len(found[name]), reverse=True)
    best, second = (found[name] for name in ranked[:2])
    if len(best) < _MIN_MARKERS or len(best) == len(second):
        return None
    return ranked[0], min(best, key=template.index)


def words_on_refused(template: str, ideals: Sequence[Ideal], kind: str) -> str:
    """Return which parsers an engine has for the calls of a template that fails to render; "" where none are known."""
    if _refused_call(ideals) is None or (found := family_in(template)) is None:
        return ""
    family, marker = found
    own = parser_names_of(kind, family)
    if not own.tools:
        return ""
    reasoning = f", and `{own.reasonings[0]}` for reasoning" if own.reasonings else ""
    return (
        f"`{marker}` in the template is a marker of `{family}`, for whose calls {title_of(kind)} has "
        f"`{own.tools[0]}`{reasoning}. That is inferred: no parser was asked. Check again with a template that renders."
    )


def words_on_bare_tools(model: CheckedModel, ideals: Sequence[Ideal]) -> str:
    """Return that a template which fails renders tools without their wrapper, which some servers give it; "" if not."""
    if (refused := _refused_call(ideals)) is None:
        return ""
    bare = tuple(as_object(tool["function"]) for tool in TOOLS)
    written = Writer(model.renderer(), model.end_texts, bare).write(refused.answer)
    if written.refusal is not None:
        return ""
    return (
        'It renders where tools come without the wrapper `{"type": "function", "function": …}`: LMDeploy passes them '
        "so, and SGLang tries it when the first attempt fails; vLLM and transformers do not."
    )


def words_on_parts(model: CheckedModel) -> str:
    """Return that everything was rendered with contents as lists of parts, and why; "" if it was not."""
    if not model.takes_parts:
        return ""
    return (
        "The template fails for a content that is a text, and renders lists of parts: all was rendered as vLLM does "
        "it, which makes lists of all texts but tool results. SGLang and transformers pass a text as it is: there, a "
        "client has to send lists."
    )


def _refused_call(ideals: Sequence[Ideal]) -> Ideal | None:
    """Return the simplest call if the template refuses to render it."""
    return next((one for one in ideals if one.answer.name == SIMPLEST_CALL and one.refusal is not None), None)
