"""A packed answer is unpacked piece by piece or refused; a small one cannot become a large one."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib

import brotli
import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.complete.backends.limits import MAX_ANSWER_BYTES
from tests.core.complete.faulty_server import Behaviour, answer, faulty_server

MODELS: JSONObject = {"object": "list", "data": [{"id": "small-model", "object": "model", "max_model_len": 64}]}
PLAIN = json.dumps(MODELS).encode()
HUGE = MAX_ANSWER_BYTES * 4


async def _said(behaviour: Behaviour) -> str:
    async with faulty_server(behaviour) as server, ServerClient(server.base_url) as client:
        try:
            return (await client._connection.get("/v1/models")).text
        except BackendError as error:
            return f"{error.kind}: {error.message}"


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP", "identity, gzip"])
async def test_gzip_is_unpacked(encoding: str) -> None:
    assert await _said(answer(200, gzip.compress(PLAIN, mtime=0), content_encoding=encoding)) == PLAIN.decode()


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_gzip_of_several_members_is_unpacked_whole(size: int) -> None:
    """As a server writes it that packs each piece by itself."""
    members = b"".join(gzip.compress(PLAIN[at : at + size]) for at in range(0, len(PLAIN), size))

    assert await _said(answer(200, members + b"\0\0", content_encoding="gzip")) == PLAIN.decode()


async def test_members_of_nothing_are_given_up() -> None:
    members = gzip.compress(PLAIN) + gzip.compress(b"") * 20_000

    assert (await _said(answer(200, members, content_encoding="gzip"))).startswith("too-large: ")


async def test_a_stream_in_a_packing_that_is_not_read_is_named() -> None:
    sent = answer(200, brotli.compress(b"data: {}\n\n"), "text/event-stream", content_encoding="br")
    async with faulty_server(sent) as server, ServerClient(server.base_url) as client:
        with pytest.raises(BackendError, match="compressed its answer as 'br'"):
            await client.chat_stream({"messages": []})


async def test_an_answer_may_begin_with_a_byte_order_mark() -> None:
    assert await _said(answer(200, b"\xef\xbb\xbf" + PLAIN)) == PLAIN.decode()


async def test_an_answer_of_many_pieces_is_unpacked_whole() -> None:
    text = json.dumps([str(number) for number in range(200_000)])

    assert await _said(answer(200, gzip.compress(text.encode()), content_encoding="gzip")) == text


@pytest.mark.parametrize("encoding", ["", "identity"])
async def test_a_plain_answer_is_read(encoding: str) -> None:
    assert await _said(answer(200, PLAIN, content_encoding=encoding)) == PLAIN.decode()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("br", brotli.compress(PLAIN)),
        ("deflate", zlib.compress(PLAIN)),
        ("gzip, gzip", gzip.compress(gzip.compress(PLAIN, mtime=0))),
        ("br, gzip", gzip.compress(brotli.compress(PLAIN))),
        ("zstd", b"\x28\xb5\x2f\xfd"),
        ("nonsense", PLAIN),
    ],
)
async def test_any_other_packing_is_refused_in_one_line(encoding: str, body: bytes) -> None:
    said = await _said(answer(200, body, content_encoding=encoding))

    assert said.startswith("broken-answer: GET http://")
    assert "\n" not in said
    assert f"compressed its answer as '{encoding}'" in said


@pytest.mark.parametrize(
    ("body", "words"), [(b"no gzip", "cannot be decompressed"), (gzip.compress(PLAIN, mtime=0)[:-9], "ends early")]
)
async def test_broken_gzip_is_reported(body: bytes, words: str) -> None:
    assert words in await _said(answer(200, body, content_encoding="gzip"))


async def test_a_bad_status_is_reported_although_its_body_is_packed_oddly() -> None:
    assert (await _said(answer(503, b"x", content_encoding="br"))).startswith("status: ")


@pytest.mark.slow
async def test_a_bomb_stops_at_the_limit() -> None:
    """Thirty-two megabytes are read of what would be four times as much, and not unpacked any further."""
    bomb = gzip.compress(b"\0" * HUGE)
    tracemalloc.start()
    try:
        said = await _said(answer(200, bomb, content_encoding="gzip"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert said.startswith("too-large: ")
    assert peak < HUGE
