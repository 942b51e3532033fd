"""Rows as K2VV and MiniMax write them, and what is changed before they are sent."""

import hashlib
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.tools.verify import Preparation, Shard, read_rows, read_shard

BODY = {"messages": [{"role": "user", "content": "hi"}]}


def rows_of(tmp_path, *lines, preparation=None, **options):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return list(read_rows(path, preparation or Preparation(), shard=options.pop("shard", Shard()), **options))


def test_rows_are_numbered_by_their_lines_from_one(tmp_path):
    rows = rows_of(tmp_path, BODY, "", BODY)

    assert [row.index for row in rows] == [1, 3]


def test_a_body_is_prepared_as_k2vv_does(tmp_path):
    body = {"messages": [{"role": "_input", "content": "é"}], "stream": True, "model": "theirs"}

    (row,) = rows_of(tmp_path, body, preparation=Preparation(model="mine"))

    wanted = {
        "messages": [{"role": "system", "content": "é"}],
        "stream": True,
        "model": "mine",
        "stream_options": {"include_usage": True},
    }
    assert row.body == wanted
    assert row.hash == hashlib.md5(json.dumps(wanted, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def test_a_row_without_stream_stays_as_it_is(tmp_path):
    assert rows_of(tmp_path, BODY)[0].body == BODY


def test_the_servers_model_takes_the_place_of_one_it_does_not_serve(tmp_path):
    preparation = Preparation(served_models=("a", "b"))

    rows = rows_of(tmp_path, {**BODY, "model": "b"}, {**BODY, "model": "z"}, BODY, preparation=preparation)

    assert [row.body["model"] for row in rows] == ["b", "a", "a"]


def test_labels_of_minimax_are_kept_and_not_sent(tmp_path):
    labels = {"check_type": ["tool_calls"], "expected_tool_call": True}

    (row,) = rows_of(tmp_path, {**BODY, **labels})

    assert (row.body, row.labels) == (BODY, labels)


def test_extra_fields_are_not_part_of_the_hash(tmp_path):
    plain, more = (rows_of(tmp_path, BODY, preparation=Preparation(extra_body=e))[0] for e in ({}, {"top_k": 1}))

    assert plain.hash == more.hash


@pytest.mark.parametrize("line", ["{broken", "[1]", '{"messages_": []}', "7"])
def test_a_bad_line_is_a_row_with_a_problem(tmp_path, line):
    bad, good = rows_of(tmp_path, line, BODY)

    assert bad.problem.startswith("line 1: ")
    assert not good.problem


def test_batch_lines_are_read(tmp_path):
    assert rows_of(tmp_path, {"custom_id": "x", "body": BODY})[0].body == BODY


def test_shards_share_the_rows_among_them(tmp_path):
    parts = [rows_of(tmp_path, *[BODY] * 5, shard=Shard(number, 2)) for number in (1, 2)]

    assert [[row.index for row in part] for part in parts] == [[1, 3, 5], [2, 4]]


def test_a_limit_counts_rows_of_the_file(tmp_path):
    assert [row.index for row in rows_of(tmp_path, *[BODY] * 5, limit=3, shard=Shard(2, 2))] == [2]


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_what_is_not_a_shard_is_refused(text):
    with pytest.raises(RequestError, match="is not a shard"):
        read_shard(text)


def test_a_captured_request_of_another_api_is_asked_as_a_chat(tmp_path):
    responses = {"id": 1, "captured": {}, "request": {"model": "m", "input": "hi", "instructions": "be short"}}
    anthropic = {"id": 2, "request": {"max_tokens": 9, "system": "be short", **BODY}}

    rows = rows_of(tmp_path, responses, anthropic)

    messages = [{"role": "system", "content": "be short"}, {"role": "user", "content": "hi"}]
    assert [row.problem for row in rows] == ["", ""]
    assert [row.body["messages"] for row in rows] == [messages, messages]
