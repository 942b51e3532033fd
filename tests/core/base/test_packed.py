"""What is packed is unpacked up to a limit: a journal that others sent may hold a little that becomes a lot."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from prompt_debugger.core.base.packed import unpack

MOST = 1 << 20


@pytest.mark.parametrize("data", [b"", b"abc", b"a" * MOST])
def test_what_fits_comes_back_whole(data: bytes) -> None:
    assert unpack(zlib.compress(data), MOST) == data


def test_a_bomb_stops_at_the_limit() -> None:
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(b"\0" * MOST) for _ in range(200)) + packer.flush()
    tracemalloc.start()

    with pytest.raises(ValueError, match="longer than 1,048,576 bytes"):
        unpack(bomb, MOST)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(bomb) < MOST
    assert peak < 8 * MOST


@pytest.mark.parametrize("blob", [b"", b"no such thing", zlib.compress(b"abc" * 99)[:-5]])
def test_what_is_not_whole_is_an_error(blob: bytes) -> None:
    with pytest.raises(ValueError, match=r"it (?:is )?c"):
        unpack(blob)
