"""What lies beside a vocabulary: links that lead out of the folder, and ids that no vocabulary has."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.render.tokenizers.settings import read_settings


@pytest.mark.parametrize("name", ["chat_template.jinja", "additional_chat_templates/tool_use.jinja"])
def test_a_template_that_is_a_link_out_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    """Else a folder that someone sent puts any file of this machine into a prompt, and into a shared run."""
    secret, folder = tmp_path / "secret", tmp_path / "model"
    secret.write_text("treasure")
    (folder / name).parent.mkdir(parents=True)
    (folder / name).symlink_to(secret)

    with pytest.raises(RenderError, match="symlink outside") as caught:
        read_settings(folder)

    assert "treasure" not in str(caught.value)


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Hi")
    (tmp_path / "chat_template.jinja").symlink_to("own.txt")

    assert read_settings(tmp_path).templates == {"default": "Hi"}


def test_the_links_of_the_hub_s_cache_are_followed(tmp_path: Path) -> None:
    blobs, folder = tmp_path / "models--a--b" / "blobs", tmp_path / "models--a--b" / "snapshots" / "main"
    blobs.mkdir(parents=True)
    folder.mkdir(parents=True)
    (blobs / "0123").write_text("Hi")
    (folder / "chat_template.jinja").symlink_to("../../blobs/0123")

    assert read_settings(folder).templates == {"default": "Hi"}


@pytest.mark.parametrize("key", ["9" * 5000, "99999999999", "10000000", "²", "-1", "1e3", ""])
def test_an_id_that_no_vocabulary_has_is_left_out(tmp_path: Path, key: str) -> None:
    added = {key: {"content": "<x>"}, "7": {"content": "<y>"}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))

    assert list(read_settings(tmp_path).added) == [7]


@pytest.mark.parametrize("name", ["tokenizer_config.json", "generation_config.json", "chat_template.json"])
def test_a_file_that_is_nested_too_deep_is_named(tmp_path, name):
    (tmp_path / name).write_text('{"a":' * 100_000)

    with pytest.raises(RenderError, match=f"`{name}` is nested too deep"):
        read_settings(tmp_path)


@pytest.mark.parametrize(("name", "size"), [("tokenizer_config.json", 1 << 40), ("chat_template.jinja", 1 << 40)])
def test_a_file_that_goes_on_forever_is_not_read(tmp_path, name, size):
    with (tmp_path / name).open("wb") as file:
        file.truncate(size)  # takes no place on the disk

    with pytest.raises(RenderError, match="is longer than 64 MB"):
        read_settings(tmp_path)


def test_a_template_that_is_not_text_is_reported(tmp_path):
    (tmp_path / "chat_template.jinja").write_bytes(b"\xff\xfe")

    with pytest.raises(RenderError, match="is not UTF-8"):
        read_settings(tmp_path)


def test_named_templates_that_are_not_files_are_passed_over_and_no_more_are_read_than_models_have(tmp_path):
    folder = tmp_path / "additional_chat_templates"
    folder.mkdir()
    os.mkfifo(folder / "pipe.jinja")
    (folder / "folder.jinja").mkdir()
    for number in range(300):
        (folder / f"t{number:03}.jinja").write_text("x")

    found = read_settings(tmp_path).templates

    assert 0 < len(found) <= 100
    assert not {"pipe", "folder"} & set(found)
