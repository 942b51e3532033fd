"""The record of each server software is the only place of what is known of it; one new file is enough for another."""

from __future__ import annotations

import ast
import gzip
import json
import os
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from prompt_debugger.core.base.errors import PluginError
from prompt_debugger.core.complete import ENGINES, ParserCase, StartWith, engine_of, title_of
from prompt_debugger.core.complete.engines import load_engines, load_records, merge_names
from prompt_debugger.core.formats import FORMATS, ParserNames, TextFormat
from prompt_debugger.core.pipeline.recordings import recordings_dir
from tests.conftest import ROOT
from tests.threads import handling

# Its whole file: known by a path of its own, tells its prompt, runs its reader on a text, and says how it is started,
# what it calls its readers, what it does to requests, and how a test of it is written.
NEW_ENGINE = '''
"""Lanternd: a server that nobody has.

    GET  /lantern/about   lantern: true, build
    POST /lantern/prompt  a chat request  →  shown, ids
    POST /lantern/read    text            →  rest, calls: [{name, args}]
"""

import json
from dataclasses import replace

from prompt_debugger.core.complete.backends.llama_cpp import TemplateAnswer
from prompt_debugger.core.complete.engines._parser_test import ParserTest, python_calls, python_text
from prompt_debugger.core.complete.engines._record import (
    AnswerPlaces, ControlTokens, Endpoints, Engine, Marks, OwnFields, OwnParsers,
)
from prompt_debugger.core.complete.engines._start import NOT_TRIED, Flag, StartCommand
from prompt_debugger.core.formats import ParserNames
from prompt_debugger.core.base.protocols import RequestChange
from prompt_debugger.core.base.types import ServerOutcome


async def add_details(looks, server):
    return replace(server, version=(await looks.fields("/lantern/about"))["build"])


async def template(connection, body):
    answer = await connection.post_for_json("/lantern/prompt", body)
    return TemplateAnswer(answer["shown"], tuple(answer["ids"]))


async def read(connection, name, output):
    answer = await connection.post_for_json("/lantern/read", {"text": output.text})
    calls = [{"function": {"name": one["name"], "arguments": json.dumps(one["args"])}} for one in answer["calls"]]
    return ServerOutcome(None, answer["rest"], tuple(calls))


def start(given):
    flags = (Flag(("--reads", f"{given.tool_name}/{given.reasoning_name}"), f"Its names for them; {NOT_TRIED}."),)
    return StartCommand(("lanternd", given.source), (*flags, *given.template_flags("--template")))


TEST = """\\
import json
import lantern

CALLS = {calls}


def {name}():
    found = lantern.read({raw}, "{parser}")
    assert found == CALLS, found
"""


def write_test(case):
    return TEST.format(
        name=case.name, parser=case.parser, raw=python_text(case.raw), calls=python_calls(case.calls)
    )


def hush(body):
    return {**body, "messages": [{**one, "content": one["content"].lower()} for one in body["messages"]]}


def open_empty(body):
    return {**body, "messages": [{"role": "system", "content": ""}, *body["messages"]]}


ENGINE = Engine(
    kind="lanternd",
    title="Lantern Daemon",
    marks=Marks(paths=("/lantern/about",), is_it=lambda answers: answers[0].get("lantern") is True, order=1),
    feature_by_path={"/lantern/prompt": "apply_template", "/lantern/read": "lantern_read"},
    add_details=add_details,
    endpoints=Endpoints(template=template),
    own_fields=OwnFields(chat={"lantern_ids": True}),
    answer_places=AnswerPlaces(
        choice_output_ids=("lantern", "ids"), prompt_ids=("lantern", "read"), prompt_text=("lantern", "shown")
    ),
    own_parsers=OwnParsers(
        prefix="lanternd",
        spellings=("lanternd:std",),
        is_name=lambda name: name == "lanternd:std",
        offered=lambda server: ("lanternd:std",) if "lantern_read" in server.features else (),
        run=read,
        needs="Lanternd 2",
    ),
    control_tokens=ControlTokens.KEPT,
    when_it_renders="at noon",
    request_changes=(
        RequestChange("puts an empty system message first", open_empty),
        RequestChange("writes small letters", hush),
    ),
    start=start,
    parser_names={"hermes": ParserNames(("std",), ("muse",))},
    parser_test=ParserTest(write_test, not_run="# Never run.\\n", package="lantern"),
)
'''

ASK = """
import asyncio, contextlib, io, json, sys
from prompt_debugger.core.tools.check import check_to_json
from prompt_debugger.core.complete import ServerClient, families_of_parser, gather, title_of
from prompt_debugger.core.complete.answers import read_chat
from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.parse.engines import RawOutput
from prompt_debugger.core.pipeline import CaseParser, ask_server_parsers, server_parsers_of
from prompt_debugger.core.pipeline.rendering import Renderer
from prompt_debugger.core.report import trace_to_terminal
from prompt_debugger.core.base.types import Request, Trace
from prompt_debugger.ui.cli.check_text import check_to_terminal
from prompt_debugger.ui.cli import main
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.header import server_facts
from prompt_debugger.ui.present.server_look import server_look_payload
from tests.core.tools.check.checks import check_of

CHOICE = {"index": 0, "finish_reason": "stop", "message": {"content": "a"}, "lantern": {"ids": [5]}}
ANSWER = {"choices": [CHOICE], "lantern": {"read": [1, 2], "shown": "Hm"}}
BODY = {"messages": [{"role": "user", "content": "Hi"}]}
TEMPLATE = "{% for one in messages %}<{{ one.role }}>{{ one.content }}{% endfor %}"

async def ask():
    async with ServerClient(sys.argv[1]) as client:
        server = await client.probe()
        names = server_parsers_of(server)
        outcome = (await ask_server_parsers(client, names, RawOutput("Hm. LAMP")))[names[0]]
        gathered = await gather(client, server, BODY)
    return server, outcome, gathered

server, outcome, gathered = asyncio.run(ask())
trace = Trace(request=Request({}, "{}"), server=server)
try:
    CaseParser().parse({"raw": "x", "parsers": ["nosuch:x"]})
except EngineError as error:
    hint = error.hint
explained = Renderer(TEMPLATE, None).explain_server(BODY, gathered)
with contextlib.redirect_stdout(io.StringIO()) as printed:
    status = main(
        ["report", sys.argv[2], "--upstream-test", server.kind, "--parser", "std", "--python", sys.argv[3], "--json"]
    )
upstream = json.loads(printed.getvalue())
check = check_of()
chat = read_chat(ANSWER, "", 0.0)
commands = check_to_json(check)["recommended"]["commands"]
print(json.dumps({
    "kind": server.kind,
    "features": sorted(server.features),
    "header": [fact[1] for fact in server_facts(trace)][1],
    "look": unpack_payload(server_look_payload(server, (), None))[0]["text"].partition(".")[0],
    "report": next(line for line in trace_to_terminal(trace, title_of).splitlines() if line.startswith("target")),
    "read": [outcome.content, [call["function"]["name"] for call in outcome.tool_calls]],
    "prompt": gathered.prompt_text,
    "raw": [gathered.raw.text, gathered.raw.completeness.value, gathered.raw.completeness_reason],
    "sent": gathered.sent.get("lantern_ids"),
    "hint": hint,
    "made for": [families_of_parser(server.kind, name) for name in ("std", "other")],
    "told": [chat.token_ids, chat.prompt_token_ids, chat.prompt_text],
    "proof": explained.proof,
    "origins": [
        [explained.text[slice(*span.char_span)], span.field]
        for span in explained.spans if span.kind.value != "template"
    ],
    "upstream": [status, upstream["fails"], upstream["version"], upstream["told"]],
    "test": upstream["test"],
    "commands": {one["engine"]: one["command"] for one in commands},
    "flags": [flag["reason"] for flag in commands[1]["flags"]],
    "is printed": commands[1]["command"] in check_to_terminal(check),
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
            "/lantern/prompt": {"shown": "<system><user>hi", "ids": [7, 8]},
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


# The compiled files are taken along: they fit what keeps its time, and to compile the program anew takes seconds.
HALF_WRITTEN = shutil.ignore_patterns("*.pyc.*")


@pytest.mark.slow
def test_one_new_file_is_recognised_named_asked_and_believed(tmp_path: Path) -> None:
    """Copy the program, drop an engine's file into it, and touch nothing else."""
    package = tmp_path / "prompt_debugger"
    for folder in ("core", "ui"):
        shutil.copytree(ROOT / folder, package / folder, ignore=HALF_WRITTEN)
    shutil.copy(ROOT / "prompt_debugger" / "__init__.py", package)  # else an installed package would come first
    (package / "assets").symlink_to(ROOT / "assets")
    (package / "core" / "complete" / "engines" / "lanternd.py").write_text(NEW_ENGINE, encoding="utf-8")
    bundle, python = tmp_path / "trace.json", python_with_lantern(tmp_path / "installed")
    bundle.write_bytes(gzip.decompress((recordings_dir() / "dropped-call.json.gz").read_bytes()))

    with handling(Lanternd) as address:
        done = subprocess.run(
            [sys.executable, "-c", ASK, f"{address}/v1", str(bundle), str(python)],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert "`lanternd:std`" in shown.pop("hint")
    assert shown.pop("test").startswith("import json\nimport lantern\n")
    commands = shown.pop("commands")
    assert list(commands) == ["vllm", "lanternd", "sglang", "llama.cpp"], "what was tried comes first"
    assert commands["lanternd"] == "lanternd MODEL --reads std/muse"
    assert shown.pop("report").startswith("target    Lantern Daemon 1 ")
    assert shown == {
        "kind": "lanternd",
        "features": ["apply_template", "lantern_read"],
        "header": "Lantern Daemon 1",
        "look": "✓ Lantern Daemon 1 answers",
        "read": ["Hm. ", ["lamp"]],
        "prompt": "<system><user>hi",
        "raw": [
            "after [7, 8]",
            "whole",
            (
                "The server is Lantern Daemon, was asked to keep control tokens (`skip_special_tokens: "
                "false`), and keeps them."
            ),
        ],
        "sent": True,
        "made for": [["hermes"], []],
        "told": [[5], [1, 2], "Hm"],
        "proof": ["the server puts an empty system message first", "the server writes small letters"],
        "origins": [["system", None], ["user", "messages[0].role"], ["hi", None]],
        "upstream": [0, True, "7", "[]"],
        "flags": ["Its names for them; not tested here: check it with one request."],
        "is printed": True,
    }


def python_with_lantern(folder: Path) -> Path:
    """Return an interpreter that has a package whose reader finds nothing."""
    folder.mkdir()
    (folder / "lantern.py").write_text("__version__ = '7'\ndef read(text, parser): return []\n", encoding="utf-8")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return python


MISTRAL = ParserNames(("mistral",))


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

    engine = load_engines(package.module)["lanternd"]
    assert engine.title == "Lantern Daemon"
    assert engine.start is not None
    command = engine.start(StartWith("M", "hermes", tool_name="std", template_file="own.jinja"))
    assert command is not None
    assert command.command == "lanternd M --calls std --template own.jinja"
    assert engine.start(StartWith("M", "hermes")) is None
    assert engine.parser_test is not None
    source = engine.parser_test.write(ParserCase("std", 'a\n"b"', (), (("f", "{}"),), "test_it"))
    assert [one.name for one in ast.parse(source).body if isinstance(one, ast.FunctionDef)] == ["test_it"]
    [change] = engine.request_changes
    assert change.apply({"messages": [{"role": "user", "name": "x"}]}) == {"messages": [{"role": "user"}]}


def test_engines_are_tried_in_their_order(package: Package) -> None:
    package.write("early", "ENGINE = Engine('z', 'Z', Marks(order=1))")
    package.write("late", "ENGINE = Engine('a', 'A')")

    assert list(load_engines(package.module)) == ["z", "a"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ENGINE = 'lanternd'", "not an `Engine`"),
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
        ("ENGINE = Engine('bad', 'Bad', answer_places=AnswerPlaces(prompt_ids='ids'))", "`answer_places.prompt_ids`"),
        ("ENGINE = Engine('bad', 'Bad', start='bad')", "`start`"),
        ("ENGINE = Engine('bad', 'Bad', parser_test='bad')", "`parser_test`"),
        ("ENGINE = Engine('bad', 'Bad', parser_test=ParserTest(all, package='a.b'))", "plain name of a package"),
        ("ENGINE = Engine('bad', 'Bad', parser_names=('std',))", "`parser_names`"),
        ("ENGINE = Engine('bad', 'Bad', request_changes=(all,))", "`request_changes`"),
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


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("{'nobody': ParserNames(('std',))}", "unknown family `nobody`"),
        ("{'hermes': ('std',)}", "is not a `ParserNames`"),
        ("{'hermes': ParserNames('std')}", "is not a `ParserNames`"),
        ("{'mistral': ParserNames(('std',))}", "prompt_debugger/core/formats/mistral.py` both define names"),
    ],
)
def test_names_that_an_engine_brings_are_for_families_that_do_not_name_them(
    package: Package, names: str, said: str
) -> None:
    package.write("lanternd", f"ENGINE = Engine('lanternd', 'Lantern Daemon', parser_names={names})")
    families = {"hermes": named_family("hermes", {}), "mistral": named_family("mistral", {"lanternd": MISTRAL})}

    with pytest.raises(PluginError) as caught:
        merge_names(families, load_records(package.module))

    assert "lamps/lanternd.py" in caught.value.message
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("names", "said"), [({"nobody": MISTRAL}, "unknown engine `nobody`"), ({"lanternd": "std"}, "not a `ParserNames`")]
)
def test_names_that_a_family_brings_are_for_engines_that_there_are(
    package: Package, names: dict[str, ParserNames], said: str
) -> None:
    package.write("lanternd", "ENGINE = Engine('lanternd', 'Lantern Daemon')")

    with pytest.raises(PluginError, match=said) as caught:
        merge_names({"mistral": named_family("mistral", names)}, load_records(package.module))

    assert "core/formats/mistral.py" in caught.value.message


def test_names_of_both_are_in_one_place(package: Package) -> None:
    package.write("lanternd", "ENGINE = Engine('lanternd', 'L', parser_names={'hermes': ParserNames(('std',))})")
    families = {"hermes": named_family("hermes", {}), "mistral": named_family("mistral", {"lanternd": MISTRAL})}

    assert merge_names(families, load_records(package.module)) == {
        "lanternd": {"hermes": ParserNames(("std",)), "mistral": MISTRAL}
    }


def named_family(name: str, names: dict[str, ParserNames]) -> TextFormat:
    return replace(FORMATS[name], facts=replace(FORMATS[name].facts, parser_names=names))


def test_a_kind_without_a_file_is_called_as_it_calls_itself() -> None:
    assert title_of("lanternd") == "lanternd"
    assert engine_of("lanternd") is ENGINES["openai-compatible"]


def test_kinds_in_documents_stay() -> None:
    assert set(ENGINES) >= {"vllm", "sglang", "llama.cpp", "ollama", "openai-compatible"}


# Where one software is meant by its name and not by what its record says, each with the reason.
BY_NAME = {
    "core/diagnose/fixes.py": "flags of vLLM's command line",
    "core/diagnose/calls/departing_calls.py": "which engine reads a call without its opening tag",
    "core/diagnose/readers.py": "whose parsers were tried on an output",
    "core/diagnose/rules/cut_arguments.py": "the servers that, asked for no limit, write on to the end of the context",
    "core/diagnose/rules/ignored_field.py": "a field that vLLM, alone, is known to ignore",
    "core/diagnose/rules/known_parser_fault.py": "how the engines whose faults are known by release write their names",
    "core/diagnose/rules/not_the_promised_json.py": "a server whose backend for grammars is set by a flag of its own",
    "core/diagnose/rules/parser_of_other_model.py": "the engines that have no parser for GLM-4 before 4.5",
    "core/diagnose/rules/removed_field.py": "fields that releases of vLLM took out",
    "core/diagnose/parser_setup.py": "LMDeploy, whose parser is named at its start",
    "core/diagnose/own_settings.py": "what a setting is called that each engine's server names otherwise",
    "core/diagnose/taken.py": "fields of a request that an engine's server is known not to read",
    "core/diagnose/thought_switches.py": "how servers are asked to think less, those without a record among them",
    "core/diagnose/thinking.py": "Ollama, which switches thinking off by a field of its own",
    "core/diagnose/rules/prefilled_turn.py": "vLLM, which closes an assistant turn at the end",
    "core/diagnose/calls/unparsed_calls.py": "the options by which each engine's server parses calls",
    "core/evidence/commands/command_lines.py": "which program a command line starts",
    "core/evidence/commands/flags.py": "which flags of a program name its parsers",
    "core/evidence/readers/log.py": "which server is started with a click, not by a command",
    "core/parse/engines/names.py": "engines whose parsers are not asked",
    "core/evidence/logs/server.py": "the program that runs another one's server",
    "core/evidence/reports/split.py": "with which programs a command line begins",
    "core/evidence/reports/mentions.py": "mlx-vlm takes its parsers from mlx-lm",
    "core/known_errors/_speakers.py": "by whose modules a traceback shows who speaks",
    "core/parse/engines/fetch.py": "which package of the index is an engine",
    "core/parse/engines/client.py": "whose release the older field of the document names",
    "core/parse/engines/releases.py": "the engine that is installed, and need not be fetched",
    "core/parse/engines/wheels.py": "the engines whose parsers run from a wheel",
    "core/pipeline/release_questions.py": "the engine of a parser that is named without one, and those with releases",
    "core/pipeline/parsers.py": "the engine whose parsers are asked with the run's reasoning parser",
    "core/render/explanations.py": "habits in rendering, which are below the records",
    "core/report/repeat.py": "the command that asks vLLM's parser offline",
    "core/tools/check/run.py": "whose renderer runs without a model, and whose servers take our plugin",
    "core/tools/fixes/exports.py": "whose replay is written, and whose parser a test is made for",
    "core/tools/grammar/in_force.py": "whose grammar is known to begin after the reasoning",
    "ui/cli/check.py": "the engine that is installed, and takes parser files",
    "ui/cli/sessions.py": "as which software a session's prompts were rendered",
    "ui/mcp/parameters.py": "which engines a client may name",
    "ui/web/fixes/try_fixes.py": "parsers of the vLLM here stand in for the server's",
}


@pytest.mark.slow
def test_what_is_known_of_one_software_is_in_its_record_alone() -> None:
    compared = subprocess.run(
        [sys.executable, "-c", _COMPARED, *ENGINES], cwd=ROOT, capture_output=True, text=True, check=True
    )

    records = ("core/complete/engines/", "core/formats/")  # a family's record has each software's names of its parsers
    found = {place for place in json.loads(compared.stdout) if not place.startswith(records)}

    assert found == set(BY_NAME)


# In a process of its own, as in tests/core/formats/test_records.py.
_COMPARED = """
import ast, json, pathlib, sys
found = set()
for path in sorted([*pathlib.Path("core").rglob("*.py"), *pathlib.Path("ui").rglob("*.py")]):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
            names = [getattr(part, "attr", getattr(part, "id", None)) for part in parts]
            if any(name in ("kind", "server_kind", "engine") for name in names):
                if any(isinstance(part, ast.Constant) and part.value in sys.argv[1:] for part in parts):
                    found.add(path.as_posix())
        items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        texts = {item.value for item in items if isinstance(item, ast.Constant)}
        if len(texts.intersection(sys.argv[1:])) > 1:
            found.add(path.as_posix())
print(json.dumps(sorted(found)))
"""
