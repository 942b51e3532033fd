"""The record of each server software is the only place of what is known of it; one new file is enough for another."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from prompt_debugger.core.complete import ENGINES, engine_of, title_of
from prompt_debugger.core.complete.engines import load_engines
from prompt_debugger.core.errors import PluginError
from tests.conftest import ROOT
from tests.threads import handling

# Its whole file: known by a path of its own, tells its prompt, and runs its reader on a text.
NEW_ENGINE = '''
"""Lanternd: a server that nobody has.

    GET  /lantern/about   lantern: true, build
    POST /lantern/prompt  a chat request  →  shown, ids
    POST /lantern/read    text            →  rest, calls: [{name, args}]
"""

import json
from dataclasses import replace

from prompt_debugger.core.complete.backends.llama_cpp import TemplateAnswer
from prompt_debugger.core.complete.engines._record import (
    ControlTokens, Endpoints, Engine, Marks, OwnFields, OwnParsers,
)
from prompt_debugger.core.types import ServerOutcome


async def add_details(looks, server):
    return replace(server, version=(await looks.fields("/lantern/about"))["build"])


async def template(connection, body):
    answer = await connection.post_for_json("/lantern/prompt", body)
    return TemplateAnswer(answer["shown"], tuple(answer["ids"]))


async def read(connection, name, output):
    answer = await connection.post_for_json("/lantern/read", {"text": output.text})
    calls = [{"function": {"name": one["name"], "arguments": json.dumps(one["args"])}} for one in answer["calls"]]
    return ServerOutcome(None, answer["rest"], tuple(calls))


ENGINE = Engine(
    kind="lanternd",
    title="Lantern Daemon",
    marks=Marks(paths=("/lantern/about",), is_it=lambda answers: answers[0].get("lantern") is True),
    feature_by_path={"/lantern/prompt": "apply_template", "/lantern/read": "lantern_read"},
    add_details=add_details,
    endpoints=Endpoints(template=template),
    own_fields=OwnFields(chat={"lantern_ids": True}),
    own_parsers=OwnParsers(
        prefix="lanternd",
        spellings=("lanternd:std",),
        is_name=lambda name: name == "lanternd:std",
        offered=lambda server: ("lanternd:std",) if "lantern_read" in server.features else (),
        run=read,
        needs="Lanternd 2",
    ),
    control_tokens=ControlTokens.KEPT,
)
'''

ASK = """
import asyncio, json, sys
from prompt_debugger.core.complete import ServerClient, gather
from prompt_debugger.core.errors import EngineError
from prompt_debugger.core.parse.engines import RawOutput
from prompt_debugger.core.pipeline import CaseParser, ask_server_parsers, server_parsers_of
from prompt_debugger.core.report import trace_to_terminal
from prompt_debugger.core.types import Request, Trace
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.header import server_facts
from prompt_debugger.ui.present.server_look import server_look_payload

async def ask():
    async with ServerClient(sys.argv[1]) as client:
        server = await client.probe()
        names = server_parsers_of(server)
        outcome = (await ask_server_parsers(client, names, RawOutput("Hm. LAMP")))[names[0]]
        gathered = await gather(client, server, {"messages": [{"role": "user", "content": "Hi"}]})
    return server, outcome, gathered

server, outcome, gathered = asyncio.run(ask())
trace = Trace(request=Request({}, "{}"), server=server)
try:
    CaseParser().parse({"raw": "x", "parsers": ["nosuch:x"]})
except EngineError as error:
    hint = error.hint
print(json.dumps({
    "kind": server.kind,
    "features": sorted(server.features),
    "header": [fact[1] for fact in server_facts(trace)][1],
    "look": unpack_payload(server_look_payload(server, (), None))[0]["text"].partition(".")[0],
    "report": next(line for line in trace_to_terminal(trace).splitlines() if line.startswith("target")),
    "read": [outcome.content, [call["function"]["name"] for call in outcome.tool_calls]],
    "prompt": gathered.prompt_text,
    "raw": [gathered.raw.text, gathered.raw.completeness.value, gathered.raw.completeness_reason],
    "sent": gathered.sent.get("lantern_ids"),
    "hint": hint,
}))
"""


class Lanternd(BaseHTTPRequestHandler):
    """Such a server: the OpenAI endpoints without ids, and its own."""

    def do_GET(self) -> None:
        answers = {
            "/v1/models": {"data": [{"id": "m", "owned_by": "somebody"}]},
            "/lantern/about": {"lantern": True, "build": "1"},
        }
        self.answer(answers.get(self.path))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        choice = {"index": 0, "finish_reason": "stop"}
        answers = {
            "/lantern/prompt": {"shown": "<lit>Hi", "ids": [7, 8]},
            "/lantern/read": {"rest": "Hm. ", "calls": [{"name": "lamp", "args": {}}]},
            "/v1/chat/completions": {"choices": [{**choice, "message": {"role": "assistant", "content": "Hello"}}]},
            "/v1/completions": {"choices": [{**choice, "text": f"after {body.get('prompt')}"}]},
        }
        self.answer(answers.get(self.path))

    def answer(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(404 if body is None else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.slow
def test_one_new_file_is_recognised_named_asked_and_believed(tmp_path: Path) -> None:
    """Copy the program, drop an engine's file into it, and touch nothing else."""
    package = tmp_path / "prompt_debugger"
    for folder in ("core", "ui"):
        shutil.copytree(ROOT / folder, package / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").touch()  # else an installed package of this name would come first
    (package / "core" / "complete" / "engines" / "lanternd.py").write_text(NEW_ENGINE, encoding="utf-8")

    with handling(Lanternd) as address:
        done = subprocess.run(
            [sys.executable, "-c", ASK, f"{address}/v1"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "`lanternd:std`" in told.pop("hint")
    assert told == {
        "kind": "lanternd",
        "features": ["apply_template", "lantern_read"],
        "header": "Lantern Daemon 1",
        "look": "✓ Lantern Daemon 1 answers",
        "report": told["report"],
        "read": ["Hm. ", ["lamp"]],
        "prompt": "<lit>Hi",
        "raw": [
            "after [7, 8]",
            "whole",
            "The server is Lantern Daemon, was asked to keep control tokens (`skip_special_tokens: false`), and does.",
        ],
        "sent": True,
    }
    assert "lanternd 1" in told["report"]


class Package(NamedTuple):
    """A package of engines, and where its files are."""

    module: ModuleType
    folder: Path

    def write(self, name: str, source: str) -> None:
        head = "from prompt_debugger.core.complete.engines._record import *\n"
        (self.folder / f"{name}.py").write_text(head + source, encoding="utf-8")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    module = types.ModuleType("lamps")
    module.__path__ = [str(tmp_path)]
    monkeypatch.setitem(sys.modules, "lamps", module)
    yield Package(module, tmp_path)
    for name in [name for name in sys.modules if name.startswith("lamps.")]:
        del sys.modules[name]


def test_the_engine_of_the_guide_is_one(package: Package) -> None:
    guide = (ROOT / "docs" / "guides" / "extend.md").read_text(encoding="utf-8").partition("## A server")[2]
    package.write("lanternd", guide.partition("```python\n")[2].partition("```")[0])

    assert load_engines(package.module)["lanternd"].title == "Lantern Daemon"


def test_engines_are_tried_in_their_order(package: Package) -> None:
    package.write("early", "ENGINE = Engine('z', 'Z', Marks(order=1))")
    package.write("late", "ENGINE = Engine('a', 'A')")

    assert list(load_engines(package.module)) == ["z", "a"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ENGINE = 'lanternd'", "no `Engine`"),
        ("ENGINE = Engine(None, 'Bad')", "`kind` is None"),
        ("ENGINE = Engine('Bad Lamp', 'Bad')", "`kind` is 'Bad Lamp'"),
        ("ENGINE = Engine('bad', '')", "`title`"),
        ("ENGINE = Engine('bad', 'Bad', Marks(owners='bad'))", "`marks.owners` is 'bad'"),
        ("ENGINE = Engine('bad', 'Bad', Marks(paths=('about',)))", "`marks.paths`"),
        ("ENGINE = Engine('bad', 'Bad', ('bad',))", "`marks`"),
        ("ENGINE = Engine('bad', 'Bad', feature_by_path=['/x'])", "`feature_by_path`"),
        ("ENGINE = Engine('bad', 'Bad', feature_by_path={'x': 'y'})", "`feature_by_path`"),
        ("ENGINE = Engine('bad', 'Bad', own_parsers='bad')", "`own_parsers`"),
        ("ENGINE = Engine('bad', 'Bad', own_parsers=OwnParsers('vllm', (), all, tuple, all, ''))", "other than `vllm`"),
        ("ENGINE = Engine('good', 'Bad')", "both have the kind `good`"),
        ("ENGINE = Engine('bad', 'Good')", "both have the title `Good`"),
        ("ENGINE = Engine('bad', 'Bad', Marks(owners=('lamp',)))", "both have the owner `lamp`"),
        ("ENGINE = Engine('bad', 'Bad', own_parsers=OwnParsers('lamp', (), all, tuple, all, ''))", "prefix `lamp`"),
    ],
)
def test_a_record_that_is_wrong_or_claims_what_another_has_names_its_file(
    package: Package, source: str, said: str
) -> None:
    parsers = "OwnParsers('lamp', (), all, tuple, all, '')"
    package.write("a_good", f"ENGINE = Engine('good', 'Good', Marks(owners=('lamp',)), own_parsers={parsers})")
    assert list(load_engines(package.module)) == ["good"]
    package.write("bad", source)

    with pytest.raises(PluginError) as caught:
        load_engines(package.module)

    assert "lamps/bad.py" in caught.value.message
    assert said in f"{caught.value.message} {caught.value.hint}"


def test_a_kind_without_a_file_is_called_as_it_calls_itself() -> None:
    assert title_of("lanternd") == "lanternd"
    assert engine_of("lanternd") is ENGINES["openai-compatible"]


def test_kinds_in_documents_stay() -> None:
    assert set(ENGINES) >= {"vllm", "sglang", "llama.cpp", "ollama", "openai-compatible"}


# Where one software is meant by its name and not by what its record says, each with the reason.
BY_NAME = {
    "core/check/agreement.py": "what vLLM's API says of arguments",
    "core/check/serve.py": "the command that starts each",
    "core/check/served.py": "vLLM may show that it has a tool parser without naming it",
    "core/mend/cures.py": "flags of vLLM's command line",
    "core/mend/upstream.py": "a template of a test for each project",
    "core/render/explanations.py": "habits in rendering, which are below the records",
    "core/report/repeat.py": "the command that asks vLLM's parser offline",
    "ui/cli/report.py": "packages in which a test runs here",
    "ui/cli/versions.py": "packages whose versions are told",
    "ui/present/trials.py": "the language that a project writes its tests in",
    "ui/web/mend/experiments.py": "parsers of the vLLM here stand in for the server's",
    "ui/web/mend/hand_over.py": "the package in which a test runs here",
}


@pytest.mark.slow
def test_what_is_known_of_one_software_stands_in_its_record_alone() -> None:
    compared = subprocess.run(
        [sys.executable, "-c", _COMPARED, *ENGINES], cwd=ROOT, capture_output=True, text=True, check=True
    )

    found = {place for place in json.loads(compared.stdout) if not place.startswith("core/complete/engines/")}

    assert found == set(BY_NAME)


# In a process of its own, as in tests/core/formats/test_records.py.
_COMPARED = """
import ast, json, pathlib, sys
found = set()
for path in sorted([*pathlib.Path("core").rglob("*.py"), *pathlib.Path("ui").rglob("*.py")]):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
            if any(getattr(part, "attr", getattr(part, "id", None)) in ("kind", "engine") for part in parts):
                if any(isinstance(part, ast.Constant) and part.value in sys.argv[1:] for part in parts):
                    found.add(path.as_posix())
        items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        texts = {item.value for item in items if isinstance(item, ast.Constant)}
        if len(texts.intersection(sys.argv[1:])) > 1:
            found.add(path.as_posix())
print(json.dumps(sorted(found)))
"""
