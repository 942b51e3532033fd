"""What changed in what a template prints, between two locks: tools that it drops, prompts that grew or fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.report.wire.lock import LockDocument

_FATES = ("printed", "printed without its parameters", "dropped", "refused")
_NOW = {
    "printed": "are now printed",
    "printed without its parameters": "are now printed without their parameters",
    "dropped": "are now dropped from the prompt",
    "refused": "are now refused: the template fails",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change since the lock, or the model, that `--against` named.

    Attributes:
        sentence: What changed.
        is_worse: Whether something that worked no longer does.
    """

    sentence: str
    is_worse: bool


def tool_changes(before: LockDocument, now: LockDocument) -> Iterator[Change]:
    """Say which kinds of tools are printed differently, alike ones in one sentence."""
    alike: dict[tuple[str, bool], list[str]] = {}
    for kind, was in before.tools.items():
        fate = now.tools.get(kind, was)
        if fate != was:
            alike.setdefault((fate, _rank(fate) > _rank(was)), []).append(kind)
    for (fate, is_worse), kinds in alike.items():
        yield Change(f"Tools with {_listed(kinds)} {_NOW.get(fate, f'are now {fate}')}.", is_worse)


def prompt_changes(before: LockDocument, now: LockDocument) -> Iterator[Change]:
    """Say which conversations give a longer or shorter prompt, or none, those that change alike in one sentence."""
    alike: dict[str, list[str]] = {}
    for name, was in before.prompts.items():
        text = now.prompts.get(name, was)  # a case that was not asked says nothing
        if was and not text:
            yield Change(f"The template now fails for the case `{name}`.", is_worse=True)
        elif text and not was:
            yield Change(f"The template now renders the case `{name}`, which it refused before.", is_worse=False)
        elif (at := first_divergence(was, text)) is not None:
            alike.setdefault(f"{_size(before, now, name)} at line {was.count(chr(10), 0, at) + 1}", []).append(name)
    for label, names in alike.items():
        shown = _listed([f"`{name}`" for name in names])
        yield Change(f"The prompt of {'case' if len(names) == 1 else 'cases'} {shown} {label}.", is_worse=False)


def _size(before: LockDocument, now: LockDocument, name: str) -> str:
    """Return by how much a prompt grew: in tokens, if both were counted."""
    if name in before.lengths and name in now.lengths:
        more, unit = now.lengths[name] - before.lengths[name], "token"
    else:
        more, unit = len(now.prompts[name]) - len(before.prompts[name]), "character"
    if more == 0:
        return "changed"
    return f"{'grew' if more > 0 else 'shrank'} by {abs(more)} {unit}{'' if abs(more) == 1 else 's'}"


def _rank(fate: str) -> int:
    return _FATES.index(fate) if fate in _FATES else len(_FATES)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
