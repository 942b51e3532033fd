"""Tools, and calls of them as each family writes them."""

import json

from prompt_debugger.core.base.types import JSON, JSONObject


def tool(name: str, schema: JSON, *, strict: bool | None = True) -> JSONObject:
    function: JSONObject = {"name": name, "description": "…", "parameters": schema}
    return {"type": "function", "function": function if strict is None else function | {"strict": strict}}


WEATHER: JSONObject = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1, "maximum": 10},
        "unit": {"enum": ["c", "f"]},
    },
    "required": ["city"],
}
SEARCH: JSONObject = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "options": {"type": "object", "properties": {"limit": {"type": "integer"}}, "required": ["limit"]},
        "sites": {"type": "array", "items": {"type": "string", "pattern": "[a-z]+\\.org"}},
    },
    "required": ["query"],
}
TOOLS = [tool("get_weather", WEATHER), tool("mcp-search", SEARCH)]

_HERMES = '<tool_call>\n{"name": "NAME", "arguments": JSON}\n</tool_call><|im_end|>'
_FORMS = {
    "hermes": _HERMES,
    "qwen3": _HERMES,
    "longcat": _HERMES.replace("tool_call", "longcat_tool_call").replace("<|im_end|>", "</longcat_s>"),
    "llama3_json": '{"name": "NAME", "parameters": JSON}<|eom_id|>',
    "deepseek_v3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n```json\nJSON\n```"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
    ),
    "deepseek_v31": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>JSON"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
    ),
    "harmony": (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions."
        "NAME <|constrain|>json<|message|>JSON<|call|>"
    ),
    "qwen3_coder": "<tool_call>\n<function=NAME>\nPAIRS\n</function>\n</tool_call><|im_end|>",
    "mimo": "<tool_call><function=NAME>PAIRS</function></tool_call>",
    "glm45": "<tool_call>NAME\nPAIRS\n</tool_call><|observation|>",
    "minimax_m2": '\n<minimax:tool_call>\n<invoke name="NAME">\nPAIRS</invoke>\n</minimax:tool_call>[e~[',
    "kimi_k3": (
        '<|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="NAME" index="1"<|sep|>'
        "PAIRS<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>"
    ),
    "deepseek_v32": (
        '\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="NAME">\nPAIRS</｜DSML｜invoke>\n</｜DSML｜function_calls>'
        "<｜end▁of▁sentence｜>"
    ),
    "deepseek_v4": (
        '\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="NAME">\nPAIRS</｜DSML｜invoke>\n</｜DSML｜tool_calls>'
        "<｜end▁of▁sentence｜>"
    ),
    "plamo3": (
        "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>NAME"
        "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>JSON"
        "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|><|plamo:tag|>"
    ),
    "hy_v4": "<tool_calls:x1><tool_call:x1>NAMEPAIRS</tool_call:x1></tool_calls:x1><｜hy_eos:x1｜>",
}
_PAIRS = {
    "qwen3_coder": ("<parameter={}>\n{}\n</parameter>", "\n"),
    "mimo": ("<parameter={}>{}</parameter>", ""),
    "glm45": ("<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>", "\n"),
    "minimax_m2": ('<parameter name="{}">{}</parameter>\n', ""),
    "kimi_k3": ('<|open|>argument key="{}" type="KIND"<|sep|>{}<|close|>argument<|sep|>', ""),
    "deepseek_v32": ('<｜DSML｜parameter name="{}" string="IS_TEXT">{}</｜DSML｜parameter>\n', ""),
    "deepseek_v4": ('<｜DSML｜parameter name="{}" string="IS_TEXT">{}</｜DSML｜parameter>\n', ""),
    "hy_v4": ("<arg_key:x1>{}</arg_key:x1><arg_value:x1>{}</arg_value:x1>", ""),
}
JSON_FAMILIES = (
    "kimi_k2",
    "hermes",
    "qwen3",
    "longcat",
    "llama3_json",
    "deepseek_v3",
    "deepseek_v31",
    "harmony",
    "plamo3",
)
FAMILIES_WRITTEN = (*JSON_FAMILIES, *_PAIRS)
HELD_AT_AUTO = tuple(family for family in FAMILIES_WRITTEN if family != "hy_v4")
HELD_TO_SCHEMAS = tuple(family for family in HELD_AT_AUTO if family != "kimi_k3")


def _pair(form: str, key: str, value: JSON) -> str:
    is_text = isinstance(value, str)
    kind = "string" if is_text else "object" if isinstance(value, dict) else "number"
    form = form.replace("KIND", kind).replace("IS_TEXT", "true" if is_text else "false")
    return form.format(key, value if is_text else json.dumps(value))


def kimi_call(name: str, arguments: JSON, index: int = 0) -> str:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return f"<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{text}<|tool_call_end|>"


def kimi(*calls: str, end: str = "<|im_end|>") -> str:
    return "<|tool_calls_section_begin|>" + "".join(calls) + "<|tool_calls_section_end|>" + end


def written(family: str, name: str, arguments: JSONObject) -> str:
    """One call as a family writes it, its end token included."""
    if family == "kimi_k2":
        return kimi(kimi_call(name, arguments))
    form, between = _PAIRS.get(family, ("", ""))
    pairs = between.join(_pair(form, key, value) for key, value in arguments.items())
    return _FORMS[family].replace("NAME", name).replace("PAIRS", pairs).replace("JSON", json.dumps(arguments))
