"""A template's complaint about roles names the messages that it is about."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.render import render_local
from prompt_debugger.core.render.local import broken_order

ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."


def turns(*roles: str) -> JSON:
    return [{"role": role, "content": "x"} for role in roles]


@pytest.mark.parametrize(
    ("said", "roles", "words"),
    [
        (ALTERNATE, ("system", "user", "user"), "messages[1] and messages[2] both have the role `user`."),
        (
            ALTERNATE,
            ("user", "assistant", "assistant"),
            "messages[1] and messages[2] both have the role `assistant`.",
        ),
        (
            ALTERNATE,
            ("system", "assistant", "user"),
            "messages[1] is the first turn and has the role `assistant`, not `user`.",
        ),
        (ALTERNATE, ("user", "assistant", "tool"), "messages[2] has the role `tool`."),
        (ALTERNATE, ("user", "assistant", "user"), ""),
        (
            "System message must be at the beginning.",
            ("user", "system"),
            "messages[1] has the role `system` and is not the first message.",
        ),
        ("System message must be at the beginning.", ("system", "user"), ""),
        ("Only user roles are supported", ("user", "user"), ""),
    ],
)
def test_the_messages_that_break_the_order_are_named(said: str, roles: tuple[str, ...], words: str) -> None:
    assert broken_order(said, turns(*roles)) == words


def test_what_is_not_a_list_of_messages_breaks_no_order() -> None:
    assert broken_order(ALTERNATE, None) == ""
    assert broken_order(ALTERNATE, [1, "user", {}]) == ""


def test_the_error_of_a_render_names_them() -> None:
    template = "{% if messages[0].role == messages[1].role %}{{ raise_exception('roles must alternate') }}{% endif %}"
    messages = turns("user", "user")

    with pytest.raises(RenderError) as raised:
        render_local({"messages": messages}, template=template)

    assert raised.value.hint.startswith("messages[0] and messages[1] both have the role `user`.")
