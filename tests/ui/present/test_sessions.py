"""The picture of sessions: what is drawn of each request, in bars and in words."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.tools.sessions import follow_sessions, gather_pasted, sessions_to_json
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.sessions import sessions_payload
from prompt_debugger.ui.web.experiments import Asked, Bench
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("a", "b")]
SYSTEM = {"role": "system", "content": "You are an agent. " * 20}
FIRST = {"model": "m", "messages": [SYSTEM, {"role": "user", "content": "Go"}], "tools": TOOLS}
MORE = [*FIRST["messages"], {"role": "assistant", "content": "Done."}, {"role": "user", "content": "And on"}]
SECOND = {**FIRST, "messages": MORE}
TURNED = {**SECOND, "tools": TOOLS[::-1]}
FIELDS = TargetFields("", "", "", "none", "none")


def text_of(*bodies):
    return "\n".join(map(json.dumps, bodies))


def drawn(*bodies):
    document = sessions_to_json(follow_sessions(gather_pasted(text_of(*bodies)).exchanges))
    return unpack_payload(sessions_payload(document, "by the requests"))[0]


def test_a_request_that_continues_the_last_one_keeps_it():
    header = drawn(FIRST, SECOND)

    [session] = header["sessions"]
    assert header["sentence"] == "1 session, 2 requests: no character is computed again."
    assert [turn["break"] for turn in session["turns"]] == [None, None]
    shares = dict(session["turns"][1]["parts"])
    assert shares["again"] == 0
    assert sum(shares.values()) == pytest.approx(1)
    assert 0 < shares["kept"] < 1


def test_a_break_says_where_why_and_what_to_do():
    broken = drawn(FIRST, TURNED)["sessions"][0]["turns"][1]

    assert "tools" in broken["break"]["at"]
    assert "another order" in broken["break"]["cause"] or "different order" in broken["break"]["cause"]
    assert broken["break"]["cure"]
    assert dict(broken["parts"])["again"] > 0
    assert "computed again" in broken["words"]


async def test_the_page_follows_what_is_in_the_editor():
    bench = Bench(PageSettings(lab=False), labs=None)

    steps = [step async for step in bench.follow_sessions(Asked(text_of(FIRST, TURNED), FIELDS)) if step]
    refused = [step async for step in bench.follow_sessions(Asked(text_of(FIRST), FIELDS)) if step]

    assert unpack_payload(steps[-1])[0]["state"] == "done"
    assert "computed again" in unpack_payload(steps[-1])[0]["sentence"]
    assert "needs at least two requests" in unpack_payload(refused[-1])[0]["sentence"]
