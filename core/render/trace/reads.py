"""Which parts of the request a template never read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.render.trace.runs import join_path
from prompt_debugger.core.render.trace.values import TracedDict, TracedList


def unread_paths(value: object, given: JSON, path: str) -> Iterator[str]:
    """Yield the paths in `given` that were never read through `value`, whole subtrees as one.

    Args:
        value: The value at `path` as the template had it, wrapped if it was handed out.
        given: The same value as it was given.
        path: Where it is in the request.
    """
    if not isinstance(value, (TracedDict, TracedList)) or value._dumped:
        return
    found = [unread for key, inner in _entries(given) for unread in _unread_entry(value, key, inner, path)]
    yield from [path] if found and found == [join_path(path, key) for key, _ in _entries(given)] else found


def _unread_entry(value: TracedDict | TracedList, key: str | int, given: JSON, path: str) -> Iterator[str]:
    here = join_path(path, key)
    if key not in value._seen:
        yield here
    elif isinstance(value, TracedDict):
        yield from unread_paths(dict.__getitem__(value, str(key)), given, here)
    elif isinstance(key, int):
        yield from unread_paths(list.__getitem__(value, key), given, here)


def _entries(given: JSON) -> Iterable[tuple[str | int, JSON]]:
    if isinstance(given, dict):
        return list(given.items())
    return list(enumerate(given)) if isinstance(given, list) else []
