"""A text that is pasted in the page is read as `inspect` reads it, and refused in the same words."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import gather_evidence
from prompt_debugger.ui.web.limits import Limits
from prompt_debugger.ui.web.pasted import Reading, read_anything
from tests.core.evidence.test_mutilated import MUTILATIONS, PASTES

WAYS = ("fenced", "cut in the middle", "between sentences")


def outcome(read):
    try:
        return read()
    except RequestError as error:
        return error.message, error.hint


@pytest.mark.parametrize("name", PASTES)
@pytest.mark.parametrize("way", WAYS)
def test_page_and_command_read_alike(name, way):
    text = MUTILATIONS[way](PASTES[name])

    on_the_page = outcome(lambda: read_anything(text, Limits(), Reading(), hides_keys=False))

    assert on_the_page == outcome(lambda: gather_evidence([text]))
