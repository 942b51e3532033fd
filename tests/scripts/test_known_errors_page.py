"""docs/known-errors.md is what its tables say."""

from __future__ import annotations

from scripts import known_errors_page


def test_the_page_is_up_to_date() -> None:
    assert known_errors_page.PAGE.read_text(encoding="utf-8") == known_errors_page.page(), "run `make docs`"


def test_it_can_be_written_and_checked(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(known_errors_page, "ROOT", tmp_path)
    monkeypatch.setattr(known_errors_page, "PAGE", tmp_path / "page.md")

    assert known_errors_page.main(["--check"]) == 1
    assert known_errors_page.main([]) == 0
    assert known_errors_page.main(["--check"]) == 0
