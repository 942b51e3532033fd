"""A real vLLM behind a capture: clients get what they would get without it, and what is kept opens in every command."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.ui.cli.main import main
from tests.conftest import ROOT
from tests.core.tools.capture.capturing import Capturing, capturing

pytestmark = pytest.mark.lab

KEY = "planted-credential-0123456789"


def _example(name: str) -> Any:
    return json.loads((ROOT / "assets" / "examples" / f"{name}.json").read_text("utf-8"))["request"]


async def _ask(base_url: str, body: Any) -> Any:
    """Ask with the official client; return the answer's message as the client made it."""
    import openai  # who reads the tests that start no server does not wait for it

    known = {name: body[name] for name in ("model", "messages", "tools", "max_tokens", "temperature", "seed")
             if name in body}  # fmt: skip
    more = {name: value for name, value in body.items() if name not in known}
    async with openai.AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        whole = await client.chat.completions.create(**{"model": "lab-model", **known}, extra_body=more)
        call_texts: list[str] = []
        async for part in await client.chat.completions.create(
            **{"model": "lab-model", **known}, extra_body=more, stream=True
        ):
            for call in (part.choices[0].delta.tool_calls or []) if part.choices else []:
                call_texts.append(call.function.arguments or "" if call.function else "")
    return whole.model_dump(exclude_unset=True), "".join(call_texts)


async def _captured(lab_url: str, out: Path) -> tuple[Capturing, list[Any]]:
    async with capturing(lab_url, out) as capture:
        got = [await _ask(capture.base_url, _example(name)) for name in ("healthy-call", "dropped-call")]
        await capture.outcome(3)
    return capture, got


@pytest.fixture
def captured(lab_url: str, tmp_path: Path) -> tuple[Path, list[Any]]:
    """A file of two exchanges of a healthy call and two of a dropped one, each whole and streamed; what clients got."""
    capture, got = asyncio.run(_captured(lab_url, tmp_path / "captures.jsonl"))
    return capture.out, got


def test_what_is_kept_is_what_the_client_got_and_every_command_opens_it(
    captured: tuple[Path, list[Any]], lab_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, got = captured
    lines = sorted(map(json.loads, file.read_text("utf-8").splitlines()), key=lambda line: int(line["id"]))

    # Kept as it came.
    healthy, streamed, dropped, _ = (line["response"] for line in lines)
    assert healthy == got[0][0]
    assert dropped == got[1][0]
    (call,) = streamed["choices"][0]["message"]["tool_calls"]
    assert call["function"]["arguments"] == got[0][1] == '{"city": "Paris"}'
    assert streamed["choices"][0]["finish_reason"] == "tool_calls"
    assert KEY not in file.read_text("utf-8")

    # One by one: asked again, the call is lost again, and the captured answer is held beside it.
    one = tmp_path / "one.json"
    one.write_text(json.dumps(lines[2]), encoding="utf-8")
    assert main(["run", str(one), "--endpoint", lab_url, "--compare-with", str(one), "--json"]) == 1
    run = json.loads(capsys.readouterr().out)
    assert (run["evidence"], run["verdict"]["dropped_calls"]) == ("same-run", 1)
    assert run["comparison"]["message"] == []
    assert main(["render", str(one), "--json"]) in (0, 1)
    capsys.readouterr()

    # By itself it proves no loss.
    main(["inspect", str(one)])
    assert "is unknown" in capsys.readouterr().out

    # All of them.
    results = ["--output", str(tmp_path / "results.jsonl"), "--summary", str(tmp_path / "summary.json")]
    main(["verify", str(file), "--endpoint", lab_url, *results, "--json"])
    counts = json.loads(capsys.readouterr().out)["debugger"]
    assert (counts["written"], counts["returned"], counts["dropped"]) == (4, 2, 2)
    assert main(["run", "--cases", str(file), "--endpoint", lab_url]) == 1
    verdicts = [json.loads(line)["verdict"]["dropped_calls"] for line in capsys.readouterr().out.splitlines()]
    assert sorted(verdicts) == [0, 0, 1, 1]
