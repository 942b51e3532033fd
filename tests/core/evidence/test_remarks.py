"""Remarks of a person beside lines of JSON below a sentence are removed; a step of ReAct in an error is known."""

from __future__ import annotations

from tests.core.evidence.pasted import shown

STREAM = """This is what my agent gets (the tool is another agent):

[{
        "done": false,
        "message": {
            "content": "",      ---NEVER ANYTHING HERE---
            "role": "assistant",
            "tool_calls": [{"function": {"arguments": %s, "name": "ask"}}]
        },
        "model": "m"
    }, {
        "done": true,
        "done_reason": "stop",
        "message": {"content": "", "role": "assistant"},
        "model": "m"
    }
]
"""


def test_json_with_a_remark_below_a_sentence_is_read():
    trace = shown(STREAM % '{"question": "Who?"}')

    assert trace.chat is not None
    assert trace.chat.message["tool_calls"]
    assert not trace.findings


def test_dashes_within_a_text_of_json_are_no_remark():
    assert shown('{"role": "assistant", "content": "a   ---b---"}').chat.message["content"] == "a   ---b---"


def test_a_step_that_llamaindex_cannot_read_is_explained():
    text = 'Sometimes I get this:\nCould not parse output: Thought: I look.\nAction: look ({"place": "hall"})\n\nWhy?'

    assert "`Action Input:` on the next line" in shown(text).findings[0].detail


def test_of_refused_calls_the_whole_one_is_read():
    shortened = "invalid [tool=look<arg_key>place</arg_key><arg_value>hall</arg_value>...]"
    whole = "invalid [tool=run<arg_key>path</arg_key><arg_value>a.py</arg_value>]"

    assert [one.code for one in shown(f"{shortened}\n{whole}\n").findings] == ["PD406"]
