"""The template never read an image, a sound or a video of the request.

What it finds:
    A content part with media that the template did not read while it rendered this request,
    in a prompt without any placeholder for media. A local render passes an `image_url` to
    the template as vLLM does, as a part of the type `image`; a note where the template
    mentions that type and printed nothing.

Why it matters:
    The model answers without having seen the picture, and makes one up.

Bad:
    `{"type": "image_url", …}` for a template that prints only the text parts

Good:
    A placeholder such as `<|image_pad|>` in the prompt, one for each picture

Source:
    tracker: vllm-project/vllm#12740, vllm-project/vllm#15125.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import numbered_messages
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_request, prompt_of
from prompt_debugger.core.diagnose.words import counted

_MEDIA = frozenset(
    {"image", "image_url", "input_image", "audio", "audio_url", "input_audio", "video", "video_url", "file"}
)
_KIND = re.compile(r"image|video|audio")
_PLACEHOLDER = re.compile(r"(?i)[<\[][^<>\[\]\s]{0,40}(?:im(?:g|age)|vision|visual|video|audio|media|picture)")


def find(trace: Trace) -> Iterator[Report]:
    """Report the parts that no one read, in one report."""
    prompt = prompt_of(trace)
    if prompt is None or not prompt.unread:
        return
    unread = frozenset(prompt.unread)
    lost = {path: kind for path, kind in _media_parts(trace) if _is_unread(path, unread)}
    if not lost or _PLACEHOLDER.search(prompt.text):
        return
    template = prompt.template or "" if prompt.source == "local" else ""
    if all(re.search(rf"['\"]{kind}['\"]", template) for kind in lost.values()):
        yield _mentioned(list(lost))
        return
    yield Report(
        title=f"The template never reads {', '.join(f'`{path}`' for path in [*lost][:3])}.",
        detail=f"{counted(len(lost), 'part')} with media {'was' if len(lost) == 1 else 'were'} sent; the prompt "
        "contains no placeholder for any.",
        evidence=tuple(in_request(path) for path in lost),
        fix=(
            "Use a model and a template that support media, and send content as a list of parts (vLLM: "
            "`--chat-template-content-format openai`)."
        ),
    )


def _mentioned(parts: list[str]) -> Report:
    """Report parts that the template knows of and our render has nothing to show for."""
    return Report(
        title=f"{counted(len(parts), 'part')} with media {'has' if len(parts) == 1 else 'have'} no placeholder in this "
        "local render.",
        detail=f"{', '.join(f'`{path}`' for path in parts[:3])}: the template mentions parts of this kind, and printed "
        "nothing that looks like a placeholder. Some servers add one to the text.",
        evidence=tuple(in_request(path) for path in parts),
        fix="Ask a server for its prompt, and check whether it has a placeholder for each part.",
        severity=Severity.NOTE,
        certainty=Certainty.INFERRED,
    )


def _media_parts(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield the parts with media and their kinds as templates call them."""
    for index, message in numbered_messages(trace.request):
        for number, part in enumerate(as_list(message.get("content"))):
            kind = as_text(as_object(part).get("type"))
            if kind in _MEDIA:
                found = _KIND.search(kind)
                yield f"messages[{index}].content[{number}]", found[0] if found is not None else kind


def _is_unread(path: str, unread: frozenset[str]) -> bool:
    """Return whether a part, the content or the message it is in, or what the part holds was never read."""
    parents = (path, path.rpartition("[")[0], path.split(".")[0], "messages")
    held = (f"{path}.{key}" for key in _MEDIA)
    return not unread.isdisjoint(parents) or not unread.isdisjoint(held)


RULE: Rule = TraceRule(
    code="PD215",
    name="media-not-read",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vllm-project/vllm#12740", "vllm-project/vllm#15125"),
)
