"""docs/servers.md is what the recorded runs say, and the record holds nothing false."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSONObject
from scripts import server_table

RECORD = json.loads(server_table.RECORD.read_text(encoding="utf-8"))


def test_the_page_is_what_the_record_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert server_table.main(["--check"]) == 0
    assert "is what the record says" in capsys.readouterr().out


def test_another_record_makes_another_page() -> None:
    changed: JSONObject = {
        name: {**row, "prose": {**row["prose"], "said": "1 dropped"}} for name, row in RECORD.items()
    }

    assert server_table.render_page(changed) != server_table.render_page(RECORD)


@pytest.mark.parametrize("name", RECORD)
def test_no_recorded_statement_is_false(name: str) -> None:
    """A whole run is called whole or unknown, and a lost call never passes as nothing lost."""
    row = RECORD[name]
    for scenario, expected in (("healthy", 1), ("parallel", 2), ("prose", 0)):
        run = row[scenario]
        if "in its words" in run["said"] or run["said"] == "no such endpoint":
            continue
        lost = expected - run["returned"]
        assert (run["said"] in ("nothing lost", "unknown", "no fault found")) == (
            lost == 0 or run["said"] == "unknown"
        ) or "deepseek_r1" in name, (scenario, run)
    assert "nothing lost" not in row["cut"]["said"]


def test_every_server_of_the_table_was_run() -> None:
    assert list(RECORD) == [setup.name for setup in server_table.SETUPS if setup.name in RECORD]
    assert {"llama.cpp", "`transformers serve`"} <= set(RECORD)
