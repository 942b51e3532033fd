"""Rows of docs/fixes.md come and go with their rules."""

from __future__ import annotations

import re

import pytest

from scripts import fixes_page

PAGE = fixes_page.PAGE.read_text(encoding="utf-8")


def test_the_page_has_a_row_for_each_rule() -> None:
    assert fixes_page.fill_rows(PAGE) == PAGE, "run `make docs`"


def test_a_new_rule_gets_its_row_where_its_code_stands() -> None:
    row = re.search(r"^\| PD107 .*\n", PAGE, re.MULTILINE)
    assert row is not None
    without = PAGE.replace(row[0], "")

    lines = fixes_page.fill_rows(without).splitlines()

    new = "| PD107 duplicate-stop | Keep each entry of `stop` once, and no empty one. | not tried |"
    assert lines == [*PAGE[: row.start()].splitlines(), new, *PAGE[row.end() :].splitlines()]


def test_what_was_tried_by_hand_stays_and_a_rule_that_is_gone_goes() -> None:
    tried = next(line for line in PAGE.splitlines() if line.endswith("| tried: content null |"))
    added = PAGE.replace(tried, tried + "\n| PD299 gone | Nothing. | not tried |")

    assert fixes_page.fill_rows(added) == PAGE


def test_check_names_the_page_and_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path
) -> None:
    page = tmp_path / "docs" / "fixes.md"
    page.parent.mkdir()
    page.write_text(re.sub(r"^\| PD107 .*\n", "", PAGE, flags=re.MULTILINE), encoding="utf-8")
    monkeypatch.setattr(fixes_page, "ROOT", tmp_path)
    monkeypatch.setattr(fixes_page, "PAGE", page)

    assert fixes_page.main(["--check"]) == 1
    assert capsys.readouterr().err == "Out of date: docs/fixes.md. Run `make docs`.\n"
    assert fixes_page.main([]) == 0
    assert fixes_page.main(["--check"]) == 0
