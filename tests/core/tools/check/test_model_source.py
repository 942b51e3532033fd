"""What may be given to be checked."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.tools.check.model import load_model


@pytest.mark.parametrize("name", ["gone/chat_template.jinja", "gone.j2"])
def test_a_template_file_that_is_not_there_is_no_hub_id(name: str) -> None:
    with pytest.raises(RenderError, match=r"The template .* cannot be read") as refused:
        load_model(name)

    assert "Hub" not in str(refused.value)
