"""One request, two templates or two tokenizers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.render import load_tokenizer
from prompt_debugger.core.tools.experiments import RenderSetup, compare_setups
from tests.core.render.vocabularies import byte_level, unigram, write
from tests.core.tools.experiments.setups import CHATML, calling, chat

BODY: JSONObject = {"messages": chat("Hello there, world")}


def test_two_templates_differ_where_one_is_fixed(lab: RenderSetup, mended: RenderSetup) -> None:
    body: JSONObject = {"messages": calling(content=[{"type": "text", "text": "One moment."}])}

    found = compare_setups(body, lab, mended)

    assert found.difference is not None
    assert not found.is_same_text
    assert found.difference.after.field == "messages[1].content[0].text"
    assert found.left.unit_count == (found.right.unit_count or 0) + found.difference.removed - found.difference.added


def test_a_template_and_itself_do_not_differ(lab: RenderSetup) -> None:
    found = compare_setups(BODY, lab, replace(lab))

    assert (found.is_same_text, found.difference, found.renumbered) == (True, None, 0)


def test_two_tokenizers_are_compared_by_bytes(tmp_path: Path) -> None:
    left = RenderSetup(CHATML, load_tokenizer(write(tmp_path / "a", byte_level())))
    right = RenderSetup(CHATML, load_tokenizer(write(tmp_path / "b", unigram())))

    found = compare_setups(BODY, left, right)

    assert found.is_same_text
    assert found.difference is not None
    assert found.left.unit_count != found.right.unit_count


def test_a_vocabulary_in_another_order_is_renumbered(tmp_path: Path) -> None:
    import json

    folder = write(tmp_path / "a", byte_level())
    other = write(tmp_path / "b", byte_level())
    data = json.loads((other / "tokenizer.json").read_text())
    vocabulary = data["model"]["vocab"]
    vocabulary["H"], vocabulary["w"] = vocabulary["w"], vocabulary["H"]
    (other / "tokenizer.json").write_text(json.dumps(data))
    setups = [RenderSetup("Hw", load_tokenizer(one)) for one in (folder, other)]

    found = compare_setups(BODY, *setups)

    assert (found.is_same_text, found.difference, found.renumbered) == (True, None, 2)


def test_renumbering_is_not_counted_where_texts_differ(tmp_path: Path) -> None:
    left = RenderSetup("Hello", load_tokenizer(write(tmp_path / "a", byte_level())))
    right = RenderSetup("Hello!", load_tokenizer(write(tmp_path / "b", byte_level())))

    found = compare_setups(BODY, left, right)

    assert found.renumbered == 0
    assert found.difference is not None


def test_without_a_tokenizer_on_one_side_words_are_compared(lab: RenderSetup) -> None:
    found = compare_setups(BODY, lab, replace(lab, tokenizer=None))

    assert found.is_same_text
    assert found.difference is None


def test_a_failing_template_is_one_of_the_sides(lab: RenderSetup) -> None:
    found = compare_setups(BODY, lab, RenderSetup("{{ raise_exception('never') }}"))

    assert found.right.failure is not None
    assert "never" in found.right.failure.message
    assert found.left.text
    assert found.difference is None
