"""A message's content appears in the prompt as the text of a Python list.

What it finds:
    `[{'type': 'text', …}]` (or its JSON form) in the prompt where no text of the request
    contains it. An empty content leaves `[{'type': 'text', 'text': ''}]`.

Why it matters:
    Server and template disagree on whether content is a string or a list of parts. The
    model reads Python syntax in the middle of the conversation; an agent that called tools
    well starts to describe calls in prose.

Bad:
    `<|im_assistant|>assistant<|im_middle|>[{'type': 'text', 'text':
    ''}]<|tool_calls_section_begin|>`

Good:
    `<|im_assistant|>assistant<|im_middle|><|tool_calls_section_begin|>`

Source:
    publisher: Kimi K2 report on the vLLM blog, 2025-10-28.
    tracker: vllm-project/vllm#10324, vllm-project/vllm#39614.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.json_values import as_list, as_object, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Finding, FindingEvidence, Prompt, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import numbered_messages, texts_inside
from prompt_debugger.core.diagnose.fixes import RequestFix, TemplateFix, each_field, rewritten
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, in_request, prompt_of

_HEAD = re.compile(r"\[\{(?:'type': '|\"type\": ?\")(?:text|image_url|input_text|thinking)['\"]")
_FIRST_TEXT = re.compile(r"['\"]text['\"]: ?(['\"])")
_LONGEST = 2000
_COMPARED = 400  # characters of a text


def find(trace: Trace) -> Iterator[Report]:
    """Report lists of content parts that the prompt holds and no text of the request does."""
    prompt = prompt_of(trace)
    if prompt is None:
        return
    found = [match.start() for match in _HEAD.finditer(prompt.text)]
    if not found:
        return
    expected = sum(len(_HEAD.findall(text)) for text in _possible_texts(trace.request.body))
    if len(found) <= expected:
        return
    spans = [_span(prompt, start) for start in found]
    first = prompt.text[spans[0].start : spans[0].stop]
    suspects = tuple(_suspects(trace, [prompt.text[start : start + _LONGEST] for start in found]))
    times = "" if len(spans) == 1 else f", {len(spans)} times"
    yield Report(
        title=f"Content was rendered as a Python repr: `{first[:60]}{'…' if len(first) > 60 else ''}`.",
        detail=(
            f"At character {spans[0].start}{times} the prompt contains a printed list of content parts that is not "
            "in any text of the request: the server passes content as a list, the template prints it as a "
            "string."
        ),
        evidence=(*(in_prompt(prompt, span) for span in spans), *suspects),
        fix=(
            *_resend(suspects),
            Step("Start vLLM with `--chat-template-content-format string`."),
            Step("Let the template print a list part by part."),
        ),
    )


def _possible_texts(body: JSON) -> Iterator[str]:
    """Yield every text of the request, and the JSON of whatever a template prints as JSON."""
    yield from texts_inside(body)
    for text in texts_inside(body):
        decoded = decode_json(text) if text[:1] in "[{" and text else None
        if decoded is not None:
            yield json.dumps(decoded)
    for message in as_list(as_object(body).get("messages")):
        for call in as_list(as_object(message).get("tool_calls")):
            arguments = as_object(as_object(call).get("function")).get("arguments")
            yield json.dumps(None if isinstance(arguments, str) else arguments)
    yield json.dumps(as_object(body).get("tools"))


def _span(prompt: Prompt, start: int) -> Span:
    stop = prompt.text.find("}]", start, start + _LONGEST)
    return Span(start, stop + 2 if stop >= 0 else min(len(prompt.text), start + 40))


def _resend(suspects: Sequence[FindingEvidence]) -> Iterator[Step]:
    """Yield what the request itself can change; nothing where its contents are plain texts already."""
    empty = [item.field for item in suspects if item.quote == '""']
    parts = [item.field for item in suspects if item.quote != '""']
    if empty:
        yield Step(f"Send null instead of an empty string as `{empty[0]}`.")
    if parts:
        yield Step(f"Send `{parts[0]}` as one string instead of parts.")


def _suspects(trace: Trace, printed: Sequence[str]) -> Iterator[FindingEvidence]:
    """Yield the contents of the request that the printed lists contain, as parts or as an empty string."""
    for index, message in numbered_messages(trace.request):
        content = message.get("content")
        if (content == "" or isinstance(content, list)) and any(_is_in(content, one) for one in printed):
            yield in_request(f"messages[{index}].content", json.dumps(content, ensure_ascii=False))


def _is_in(content: JSON, printed: str) -> bool:
    """Return whether a list that was printed begins with the first text of a content; True if that has no texts."""
    texts = [text for part in as_list(content) if isinstance(text := as_object(part).get("text"), str)]
    first = "" if content == "" else next(iter(texts), None)
    value = _FIRST_TEXT.search(printed)
    if first is None or value is None:
        return first is None
    spelled = (repr(first)[1:-1], json.dumps(first)[1:-1], json.dumps(first, ensure_ascii=False)[1:-1], first)
    rest = printed[value.end() :]
    return any(rest.startswith(one[:_COMPARED] if len(one) > _COMPARED else f"{one}{value[1]}") for one in spelled)


def _printed(content: JSON) -> JSON:
    """Return what stands for an empty content, and the text of content parts if all of them are text."""
    if content == "":
        return None
    texts = [part.get("text") if isinstance(part, dict) else None for part in as_list(content)]
    return "".join(str(text) for text in texts) if texts and all(isinstance(text, str) for text in texts) else content


def _content_by_parts(prompt: Prompt, finding: Finding) -> str | None:
    def whole(body: str) -> str:
        return f"{body} if {body} is string else {body} | map(attribute='text') | join"

    return rewritten(prompt, finding, whole, lambda body: "content" in body)


RULE: Rule = TraceRule(
    code="PD205",
    name="content-as-repr",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vllm-project/vllm#10324", "vllm-project/vllm-project.github.io#110", "vllm-project/vllm#39614"),
    explains=("PD210",),
    fixes=(
        RequestFix("content as the template prints it", each_field(_printed)),
        TemplateFix(_content_by_parts),
    ),
)
