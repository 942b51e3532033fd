"""A parser that is named as a module: where it lies, how it is brought to the helper, what is watched."""

import sys

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.ui.cli.check import module_file, plugin_text, stamps


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose import would fail, in the working folder."""
    folder = tmp_path / "zq_ours"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "parsers.py").write_text("from zq_ours.rest import SEEN\nSEEN.append('parsers')\n")
    (folder / "rest.py").write_text("SEEN = []\n")
    monkeypatch.chdir(tmp_path)
    yield folder
    for name in [one for one in sys.modules if one.partition(".")[0] == "zq_ours"]:
        del sys.modules[name]


def test_a_module_is_found_and_nothing_of_it_is_imported(package):
    (package / "__init__.py").write_text("raise SystemExit")

    assert module_file("zq_ours.parsers") == package / "parsers.py"
    assert module_file("zq_ours") == package / "__init__.py"
    assert not [one for one in sys.modules if one.startswith("zq_ours")]


@pytest.mark.parametrize("name", ["zq_ours.none", "zq_nothing", "zq_ours.parsers.more", "sys"])
def test_a_module_that_is_not_there_is_reported(package, name):
    with pytest.raises(EngineError, match="There is no Python module"):
        module_file(name)


@pytest.mark.parametrize("name", ["zq_ours.parsers", "zq_ours"])
def test_what_is_brought_to_the_helper_imports_it_anew(package, name):
    before = list(sys.path)

    exec(plugin_text(None, name), {})
    first = sys.modules[name]
    (package / "parsers.py").write_text("CHANGED = True\n")
    (package / "__init__.py").write_text("CHANGED = True\n")
    exec(plugin_text(None, name), {})

    assert sys.modules[name] is not first
    assert sys.modules[name].CHANGED
    assert sys.path == before


def test_a_change_next_to_the_module_is_a_change(package):
    before = stamps((), "zq_ours.parsers")

    (package / "rest.py").write_text("SEEN = [1]\n")

    assert stamps((), "zq_ours.parsers") != before
    assert stamps((), "zq_ours.parsers") == stamps((), "zq_ours.parsers")
    assert stamps((None, "no-such-file"), "zq_nothing") == []


def test_a_template_in_a_folder_is_watched(tmp_path):
    (tmp_path / "chat_template.jinja").write_text("a")

    before = stamps((str(tmp_path),), None)
    (tmp_path / "chat_template.jinja").write_text("ab")

    assert len(before) == 1
    assert stamps((str(tmp_path),), None) != before
