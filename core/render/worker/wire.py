"""Frames between the renderer and its worker: 8 bytes of length, then JSON. No pickles."""

from __future__ import annotations

import json
from typing import BinaryIO

from core.types import JSONObject

HEADER = 8


def pack(data: JSONObject) -> bytes:
    """Return a frame."""
    body = json.dumps(data, separators=(",", ":")).encode("ascii")
    return len(body).to_bytes(HEADER, "big") + body


def unpack(body: bytes) -> JSONObject:
    """Return what the body of a frame says."""
    data = json.loads(body)
    assert isinstance(data, dict)
    return data


def read_frame(stream: BinaryIO) -> JSONObject | None:
    """Return the next frame; `None` at the end of the stream."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    size = int.from_bytes(header, "big")
    body = stream.read(size)
    return unpack(body) if len(body) == size else None
