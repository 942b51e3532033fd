"""A further process is started only where there is memory for it."""

from __future__ import annotations

import pytest

from prompt_debugger.core.sandbox.workers import has_memory_for_another

GB = 1 << 30


@pytest.mark.parametrize(
    ("available_kb", "most", "used", "cache", "enough"),
    [
        (8 << 20, None, 0, 0, True),
        (1 << 20, None, 0, 0, False),
        (8 << 20, 4 * GB, 1 * GB, 0, True),
        (8 << 20, 4 * GB, 3 * GB, 0, False),
        (8 << 20, 4 * GB, 3 * GB, 1 * GB, True),
        (8 << 20, "max", 3 * GB, 0, True),
    ],
    ids=["a free machine", "a full one", "a container", "a full one in a free machine", "files can go", "no limit"],
)
def test_memory_of_machine_and_container_is_counted(tmp_path, available_kb, most, used, cache, enough):
    machine = tmp_path / "meminfo"
    machine.write_text(f"MemTotal: 99999999 kB\nMemAvailable:   {available_kb} kB\n")
    if most is not None:
        for name, text in (("max", most), ("current", used), ("stat", f"anon 5\ninactive_file {cache}\n")):
            (tmp_path / f"memory.{name}").write_text(f"{text}\n")

    assert has_memory_for_another(machine, tmp_path) is enough


def test_a_system_that_does_not_tell_has_memory(tmp_path):
    assert has_memory_for_another(tmp_path / "nothing", tmp_path / "nothing")
