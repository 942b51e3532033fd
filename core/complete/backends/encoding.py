"""What an answer's bytes are packed in: nothing, as we ask, or gzip once, unpacked piece by piece.

We ask for `identity`. A proxy between us and the server may compress all the same, with gzip; anything else is
refused, for a few kilobytes of it can become gigabytes before a limit is looked at.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

import httpx

from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.complete.backends.failures import Call

_PIECE_BYTES = 1 << 16
_GZIP = 16 + zlib.MAX_WBITS


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
        async for piece in _gunzipped(call, response.aiter_raw()):
            yield piece
    else:
        raise BackendError(
            f"{call} compressed its answer as {shorten(', '.join(named))}, which was not asked for.",
            "Turn compression off in the server or in the proxy in front of it; plain and gzip answers are read.",
            kind="broken-answer",
            status=response.status_code,
        )


async def _gunzipped(call: Call, raw: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    unpacker = zlib.decompressobj(_GZIP)
    async for packed in raw:
        waiting, piece = packed, b""
        while (waiting or len(piece) == _PIECE_BYTES) and not unpacker.eof:  # a full piece may have more behind it
            try:
                piece = unpacker.decompress(waiting, _PIECE_BYTES)
            except zlib.error as error:
                raise _broken(call, str(error)) from None
            waiting = unpacker.unconsumed_tail
            if piece:
                yield piece
        if unpacker.eof:
            return  # what follows is no part of the answer
    raise _broken(call, "it ends early")


def _broken(call: Call, reason: str) -> BackendError:
    return BackendError(
        f"{call}: the answer is compressed with gzip and cannot be decompressed ({reason}).",
        "Turn compression off in the server or in the proxy in front of it.",
        kind="broken-answer",
    )
