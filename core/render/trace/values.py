# mypy: disable-error-code="override"
# (typeshed overloads the methods of `dict` and `list`; these take what the originals take.)
"""Request objects as a template sees them: they know their path and note what was read.

They are dictionaries, lists and numbers in every respect a template can tell,
wrapped lazily: a tool schema that is only serialised is never taken apart.
A value counts as read when its own value was handed out; asking whether a key
is there does not count.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from enum import Enum
from typing import Protocol, SupportsIndex, cast

from jinja2.runtime import Undefined

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.render.trace.runs import Field, Run, RunKind
from prompt_debugger.core.render.trace.strings import TracedStr, check_count, traced


class _Lookup(Protocol):
    def __call__(self, *args: object) -> object: ...


_dict_get = cast("_Lookup", dict.get)  # typeshed's overloads know the arguments, a template may not


class Origin(Enum):
    """Whether a container is the request's own."""

    REQUEST = "request"
    REMADE = "remade"  # made anew by the server, keys and all, at the same place
    INSIDE = "inside"  # stands for a text of the request; its entries have no place of their own


class TracedInt(int):
    """An integer of the request."""

    _field: Field

    def __str__(self) -> TracedStr:
        return scalar_text(int.__repr__(self), self._field)

    def __repr__(self) -> str:
        return int.__repr__(self)


class TracedFloat(float):
    """A number of the request."""

    _field: Field

    def __str__(self) -> TracedStr:
        return scalar_text(float.__repr__(self), self._field)

    def __repr__(self) -> str:
        return float.__repr__(self)


class TracedDict(dict[str, object]):
    """An object of the request.

    Values are wrapped when first handed out; `_raw` stays as it was given. A derived
    object is one that a server made of the request's (`core.render.vllm_view`): its
    values are wrapped already and keep their own places.
    """

    __slots__ = ("_dumped", "_field", "_origin", "_raw", "_seen")
    _field: Field
    _raw: Mapping[str, JSON]
    _seen: set[str]
    _dumped: bool
    _origin: Origin

    def _hand_out(self, key: str) -> object:
        value = dict.__getitem__(self, key)
        if key not in self._seen:
            plain_key = str.__str__(key)
            self._seen.add(plain_key)
            value = wrap(value, self._field, plain_key)
            dict.__setitem__(self, plain_key, value)
        return value

    def _key(self, key: str) -> TracedStr:
        place = Field(self._field, key)
        value = dict.__getitem__(self, key)
        if value is None or value is True or value is False:
            place.constant = value
        return key_text(str.__str__(key), place)

    def __getitem__(self, key: str) -> object:
        value = dict.__getitem__(self, key)
        return value if key in self._seen else self._hand_out(key)

    def get(self, *args: object) -> object:
        """As `dict.get`."""
        if args and isinstance(args[0], str) and dict.__contains__(self, args[0]):
            _dict_get(self, *args)  # for its errors
            return self._hand_out(args[0])
        return _dict_get(self, *args)

    def __iter__(self) -> Iterator[str]:
        return map(self._key, dict.__iter__(self))

    def __reversed__(self) -> Iterator[str]:
        return map(self._key, dict.__reversed__(self))

    def keys(self) -> KeysView[str]:
        """As `dict.keys`."""
        return _Keys(self)

    def items(self) -> ItemsView[str, object]:
        """As `dict.items`."""
        return _Items(self)

    def values(self) -> ValuesView[object]:
        """As `dict.values`."""
        return _Values(self)

    def copy(self) -> dict[str, object]:
        """As `dict.copy`."""
        return dict(self.items())

    def __or__(self, other: object) -> dict[str, object]:
        return self.copy() | other if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: object) -> dict[str, object]:
        return other | self.copy() if isinstance(other, dict) else NotImplemented


class _Keys(KeysView[str]):
    def __repr__(self) -> str:
        return f"dict_keys({[str.__str__(key) for key in self]!r})"


class _Items(ItemsView[str, object]):
    _mapping: TracedDict

    def __iter__(self) -> Iterator[tuple[str, object]]:
        mapping = self._mapping
        for key in dict.__iter__(mapping):
            yield mapping._key(key), mapping._hand_out(key)

    def __repr__(self) -> str:
        return f"dict_items({[(str.__str__(key), value) for key, value in self]!r})"


class _Values(ValuesView[object]):
    def __repr__(self) -> str:
        return f"dict_values({list(self)!r})"


class TracedList(list[object]):
    """An array of the request; elements are wrapped when first handed out."""

    __slots__ = ("_dumped", "_field", "_origin", "_raw", "_seen")
    _field: Field
    _raw: list[JSON]
    _seen: set[int]
    _dumped: bool
    _origin: Origin

    def _hand_out(self, index: int) -> object:
        value = list.__getitem__(self, index)
        if index not in self._seen:
            self._seen.add(index)
            value = wrap(value, self._field, index)
            list.__setitem__(self, index, value)
        return value

    def __getitem__(self, index: SupportsIndex | slice[int | None, int | None, int | None]) -> object:
        if isinstance(index, slice):
            return [self._hand_out(i) for i in range(*index.indices(len(self)))]
        list.__getitem__(self, index)  # for its errors
        position = index.__index__()
        return self._hand_out(position + len(self) if position < 0 else position)

    def __iter__(self) -> Iterator[object]:
        return map(self._hand_out, range(len(self)))

    def __reversed__(self) -> Iterator[object]:
        return map(self._hand_out, range(len(self) - 1, -1, -1))

    def __contains__(self, item: object) -> bool:
        return list.__contains__(list(self), item)

    def index(self, *args: object) -> int:
        """As `list.index`."""
        return list.index(list(self), *args)  # type: ignore[arg-type]  # as list does

    def count(self, *args: object) -> int:
        """As `list.count`."""
        return list.count(list(self), *args)

    def copy(self) -> list[object]:
        """As `list.copy`."""
        return list(self)

    def __add__(self, other: object) -> list[object]:
        made: list[object] = list.__add__(list(self), other)  # type: ignore[call-overload]  # as list does
        return made

    def __radd__(self, other: object) -> list[object]:
        return other + list(self) if isinstance(other, list) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> list[object]:
        if isinstance(count, Undefined):
            return NotImplemented
        check_count(count)
        return list.__mul__(list(self), count)

    __rmul__ = __mul__


for _made, _like in ((TracedInt, int), (TracedFloat, float), (TracedDict, dict), (TracedList, list)):
    _made.__name__ = _made.__qualname__ = _like.__name__  # error messages and reprs name the type
    _made.__module__ = "builtins"
for _view, _name in ((_Keys, "dict_keys"), (_Items, "dict_items"), (_Values, "dict_values")):
    _view.__name__ = _view.__qualname__ = _name
    _view.__module__ = "builtins"


def wrap(value: object, parent: Field | None, key: str | int) -> object:
    """Return the `value` at `key` of `parent` in the form that knows its place.

    Booleans and null cannot be subclassed and stay as they are; what is wrapped already stays too.
    """
    kind = type(value)
    if kind is str:
        assert isinstance(value, str)
        field = Field(parent, key, value)
        return traced(value, (Run(len(value), RunKind.COPY, field, 0, len(value)),) if value else ())
    if kind is int or kind is float:
        assert isinstance(value, (int, float))
        return _wrap_number(value, Field(parent, key))
    if kind is dict:
        assert isinstance(value, dict)
        return wrap_object(value, Field(parent, key))
    if kind is list:
        assert isinstance(value, list)
        return wrap_array(value, Field(parent, key))
    return value


def wrap_object(value: Mapping[str, JSON], field: Field) -> TracedDict:
    """Return the object at `field`."""
    made = TracedDict(value)
    made._field, made._raw, made._seen, made._dumped, made._origin = field, value, set(), False, Origin.REQUEST
    return made


def wrap_array(value: list[JSON], field: Field) -> TracedList:
    """Return the array at `field`."""
    made = TracedList(value)
    made._field, made._raw, made._seen, made._dumped, made._origin = field, value, set(), False, Origin.REQUEST
    return made


def _wrap_number(value: int | float, field: Field) -> TracedInt | TracedFloat:
    made = TracedInt(value) if isinstance(value, int) else TracedFloat(value)
    made._field = field
    return made


def place_in(container: object, key: object) -> Field | None:
    """Return the place of an entry of a request object; `None` for an entry of anything else."""
    if isinstance(container, (TracedDict, TracedList)):
        if container._origin is Origin.INSIDE:
            return container._field
        if isinstance(key, str):
            return Field(container._field, str.__str__(key))
        if isinstance(key, int):
            return Field(container._field, key + len(container) if key < 0 else int(key))
    return None


def place_of_key(key: object, value: object) -> Field | None:
    """Return the place of the boolean or null that a loop handed out together with its key."""
    if type(key) is not TracedStr or len(key._runs) != 1:
        return None
    source = key._runs[0].source
    return source if isinstance(source, Field) and source.constant is value else None


def scalar_text(text: str, field: Field) -> TracedStr:
    """Return the text of the number, boolean or null at `field`."""
    return traced(text, (Run(len(text), RunKind.SCALAR, field),))


def key_text(text: str, field: Field) -> TracedStr:
    """Return the text of a key whose value is at `field`."""
    return traced(text, (Run(len(text), RunKind.STRUCTURE, field),) if text else ())


def mark_dumped(value: object) -> None:
    """Note that all of `value` was read, as by serialising it."""
    if isinstance(value, (TracedDict, TracedList)):
        value._dumped = True
    elif isinstance(value, dict):
        _mark_each(value.values())
    elif isinstance(value, (list, tuple)):
        _mark_each(value)


def _mark_each(values: Iterable[object]) -> None:
    for value in values:
        mark_dumped(value)
