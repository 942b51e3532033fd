"""The bill of materials names what the lock names, and the lock agrees with what a Space installs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.sbom import bill_of, main

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def pins(text: str) -> dict[str, Requirement]:
    lines = [Requirement(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {canonicalize_name(line.name): line for line in lines}


def test_every_line_of_the_lock_is_a_component_with_its_version() -> None:
    bill = bill_of(LOCK, "prompt-debugger", "1.0")

    parts = {part["name"]: part for part in bill["components"]}
    assert parts.keys() == pins(LOCK).keys()
    assert parts["httpx"]["purl"] == f"pkg:pypi/httpx@{parts['httpx']['version']}"
    assert len({part["bom-ref"] for part in bill["components"]}) == len(parts)
    assert set(bill["dependencies"][0]["dependsOn"]) == {part["bom-ref"] for part in bill["components"]}


def test_a_build_of_another_index_and_a_marker_are_reported() -> None:
    bill = bill_of('torch==2.1+cpu\nodd==1 ; python_version >= "3.13"\n', "p", "1")

    odd, torch = bill["components"]
    assert torch["purl"] == "pkg:pypi/torch@2.1%2Bcpu?repository_url=https://download.pytorch.org/whl/cpu"
    assert odd["properties"] == [{"name": "python:marker", "value": 'python_version >= "3.13"'}]


def test_every_file_of_a_version_has_its_hash() -> None:
    hashes = (ROOT / "requirements.hashes").read_text(encoding="utf-8")

    bill = bill_of(LOCK, "p", "1", hashes)

    hashed = {part["name"]: part["externalReferences"] for part in bill["components"] if "externalReferences" in part}
    listed = {name: references[0]["hashes"] for name, references in hashed.items()}
    assert listed.keys() == pins(LOCK).keys() - {"torch"}  # its build for processors is on no general index
    assert all(one["alg"] == "SHA-256" and len(one["content"]) == 64 for every in listed.values() for one in every)
    assert sum(len(every) for every in listed.values()) == hashes.count("--hash=sha256:")


def test_hashes_of_another_version_are_none_of_this_one() -> None:
    hashes = "odd==2 \\\n    --hash=sha256:" + "a" * 64 + "\n"

    (odd,) = bill_of("odd==1\n", "p", "1", hashes)["components"]

    assert "externalReferences" not in odd


def test_the_same_lock_gives_the_same_file() -> None:
    assert json.dumps(bill_of(LOCK, "p", "1")) == json.dumps(bill_of(LOCK, "p", "1"))
    assert bill_of(LOCK, "p", "1")["serialNumber"] != bill_of(LOCK, "p", "2")["serialNumber"]


def test_what_a_space_installs_agrees_with_the_lock() -> None:
    locked = pins(LOCK)
    for name, line in pins((ROOT / "requirements.txt").read_text(encoding="utf-8")).items():
        (pin,) = locked[name].specifier
        assert line.specifier.contains(pin.version, prereleases=True), f"{line} is not what the lock has: {pin.version}"


def test_asking_for_help_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SystemExit, match="0"):
        main(["--help"])

    assert "FILE.json" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
