"""The errors of a union of forms, one for each form that a value is not → what is wrong with the value.

A validator that tries forms one after another reports why each of them does not fit. Where one form was meant, its
errors are what matters. Where none was, no single error says what is wrong: `Input should be a valid string` of a
list of items, or `Field required` of a form that nobody meant. Then the value itself is named, with its `type`.

    228 validation errors:
      {'loc': ('body', 'input', 'str'), 'msg': 'Input should be a valid string', …}
      {'loc': ('body', 'input', 'list[union[…]]', 1, 'EasyInputMessageParam', 'type'), …, 'input': 'novel'}
      …
    `input[1]`: None of the forms that the server knows accepts this value, whose `type` is `novel`
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object, as_text
from prompt_debugger.core.base.types import JSON

NO_FORM = "None of the forms that the server knows accepts this value"

_PLAIN_TYPES = frozenset({"str", "int", "float", "bool", "dict", "list"})
_NAMELESS = "typed-dict"  # each form of a union of `TypedDict`s, in older releases of pydantic
_MIN_FORMS = 3  # of a union whose errors are read as a whole
_MANY_FORMS = 5  # of one whose value is named without its `type` or `role`
_MAX_NESTED = 6  # unions within unions
_KINDS = ("type", "role")
_MISSING, _EXTRA = "Field required", "Extra inputs are not permitted"
_LEFT_OUT, _OTHERS = "Input should be '…'", "Others"  # of forms whose errors are not shown
_KIND = re.compile(r"[\w.:/-]{1,80}")
# What a printed value begins with: `{'type': 'x', 'role': 'y', …`.
_PRINTED_KIND = {
    "type": re.compile(r"\{'type': '([\w.:/-]{1,80})'"),
    "role": re.compile(r"\{(?:'type': '[\w.:/-]{1,80}', )?'role': '([\w.:/-]{1,80})'"),
}

Steps = tuple[str | int, ...]


class _Fault(NamedTuple):
    """One error: where, in which words, and the value that it is about."""

    steps: Steps
    says: str
    given: JSON

    def as_json(self) -> JSON:
        return {"loc": list(self.steps), "msg": self.says, "input": self.given}


def is_class(step: str) -> bool:
    """Return whether a step of a path is the name of a class or type, not of a field."""
    return _is_form(step) or "[" in step or "(" in step or step in _PLAIN_TYPES or step == _NAMELESS


def keep_meant(items: list[JSON]) -> list[JSON]:
    """Return the errors of a list without those of union members that a value was never meant to be.

    A member whose `role` or `type` is another one's is not meant, nor one that the value as a whole is not, if it is
    another; of those that are left, the one with fewest errors. What no member of a large union accepts is named.
    """
    items = _drop_other_forms(items)
    by_place: dict[str, dict[str, list[JSON]]] = {}
    for item in items:
        place, member = _member_of(item)
        if member:
            by_place.setdefault(place, {}).setdefault(member, []).append(item)
    dropped: set[int] = set()
    for members in by_place.values():
        meant = {name: errors for name, errors in members.items() if not any(map(_is_of_other_member, errors))}
        meant = {name: errors for name, errors in meant.items() if not any(map(is_of_whole_member, errors))} or meant
        chosen = min((meant or members).items(), key=lambda one: len(one[1]))[0]
        dropped.update(id(item) for name, errors in members.items() if name != chosen for item in errors)
    return [item for item in items if id(item) not in dropped]


def note_forms_left_out(items: list[JSON]) -> list[JSON]:
    """Return the errors of a list that was cut, in place of those of the form within which it was, that there are more.

    Of that form the error may be left out that says that the value was not meant as it.
    """
    faults = [fault for item in items if (fault := _fault_of(item)) is not None]
    at = _place_of_form(faults[-1]) if faults else None
    if at is None or len(faults) != len(items):
        return items
    begin = faults[-1].steps[: at + 1]
    others = [item for item, fault in zip(items, faults, strict=True) if fault.steps[: at + 1] != begin]
    forms = {fault.steps[at] for fault in faults if fault.steps[:at] == begin[:at] and _place_of_form(fault) == at}
    if len(forms) < 2:
        return items
    more: JSON = {"loc": [*begin[:at], _OTHERS, "type"], "msg": _LEFT_OUT}
    return [*(others if len(forms) >= _MIN_FORMS else items), more]


def is_of_whole_member(item: JSON) -> bool:
    """Return whether an error is that a value as a whole is not the member: it was not meant as that."""
    last = _last_step(item)
    return isinstance(last, str) and is_class(last)


def _member_of(item: JSON) -> tuple[str, str]:
    """Return where the union of an error is, and which member of it the error is about; "" if none."""
    loc = as_object(item).get("loc")
    steps = loc if isinstance(loc, list) else []
    at = next((index for index, step in enumerate(steps) if isinstance(step, str) and is_class(step)), None)
    return ("", "") if at is None else (json.dumps(steps[:at]), str(steps[at]))


def _is_of_other_member(item: JSON) -> bool:
    says = as_text(as_object(item).get("msg")) or ""
    return _last_step(item) in _KINDS and says.startswith("Input should be '")


def _last_step(item: JSON) -> JSON:
    steps = _loc_of(item)
    return steps[-1] if steps else None


def _drop_other_forms(items: list[JSON]) -> list[JSON]:
    """Return the errors of a list, those of a large union as what they say of the value; others as they are."""
    faults: list[_Fault] = []
    if len(items) < 2:
        return items
    for item in items:
        fault = _fault_of(item)
        if fault is None:
            return items
        faults.append(fault)
    left = _drop_alternatives(_drop_nameless_forms(items, faults))
    resolved = _resolve(left, _MAX_NESTED)
    if resolved != left:
        return [fault.as_json() for fault in resolved]
    kept = set(map(id, left))
    return [item for item, fault in zip(items, faults, strict=True) if id(fault) in kept]


def _fault_of(item: JSON) -> _Fault | None:
    value = as_object(item)
    loc, says = value.get("loc"), as_text(value.get("msg"))
    if not isinstance(loc, list) or says is None:
        return None
    steps = tuple(
        step
        for step in loc
        if isinstance(step, int) or (isinstance(step, str) and (_is_form(step) or not is_class(step)))
    )
    return _Fault(steps, says, value.get("input"))


def _loc_of(item: JSON) -> list[JSON]:
    loc = as_object(item).get("loc")
    return loc if isinstance(loc, list) else []


def _drop_nameless_forms(items: Sequence[JSON], faults: list[_Fault]) -> list[_Fault]:
    """Return errors without those that a value is not of another form, where forms have no names.

    A field too many is one in each form, and `content` that is absent in most; `role`: `Input should be 'system'` only
    says which form was tried first.
    """
    absent = any(fault.says == _MISSING and fault.steps[-1:] == ("content",) for fault in faults)
    if not absent and not any(fault.says == _EXTRA for fault in faults):
        return faults
    return [
        fault
        for item, fault in zip(items, faults, strict=True)
        if not (
            _NAMELESS in _loc_of(item)
            and fault.steps[-1:] in (("role",), ("type",))
            and fault.says.startswith(_LEFT_OUT[: _LEFT_OUT.index("\u2026")])
        )
    ]


def _drop_alternatives(faults: Sequence[_Fault]) -> list[_Fault]:
    """Return errors without those that a list is no string where others are about what is in the list."""
    inside: set[Steps] = set()
    for fault in faults:
        plain = _fields(fault.steps)
        inside.update(plain[:at] for at, step in enumerate(plain) if isinstance(step, int))
    return [
        fault
        for fault in faults
        if not (fault.says.startswith("Input should be a valid ") and _fields(fault.steps) in inside)
    ]


def _is_form(step: str | int) -> bool:
    """Return whether a step of a path is the name of a class: `EasyInputMessageParam`."""
    return isinstance(step, str) and step[:1].isupper() and "[" not in step and "(" not in step


def _fields(steps: Steps) -> Steps:
    return tuple(step for step in steps if not _is_form(step))


def _place_of_form(fault: _Fault) -> int | None:
    return next((at for at, step in enumerate(fault.steps) if _is_form(step)), None)


def _resolve(faults: list[_Fault], depth: int) -> list[_Fault]:
    by_place: dict[Steps, dict[str, list[_Fault]]] = defaultdict(lambda: defaultdict(list))
    for fault in faults:
        at = _place_of_form(fault)
        if at is not None:
            by_place[fault.steps[:at]][str(fault.steps[at])].append(fault)
    done: dict[Steps, list[_Fault]] = {}
    for place, forms in by_place.items():
        if len(forms) >= _MIN_FORMS and depth > 0:
            inner = _faults_of_value(place, forms)
            if inner is not None:
                done[place] = _resolve(inner, depth - 1)
    left: list[_Fault] = []
    for fault in faults:
        at = _place_of_form(fault)
        of_union = None if at is None else fault.steps[:at]
        if of_union is None or of_union not in done:
            left.append(fault)
        else:
            left += done[of_union]
            done[of_union] = []
    return left


def _faults_of_value(place: Steps, forms: dict[str, list[_Fault]]) -> list[_Fault] | None:
    """Return what the errors of all forms say of one value; `None` if they are better read one by one."""
    key, kind = next(((key, kind) for key in _KINDS if (kind := _kind_of(place, forms, key))), ("", ""))
    meant = {name: faults for name, faults in forms.items() if _is_meant(place, name, faults, kind)}
    if meant and not _is_of_part(place, forms, meant):
        chosen = min(meant, key=lambda name: len(meant[name]))
        return [fault._replace(steps=place + fault.steps[len(place) + 1 :]) for fault in forms[chosen]]
    is_cut = any(fault.says == _LEFT_OUT for faults in forms.values() for fault in faults)
    if not kind and len(forms) < _MANY_FORMS and not is_cut:
        return None
    says = f"{NO_FORM}, whose `{key}` is `{kind}`" if kind else NO_FORM
    parts = {part for faults in meant.values() for fault in faults if (part := _part_of(place, fault)) is not None}
    if len(parts) == 1:
        path, of_part = parts.pop()
        says += f", {'and ' if kind else ''}whose `{path}` has the `type` `{of_part}`"
    return [_Fault(place, says, None)]


def _is_of_part(place: Steps, forms: dict[str, list[_Fault]], meant: dict[str, list[_Fault]]) -> bool:
    """Return whether what does not fit is a part that has forms itself, and may fit in another form of the value."""
    nearest = min(meant.values(), key=len)
    at = len(place) + 1
    parts = {
        fault.steps[at] for fault in nearest if any(map(_is_form, fault.steps[at:])) and not _is_form(fault.steps[at])
    }
    return bool(parts) and (
        len(meant) > 1
        or any(
            not any(fault.steps[at : at + 1] == (part,) for fault in faults)
            and not any(fault.steps[at:] == (key,) and _is_of_other_kind(fault) for fault in faults for key in _KINDS)
            for faults in forms.values()
            for part in parts
        )
    )


def _part_of(place: Steps, fault: _Fault) -> tuple[str, str] | None:
    """Return the path within a value, and the `type`, of a part whose `type` does not fit."""
    below = fault.steps[len(place) + 1 :]
    at = next((index for index, step in enumerate(below) if _is_form(step)), None)
    if at is None or below[at + 1 :] != ("type",) or not _is_of_other_kind(fault):
        return None
    kind = fault.given if isinstance(fault.given, str) else ""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in below[:at]).removeprefix(".")
    return (path, kind) if _KIND.fullmatch(kind) and path else None


def _is_meant(place: Steps, name: str, faults: Sequence[_Fault], kind: str) -> bool:
    """Return whether a value may have been meant as one of a form: nothing says otherwise, and not all is missing."""
    below = [fault.steps[len(place) + 1 :] for fault in faults]
    if any(not one for one in below):
        return False
    if any(len(one) == 1 and one[0] in _KINDS and _is_of_other_kind(f) for one, f in zip(below, faults, strict=True)):
        return False
    if any(one == ("type",) and f.says == _MISSING for one, f in zip(below, faults, strict=True)):
        return False
    if any(_is_form(one[0]) and one[1:] == ("type",) for one in below):
        return False  # a union within the union, with other forms
    is_named = bool(kind) and all(word in name.lower() for word in kind.lower().split("_"))
    return is_named or any(fault.says != _MISSING for fault in faults)


def _is_of_other_kind(fault: _Fault) -> bool:
    return fault.says.startswith("Input should be '")


def _kind_of(place: Steps, forms: dict[str, list[_Fault]], key: str) -> str:
    """Return the `type` or `role` of the value, as the errors show it; "" if they do not, or contradict each other."""
    found = {kind for faults in forms.values() for fault in faults for kind in _kinds_in(place, fault, key)}
    return found.pop() if len(found) == 1 else ""


def _kinds_in(place: Steps, fault: _Fault, key: str) -> Iterator[str]:
    below = fault.steps[len(place) + 1 :]
    given: JSON = None
    if len(below) == 1 and fault.says == _MISSING:  # what lacks a field is the value itself
        printed = _PRINTED_KIND[key].match(fault.given) if isinstance(fault.given, str) else None
        given = printed[1] if printed is not None else as_object(fault.given).get(key)
    elif below == (key,) and _is_of_other_kind(fault):
        given = fault.given
    if isinstance(given, str) and _KIND.fullmatch(given):
        yield given
