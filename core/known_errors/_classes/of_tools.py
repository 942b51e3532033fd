"""Classes of errors about the tools of the request as a whole: their number, names, and how large their schemas are."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "schema-too-complex",
        r"\bcompiled grammar is too large\b|\btoo many (?:optional parameters|states for serving)\b"
        r"|\b(?:schema|grammar)\b[^:]{0,80}?\b(?:too (?:complex|large|deep)|(?:exceeds?"
        r"|exceeding) the maximum (?:allowed )?"
        r"(?:nesting )?(?:depth|complexity))\b|\bschema .{0,40}?nested too deep",
        Stage.REQUEST,
        Cause.REQUEST,
        "A schema of the request is too complex to be enforced",
        "The server turns the schemas of answer and tools into a grammar, and this one would have too many states: "
        "many optional fields, long lists or enums, deep nesting, or limits on numbers and texts.",
        "Make the schema smaller: fewer optional properties, shorter enums and names, no `minItems`, `maxLength` or "
        "`pattern`, less nesting. Mark only the tools as strict that need it, and check the other rules in the "
        "program.",
    ),
    ErrorClass(
        "tool-twice",
        r"\b(?:tool|function) names must be unique\b(?! across)|\bduplicate (?:tool|function) (?:name|declaration)s?"
        r"(?:\W{1,3}(?P<name>[\w.-]{1,80}))?",
        Stage.REQUEST,
        Cause.REQUEST,
        "Two tools of the request have the same name",
        "The name says which tool a call means, so each may be declared once; {name|one} is declared twice.",
        "Take one of the two out of `tools`, or rename it. Agents get them twice from two servers of MCP, from a "
        "built-in tool beside one from a configuration, or from a list that is extended on each turn.",
    ),
    ErrorClass(
        "tools-too-many",
        r"\btoo many (?:tools|functions)\b|\bmaximum of \d{1,5} (?:tools|functions)\b"
        r"|\b(?:at most|up to|more than) \d{1,5} (?:tools|functions)\b.{0,40}?(?:supported|allowed|per request)",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request declares more tools than the API allows",
        "The API limits how many tools one request may declare, and the list is longer.",
        "Send the tools that this request needs: choose them by task, switch servers of MCP off that are not used, or "
        "let a search tool find the rest.",
    ),
    ErrorClass(
        "tool-of-other-api",
        r"\btools\W{1,2}\d{1,4}\W{1,4}input tag '(?P<name>[\w.-]{1,60})' found using",
        Stage.REQUEST,
        Cause.REQUEST,
        "A tool of the request is written for another API",
        "Its `type` is {name|one that this API does not know}: `function` is the form of chat completions and "
        "Responses, and names with a date belong to one vendor or release.",
        "Anthropic's Messages API takes a tool as `name`, `description` and `input_schema`, without `type` (or with "
        "`custom`); chat completions take `type: function` with a `function` in it. Let the client convert the tools, "
        "or leave out a built-in tool that this model does not have.",
    ),
    ErrorClass(
        "value-of-other-api",
        r"\A(?:\w{1,40}: )?(?P<path>[\w.\[\]]{1,160}?): input tag '(?P<name>[\w.-]{1,60})' found using",
        Stage.REQUEST,
        Cause.REQUEST,
        "A `type` in the request is not one that this API knows",
        "At {path|its place} the `type` is {name|one of another API}, where the message lists those that are expected.",
        "Send one of those that the message lists: OpenAI's `required` is `any` of the Messages API, `input_text` is "
        "`text`, `image_url` is `image` with a `source`. A gateway that converts between the two does not know this "
        "one yet.",
    ),
    ErrorClass(
        "schema-type-list",
        r"proto field is not repeating, cannot start list",
        Stage.REQUEST,
        Cause.REQUEST,
        "A schema gives a list where this API accepts one value",
        "Gemini's schemas accept one `type` for each place, and {field|a schema} gives a list, such as "
        '`["string", "null"]`.',
        "Write one type and `nullable: true`, or `anyOf` where the API accepts it; in newer releases send the schema "
        "as `parametersJsonSchema`, which accepts JSON Schema unchanged. Gateways and clients convert it in newer "
        "releases.",
    ),
    ErrorClass(
        "schema-enum-type",
        r"invalid value at .{0,300}?\.enum\[\d{1,5}\]|\Aenum values must be (?:of type )?strings?\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A schema has an `enum` of values that are not strings",
        "Gemini's schemas accept an `enum` of strings only, and {field|a schema} lists numbers or other values.",
        'Write the values as strings with `"type": "string"`, or leave the `enum` out and name the values in the '
        "description; in newer releases send the schema as `parametersJsonSchema`.",
    ),
)
"""In this order: the first class whose words are found counts."""
