"""The scripts that generate pages: their help writes nothing, and an unknown option is refused."""

from __future__ import annotations

import importlib

import pytest

GENERATORS = ("fixes_page", "json_schemas", "known_errors_page", "reports_page", "rule_docs")


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize(("option", "status"), [("--help", 0), ("--chek", 2)])
def test_only_a_known_option_does_anything(name, option, status, tmp_path, monkeypatch, capsys) -> None:
    script = importlib.import_module(f"scripts.{name}")
    for attribute in ("PAGE", "FOLDER"):
        if hasattr(script, attribute):
            monkeypatch.setattr(script, attribute, tmp_path / "nothing-is-written")

    with pytest.raises(SystemExit) as ended:
        script.main([option])

    assert ended.value.code == status
    assert list(tmp_path.iterdir()) == []
    printed = capsys.readouterr()
    assert ((script.__doc__ or "").partition("\n")[0] in printed.out) is (status == 0)
