"""What every family writes, its format reads back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Fate, Place
from prompt_debugger.core.formats import FORMATS, pick_format
from prompt_debugger.core.parse import build_ledger
from tests import strategies
from tests.core.formats.renderers import RENDERERS, found_renderers
from tests.examples import examples

pytestmark = pytest.mark.slow

_SCALARS_ONLY = {"minimax_m3"}  # nested values need nested schemas there


def _calls(draw, name):
    renderer = RENDERERS[name]
    scalars = name in _SCALARS_ONLY
    values = (strategies.json_scalars if scalars else strategies.json_values)(renderer.forbidden)
    names = draw(st.lists(strategies.tool_names(), unique=True, max_size=1 if renderer.one_call else 3))
    return [(tool, draw(strategies.arguments(values))) for tool in names]


def _tools(calls):
    return tuple(strategies.tool_for(name, given) for name, given in calls)


@pytest.mark.parametrize("name", sorted(RENDERERS))
@settings(max_examples=examples(12), deadline=None)
@given(data=st.data())
def test_a_written_message_is_read_back(name, data):
    renderer = RENDERERS[name]
    calls = _calls(data.draw, name)
    content = data.draw(strategies.prose())
    reasoning = data.draw(st.one_of(st.none(), strategies.prose().filter(bool))) if renderer.has_reasoning else None
    raw = renderer.render(reasoning, content, calls)

    parsed = FORMATS[name].read(raw, ReadContext(tools=_tools(calls)))

    assert [(tool, given) for tool, given in calls] == [(call.name, call.arguments_json) for call in parsed.calls]
    assert renderer.call_ids(calls) == [call.id for call in parsed.calls]
    assert {CallStatus.COMPLETE} >= {call.status for call in parsed.calls}
    assert {Place.BODY} >= {call.place for call in parsed.calls}
    assert (content or None, reasoning) == (parsed.content, parsed.reasoning)


@pytest.mark.parametrize("name", sorted(RENDERERS))
@settings(max_examples=examples(6), deadline=None)
@given(data=st.data())
def test_a_faithful_message_leaves_nothing_lost(name, data):
    renderer = RENDERERS[name]
    calls = _calls(data.draw, name)
    content = data.draw(strategies.prose())
    raw = renderer.render(None, content, calls)
    parsed = FORMATS[name].read(raw, ReadContext(tools=_tools(calls)))
    entries = [
        {"id": call_id or f"chatcmpl-tool-{i}", "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
        for i, ((n, a), call_id) in enumerate(zip(calls, renderer.call_ids(calls), strict=True))
    ]

    ledger = build_ledger(raw, parsed, {"role": "assistant", "content": content or None, "tool_calls": entries})

    gone = [entry for entry in ledger.entries if entry.fate in (Fate.LOST, Fate.ALTERED)]
    assert not gone
    assert not ledger.invented
    assert [(i, i, ()) for i in range(len(calls))] == [
        (m.raw_index, m.message_index, m.altered) for m in ledger.matches
    ]


@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_detection_reads_the_same_as_the_family_itself(name):
    renderer = RENDERERS[name]
    calls = [("get_weather", {"city": "Beijing", "days": 3})]
    context = ReadContext(tools=_tools(calls))
    raw = renderer.render("Hm." if renderer.has_reasoning else None, "Let me check.", calls)

    own, found = FORMATS[name].read(raw, context), pick_format(raw, context).read(raw, context)

    assert (own.content, own.reasoning, own.calls) == (found.content, found.reasoning, found.calls)


def test_every_format_has_a_renderer():
    without_calls = {"generic", "kimi_vl"}
    missing = sorted(set(FORMATS) - without_calls - set(RENDERERS))
    strangers = sorted(set(RENDERERS) - set(FORMATS))

    assert missing == [], f"write tests/cases/{missing[0]}/written.py, as tests/cases/gigachat/written.py is"
    assert strangers == [], "no family has these names: remove their tests/cases/NAME/written.py"


def test_a_renderer_is_found_next_to_its_cases(tmp_path):
    for name, text in (
        ("good", "from tests.core.formats.renderers import Renderer\nRENDERER = Renderer(str)"),
        ("bad", ""),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "written.py").write_text(text, encoding="utf-8")

    with pytest.raises(AssertionError, match=r"tests/cases/bad/written\.py: define `RENDERER`"):
        found_renderers(tmp_path)
    (tmp_path / "bad" / "written.py").unlink()

    assert list(found_renderers(tmp_path)) == ["good"]
    assert "gigachat" in RENDERERS
