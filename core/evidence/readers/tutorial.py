"""What the tutorials' scripts print: a prompt with its continuation, apart or in one text.

    Prompt: 'Hello, my name is', Generated text: ' Joel'        vLLM's offline examples
    Prompt:    'Hello'                                          later ones
    Output:    ' Joel'
    [{'generated_text': '<|im_start|>user Hi<|im_end|> …'}]         transformers' pipelines
    <|im_start|>user Hi<|im_end|><|im_start|>assistant Hello        a decoded sequence
    '<s>[INST] Hi [/INST]'     prompt: '<s>[INST] Hi [/INST]'      a text as Python prints it, or its code has it
    ========== / Prompt: <bos>… / Hello / ==========               mlx-lm's and mlx-vlm's commands

A prompt never counts as output: where a text continues after the last opening of the model's turn, that is the output.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.answers.native import read_native
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed

_PAIR = re.compile(r"(?m)^[ \t]*Prompt:\s{0,4}(?=['\"])")
_GENERATED = re.compile(r"\s*+,?\s*+(?:Generated[ _]text|Output|Generated|Completion|Response):\s{0,4}(?=['\"])")
_PIPELINE = re.compile(r"\[?\s*+\{\s*+['\"]generated_text['\"]\s*+:")
# Between two lines of ten signs; newer releases print the output alone, and its counts below.
_RULED = re.compile(
    r"(?ms)^={10}[ \t]*\n(?:Files: \[[^\n]*\n)?\s*+(?P<prompt>Prompt: )?(?P<text>.*?)\n={10}[ \t]*$"
    r"(?P<counts>\s{0,4}Prompt: \d{1,9} tokens)?"
)
# A name or a label before a literal of Python.
_ASSIGNED = re.compile(
    r"\s*+(?:[A-Za-z_][\w.]{0,80}[ \t]*+=|[\w \t.]{0,40}\b(?:prompt|text)\w{0,20}[ \t]*+[:=])[ \t]*+(?=['\"\[])",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"(?:\[\s*+)?['\"]")
# What a person says above it, in a few lines of which one is about a prompt.
_LABEL = re.compile(
    r"\s*+(?:[^\n<\[]{1,300}\n){0,4}?"
    r"[^\n<\[]{0,300}\b(?:prompt|chat[ _]template|render(?:s|ed)?|logs? (?:shows?|says?|has|prints?))\b"
    r"[^\n<\[]{0,300}\n(?:[^\n<\[]{1,300}\n){0,2}\s*+(?=[<\[])",
    re.IGNORECASE,
)
# What a person goes on to say below a prompt that ends with a closed turn.
_PROSE_BELOW = re.compile(
    r"(?P<end><\|eot_id\|>|<\|im_end\|>|<end_of_turn>|</s>)[ \t]*\n[ \t]*\n(?=[A-Z][a-z' ])[^<\[]{1,4000}\Z"
)
# The head of a log's line before a prompt, and how the next line begins.
_LOG_HEAD = re.compile(r"\s*+\[?\d{4}[-/]\d\d[-/]\d\d[ T][^\n<]{0,300}(?=<)")
_LOG_LINE = re.compile(r"(?m)^\[?\d{4}[-/]\d\d[-/]\d\d[ T]")
_BEGINS_WITH_ANSWER = re.compile(  # a text that begins with BOS is a prompt, also where its first turn is the model's
    r"\s*+(?:<s>|<bos>|<\|begin_of_text\|>|<｜begin▁of▁sentence｜>)++\s*+"
    r"(?:<\|im_start\|>assistant\b|<\|start_header_id\|>assistant\b|<start_of_turn>model\b|<｜Assistant｜>)"
)
_OPENS = re.compile(
    r"\s*+(?:<s>|<bos>|<\|begin_of_text\|>|<｜begin▁of▁sentence｜>|\[gMASK\]<sop>|<\|startoftext\|>)*+\s*+"
    r"(?:<\|im_start\|>(?:system|user|developer)\b|<\|start_header_id\|>(?:system|user)\b|\[INST\]|\[SYSTEM_PROMPT\]|"
    r"\[AVAILABLE_TOOLS\]|<start_of_turn>user\b|<\|turn>(?:system|user)\b|<\|(?:system|user)\|>|<｜User｜>|"
    r"<\|start\|>(?:system|developer|user)\b|<\|im_(?:system|user)\|>|<\|header_start\|>(?:system|user)\b|"
    r"<\|start_of_role\|>(?:system|user)\b|<\|tool_declare\|>)"
    # DeepSeek's system message stands bare behind BOS; copies often have plain bars.
    r"|\s*+<[|｜]begin▁of▁sentence[|｜]>[^<]{0,40000}<[|｜]User[|｜]>"
)
# What no model ends its output with: the results of its calls.
_ENDS_WITH_RESULTS = re.compile(r"<[|｜]tool▁outputs?▁end[|｜]>\s*\Z")
_TURN = re.compile(
    r"<\|im_start\|>assistant\n?|<\|start_header_id\|>assistant<\|end_header_id\|>\n{0,2}|\[/INST\]|"
    r"<start_of_turn>model\n?|<\|turn>model\n?|<\|assistant\|>\n?|<[|｜]Assistant[|｜]>|<\|start\|>assistant|"
    r"<\|im_assistant\|>assistant<\|im_middle\|>|<\|header_start\|>assistant<\|header_end\|>\n{0,2}|"
    r"<\|start_of_role\|>assistant<\|end_of_role\|>"
)

# A note of what was pasted.
READ_AS_OUTPUT = "The text begins with the prompt; what follows the last opening of the model's turn is the output."


def split_prompt(text: str) -> tuple[str, str] | None:
    """Return prompt and output of a text that begins with a conversation; `None` if it does not.

    The output begins after the last opening of the model's turn, so that a history within the prompt belongs to it.
    """
    label = _LABEL.match(text)
    if label is None and (head := _LOG_HEAD.match(text)) is not None:
        after = _LOG_LINE.search(text, head.end())
        text = text[head.end() : len(text) if after is None else after.start()]
    text = text if label is None else _PROSE_BELOW.sub(r"\g<end>", text[label.end() :])
    if _OPENS.match(text) is None and _BEGINS_WITH_ANSWER.match(text) is None:
        return None
    last = None
    for found in _TURN.finditer(text):
        last = found
    if last is None or _ENDS_WITH_RESULTS.search(text) is not None:
        return text, ""
    output = text[last.end() :]
    return text[: last.end()], output if output.strip() else ""


def _unquoted(text: str) -> str:
    """Return the text that a pasted literal of Python stands for, or the first of a list of them; else the text."""
    head = _ASSIGNED.match(text)
    literal = text[0 if head is None else head.end() :].strip()
    if _LITERAL.match(literal) is None:
        return text
    printed = read_printed(literal)
    if printed is None or printed.is_cut or printed.stop != len(literal):
        return text
    value = printed.value[0] if isinstance(printed.value, list) and printed.value else printed.value
    return value if isinstance(value, str) else text


def _finds(paste: Paste) -> float:
    text = paste.text
    if _pair(text) is not None:
        return 0.8
    if _PIPELINE.match(text.lstrip("\ufeff")):
        return 0.95
    if _ruled(text) is not None:
        return 0.8
    return 0.75 if split_prompt(_unquoted(text.lstrip("\ufeff"))) is not None else 0.0


def _pair(text: str, row: int = 1) -> tuple[str, str] | None:
    """Return prompt and continuation that a script printed; of several pairs the one of that number."""
    at = 0
    for found in _PAIR.finditer(text):
        if found.start() < at:
            continue
        prompt = read_printed(text, found.end())
        after = None if prompt is None or prompt.is_cut else _GENERATED.match(text, prompt.stop)
        if prompt is None or after is None:
            return None
        output = read_printed(text, after.end())
        if output is None or output.is_cut or not isinstance(prompt.value, str) or not isinstance(output.value, str):
            return None
        at = output.stop
        row -= 1
        if row == 0:
            return prompt.value, output.value
    return None


def _ruled(text: str) -> tuple[str, str] | None:
    """Return prompt and output that a command of MLX printed between two rules; an unknown prompt is ""."""
    found = _RULED.search(text) if "==========\n" in text else None
    if found is None or (found["prompt"] is None and found["counts"] is None):
        return None
    if found["prompt"] is None:
        return "", found["text"]
    return split_prompt(found["text"])


def _read(paste: Paste) -> Evidence:
    text = paste.text.lstrip("\ufeff")
    pair = _pair(text, paste.row)
    if pair is not None:
        return Evidence(Form.OUTPUT, "a printed prompt and its continuation", prompt=pair[0], raw=pair[1])
    if _PIPELINE.match(text):
        read = read_printed(text)
        return _pipeline(None if read is None or read.is_cut else plain(read.value))
    ruled = _ruled(text)
    if ruled is not None and not ruled[0]:
        return Evidence(Form.OUTPUT, "what a command of MLX generated", raw=ruled[1])
    parts = ruled or split_prompt(_unquoted(text))
    if parts is None:
        raise RequestError("The text is not a conversation with a model's turn.", "Read it as a raw output.")
    return _read_parts(Evidence(Form.OUTPUT, "a prompt"), *parts)


def _read_parts(evidence: Evidence, prompt: str, output: str) -> Evidence:
    if not output:
        opened = max((found.end() for found in _TURN.finditer(prompt)), default=-1)
        note = "The text ends where the model's turn begins: it is a prompt without an output."
        if opened != len(prompt):
            note = "The text is a prompt that does not open the model's turn, and contains no output."
        return replace(evidence, prompt=prompt, notes=(*evidence.notes, note))
    words = f"a prompt and a raw output of {len(output):,} characters"
    return replace(evidence, words=words, prompt=prompt, raw=output, notes=(*evidence.notes, READ_AS_OUTPUT))


def _pipeline(value: JSON) -> Evidence:
    first = value[0] if isinstance(value, list) and value else value
    if (answer := read_native(first)) is not None:
        return add_answer(Evidence(Form.ANSWER, ""), answer)
    text = as_object(first).get("generated_text")
    if isinstance(text, list) and text:
        return add_answer(Evidence(Form.OBJECT, "what a pipeline generated"), read_answer(text[-1]))
    if not isinstance(text, str):
        raise RequestError("The pipeline's text is cut.", "Paste everything that was printed.")
    parts = split_prompt(text)
    if parts is not None:
        return _read_parts(Evidence(Form.OBJECT, "what a pipeline generated"), *parts)
    note = (
        "A pipeline prints the prompt before the output unless `return_full_text=False`; where the prompt "
        "ends is unknown."
    )
    return Evidence(Form.OBJECT, "what a pipeline generated", raw=text, notes=(note,))


READER = Reader(Form.OUTPUT, _finds, _read)
