"""The failing test for maintainers: small, by itself, and really failing where the run says so."""

from __future__ import annotations

import ast
import gzip
import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import EngineError, RequestError
from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.complete import ParserCase
from prompt_debugger.core.parse.engines import WHEELS, fetch
from prompt_debugger.core.parse.engines.fetch import ENGINES_VARIABLE
from prompt_debugger.core.pipeline.recordings import load_recording, recordings_dir
from prompt_debugger.core.tools.fixes.trial import Runner, runner_of, try_source, try_test
from prompt_debugger.core.tools.fixes.upstream import PARSER_TESTS, case_of_trace, drop_note, write_upstream_test
from tests.conftest import ROOT
from tests.core.tools.plugin.test_streams import WEATHER, kimi_call
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment


def recorded(name):
    recording = load_recording(name)
    assert recording is not None
    return recording


def case(raw, parser="kimi_k2"):
    return ParserCase(parser, raw, (WEATHER,), (("get_weather", '{"city": "Paris"}'),), "test_output")


def test_a_recorded_run_with_a_dropped_call_makes_a_case():
    made = case_of_trace(recorded("dropped-call").trace)

    assert (made.parser, made.calls) == ("kimi_k2", (("get_weather", '{"city": "Paris"}'),))
    assert "<|tool_call_begin|>" in made.markers
    assert "<|im_end|>" not in made.raw


def test_a_run_without_a_whole_call_makes_none():
    with pytest.raises(RequestError, match="no complete tool call"):
        case_of_trace(recorded("truncated-call").trace)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "mlx-lm", "lmdeploy"])
def test_a_test_in_python_is_python_and_contains_the_output_as_it_is(engine):
    raw = kimi_call('{"city": "a\\n\\"é\\""}')
    tree = ast.parse(write_upstream_test(case(raw), engine))

    values = {n.targets[0].id: n.value for n in tree.body if isinstance(n, ast.Assign)}
    assert ast.literal_eval(values["OUTPUT"]) == raw
    assert json.loads(ast.literal_eval(values["TOOLS"].args[0])) == [WEATHER]


def test_only_the_test_for_vllm_does_not_say_that_it_was_not_run():
    told = {engine: "Not run" in write_upstream_test(case(kimi_call("{}")), engine) for engine in PARSER_TESTS}

    assert told == {"vllm": False} | dict.fromkeys(("sglang", "llama.cpp", "mlx-lm", "lmdeploy"), True)


def test_the_test_for_llama_cpp_has_the_template_that_chooses_its_parser():
    made = case_of_trace(recorded("dropped-call").trace)

    assert made.template == recorded("dropped-call").trace.prompt.template
    known, unknown = (write_upstream_test(one, "llama.cpp") for one in (made, replace(made, template="")))
    assert 'common_chat_templates_init(/* model= */ nullptr, std::string("{#-' in known
    assert 'read_file("models/templates/MODEL.jinja")' in unknown
    assert "The run does not show the model's template" in unknown


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("raw", ["", "\n", 'a "b"\\n??/\r\t7', "\x008\x85é\u2028🔬\n\n1\x007", "line\nline\n"])
def test_a_text_in_a_test_in_cpp_is_the_text_that_it_was_made_from(raw, tmp_path):
    written = write_upstream_test(case(raw), "llama.cpp")
    literal = written.partition("common_chat_input(")[2].partition("), /* is_partial")[0]
    source = tmp_path / "print.cpp"
    source.write_text(f"#include <iostream>\n#include <string>\nint main() {{ std::cout << {literal}; }}\n")

    subprocess.run(["g++", "-o", tmp_path / "print", source], check=True, timeout=PATIENCE_S)

    printed = subprocess.run([tmp_path / "print"], check=True, capture_output=True, timeout=PATIENCE_S)
    assert printed.stdout.decode() == raw


def test_an_unknown_engine_is_refused():
    with pytest.raises(RequestError, match="nobody"):
        write_upstream_test(case(""), "nobody")


@pytest.mark.vllm
def test_the_test_fails_in_vllm_for_the_dropped_call_and_passes_for_a_healthy_one(tmp_path):
    healthy, dropped = tmp_path / "healthy.py", tmp_path / "dropped.py"
    whole = kimi_call('{"city": "Paris"}')
    healthy.write_text(write_upstream_test(case(whole), "vllm"), encoding="utf-8")
    dropped.write_text(write_upstream_test(case(whole.replace("functions.get_weather:0", "get_weather")), "vllm"))

    vllm = Runner(vllm_python(), "vllm")
    passed, failed = try_test(healthy, vllm), try_test(dropped, vllm)

    assert (passed.fails, passed.explanation) == (False, "")
    assert failed.fails is True, failed.explanation
    assert failed.explanation.startswith("0 of 1 calls returned")


@pytest.mark.vllm
@pytest.mark.parametrize("kind", ["sglang", "mlx-lm"])
def test_the_test_fails_in_an_engine_s_wheel_for_the_dropped_call_and_passes_for_a_healthy_one(kind):
    try:
        fetch(f"{kind}=={WHEELS[kind].example}")
    except EngineError as error:
        pytest.skip(f"{kind} cannot be had: {error.message}")
    runner = runner_of(kind, PARSER_TESTS[kind].package)
    assert runner is not None
    whole = kimi_call('{"city": "Paris"}')
    sources = [write_upstream_test(case(raw), kind) for raw in (whole, whole.replace(":0", ""))]

    passed, failed = (try_source(source, runner) for source in sources)

    assert (passed.version, passed.fails) == (WHEELS[kind].example, False), passed.explanation
    assert failed.fails is True, failed.explanation


def test_another_engine_is_tested_with_its_own_parser_for_the_family():
    trace = recorded("wrong-parser").trace

    assert trace.server.tool_parser == "hermes"  # of vLLM, and the output is Kimi K2's
    assert [case_of_trace(trace, engine=engine).parser for engine in ("vllm", "sglang", "mlx-lm")] == [
        "hermes", "kimi_k2", "kimi_k2",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_command_writes_a_test_for_another_engine_and_says_that_it_was_not_run(tmp_path):
    bundle = tmp_path / "trace.json"
    bundle.write_bytes(gzip.decompress((recordings_dir() / "dropped-call.json.gz").read_bytes()))
    command = [sys.executable, "app.py", "report", str(bundle), "--upstream-test", "sglang", "--json"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env=warm_environment(**{ENGINES_VARIABLE: str(tmp_path)}),
    )

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["engine"], document["run"], document["fails"]) == ("sglang", False, None)
    assert "FunctionCallParser" in document["test"]


CASE = """
import unittest

class TestOutput(unittest.TestCase):
    def test_it(self):
        self.assertEqual([{found}], ["a call"])
"""


@pytest.mark.parametrize(("found", "fails"), [("", True), ("'a call'", False)])
def test_a_test_in_the_manner_of_unittest_is_run_and_told(tmp_path, found, fails):
    file = tmp_path / "test_output.py"
    file.write_text(CASE.format(found=found), encoding="utf-8")

    trial = try_test(file, Runner(sys.executable, "pytest"))

    assert (trial.version, trial.fails) == (pytest.__version__, fails)
    assert trial.explanation.startswith("Lists differ: []") == fails


@pytest.mark.parametrize(
    ("call", "fails", "told"),
    [
        ("reading.read()", True, "ValueError: too many"),
        ("reading.Parser()", None, "it could not be run: ValueError: no such token"),
        ("reading.lacks()", None, "it could not be run: "),
        ("int('x')", None, "it could not be run: ValueError: invalid literal"),
    ],
)
def test_an_error_of_the_parser_that_reads_is_a_failure_and_one_of_anything_else_is_not(tmp_path, call, fails, told):
    package = tmp_path / "an_engine"
    package.mkdir()
    (package / "__init__.py").write_text("__version__ = '1.0'\n")
    (package / "reading.py").write_text(
        "def read():\n    raise ValueError('too many')\n\ndef lacks():\n    import no_such_package\n\n"
        "class Parser:\n    def __init__(self):\n        raise ValueError('no such token')\n"
    )
    file = tmp_path / "test_output.py"
    file.write_text(f"from an_engine import reading\n\ndef test_it():\n    {call}\n")

    trial = try_test(file, Runner(sys.executable, "an_engine", overlay=tmp_path))

    assert (trial.version, trial.fails) == ("1.0", fails)
    assert trial.explanation.startswith(told)


def test_a_package_that_is_not_there_runs_no_test(tmp_path):
    trial = try_test(tmp_path / "none.py", Runner(sys.executable, "no_such_package"))

    assert (trial.version, trial.fails) == (None, None)
    assert "there is no no_such_package" in trial.explanation


def test_a_test_that_was_run_does_not_say_that_it_was_not():
    source = write_upstream_test(case(kimi_call("{}")), "sglang")

    assert "Not run" not in drop_note(source, "sglang")
    assert source.endswith(drop_note(source, "sglang"))


@pytest.mark.parametrize("name", ['x"); print(1) #', 'x"""\nprint(1)\n"""', "x\n", ""])
def test_a_saved_run_puts_no_code_of_its_author_into_the_test(name):
    """What a bundle says of its parser and its findings is anyone's text, and the test is run at once."""
    trace = recorded("dropped-call").trace
    hostile = replace(trace, server=replace(trace.server, tool_parser=name))

    with pytest.raises(RequestError, match="parser"):
        case_of_trace(hostile)


def test_a_test_is_named_in_plain_letters_whatever_a_finding_is_called():
    trace = recorded("dropped-call").trace
    findings = tuple(replace(one, name="x(): pass\nprint(1)\ndef y") for one in trace.findings)

    assert case_of_trace(replace(trace, findings=findings)).name == "test_x_pass_print_1_def_y"
