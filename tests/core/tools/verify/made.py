"""Two small verifications of one dataset, made against a server without a model: one loses calls, one does not."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

from tokenizers import Tokenizer

from prompt_debugger.core.base.types import JSONObject
from tests.conftest import ROOT
from tests.core.tools.verify.counting_server import answer, body, call, counting_server
from tests.core.tools.verify.running import Verification

LAB = ROOT / "assets" / "lab-model"
ROWS = [*(f"call {number}" for number in range(8)), "lose the weather in Paris", "lose it in Oslo", "say", "say more"]
CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
)
_TOKENIZER = Tokenizer.from_file(str(LAB / "tokenizer.json"))


def _answer(text: str, *, loses: bool) -> JSONObject:
    """Return what a server says, with the ids of what its model wrote."""
    raw = "It is warm.<|im_end|>" if text.startswith("say") else CALL
    message: JSONObject = {"role": "assistant", "content": "It is warm." if text.startswith("say") else None}
    if raw is CALL and not (loses and text.startswith("lose")):
        message["tool_calls"] = [{**call(), "id": "functions.get_weather:0"}]
    made = answer(message, "tool_calls" if "tool_calls" in message else "stop")
    choices = made["choices"]
    assert isinstance(choices, list)
    assert isinstance(choices[0], dict)
    ids = _TOKENIZER.encode(raw, add_special_tokens=False).ids
    choices[0]["token_ids"] = [*ids]
    made["usage"] = {"prompt_tokens": 5, "completion_tokens": len(ids), "total_tokens": 5 + len(ids)}
    return made


def make_verifications(folder: Path) -> tuple[Path, Path]:
    """Return the folders of two verifications: `lossy` drops the calls of two rows, `mended` none."""
    return make_lossy(folder), _make(folder / "mended", loses=False)


def make_lossy(folder: Path) -> Path:
    """Return the folder of the first of them alone."""
    return _make(folder / "lossy", loses=True)


def _make(folder: Path, *, loses: bool) -> Path:
    rows = [body(text, temperature=0, stream=False) for text in ROWS]
    with counting_server(partial(_answer, loses=loses)) as server:
        run = Verification(folder, [*rows], ["--tokenizer", str(LAB)])
        run.finish(run.start(server.base_url))  # a process of its own: a browser's loop may run in this one
    return folder


def make_by_three_apis(lossy: Path, mended: Path, folder: Path) -> Path:
    """Return the folder of a journal as `verify --api all` leaves it: chat loses calls, the two other APIs none."""
    folder.mkdir()
    shutil.copy(lossy / "results.sqlite", folder)
    with closing(sqlite3.connect(folder / "results.sqlite", isolation_level=None)) as journal:
        journal.execute("ATTACH ? AS other", (str(mended / "results.sqlite"),))
        for side in (1, 2):
            journal.execute(
                "INSERT INTO rows SELECT ?, data_index, hash, state, attempts, answer, row, trace FROM other.rows",
                (side,),
            )
        [(text,)] = journal.execute("SELECT value FROM meta WHERE key = 'identity'")
        identity = {**json.loads(text), "apis": ["chat", "responses", "messages"]}
        journal.execute("UPDATE meta SET value = ? WHERE key = 'identity'", (json.dumps(identity),))
    return folder
