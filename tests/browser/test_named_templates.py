"""Of a model with several chat templates one can be chosen under Target, and only there is a list of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.page import DebuggerPage

pytestmark = pytest.mark.browser

TOOLS = '"tools": [{"type": "function", "function": {"name": "f"}}], '
TYPED = '{TOOLS"messages": [{"role": "user", "content": "TYPED BY ME"}]}'
TEMPLATES = [
    {"name": "default", "template": "{% for m in messages %}PLAIN {{ m.content }}{% endfor %}"},
    {"name": "tool_use", "template": "{% for m in messages %}WITH TOOLS {{ m.content }}{% endfor %}"},
]


@pytest.fixture
def folder(tmp_path: Path, lab_model_dir: Path) -> Path:
    (tmp_path / "tokenizer.json").write_bytes((lab_model_dir / "tokenizer.json").read_bytes())
    config = json.loads((lab_model_dir / "tokenizer_config.json").read_text(encoding="utf-8"))
    text = json.dumps({**config, "chat_template": TEMPLATES})
    (tmp_path / "tokenizer_config.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_template_is_chosen_by_name_where_the_model_has_several(bare: DebuggerPage, folder: Path) -> None:
    page = bare.page
    prompt = page.locator("#pd-live-tokens")
    chooser = page.locator("#pd-template-name")
    bare.paste(TYPED.replace("TOOLS", TOOLS))
    bare.open_stage("render")
    expect(prompt).to_contain_text("TYPED")
    page.locator("#pd-target button").first.click()
    expect(chooser).to_be_hidden()

    page.get_by_label("Tokenizer", exact=True).fill(str(folder))
    page.get_by_label("Tokenizer", exact=True).blur()
    expect(chooser).to_be_visible()
    expect(prompt).to_contain_text("WITH")
    assert violations(page, "#pd-target") == []

    chooser.locator("input").click()
    page.get_by_role("option", name="default", exact=True).click()
    expect(prompt).to_contain_text("PLAIN")

    page.get_by_label("Tokenizer", exact=True).fill("")
    page.get_by_label("Tokenizer", exact=True).blur()
    expect(chooser).to_be_hidden()
