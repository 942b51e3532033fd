"""Packed data is unpacked up to a limit: a small journal from outside may unpack to a huge one."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest

from prompt_debugger.core.base.packed import GZIP, TooLongError, unpack, unpack_beginning

MAX_BYTES = 1 << 20


@pytest.mark.parametrize("data", [b"", b"abc", b"a" * MAX_BYTES])
def test_what_fits_comes_back_whole(data: bytes) -> None:
    assert unpack(zlib.compress(data), MAX_BYTES) == data


def test_a_bomb_stops_at_the_limit() -> None:
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(b"\0" * MAX_BYTES) for _ in range(200)) + packer.flush()
    tracemalloc.start()

    with pytest.raises(ValueError, match="longer than 1,048,576 bytes"):
        unpack(bomb, MAX_BYTES)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(bomb) < MAX_BYTES
    assert peak < 8 * MAX_BYTES


def test_damaged_data_is_an_error() -> None:
    with pytest.raises(ValueError, match="incorrect header check"):
        unpack(b"no such thing")


@pytest.mark.parametrize("blob", [b"", zlib.compress(b"abc" * 99)[:-5]])
def test_data_that_ends_early_is_an_error(blob: bytes) -> None:
    with pytest.raises(ValueError, match="it is cut off"):
        unpack(blob)


def test_the_beginning_of_data_that_ends_early_is_read() -> None:
    packed = gzip.compress(b"abc" * 99)

    assert unpack_beginning(packed, MAX_BYTES, form=GZIP) == (b"abc" * 99, True)
    assert unpack_beginning(packed[:-8], MAX_BYTES, form=GZIP) == (b"abc" * 99, False)


@pytest.mark.parametrize("size", [1, 9, 70_000])
def test_all_members_of_a_gzip_file_are_unpacked(size: int) -> None:
    data = bytes(range(256)) * 2
    members = b"".join(gzip.compress(data[at : at + size]) for at in range(0, len(data), size))

    assert unpack(members + b"\0", 1_000, form=GZIP) == data


def test_members_without_end_are_read_to_a_bound() -> None:
    members = gzip.compress(b"a") * 20_000

    assert unpack_beginning(members, 30_000, form=GZIP) == (b"a" * 10_000, False)


def test_members_count_together() -> None:
    with pytest.raises(TooLongError):
        unpack(gzip.compress(b"a" * 60) * 2, 100, form=GZIP)
