"""Text is told whole, at every piece while it is short and seldom when it is long; none of it is lost."""

from prompt_debugger.core.complete.assemble import MessageAssembler
from prompt_debugger.core.complete.growing_text import GrowingText


def test_short_text_is_reported_at_every_piece():
    shown = []
    text = GrowingText(shown.append)
    for piece in ("Let", " me", " check"):
        text.add(piece)

    assert shown == ["Let", "Let me", "Let me check"]
    assert (text.text, text.length) == ("Let me check", 12)


def test_long_text_is_reported_seldom_and_kept_whole():
    shown = []
    text = GrowingText(shown.append)
    for number in range(100_000):
        text.add(f"{number:09} ")

    assert text.text == "".join(f"{number:09} " for number in range(100_000))
    assert len(shown) < 2_000 + 256 * 8
    assert all(text.text.startswith(earlier) for earlier in shown[::97])


def test_no_one_need_listen():
    text = GrowingText()
    text.add("a")

    assert text.text == "a"


def test_a_message_of_a_hundred_thousand_deltas_is_put_together():
    """Each delta copies what is there already, or it takes minutes."""
    assembler = MessageAssembler()
    for _ in range(100_000):
        assembler.add({"content": "0123456789", "tool_calls": [{"index": 0, "function": {"arguments": "abcdefghij"}}]})
    message = assembler.message()

    assert message["content"] == "0123456789" * 100_000
    assert message["tool_calls"] == [{"function": {"arguments": "abcdefghij" * 100_000}}]
    assert {type(message["content"]), type(message["tool_calls"][0]["function"]["arguments"])} == {str}


def test_looking_at_a_message_midway_does_not_change_it():
    assembler = MessageAssembler()
    assembler.add({"content": "a"})
    assembler.add({"content": "b"})
    midway = assembler.message()
    assembler.add({"content": "c"})

    assert (midway, assembler.message()) == ({"content": "ab"}, {"content": "abc"})
