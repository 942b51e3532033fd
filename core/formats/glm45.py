r"""GLM 4.5 to 4.7 and 5, Ling 3, Laguna, Spark X2.5: a name, then keys and values in tags.

    <think>REASONING</think>CONTENT\n                    4.5: \n around each part
    <tool_call>NAME\n                                    4.7: no line breaks
    <arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n
    </tool_call><|observation|>

GLM-4.1V and 4.5V write an answer between `<|begin_of_box|>` and `<|end_of_box|>`,
which no client is shown. Laguna sometimes writes `<user>` and `</user>` in place of
`<tool_call>` and `</tool_call>`.

Values are exact: no whitespace in them is framing. Text is written plainly,
anything else as JSON; the tool's schema decides, and without
one everything is text.

Source: the chat templates of GLM-4.5, GLM-4.7-Flash, Ling-3.0-flash and Spark-X2.5, as of 2026;
sgl-project/sglang#37608.
"""

from __future__ import annotations

import json
import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.base.structural_tag import (
    GrammarPlan,
    between,
    calls_of,
    exactly,
    following,
    free_text,
    one_of,
    schema_of,
)
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.formats._facts import (
    ENABLE_THINKING,
    THINKING,
    Checkpoint,
    FamilyFacts,
    Grammar,
    ParserNames,
    ThinkingSwitch,
)
from prompt_debugger.core.formats._family import FAIR, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.tag_calls import TagCalls

_NAME = r"(?:<tool_call>|<user>(?=\s*[^\W\d][\w.\-]*\s*<arg_key>))\s*(?P<name>[^\W\d][\w.\-]*)"
_KEY = r"(?:(?!</?arg_)[^\n]){0,200}?"  # any text on one line that contains none of the tags
_BOX = frozenset({"<|begin_of_box|>", "<|end_of_box|>"})

_TEXTS = (
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>",
)  # fmt: skip


def build_tag(plan: GrammarPlan, suffix: str = "") -> JSONObject | None:
    """Return its structural tag: keys and simple types where a tool is not strict; XGrammar's where all are."""
    if all(tool.is_strict for tool in plan.tools):
        return None
    tags: list[JSON] = [
        between(
            f"<tool_call>{tool.name}",
            following(schema_of(tool), "glm_xml") if tool.is_strict else _tag_pairs(tool.parameters),
            "</tool_call>",
        )
        for tool in plan.tools
    ]
    return calls_of(plan, "<tool_call>", tags, [marker for marker in _TEXTS if marker != "<tool_call>"])


def _tag_pairs(parameters: JSON) -> JSON:
    """Keys and simple types of a tool that is not strict, in any order and number."""
    schema = parameters if isinstance(parameters, dict) else {}
    properties = schema.get("properties")
    is_mixed = any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf", "patternProperties"))
    if not isinstance(properties, dict) or not properties or is_mixed or schema.get("additionalProperties") is True:
        return following(schema=True, style="glm_xml")
    pairs: list[JSON] = [
        {
            "type": "sequence",
            "elements": [
                exactly(f"<arg_key>{key}</arg_key><arg_value>"),
                _tag_value(value if isinstance(value, dict) else {}),
                exactly("</arg_value>"),
            ],
        }
        for key, value in properties.items()
    ]
    return {"type": "star", "content": one_of(pairs)}


def _tag_value(schema: JSONObject) -> JSON:
    options = schema.get("enum")
    if isinstance(options, list):
        return one_of([exactly(item if isinstance(item, str) else json.dumps(item)) for item in options])
    declared = schema.get("type")
    if isinstance(declared, list):
        kinds: list[JSON] = [_tag_value({"type": kind}) for kind in declared if kind != "string"]
        return one_of([*kinds, *([free_text(_TEXTS)] if "string" in declared else [])])
    if declared in (None, "string"):
        return free_text(_TEXTS)
    return following({"type": declared})


FORMAT: ModelFormat = TextFormat(
    name="glm45",
    marks=(
        *(Mark(token, FAIR) for token in sorted(_BOX)),
        Mark("<arg_key>"),
        Mark("<arg_value>", STRONG),
        Mark("<tool_call>", pattern=r"<tool_call>\s*[^\W\d][\w.\-]*\s*(?:\n|</tool_call>|</arg_value>)"),
    ),
    tails=("<|assistant|>",),
    conventions=Conventions(
        cut_texts=frozenset({"<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"}),
        turns=(
            "<|system|>",
            "<|user|>",
            "<|assistant|>",
            "<|observation|>",
        ),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=1),
        ends=frozenset({"<|endoftext|>", "<|user|>", "<|observation|>", "<|role_end|>"}),
        unseen=_BOX,
        markers=frozenset({"<tool_call>", "</tool_call>"}),
        cut_structure=re.compile(r"<tool_call>\s*\Z"),
        before_call=1,
    ),
    scan=TagCalls(
        opener=re.compile(_NAME + r"(?:\\n)?\s*(?=<arg_key>|</tool_call>|</?arg_value>|\n|\Z|\{)"),
        closer=re.compile(r"</tool_call>|</user>|(?<=[\w.\-])</arg_value>"),
        parameter=re.compile(
            rf"<arg_key>\s*+(?P<key>{_KEY})\s*+(?:</arg_key>\s*+)?(?:</arg_key>|<arg_value>)"
            r"(?:(?:\s|\\n)*+<arg_value>|(?<=</arg_key>)\s*+)?"
        ),
        partial=re.compile(r"</?(?:arg_key>[^<\n]{0,200}(?:</arg_key>\s*)?<?)?[^<>\n]{0,80}\Z"),
        parameter_closer=re.compile(r"</arg_value>"),
        exact_tags=True,
        filler=re.compile(r"(?:\s|\\n)*+"),  # some write the line break as a backslash and an n
        guards_prose=True,
    ).scan,
    facts=FamilyFacts(
        sample=(
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call><|observation|>"
        ),
        model_names=("glm-4.5", "glm-4.6", "glm-4.7", "glm-5"),
        tool_parsers=("glm45", "glm47", "ling3", "poolside_v1"),
        reasoning_parsers=("glm45", "glm47", "ling3", "poolside_v1"),
        parser_names={
            "sglang": ParserNames(("glm45", "glm47", "ling3", "poolside_v1", "spark25"), ("glm45", "poolside_v1")),
            "mlx-lm": ParserNames(("glm47", "laguna")),
            "lmdeploy": ParserNames(("glm47",), ("default",)),
        },
        checkpoints=(
            # Laguna: its one special token that ends turns and texts alike.
            Checkpoint(
                r"〈\|EOS\|〉",
                {
                    "vllm": ParserNames(("poolside_v1",), ("poolside_v1",)),
                    "sglang": ParserNames(("poolside_v1",), ("poolside_v1",)),
                    "mlx-lm": ParserNames(("laguna",)),
                },
            ),
            # Ling 3: turns open with `<role>` and end with this.
            Checkpoint(
                r"<\|role_end\|>",
                {"vllm": ParserNames(("ling3",), ("ling3",)), "sglang": ParserNames(("ling3",), ("ling3",))},
            ),
            # Spark X2.5 writes calls as GLM 4.7 does; of the engines only SGLang has a parser of its own for it.
            Checkpoint(
                r"<｜start▁of▁sentence｜><\|(?:Bot|System|User)\|>", {"sglang": ParserNames(("spark25",), ("glm45",))}
            ),
            # From 4.7 on there is no line break after a name; the reasoning is that of 4.5.
            Checkpoint(
                r"<tool_call>(?:\{function-name\}|[A-Za-z_][\w.\-]{0,64})<arg_key>",
                {
                    "vllm": ParserNames(("glm47",), ("glm45", "glm47")),
                    "sglang": ParserNames(("glm47",), ("glm45",)),
                    "mlx-lm": ParserNames(("glm47",)),
                },
            ),
        ),
        switches=(ENABLE_THINKING, THINKING, ThinkingSwitch("thinking_option", on="on", off="off")),
        grammars=(Grammar("glm_4_7", "glm45", build=build_tag, default_level="function"),),
        call_markers=("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    ),
)
