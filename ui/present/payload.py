"""One string per view: base64(gzip(u32 header length | JSON header | binary columns)).

A string, because gradio's front end walks and copies lists; compressed by us,
because its event stream is not. The header is ASCII JSON, so lone surrogates
survive; it is padded to 4 bytes, so that the columns after it are aligned.
"""

from __future__ import annotations

import base64
import gzip
import json

from prompt_debugger.core.base.types import JSONObject


def pack_payload(header: JSONObject, columns: bytes = b"") -> str:
    """Return the payload of a view: a JSON header, then binary columns, little-endian, whose lengths it tells."""
    text = json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 4)
    packed = gzip.compress(len(text).to_bytes(4, "little") + text + columns, compresslevel=6, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def unpack_payload(payload: str) -> tuple[JSONObject, bytes]:
    """Return header and columns of a payload; the inverse of `pack_payload`."""
    data = gzip.decompress(base64.b64decode(payload))
    stop = 4 + int.from_bytes(data[:4], "little")
    header: JSONObject = json.loads(data[4:stop])
    return header, data[stop:]
