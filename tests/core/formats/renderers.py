"""Write a message the way each family writes it: the inverse of the formats, for tests.

A further family has its own beside its cases, in `tests/cases/NAME/written.py`, which defines `RENDERER`.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Arguments = Mapping[str, Any]
Call = tuple[str, Arguments]
Render = Callable[[str | None, str, Sequence[Call]], str]


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def plain(value: Any) -> str:
    """A value as templates write it: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else dumps(value)


@dataclass(frozen=True)
class Renderer:
    """How a family writes a message.

    Attributes:
        render: Reasoning (`None` for none), content ("" for none) and calls to raw output.
        forbidden: Texts that its values cannot hold, as the family has no way to escape them.
        has_reasoning: Whether it writes reasoning.
        one_call: Whether it writes one call at most.
        call_ids: The ids it writes.
        text_after: Whether text behind the calls is possible.
    """

    render: Render
    forbidden: tuple[str, ...] = ()
    has_reasoning: bool = True
    one_call: bool = False
    call_ids: Callable[[Sequence[Call]], list[str | None]] = lambda calls: [None] * len(calls)


def think(reasoning: str | None, before: str = "", after: str = "", behind: str = "", tag: str = "think") -> str:
    return "" if reasoning is None else f"<{tag}>{before}{reasoning}{after}</{tag}>{behind}"


def chatml(reasoning: str | None) -> str:
    return think(reasoning, "\n", "\n", "\n\n")


def kimi_k2(reasoning, content, calls):
    body = "".join(
        f"<|tool_call_begin|>functions.{name}:{i}<|tool_call_argument_begin|>{dumps(a)}<|tool_call_end|>"
        for i, (name, a) in enumerate(calls)
    )
    section = f"<|tool_calls_section_begin|>{body}<|tool_calls_section_end|>" if calls else ""
    return think(reasoning) + content + section + "<|im_end|>"


def hermes(reasoning, content, calls):
    parts = [f'<tool_call>\n{{"name": {dumps(n)}, "arguments": {dumps(a)}}}\n</tool_call>' for n, a in calls]
    return chatml(reasoning) + "\n".join([content, *parts] if content or not parts else parts) + "<|im_end|>"


def longcat(reasoning, content, calls):
    text = hermes(None, content, calls).replace("tool_call>", "longcat_tool_call>").removesuffix("<|im_end|>")
    return think(reasoning, "\n", "\n", "\n\n", "longcat_think") + text + "</longcat_s>"


def qwen3_coder(reasoning, content, calls):
    def one(name, arguments):
        values = "".join(f"<parameter={k}>\n{plain(v)}\n</parameter>\n" for k, v in arguments.items())
        return f"<tool_call>\n<function={name}>\n{values}</function>\n</tool_call>"

    parts = [one(*call) for call in calls]
    lead = f"{content}\n\n" if content and parts else content
    return chatml(reasoning) + lead + "\n".join(parts) + "<|im_end|>"


def mimo(reasoning, content, calls):
    def one(name, arguments):
        values = "".join(f"<parameter={k}>{plain(v)}</parameter>\n" for k, v in arguments.items())
        return f"<tool_call>\n<function={name}>\n{values}</function>\n</tool_call>"

    parts = [one(*call) for call in calls]
    return chatml(reasoning) + "\n".join([content, *parts] if content or not parts else parts) + "<|im_end|>"


def seed_oss(reasoning, content, calls):
    text = qwen3_coder(None, "", calls).replace("<tool_call>", "<seed:tool_call>")
    text = text.replace("</tool_call>", "</seed:tool_call>").removesuffix("<|im_end|>")
    return think(reasoning, tag="seed:think") + content + ("\n" if content and calls else "") + text + "<seed:eos>"


def glm45(reasoning, content, calls):
    def one(name, arguments):
        pairs = "".join(f"<arg_key>{k}</arg_key>\n<arg_value>{plain(v)}</arg_value>\n" for k, v in arguments.items())
        return f"\n<tool_call>{name}\n{pairs}</tool_call>"

    return think(reasoning, behind="\n") + content + "".join(one(*call) for call in calls) + "<|observation|>"


def minimax_m2(reasoning, content, calls):
    def one(name, arguments):
        values = "".join(f'<parameter name="{k}">{plain(v)}</parameter>\n' for k, v in arguments.items())
        return f'<invoke name="{name}">\n{values}</invoke>\n'

    body = "".join(one(*call) for call in calls)
    return (
        chatml(reasoning) + content + (f"\n<minimax:tool_call>\n{body}</minimax:tool_call>" if calls else "") + "[e~["
    )


def dots(reasoning, content, calls):
    body = minimax_m2(None, "", calls).removesuffix("[e~[").replace("minimax:tool_call>", "dots_function_call>")
    return chatml(reasoning) + content + body


def minimax_m3(reasoning, content, calls):
    ns = "]<]minimax[>["

    def element(key, value):
        if isinstance(value, dict):
            inner = "".join(element(k, v) for k, v in value.items())
        elif isinstance(value, list):
            inner = "".join(element("item", v) for v in value)
        else:
            inner = plain(value)
        return f"{ns}<{key}>{inner}{ns}</{key}>"

    def one(name, arguments):
        return f'{ns}<invoke name="{name}">{"".join(element(k, v) for k, v in arguments.items())}{ns}</invoke>\n'

    body = "".join(one(*call) for call in calls)
    section = f"\n{ns}<tool_call>\n{body}{ns}</tool_call>" if calls else ""
    return think(reasoning, tag="mm:think") + content + section + "[e~["


def deepseek_v3(reasoning, content, calls):
    parts = [
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{dumps(a)}\n```<｜tool▁call▁end｜>" for n, a in calls
    ]
    section = "<｜tool▁calls▁begin｜>" + "\n".join(parts) + "<｜tool▁calls▁end｜>" if parts else ""
    return chatml(reasoning) + content + section + "<｜end▁of▁sentence｜>"


def deepseek_v31(reasoning, content, calls):
    parts = "".join(f"<｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{dumps(a)}<｜tool▁call▁end｜>" for n, a in calls)
    section = f"<｜tool▁calls▁begin｜>{parts}<｜tool▁calls▁end｜>" if parts else ""
    return think(reasoning) + content + section + "<｜end▁of▁sentence｜>"


def deepseek_v32(reasoning, content, calls, wrapper="function_calls"):
    mark = "｜DSML｜"

    def value(key, item):
        flag = "true" if isinstance(item, str) else "false"
        return f'<{mark}parameter name="{key}" string="{flag}">{plain(item)}</{mark}parameter>\n'

    def one(name, arguments):
        values = "".join(value(k, v) for k, v in arguments.items())
        return f'<{mark}invoke name="{name}">\n{values}</{mark}invoke>\n'

    body = "".join(one(*call) for call in calls)
    section = f"\n\n<{mark}{wrapper}>\n{body}</{mark}{wrapper}>" if calls else ""
    return think(reasoning) + content + section + "<｜end▁of▁sentence｜>"


def step3(reasoning, content, calls):
    def one(name, arguments):
        values = "".join(f'<steptml:parameter name="{k}">{plain(v)}</steptml:parameter>' for k, v in arguments.items())
        body = f'<steptml:invoke name="{name}">{values}</steptml:invoke>'
        return f"<｜tool_call_begin｜>function<｜tool_sep｜>{body}<｜tool_call_end｜>"

    body = "".join(one(*call) for call in calls)
    return think(reasoning) + content + (f"<｜tool_calls_begin｜>{body}<｜tool_calls_end｜>" if calls else "")


def minicpm5(reasoning, content, calls):
    def one(name, arguments):
        values = "".join(f'<param name="{k}">{plain(v)}</param>' for k, v in arguments.items())
        return f'<function name="{name}">{values}</function>'

    return chatml(reasoning) + content + "".join(one(*call) for call in calls) + "<|im_end|>"


def kimi_k3(reasoning, content, calls):
    def kind(value):
        names = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}
        return names.get(type(value), "null")

    def element(tag, inner, attributes=""):
        return f"<|open|>{tag}{attributes}<|sep|>{inner}<|close|>{tag}<|sep|>"

    def one(index, name, arguments):
        values = "".join(element("argument", plain(v), f' key="{k}" type="{kind(v)}"') for k, v in arguments.items())
        return element("call", values, f' tool="{name}" index="{index}"')

    body = "".join(one(i, *call) for i, call in enumerate(calls, 1))
    text = "" if reasoning is None else element("think", reasoning)
    return text + element("response", content) + (element("tools", body) if calls else "") + "<|close|>message<|sep|>"


def list_of_objects(calls, arguments="arguments"):
    return "[" + ", ".join(f'{{"name": {dumps(n)}, "{arguments}": {dumps(a)}}}' for n, a in calls) + "]"


def mistral(reasoning, content, calls):
    return think(reasoning) + content + (f"[TOOL_CALLS] {list_of_objects(calls)}" if calls else "") + "</s>"


def mistral_v11(reasoning, content, calls):
    text = "" if reasoning is None else f"[THINK]{reasoning}[/THINK]"
    return text + content + "".join(f"[TOOL_CALLS]{n}[ARGS]{dumps(a)}" for n, a in calls) + "</s>"


def granite3(reasoning, content, calls):
    return content + (f"<|tool_call|>{list_of_objects(calls)}" if calls else "") + "<|end_of_text|>"


def granite_20b(reasoning, content, calls):
    return content + "".join(f'<function_call> {{"name": {dumps(n)}, "arguments": {dumps(a)}}} ' for n, a in calls)


def jamba(reasoning, content, calls):
    objects = ",\n    ".join(f'{{"name": {dumps(n)}, "arguments": {dumps(a)}}}' for n, a in calls)
    return content + (f"<tool_calls>[\n    {objects}\n]</tool_calls>" if calls else "")


def hunyuan(reasoning, content, calls):
    text = think(reasoning, "\n", "\n", "\n") + f"<answer>\n{content}\n</answer>"
    return text + (f"<tool_calls>{list_of_objects(calls)}</tool_calls>" if calls else "") + "<|eos|>"


def hunyuan_v3(reasoning, content, calls):
    def one(name, arguments):
        pairs = "".join(f"<arg_key>{k}</arg_key>\n<arg_value>{plain(v)}</arg_value>\n" for k, v in arguments.items())
        return f"<tool_call>{name}<tool_sep>\n{pairs}</tool_call>\n"

    body = "".join(one(*call) for call in calls)
    return think(reasoning) + content + (f"<tool_calls>\n{body}</tool_calls>" if calls else "")


def minimax_m1(reasoning, content, calls):
    lines = "".join(f'{{"name": {dumps(n)}, "arguments": {dumps(a)}}}\n' for n, a in calls)
    return chatml(reasoning) + content + (f"\n<tool_calls>\n{lines}</tool_calls>" if calls else "")


def phi4_mini(reasoning, content, calls):
    return content + (f"functools{list_of_objects(calls)}" if calls else "") + "<|end|>"


def sarashina(reasoning, content, calls):
    written = [{"name": n, "arguments": a} for n, a in calls]
    return content + (f"<|tool_calls|>{written!r}" if calls else "") + "</s>"


def internlm2(reasoning, content, calls):
    text = "".join(
        f'<|action_start|><|plugin|>\n{{"name": {dumps(n)}, "parameters": {dumps(a)}}}<|action_end|>' for n, a in calls
    )
    return content + ("\n" if content and calls else "") + text + "<|im_end|>"


def ernie45(reasoning, content, calls):
    parts = "".join(f'<tool_call>\n{{"name": {dumps(n)}, "arguments": {dumps(a)}}}\n</tool_call>\n' for n, a in calls)
    return chatml(reasoning) + f"<response>\n{content}\n</response>\n" + parts + "</s>"


def cohere_command(reasoning, content, calls):
    text = "" if reasoning is None else f"<|START_THINKING|>{reasoning}<|END_THINKING|>"
    text += f"<|START_RESPONSE|>{content}<|END_RESPONSE|>" if content else ""
    objects = ",\n".join(
        f'    {{"tool_call_id": "{i}", "tool_name": {dumps(n)}, "parameters": {dumps(a)}}}'
        for i, (n, a) in enumerate(calls)
    )
    return text + (f"<|START_ACTION|>[\n{objects}\n]<|END_ACTION|>" if calls else "") + "<|END_OF_TURN_TOKEN|>"


def apertus(reasoning, content, calls):
    objects = ", ".join(f"{{{dumps(n)}: {dumps(a)}}}" for n, a in calls)
    text = "" if reasoning is None else f"<|inner_prefix|>{reasoning}<|inner_suffix|>"
    return text + content + (f"<|tools_prefix|>[{objects}]<|tools_suffix|>" if calls else "") + "<|assistant_end|>"


def nemotron(reasoning, content, calls):
    return chatml(reasoning) + content + (f"<TOOLCALL>{list_of_objects(calls)}</TOOLCALL>" if calls else "")


def python_call(name: str, arguments: Arguments) -> str:
    return f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})"


def pythonic(reasoning, content, calls):
    calls_text = f"[{', '.join(python_call(*call) for call in calls)}]" if calls else ""
    return chatml(reasoning) + (f"{content}\n{calls_text}" if content and calls else content + calls_text)


def llama4_pythonic(reasoning, content, calls):
    text = f"<|python_start|>[{', '.join(python_call(*call) for call in calls)}]<|python_end|>" if calls else ""
    return content + text + "<|eom|>"


def lfm2(reasoning, content, calls):
    text = f"<|tool_call_start|>[{', '.join(python_call(*call) for call in calls)}]<|tool_call_end|>" if calls else ""
    return think(reasoning) + content + text + "<|im_end|>"


def olmo3(reasoning, content, calls):
    lines = "\n".join(python_call(*call) for call in calls)
    return content + (f"\n<function_calls>\n{lines}\n</function_calls>" if calls else "")


def llama3_json(reasoning, content, calls):
    objects = "; ".join(f'{{"name": {dumps(n)}, "parameters": {dumps(a)}}}' for n, a in calls)
    return (f"{content}\n{objects}" if content and calls else content + objects) + "<|eot_id|>"


def xlam(reasoning, content, calls):
    objects = list_of_objects(calls) if calls else ""
    return chatml(reasoning) + (f"{content}\n{objects}" if content and calls else content + objects)


def gemma_value(value: Any, quote: str) -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{gemma_value(v, quote)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(gemma_value(v, quote) for v in value) + "]"
    return dumps(value)


def gemma4(reasoning, content, calls):
    quote = '<|"|>'
    text = "" if reasoning is None else f"<|channel>thought\n{reasoning}\n<channel|>"
    parts = "".join(f"<|tool_call>call:{n}{gemma_value(dict(a), quote)}<tool_call|>" for n, a in calls)
    return text + content + parts + "<turn|>"


def functiongemma(reasoning, content, calls):
    parts = (f"<start_function_call>call:{n}{gemma_value(dict(a), '<escape>')}<end_function_call>" for n, a in calls)
    return content + "".join(parts) + "<end_of_turn>"


def harmony(reasoning, content, calls):
    start = "<|start|>assistant"
    parts = [] if reasoning is None else [f"<|channel|>analysis<|message|>{reasoning}<|end|>"]
    parts += [f"<|channel|>final<|message|>{content}<|end|>"] if content else []
    parts += [
        f"<|channel|>commentary to=functions.{n} <|constrain|>json<|message|>{dumps(a)}<|call|>" for n, a in calls
    ]
    return start.join(parts)


def functionary(reasoning, content, calls):
    parts = ([f">>>all\n{content}"] if content else []) + [f">>>{n}\n{dumps(a)}" for n, a in calls]
    return "".join(parts) + "<|eot_id|>"


def plamo3(reasoning, content, calls):
    def token(name):
        return f"<|plamo:{name}:plamo|>"

    def one(name, arguments):
        head = f"{token('begin_tool_name')}{name}{token('end_tool_name')}"
        start = f"{token('begin_tool_arguments')}<|plamo:constrain|>json<|plamo:msg|>"
        body = f"{start}{dumps(arguments)}{token('end_tool_arguments')}"
        return token("begin_tool_request") + head + body + token("end_tool_request")

    text = "" if reasoning is None else f"{token('begin_think')}{reasoning}{token('end_think')}"
    body = "".join(one(*call) for call in calls)
    section = f"{token('begin_tool_requests')}{body}{token('end_tool_requests')}" if calls else ""
    return text + content + section


def apriel(reasoning, content, calls):
    text = f"Here are my reasoning steps:\n{reasoning}\n[BEGIN FINAL RESPONSE]\n" if reasoning is not None else ""
    return text + jamba(None, content, calls) + "<|end|>"


def inkling(reasoning, content, calls):
    def block(kind, text, name=""):
        return f"<|message_model|>{name}<|content_{kind}|>{text}<|end_message|>"

    text = "" if reasoning is None else block("thinking", reasoning)
    text += block("text", content) if content else ""
    objects = (block("invoke_tool_json", f'{{"name": {dumps(n)}, "args": {dumps(a)}}}', n) for n, a in calls)
    return text + "".join(objects) + "<|content_model_end_sampling|>"


def k2_horizon(reasoning, content, calls):
    def one(name, arguments):
        pairs = "".join(
            f"<ifm|arg_key>{k}</ifm|arg_key><ifm|arg_value>{plain(v)}</ifm|arg_value>" for k, v in arguments.items()
        )
        return f"<ifm|tool_call>{name}{pairs}</ifm|tool_call>"

    body = "".join(one(*call) for call in calls)
    section = f"<ifm|tool_calls>{body}</ifm|tool_calls>" if calls else ""
    return think(reasoning, tag="ifm|think") + content + section


def muse_glimmer(reasoning, content, calls):
    def one(name, arguments):
        values = "".join(f'<atem:parameter name="{k}">{plain(v)}</atem:parameter>\n' for k, v in arguments.items())
        invoke = f'<atem:invoke name="{name}">\n{values}</atem:invoke>'
        return f" to={name}<|message|><atem:function_calls>\n{invoke}\n</atem:function_calls>"

    parts = [] if reasoning is None else [f" to=self<|message|>{reasoning}"]
    parts += [f" to=user<|message|>{content}"] if content or not (parts or calls) else []
    parts += [one(*call) for call in calls]
    return "<|eom|><|start|>assistant".join(parts) + "<|eot|>"


def generic(reasoning, content, calls):
    return chatml(reasoning) + content


def kimi_ids(calls):
    return [f"functions.{name}:{i}" for i, (name, _) in enumerate(calls)]


def cohere_ids(calls):
    return [str(i) for i in range(len(calls))]


_HERE: Mapping[str, Renderer] = {
    "apertus": Renderer(apertus),
    "apriel": Renderer(apriel, ("FINAL RESPONSE",)),
    "cohere_command": Renderer(cohere_command, call_ids=cohere_ids),
    "deepseek_v3": Renderer(deepseek_v3),
    "deepseek_v31": Renderer(deepseek_v31),
    "deepseek_v32": Renderer(deepseek_v32, ("DSML",)),
    "dots": Renderer(dots, ("<parameter", "</parameter", "invoke", "tool_call")),
    "ernie45": Renderer(ernie45),
    "functionary": Renderer(functionary, (">>>",), has_reasoning=False),
    "functiongemma": Renderer(functiongemma, ("<escape>",), has_reasoning=False),
    "gemma4": Renderer(gemma4, ('<|"|>',)),
    "glm45": Renderer(glm45, ("arg_", "tool_call")),
    "granite3": Renderer(granite3, has_reasoning=False),
    "granite4": Renderer(hermes),
    "granite_20b": Renderer(granite_20b, has_reasoning=False),
    "harmony": Renderer(harmony),
    "hermes": Renderer(hermes),
    "hunyuan": Renderer(hunyuan),
    "hunyuan_v3": Renderer(hunyuan_v3, ("arg_", "tool_call")),
    "inkling": Renderer(inkling),
    "internlm2": Renderer(internlm2, has_reasoning=False),
    "jamba": Renderer(jamba, has_reasoning=False),
    "k2_horizon": Renderer(k2_horizon, ("ifm|",)),
    "kimi_k2": Renderer(kimi_k2, call_ids=kimi_ids),
    "kimi_k3": Renderer(kimi_k3, ("<|close|>", "<|open|>")),
    "lfm2": Renderer(lfm2),
    "llama3_json": Renderer(llama3_json, has_reasoning=False),
    "llama4_pythonic": Renderer(llama4_pythonic, has_reasoning=False),
    "longcat": Renderer(longcat, ("tool_call",)),
    "mimo": Renderer(mimo, ("<parameter", "</parameter", "function")),
    "minicpm5": Renderer(minicpm5, ("param", "function", "CDATA", "]]>")),
    "minimax_m1": Renderer(minimax_m1, has_reasoning=True),
    "minimax_m2": Renderer(minimax_m2, ("<parameter", "</parameter", "invoke")),
    "minimax_m3": Renderer(minimax_m3, ("minimax",)),
    "mistral": Renderer(mistral),
    "mistral_v11": Renderer(mistral_v11),
    "muse_glimmer": Renderer(muse_glimmer, ("atem", "<|eom|>", "<|eot|>", "<|message|>", "to=")),
    "nemotron": Renderer(nemotron),
    "olmo3": Renderer(olmo3, has_reasoning=False),
    "phi4_mini": Renderer(phi4_mini, has_reasoning=False),
    "plamo3": Renderer(plamo3),
    "pythonic": Renderer(pythonic),
    "qwen3_coder": Renderer(qwen3_coder, ("<parameter", "</parameter", "function", "tool_call")),
    "sarashina": Renderer(sarashina, has_reasoning=False),
    "seed_oss": Renderer(seed_oss, ("<parameter", "</parameter", "function", "tool_call")),
    "step3": Renderer(step3, ("steptml",)),
    "xlam": Renderer(xlam),
}


def found_renderers(cases: Path) -> dict[str, Renderer]:
    """Return the renderers that lie beside a family's cases, by family.

    Each file is run, not imported: a folder of cases is no package.
    """
    found = {}
    for path in sorted(cases.glob("*/written.py")):
        renderer = runpy.run_path(str(path)).get("RENDERER")
        assert isinstance(renderer, Renderer), (
            f"tests/cases/{path.parent.name}/written.py: define `RENDERER`, a `Renderer`"
        )
        found[path.parent.name] = renderer
    return found


RENDERERS: Mapping[str, Renderer] = {**_HERE, **found_renderers(Path(__file__).resolve().parents[2] / "cases")}
