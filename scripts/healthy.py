"""How often does the program cry wolf? Healthy requests on the lab, and conversations in the templates of real models.

    python scripts/healthy.py                      300 requests on the lab; exit 1 if any has an error finding
    python scripts/healthy.py --count 40
    python scripts/healthy.py --record FILE --minutes 4     as far as that goes; the same command goes on
    python scripts/healthy.py --templates FOLDER   render conversations with every template of a folder, no server

The requests are drawn from what the lab model was trained on, the same every time: one to four tools of many kinds,
one to three exchanges, parallel calls, small talk, requests that no tool fits, reasoning, seeds, streams.
A run counts where the answer is the one that the dialogue has: the miniature model makes mistakes, which are not
false alarms. That is decided by comparing messages, not by what the program says.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing, suppress
from itertools import count, islice
from math import inf
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core import pipeline  # noqa: E402
from prompt_debugger.core.base.errors import RenderError  # noqa: E402
from prompt_debugger.core.base.types import Request, Severity, Trace  # noqa: E402
from prompt_debugger.core.diagnose import diagnose_trace  # noqa: E402  # the checkout must be on the path first
from prompt_debugger.core.pipeline import Target  # noqa: E402
from prompt_debugger.core.render import generation_prompt, render_local  # noqa: E402
from prompt_debugger.core.request import read_request  # noqa: E402
from prompt_debugger.core.tools.lab import LabPool, LabSpec  # noqa: E402
from scripts.lab_model.dialogues import Dialogue, make_dialogue  # noqa: E402

Body = dict[str, Any]
_SEED = 20_261
_KINDS = ("healthy", "healthy", "healthy", "no-tools", "thinking")
_MENDED = ROOT / "assets" / "lab-model" / "chat_template.mended.jinja"
_SAMPLING: tuple[Body, ...] = (
    {"temperature": 0},
    {"temperature": 0, "stream": True},
    {"temperature": 0.3, "seed": 7},
    {"temperature": 0, "logprobs": True, "top_logprobs": 3},
    {"temperature": 0, "tool_choice": "auto", "parallel_tool_calls": True},
)
# Gemma 4's template closes the turn after a tool's answer where the call came with words, and opens no other.
TRUE_FINDINGS = frozenset({("google-gemma-4-31B-it.jinja", "PD203")})
_SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


class Healthy(NamedTuple):
    """A request with nothing wrong, and the lab that serves it.

    Attributes:
        body: The request.
        lab: Its server.
        answer: The message that the model was trained to give.
    """

    body: Body
    lab: LabSpec
    answer: Body


class Ran(NamedTuple):
    """What came of one request.

    Attributes:
        is_healthy: Whether the answer is the expected one.
        errors: Codes of the findings of severity error.
        raw: What the model wrote.
        request: What it was asked.
    """

    is_healthy: bool
    errors: list[str]
    raw: str
    request: Body

    @property
    def is_false_alarm(self) -> bool:
        """Whether an error was found where all is well."""
        return self.is_healthy and bool(self.errors)


def healthy_requests() -> Iterator[Healthy]:
    """Yield requests with nothing wrong, the same every time, without an end."""
    rng = Random(_SEED)
    for number in count():
        kind = _KINDS[number % len(_KINDS)]
        yield _request(make_dialogue(rng, kind=kind), rng, _SAMPLING[number // len(_KINDS) % len(_SAMPLING)])


def by_lab() -> Iterator[Healthy]:
    """Yield the same requests, a hundred at a time sorted by their server, so that few need to be booted at a time."""
    requests = healthy_requests()
    while True:
        yield from sorted(islice(requests, 100), key=lambda one: str(one.lab))


def _request(dialogue: Dialogue, rng: Random, sampling: Body) -> Healthy:
    ends = [index for index, one in enumerate(dialogue.messages) if one["role"] == "assistant"]
    end = rng.choice(ends)
    messages = [_as_sent(message) for message in dialogue.messages[:end]]
    body: Body = {"model": "lab-model", "messages": messages, "max_tokens": 320, **sampling}
    if dialogue.tools:
        takes_fractions = _has_fraction(_calls(_as_sent(dialogue.messages[end])))
        body["tools"] = [_correct_types(tool, takes_fractions=takes_fractions) for tool in dialogue.tools]
    else:
        body = {key: value for key, value in body.items() if key not in ("tool_choice", "parallel_tool_calls")}
    if dialogue.thinking:
        body["chat_template_kwargs"] = {"thinking": True}
    return Healthy(
        body,
        LabSpec(
            chat_template=_MENDED if dialogue.is_mended else None,
            reasoning_parser="kimi_k2" if dialogue.thinking else None,
        ),
        _as_sent(dialogue.messages[end]),
    )


def _as_sent(message: Mapping[str, Any]) -> Body:
    """Return a message as a client sends it: arguments are texts."""
    body = dict(message)
    if body.get("tool_calls"):
        body["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": _text(call["function"]["arguments"])}}
            for call in body["tool_calls"]
        ]
    return body


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _has_fraction(calls: list[tuple[str, object]]) -> bool:
    return any(isinstance(value, float) for _, arguments in calls for value in _values(arguments))


def _values(arguments: object) -> Iterable[object]:
    return arguments.values() if isinstance(arguments, dict) else ()


def _correct_types(tool: Mapping[str, Any], *, takes_fractions: bool) -> Body:
    """Return a tool whose types JSON Schema knows, and that takes what it is to be called with.

    Some that the model was trained with are deliberate faults: `int`, or an integer for 2797.7.
    """
    text = json.dumps(tool, ensure_ascii=False)
    whole = "number" if takes_fractions else "integer"
    for wrong, right in (("int", whole), ("integer", whole), ("float", "number"), ("str", "string")):
        text = text.replace(f'"type": "{wrong}"', f'"type": "{right}"')
    made: Body = json.loads(text)
    return made


def is_expected(trace: Trace, answer: Body) -> bool:
    """Return whether the server's message is the one that the model was trained to give."""
    message = {} if trace.chat is None else trace.chat.message
    return (message.get("content") or None, _calls(message)) == (answer.get("content") or None, _calls(answer))


def _calls(message: Mapping[str, Any]) -> list[tuple[str, object]]:
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    return [(one["name"], json.loads(one["arguments"])) for one in functions]


async def run_healthy(requests: Iterable[Healthy], labs: LabPool) -> AsyncGenerator[Ran, None]:
    """Run requests one after another."""
    for one in requests:
        template = None if one.lab.chat_template is None else one.lab.chat_template.read_text("utf-8")
        target = Target(lab=one.lab, chat_template=template)
        trace = await pipeline.run(read_request(json.dumps(one.body)), target, labs)
        is_healthy = False
        with suppress(ValueError):
            is_healthy = is_expected(trace, one.answer)
        yield Ran(is_healthy, errors_of(trace), "" if trace.raw is None else trace.raw.text, one.body)


def errors_of(trace: Trace) -> list[str]:
    """Return the codes of the findings of severity error."""
    return [finding.code for finding in trace.findings if finding.severity is Severity.ERROR]


def conversations() -> Iterator[Body]:
    """Yield conversations that any chat template may be asked to render."""
    call = {"id": "functions.get_weather:0", "type": "function", "function": {"name": "get_weather"}}
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {
        "type": "function",
        "function": {"name": "get_weather", "description": "Weather of a city.", "parameters": parameters},
    }
    ask = {"role": "user", "content": "What is the weather in Zürich?"}
    result = {"role": "tool", "tool_call_id": call["id"], "name": "get_weather", "content": "20 degrees"}
    said = {"role": "assistant", "content": "It is 20 degrees."}
    for arguments in ('{"city": "Zürich"}', {"city": "Zürich"}):
        called = {"role": "assistant", "content": None, "tool_calls": [_set_arguments(call, arguments)]}
        thought = {**called, "reasoning_content": "I need the weather."}
        for turn in (called, {**called, "content": "Let me look."}, thought):
            yield {"messages": [ask, turn, result], "tools": [tool]}
            yield {"messages": [ask, turn, result, said, {"role": "user", "content": "Thanks!"}], "tools": [tool]}
    system = {"role": "system", "content": "Answer briefly."}
    yield {"messages": [system, ask], "tools": [tool]}
    yield {"messages": [ask]}
    yield {"messages": [system, {"role": "user", "content": "Hello"}, said, {"role": "user", "content": "And Rome?"}]}


def _set_arguments(call: Body, arguments: object) -> Body:
    return {**call, "function": {**call["function"], "arguments": arguments}}


def errors_in_templates(folder: Path) -> tuple[int, list[tuple[str, str, str]]]:
    """Render every conversation with every template of a folder.

    Returns:
        How many were rendered, and the errors: template, code, detail. What a template refuses is left out.
    """
    rendered, alarms = 0, []
    for path in sorted(folder.glob("*.jinja")):
        template = path.read_text(encoding="utf-8", errors="replace")
        for body in conversations():
            if "tools" in body and "tools" not in template:
                continue  # this template knows no tools: that is said of it, and rightly
            try:
                prompt = render_local(body, template=template, tokenizer=None, special_tokens=_SPECIAL)
                header = generation_prompt(template, body)
            except RenderError:
                continue
            rendered += 1
            trace = Trace(Request(body, json.dumps(body)), local_prompt=prompt, generation_prompt=header)
            found = [one for one in diagnose_trace(trace) if one.severity is Severity.ERROR]
            alarms += [(path.name, one.code, one.detail) for one in found]
    return rendered, alarms


async def run_until(wanted: int, record: Path | None, minutes: float, labs: LabPool) -> list[Ran]:
    """Run until enough answers are the expected ones or the time is up; what a record holds is not run again."""
    ran = [] if record is None or not record.exists() else [Ran(**json.loads(line)) for line in record.open()]
    stop = time.monotonic() + 60 * minutes
    known = [one.request for one in ran]
    async with aclosing(run_healthy((one for one in by_lab() if one.body not in known), labs)) as runs:
        while sum(one.is_healthy for one in ran) < wanted and time.monotonic() < stop:
            ran.append(await anext(runs))
            if record is not None:
                with record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(ran[-1]._asdict()) + "\n")
    return ran


async def _on_the_lab(wanted: int, record: Path | None, minutes: float) -> int:
    labs = LabPool(max_running=3)  # with the mended template, with a reasoning parser, and as it is
    try:
        ran = await run_until(wanted, record, minutes, labs)
    finally:
        labs.stop_all()
    alarmed = [one for one in ran if one.is_false_alarm]
    for one in alarmed:
        print(json.dumps(one._asdict(), ensure_ascii=False))
    healthy = sum(one.is_healthy for one in ran)
    codes = Counter(code for one in alarmed for code in one.errors)
    print(
        f"{healthy} healthy runs of {len(ran)} requests, "
        f"{len(alarmed)} with a finding of severity error {dict(codes) or ''}"
    )
    return int(bool(alarmed) or healthy < wanted)


def main() -> int:
    """Run, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--record", type=Path, help="a line for each request; what it holds is not run again")
    parser.add_argument("--minutes", type=float, default=inf, help="stop after so long; the record can be gone on with")
    parser.add_argument("--templates", type=Path)
    options = parser.parse_args()
    if options.templates is None:
        return asyncio.run(_on_the_lab(options.count, options.record, options.minutes))
    rendered, found = errors_in_templates(options.templates)
    alarms = [alarm for alarm in found if alarm[:2] not in TRUE_FINDINGS]
    for alarm in alarms:
        print(*alarm, sep="\t")
    true = len(found) - len(alarms)
    print(f"{rendered} rendered conversations, {len(alarms)} false findings of severity error, {true} true ones")
    return int(bool(alarms))


if __name__ == "__main__":
    raise SystemExit(main())
