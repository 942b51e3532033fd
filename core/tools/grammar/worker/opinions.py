"""What JSON Schema and LLGuidance say of a call's arguments."""

from __future__ import annotations

import importlib
import importlib.util
import json
from itertools import islice

from referencing import Registry

from prompt_debugger.core.base.schema_validator import build_validator
from prompt_debugger.core.base.types import JSON, JSONObject

_MAX_ERRORS = 5
_MAX_MESSAGE = 200


def opinions(schema: JSON, arguments: str) -> JSONObject:
    """Return both opinions on arguments as emitted, which are JSON or the start of it."""
    return _json_schema(schema, arguments) | {"llguidance": _llguidance(schema, arguments)}


def _json_schema(schema: JSON, arguments: str) -> JSONObject:
    try:
        instance = json.loads(arguments)
    except ValueError:
        return {"is_json": False, "schema_errors": []}
    try:
        usable = schema if isinstance(schema, (dict, bool)) else True
        found = islice(build_validator(usable, registry=Registry()).iter_errors(instance), _MAX_ERRORS)
        errors: list[JSON] = [f"{error.json_path}: {error.message[:_MAX_MESSAGE]}" for error in found]
    except Exception as error:  # noqa: BLE001 - a pasted schema may fail in any way
        errors = [f"the schema itself cannot be used: {type(error).__name__}"]
    return {"is_json": True, "schema_errors": errors}


def _llguidance(schema: JSON, arguments: str) -> JSONObject:
    if importlib.util.find_spec("llguidance") is None:
        return {"word": "not asked", "note": "LLGuidance is not installed"}
    library = importlib.import_module("llguidance")
    data = arguments.encode()
    matcher = library.LLMatcher(
        library.LLTokenizer("byte"), library.LLMatcher.grammar_from_json_schema(json.dumps(schema)), log_level=0
    )
    problem = str(matcher.get_error()).split("\n", 1)[0]
    if problem:
        return {"word": "refuses the schema", "note": problem[:_MAX_MESSAGE]}
    accepted = int(matcher.try_consume_tokens(list(data)))
    if accepted < len(data):
        return {"word": "steps in", "accepted": len(data[:accepted].decode("utf-8", "ignore"))}
    return {"word": "accepts" if matcher.is_accepting() else "incomplete"}
