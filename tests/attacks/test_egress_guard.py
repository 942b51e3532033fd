"""Whatever strangers send, no connection is made but by the guarded transport: references, uploads, look-ups."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.diagnose.schemas import violations
from prompt_debugger.core.tools.grammar.worker.opinions import opinions
from tests.attacks.listener import Listener, listening
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]


def _schemas(url: str) -> dict[str, JSONObject]:
    """Return schemas that refer to somewhere else, each in another place."""
    there: JSONObject = {"$ref": url}
    return {
        "ref": there,
        "properties": {"properties": {"a": there}},
        "dependentSchemas": {"dependentSchemas": {"a": there}},
        "allOf": {"allOf": [{"allOf": [there]}]},
        "anyOf": {"anyOf": [there, {"type": "object"}]},
        "if": {"if": there, "then": there},
        "pattern": {"patternProperties": {"^a": there}},
        "propertyNames": {"propertyNames": there},
        "unevaluated": {"unevaluatedProperties": there},
        "dynamic": {"$dynamicRef": url},
        "id": {"$id": url, "allOf": [{"$ref": "other.json"}]},
        "metaschema": {"$schema": url, "type": "object"},
    }


@pytest.mark.parametrize("name", _schemas("x"))
@pytest.mark.parametrize("scheme", ["http", "file"])
def test_a_schema_that_refers_elsewhere_is_not_followed(name: str, scheme: str, tmp_path: Path) -> None:
    """The reference library fetches what `$ref` names, files too, and quotes it in its messages."""
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"const": "treasure"}))
    with listening() as listener:
        schema = _schemas(listener.url if scheme == "http" else secret.as_uri())[name]

        said = json.dumps([opinions(schema, '{"a": 1}'), [str(found) for found in violations({"a": 1}, schema) or ()]])

        assert listener.requests() == []
    assert "treasure" not in said


def test_every_validator_is_told_where_to_look_references_up() -> None:
    """Without a registry the reference library looks them up on the network.

    A process of its own reads the code: CPython 3.11 cannot build a syntax tree where greenlets have moved the stack.
    """
    done = subprocess.run(
        [sys.executable, "-c", _VALIDATORS, str(ROOT)], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )

    assert done.stdout.split() == ["read"]


_VALIDATORS = """
import ast, pathlib, sys
root = pathlib.Path(sys.argv[1])
# Pydantic's, which know no references.
PYDANTIC = ("SchemaValidator", "AfterValidator", "BeforeValidator", "PlainValidator", "WrapValidator")
for path in sorted([*root.glob("core/**/*.py"), *root.glob("ui/**/*.py")]):
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            is_chosen = "validator_for" in called and "registry=" not in text  # a class, made with a registry later
            is_built = called.rpartition(".")[2].endswith("Validator") or is_chosen
            is_built = is_built and called not in PYDANTIC
            is_bare = is_built and "registry" not in {keyword.arg for keyword in node.keywords}
            if is_bare or (called in ("jsonschema.validate", "validate") and "jsonschema" in text):
                print(f"{path.relative_to(root)}:{node.lineno}")
print("read")
"""
_ATTEMPTS = {
    "a schema's reference": """
        import jsonschema
        jsonschema.Draft202012Validator({"$ref": url}).validate(1)
    """,
    "gradio's download": """
        import gradio.processing_utils as p, tempfile
        p.unsafe_download(url, tempfile.mkdtemp())
    """,
    "gradio's guarded download": """
        import asyncio, safehttpx
        asyncio.run(safehttpx.get(url, domain_whitelist=["127.0.0.1"], _transport=False))
    """,
    "a hub look-up": """
        import os; os.environ["HF_ENDPOINT"] = url.rpartition("/")[0]
        from huggingface_hub import snapshot_download
        snapshot_download("some/model")
    """,
    "a template of a remote file": """
        import urllib.request
        urllib.request.urlopen(url)
    """,
}


@pytest.mark.parametrize("name", _ATTEMPTS)
def test_a_library_that_connects_of_its_own_accord_is_refused_and_logged(name: str) -> None:
    attempt = textwrap.indent(textwrap.dedent(_ATTEMPTS[name]), "    ")
    code = "import sys\nfrom prompt_debugger.core.base.egress import forbid_network\nforbid_network()\n"
    code += f"url = sys.argv[1]\ntry:\n{attempt}\n"
    with listening() as listener:
        done = subprocess.run(
            [sys.executable, "-c", code + "except Exception as error: print(type(error).__name__)", listener.url],
            cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S,
            env={name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"},
        )  # fmt: skip

        assert listener.requests() == [], done.stdout
    assert "refused a connection" in done.stderr


def test_a_helper_process_reaches_nothing() -> None:
    """The processes that work on strangers' text shut the network before they read any."""
    for helper in ("core/sandbox/child.py", "core/tools/grammar/worker/__main__.py"):
        assert "forbid_network()" in (ROOT / helper).read_text(encoding="utf-8")


@pytest.fixture(params=["private", "public"])
def running_page(request: pytest.FixtureRequest) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The program itself in a process of its own, with the network shut as always."""
    options = ["--public"] if request.param == "public" else ["--endpoint", "http://127.0.0.1:9/v1"]
    process = subprocess.Popen(
        [sys.executable, "app.py", "ui", "--no-lab", "--port", "0", *options],
        cwd=ROOT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if " is at http" in line:
            break
    else:
        pytest.fail("".join(said))
    yield said[-1].split()[-1], process
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE_S)


def test_the_page_starts_answers_and_checks_itself(running_page: tuple[str, subprocess.Popen[str]]) -> None:
    """Its own check at the start goes to itself, and uvicorn listens: neither is a way out."""
    url, process = running_page

    status = httpx.get(url, timeout=PATIENCE_S).status_code
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE_S)

    assert status == 200
    assert "refused a connection" not in said


def test_the_command_line_runs_against_a_server_with_the_network_shut(tmp_path: Path) -> None:
    """The guarded transport is the way that is open: by address, by name, and through a proxy."""
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}))
    for target, proxy in (("127.0.0.1", None), ("localhost", None), ("somewhere.example", True)):
        with listening() as listener:
            environment = dict(os.environ)
            if proxy:
                environment["http_proxy"] = f"http://127.0.0.1:{listener.port}"
            port = 80 if proxy else listener.port
            done = _run_against(f"http://{target}:{port}/v1", request, environment)

            assert listener.requests() != [], done.stderr
        assert "refused" not in done.stderr


def _run_against(endpoint: str, request: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "app.py", "run", str(request), "--endpoint", endpoint],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, env=environment,
    )  # fmt: skip


def test_a_name_no_one_has_is_reported_as_before(tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}))

    done = _run_against("http://no-such-host.invalid/v1", request, dict(os.environ))

    assert "no-such-host.invalid" in done.stderr
    assert "refused a connection" not in done.stderr


@pytest.fixture
def listener() -> Listener:
    return Listener()


def test_a_public_page_asks_the_hub_for_nothing(listener: Listener) -> None:
    code = """
    import sys
    from prompt_debugger.core.base.egress import forbid_network, lock
    forbid_network()
    from prompt_debugger.core.base.errors import RenderError
    from prompt_debugger.core.render.tokenizers.folder import find_folder
    from prompt_debugger.core.render.tokenizers.hub import EGRESS
    for is_public in (True, False):
        if is_public: lock(EGRESS)
        try: find_folder("some/model-nobody-has")
        except RenderError as error: print(error.message)
        if is_public:
            from prompt_debugger.core.base import egress
            egress._locked.clear()
    """
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S,
        env=environment | {"HF_ENDPOINT": f"http://127.0.0.1:{listener.port}"},
    )  # fmt: skip
    public, private = done.stdout.splitlines()

    assert "does not access the Hub" in public
    assert "Hub" in private
    assert any(b"model-nobody-has" in request for request in listener.requests())


def test_a_public_page_locks_the_way_to_the_hub_before_it_does_anything() -> None:
    """What it does first is to ask its sandbox, which ends it here."""
    code = """
    from prompt_debugger.core.base.egress import is_locked
    from prompt_debugger.core.render.tokenizers.hub import EGRESS
    from prompt_debugger.ui.web import launch
    from prompt_debugger.ui.web.settings import PageSettings
    def end(*_): raise SystemExit
    launch.start_work_sandbox = end
    for is_public in (False, True):
        try: launch.launch_app(PageSettings(public=is_public, lab=False))
        except SystemExit: print(is_locked(EGRESS))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S
    )

    assert done.stdout.split() == ["False", "True"], done.stderr
