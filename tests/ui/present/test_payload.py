import base64
import gzip
import json

from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.ui.present import pack_payload, unpack_payload
from tests.ui.present.strategies import hostile_texts


@given(st.dictionaries(hostile_texts, st.lists(hostile_texts, max_size=3), max_size=3), st.binary(max_size=64))
def test_a_payload_gives_back_what_went_in(header, columns):
    same = json.loads(json.dumps(header))  # two surrogates side by side are one character, to us and to JavaScript

    assert unpack_payload(pack_payload(header, columns)) == (same, columns)


@given(hostile_texts)
def test_a_payload_is_plain_ascii_that_no_template_engine_reads(text):
    payload = pack_payload({"text": text})

    assert payload.isascii()
    assert not set(payload) & set("<>&${}`\"'")


def test_columns_are_aligned_for_typed_arrays():
    for size in range(8):
        data = gzip.decompress(base64.b64decode(pack_payload({"a": "x" * size}, b"\x01\x02")))

        assert int.from_bytes(data[:4], "little") % 4 == 0


def test_the_same_value_gives_the_same_payload():
    assert pack_payload({"a": 1}) == pack_payload({"a": 1})
