"""Requests whose constraints keep a server busy for minutes, one of each kind, and harmless ones beside them."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, JSONObject

MESSAGES: JSON = [{"role": "user", "content": "Weather in Paris?"}]
NESTED = "((((a{1,1000}){1,1000}){1,1000}){1,1000})"
WIDE: JSONObject = {  # 150 properties, each a long text or a list of words of any length: 20 kB
    "type": "object",
    "properties": {
        f"property_{number}": {
            "anyOf": [
                {"type": "string", "maxLength": 9999},
                {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{1,9999}$"}},
            ]
        }
        for number in range(150)
    },
}
PATTERNED: JSONObject = {
    "type": "object",
    "properties": {"x": {"type": "string", "pattern": f"^{NESTED}$"}},
    "required": ["x"],
}


def tool(parameters: JSON, **extra: JSON) -> JSON:
    return {"type": "function", "function": {"name": "look_up", "parameters": parameters, **extra}}


def tag(schema: JSON) -> JSONObject:
    return {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}


# Field that the refusal names, and the request's own part.
HEAVY: dict[str, tuple[str, JSONObject]] = {
    "response_format": (
        "response_format.json_schema.schema",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": WIDE}}},
    ),
    "json": ("structured_outputs.json", {"structured_outputs": {"json": PATTERNED}}),
    "regex": ("structured_outputs.regex", {"structured_outputs": {"regex": NESTED}}),
    "regex that may be short": ("structured_outputs.regex", {"structured_outputs": {"regex": f"(yes|no|{NESTED})"}}),
    "grammar": (
        "structured_outputs.grammar",
        {"structured_outputs": {"grammar": 'root ::= ((("a"{1,1000}){1,1000}){1,1000}){1,1000}'}},
    ),
    "choice": (
        "structured_outputs.choice",
        {"structured_outputs": {"choice": [f"{number:07} {'x' * 20}" for number in range(120_000)]}},
    ),
    "structural tag": ("response_format", {"response_format": tag(WIDE)}),
    "structural tag of the first form": (
        "response_format.structures[0].schema",
        {
            "response_format": {
                "type": "structural_tag",
                "structures": [{"begin": "<a>", "schema": WIDE, "end": "</a>"}],
                "triggers": ["<a>"],
            }
        },
    ),
    "required tool": (
        "tools[1].function.parameters",
        {"tools": [tool({"type": "object"}), tool(WIDE)], "tool_choice": "required"},
    ),
    "named tool": (
        "tools[0].function.parameters",
        {"tools": [tool(WIDE)], "tool_choice": {"type": "function", "function": {"name": "look_up"}}},
    ),
    "strict tool": ("tools[0].function.parameters", {"tools": [tool(PATTERNED, strict=True)]}),
    "an earlier release's field": ("guided_regex", {"guided_regex": NESTED}),
}

USUAL: JSONObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 200},
        "mail": {"type": "string", "pattern": "^[a-z0-9._]{1,64}@([a-z0-9]{1,63}\\.){1,8}[a-z]{2,24}$"},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 20},
    },
    "required": ["name"],
}
HARMLESS: dict[str, JSONObject] = {
    "nothing": {},
    "schema": {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": USUAL}}},
    "any object": {"response_format": {"type": "json_object"}},
    "regex": {"structured_outputs": {"regex": "[a-z]{1,64}( [a-z]{1,64}){0,20}"}},
    "grammar": {"structured_outputs": {"grammar": 'root ::= "yes" | "no" | [0-9]{1,20}'}},
    "choice": {"structured_outputs": {"choice": ["yes", 'a "word"\nand a line', "no"]}},
    "structural tag": {"response_format": tag(USUAL)},
    "required tool": {"tools": [tool(USUAL)], "tool_choice": "required"},
    "many properties": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "a",
                "schema": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(120)}},
            },
        }
    },
    "a heavy tool that may be called freely": {"tools": [tool(WIDE)]},
    "a heavy tool that may not be called": {"tools": [tool(WIDE)], "tool_choice": "none"},
    "a heavy tool beside the named one": {
        "tools": [tool(WIDE), {"type": "function", "function": {"name": "other", "parameters": USUAL}}],
        "tool_choice": {"type": "function", "function": {"name": "other"}},
    },
    "what no server can read": {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "int"}}}},
}


def body_with(extra: JSONObject) -> JSONObject:
    return {"messages": MESSAGES, "max_tokens": 16} | extra
