"""The local render hands parts with media to the template as vLLM does."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Prompt, SpanKind
from prompt_debugger.core.render import render_local

PARTS = (
    "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
    "{% if c.type == 'text' %}{{ c.text }}{% elif c.type in ['image', 'video', 'audio'] %}<|{{ c.type }}_pad|>"
    "{% endif %}{% endfor %}{% endif %}{% endfor %}"
)
TEXT = "{% for m in messages %}{{ m.content }}{% endfor %}"
PICTURE: JSONObject = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def body_with(*parts: JSON) -> JSONObject:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": "Look:"}, *parts]}]}


def rendered(template: str, *parts: JSON) -> Prompt:
    return render_local(body_with(*parts), template=template)


@pytest.mark.parametrize(
    ("part", "placeholder"),
    [
        (PICTURE, "<|image_pad|>"),
        ({"type": "input_image", "image_url": "http://h/a.png"}, "<|image_pad|>"),
        ({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}, "<|audio_pad|>"),
        ({"type": "video_url", "video_url": {"url": "http://h/a.mp4"}}, "<|video_pad|>"),
        ({"type": "image"}, "<|image_pad|>"),
    ],
)
def test_a_part_with_media_reaches_the_template_under_its_kind(part: JSON, placeholder: str) -> None:
    prompt = rendered(PARTS, part)

    assert prompt.text == f"Look:{placeholder}"
    assert prompt.identical


def test_every_placeholder_counts_and_texts_keep_their_places() -> None:
    prompt = rendered(PARTS, PICTURE, {"type": "text", "text": " and "}, PICTURE)

    assert prompt.text == "Look:<|image_pad|> and <|image_pad|>"
    fields = {span.field for span in prompt.spans if span.kind is SpanKind.REQUEST}
    assert fields == {"messages[0].content[0].text", "messages[0].content[2].text"}
    assert sum(span.char_span.stop - span.char_span.start for span in prompt.spans) == len(prompt.text)
    assert "For 2 parts with media, the template got only the type" in prompt.note


def test_what_the_template_never_read_is_still_known() -> None:
    prompt = rendered(PARTS.replace("'image', ", ""), PICTURE)

    assert prompt.text == "Look:"
    assert prompt.unread == ("messages[0].role", "messages[0].content[1].image_url")


def test_a_template_that_wants_texts_gets_the_content_as_pasted() -> None:
    prompt = rendered(TEXT, PICTURE)

    assert "'image_url'" in prompt.text
    assert "only the type" not in prompt.note


def test_a_request_without_media_is_rendered_as_pasted() -> None:
    assert rendered(PARTS).note == "Our own render of the request as pasted."
