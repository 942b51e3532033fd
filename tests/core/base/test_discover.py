import sys
import types

import pytest

from prompt_debugger.core.base.discover import discover
from prompt_debugger.core.base.errors import PluginError


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "plugs"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "good.py").write_text("THING = 1\n")
    (folder / "_private.py").write_text("")
    (folder / "base.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = types.ModuleType("plugs")
    module.__path__ = [str(folder)]
    monkeypatch.setitem(sys.modules, "plugs", module)
    yield module, folder
    for name in [name for name in sys.modules if name.startswith("plugs.")]:
        del sys.modules[name]


def test_takes_the_constant_of_every_public_module(package):
    module, _ = package

    assert discover(module, "THING") == {"good": 1}


def test_a_module_without_the_constant_is_named(package):
    module, folder = package
    (folder / "lazy.py").write_text("")

    with pytest.raises(PluginError, match=r"plugs\.lazy"):
        discover(module, "THING")
