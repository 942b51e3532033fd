"""The prompt contains fewer placeholders than the request has images.

What it finds:
    A prompt with at least one image placeholder, and fewer runs of it than
    image parts in the request. A run counts once, as servers repeat the
    placeholder for every piece of a picture.

Why it matters:
    Pictures and placeholders are matched by their order: if one is missing, the request
    fails, or the model sees the wrong picture somewhere.

Bad:
    Two `image_url` parts, one `<|image_pad|>` in the prompt

Good:
    One placeholder for each picture.

Source:
    tracker: vllm-project/vllm#53824, mudler/LocalAI#10945.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import content_parts, texts_inside
from prompt_debugger.core.diagnose.markers import MEDIA_PLACEHOLDERS
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, in_request, prompt_of
from prompt_debugger.core.diagnose.words import counted

_IMAGES = frozenset({"image", "image_url", "input_image"})


def find(trace: Trace) -> Iterator[Report]:
    """Count images and the runs of the placeholder."""
    prompt = prompt_of(trace)
    images = [path for path, kind in content_parts(trace.request) if kind in _IMAGES]
    if prompt is None or not images:
        return
    token = next((text for text in MEDIA_PLACEHOLDERS if text in prompt.text), None)
    if token is None or any(token in text for text in texts_inside(trace.request.body.get("messages"))):
        return
    runs = [Span(*match.span()) for match in re.finditer(rf"(?:{re.escape(token)})+", prompt.text)]
    if len(runs) >= len(images):
        return
    yield Report(
        title=f"The prompt contains {counted(len(runs), 'image placeholder')} for {counted(len(images), 'image')}.",
        detail=(
            f"`{token}` appears {len(runs)} times in the prompt; the request has {len(images)} parts with a "
            f"picture: {', '.join(images[:4])}."
        ),
        evidence=(*(in_prompt(prompt, span) for span in runs[:4]), *(in_request(path) for path in images[:4])),
        fix=(
            "Check the template: it must print one placeholder for each part, in its position (vLLM: "
            "`--chat-template-content-format openai`)."
        ),
    )


RULE: Rule = TraceRule(
    code="PD229",
    name="media-miscounted",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vllm-project/vllm#53824", "mudler/LocalAI#10945"),
)
