"""Whatever the text: no exception, and every character has exactly one place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import SegmentKind
from prompt_debugger.core.formats import FORMATS, pick_format, score_formats
from prompt_debugger.core.parse import build_ledger
from tests import strategies
from tests.core.formats.renderers import RENDERERS
from tests.examples import examples

pytestmark = pytest.mark.slow

TOOLS = (strategies.tool_for("get_weather", {"city": "x", "days": 1}),)
TAILS = ("", "<think>\n", "<think>\n\n</think>\n\n", "<|im_assistant|>assistant<|im_middle|>", "<|start|>assistant")


def _joined(raw, parsed, kind, joiner):
    return joiner.join(raw[slice(*s.char_span)] for s in parsed.segments if s.kind is kind)


def _check(name, raw, context):
    parsed = FORMATS[name].read(raw, context)
    joiner = "\n" if name == "harmony" else ""
    assert raw == "".join(raw[slice(*segment.char_span)] for segment in parsed.segments)
    assert all(segment.char_span.start < segment.char_span.stop for segment in parsed.segments)
    assert (parsed.content or "") == _joined(raw, parsed, SegmentKind.CONTENT, joiner)
    assert (parsed.reasoning or "") == _joined(raw, parsed, SegmentKind.REASONING, joiner)
    for call in parsed.calls:
        start, stop = call.char_span
        assert 0 <= start <= stop <= len(raw)
        for span in (call.name_span, call.id_span, call.arguments_span):
            assert span is None or start <= span.start <= span.stop <= stop
        if call.arguments_span is not None:
            assert call.arguments == raw[slice(*call.arguments_span)]
    return parsed


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=examples(25), deadline=None)
@given(
    raw=strategies.raw_texts(),
    tail=st.sampled_from(TAILS),
    finish=st.sampled_from([None, "stop", "length"]),
    tools=st.sampled_from([(), TOOLS]),
    specials=st.sampled_from([frozenset(), frozenset({"<|im_end|>", "<tool_call>", "<think>"})]),
)
def test_segments_tile_any_text(name, raw, tail, finish, tools, specials):
    _check(name, raw, ReadContext(tools, tail, finish, specials))


@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_a_message_cut_anywhere_keeps_its_tiling_and_its_finished_calls(name):
    calls = [("get_weather", {"city": 'Bei"jing }]', "days": 3}), ("get_weather", {"city": "X"})]
    calls = calls[:1] if RENDERERS[name].one_call else calls
    raw = RENDERERS[name].render(None, "Let me check.", calls)
    context = ReadContext(TOOLS, "", "length")
    counts = []
    for stop in range(len(raw) + 1):
        parsed = _check(name, raw[:stop], context)
        complete = [call for call in parsed.calls if call.status == "complete"]
        counts.append(len(complete))
        assert all(call.arguments_json in [dict(given) for _, given in calls] for call in complete), raw[:stop]
    assert counts == sorted(counts)
    assert counts[-1] == len(calls)


@pytest.mark.parametrize("finish_reason", ["length", None])
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_half_a_marker_at_the_end_is_not_text(name, finish_reason):
    markers = [marker for marker in FORMATS[name].conventions.markers if marker.startswith(("<|", "<｜"))]
    halves = [marker[:size] for marker in markers for size in range(3, len(marker))]
    halves = [half for half in halves if half not in FORMATS[name].conventions.markup]
    context = ReadContext(TOOLS, "", finish_reason)
    texts = ("Let me check.", "Let me check. ", "I see ")

    named = {FORMATS[name].read(text + half, context).content for half in halves for text in texts}
    detected = {
        pick_format(raw, context).read(raw, context).content
        for half in halves
        for text in texts
        if (raw := text + half)
    }

    assert named | detected <= set(texts)


# What their calls begin with may be text as well: a bare object or list, `>>>`, a code fence, words.
_BARE = frozenset(
    {
        "calling_tool",
        "deepseek_v3",
        "functionary",
        "gemma3",
        "llama3_json",
        "phi4_mini",
        "pythonic",
        "tool_arrow",
        "ui_tars",
        "xlam",
    }
)


@pytest.mark.parametrize("content", ["", "Let me check."])
@pytest.mark.parametrize("name", sorted(set(RENDERERS) - _BARE))
def test_half_a_header_is_not_text(name, content):
    raw = RENDERERS[name].render(None, content, [("get_weather", {"city": "Beijing", "days": 3})])
    context = ReadContext(TOOLS, "", "length")

    read = {stop: FORMATS[name].read(raw[:stop], context).content or "" for stop in range(4, len(raw))}

    assert {raw[:stop]: text for stop, text in read.items() if not content.startswith(text.rstrip("\n"))} == {}


@pytest.mark.parametrize(
    "raw", ["A block begins with <|message_model|>", 'The tag is "<|open|>', "It opens with <tool_calls>["]
)
def test_a_whole_marker_that_a_sentence_mentions_at_its_end_stays(raw):
    for name in ("inkling", "kimi_k3", "jamba"):
        read = FORMATS[name].read(raw, ReadContext(TOOLS, "", "stop"))

        assert read.calls == ()
        assert (read.content or "").startswith(raw[:10])


@pytest.mark.parametrize("text", ["a <", "if a < b and b [", "List<T", "x <b", "Type <", "1 <= 2, 3 <"])
@pytest.mark.parametrize("finish_reason", ["stop", None])
def test_the_end_of_ordinary_text_is_not_a_half_marker(text, finish_reason):
    context = ReadContext(TOOLS, "", finish_reason)

    assert pick_format(text, context).read(text, context).content == text


@settings(max_examples=examples(150), deadline=None)
@given(raw=strategies.raw_texts(), other=strategies.raw_texts(), data=st.data())
def test_the_ledger_tiles_any_text_against_any_message(raw, other, data):
    name = data.draw(st.sampled_from(sorted(FORMATS)))
    context = ReadContext(TOOLS)
    parsed = FORMATS[name].read(raw, context)
    text = st.sampled_from([None, "", raw, other, raw[: len(raw) // 2], raw[len(raw) // 3 :] + other, parsed.content])
    call = st.fixed_dictionaries(
        {
            "id": st.just("x"),
            "function": st.fixed_dictionaries(
                {
                    "name": st.sampled_from(["get_weather", other]),
                    "arguments": st.sampled_from(["{}", '{"city": "x"}', other]),
                }
            ),
        }
    )
    message = data.draw(
        st.one_of(
            st.none(),
            st.fixed_dictionaries({"content": text, "reasoning": text, "tool_calls": st.lists(call, max_size=2)}),
            st.sampled_from(
                [{}, {"content": [{"type": "text", "text": other}]}, {"tool_calls": "no"}, {"tool_calls": [None]}]
            ),
        )
    )

    ledger = build_ledger(raw, parsed, message)

    assert raw == "".join(raw[slice(*entry.char_span)] for entry in ledger.entries)
    neighbours = list(zip(ledger.entries, ledger.entries[1:], strict=False))
    assert all((a.fate, a.target) != (b.fate, b.target) for a, b in neighbours)
    assert all(entry.char_span.start < entry.char_span.stop for entry in ledger.entries)


@settings(max_examples=examples(100), deadline=None)
@given(raw=strategies.raw_texts())
def test_scores_lie_between_nothing_and_certainty_best_first(raw):
    scores = score_formats(raw, ReadContext(TOOLS))

    values = [score.score for score in scores.values()]
    assert set(scores) == set(FORMATS)
    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= 1 for value in values)
    assert all(score.evidence for score in scores.values())
    json.dumps([score.evidence for score in scores.values()])
