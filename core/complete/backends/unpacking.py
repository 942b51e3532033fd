"""The bytes of an answer as they come, unpacked piece by piece where a proxy packed them with gzip.

Any other packing is refused: a few kilobytes of it can become gigabytes before a limit is looked at.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

import httpx

from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.base.packed import GZIP, MAGIC
from prompt_debugger.core.complete.backends.failures import Call, failure_of_length, failure_of_size
from prompt_debugger.core.complete.backends.limits import MAX_ANSWER_BYTES

_PIECE_BYTES = 1 << 16  # of an unpacked answer at a time
_MAX_MEMBERS = 10_000


async def unpacked(call: Call, response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the bytes of an answer as they come, at most 64 KB at a time of what was packed.

    Raises:
        BackendError: They are packed in a way that is not read here (kind `broken-answer`).
    """
    encodings = [name.strip().lower() for name in response.headers.get("content-encoding", "").split(",")]
    named = [name for name in encodings if name not in ("", "identity")]
    if not named:
        async for piece in response.aiter_raw():
            yield piece
    elif named in (["gzip"], ["x-gzip"]):
        async for piece in _gunzipped(call, response):
            yield piece
    else:
        raise BackendError(
            f"{call} compressed its answer as {shorten(', '.join(named))}, which was not asked for.",
            "Turn compression off in the server or in the proxy in front of it; plain and gzip answers are read.",
            kind="broken-answer",
            status=response.status_code,
        )


async def _gunzipped(call: Call, response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the bytes of all members of a gzip file: a server that packs piece by piece writes several."""
    unpacker, members, size = zlib.decompressobj(GZIP), 1, 0
    async for packed in response.aiter_raw():
        waiting, piece = packed, b""
        size += len(packed)
        if size > MAX_ANSWER_BYTES:  # what is packed can be longer than what comes of it
            raise failure_of_size(call, MAX_ANSWER_BYTES, "")
        while waiting or (len(piece) == _PIECE_BYTES and not unpacker.eof):  # a full piece may have more after it
            if unpacker.eof and not waiting.startswith(MAGIC[: len(waiting)]):
                return  # what follows is not part of the answer
            if unpacker.eof:
                unpacker, members = zlib.decompressobj(GZIP), members + 1
            if members > _MAX_MEMBERS:
                raise failure_of_length(call, "gzip members", _MAX_MEMBERS, "")
            piece = _unpack(unpacker, waiting, call, response)
            waiting = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if piece:
                yield piece
    if not unpacker.eof:
        raise _broken(call, response, "it ends early")


def _unpack(unpacker: zlib._Decompress, packed: bytes, call: Call, response: httpx.Response) -> bytes:
    try:
        return unpacker.decompress(packed, _PIECE_BYTES)
    except zlib.error as error:
        raise _broken(call, response, str(error)) from None


def _broken(call: Call, response: httpx.Response, reason: str) -> BackendError:
    return BackendError(
        f"{call}: the answer is compressed with gzip and cannot be decompressed ({reason}).",
        "Turn compression off in the server or in the proxy in front of it.",
        kind="broken-answer",
        status=response.status_code,
    )
