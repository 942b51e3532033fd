"""The validator of JSON Schema that schemas are checked with: jsonschema's own, but for what takes it too long.

Its `uniqueItems` holds every item against every other one where they cannot be sorted: lists of objects.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from prompt_debugger.core.types import JSON, JSONObject


def _unique_items(_: Validator, wanted: JSON, instance: JSON, __: JSONObject) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, list) and len({_identity(item) for item in instance}) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _identity(value: JSON) -> Hashable:
    """Return what two values share if JSON Schema calls them equal: 1 is 1.0 and not true, members have no order."""
    if isinstance(value, bool):
        return "true" if value else "false", None
    if isinstance(value, list):
        return tuple(_identity(item) for item in value), "list"
    if isinstance(value, dict):
        return frozenset((name, _identity(inner)) for name, inner in value.items())
    return value


SchemaValidator: type[Validator] = extend(Draft202012Validator, {"uniqueItems": _unique_items})  # type: ignore[no-untyped-call]  # the stubs know it without types
