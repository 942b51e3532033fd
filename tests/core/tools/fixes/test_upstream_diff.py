"""A diff for maintainers: proved in the engine's own code, and silent where nothing is proved."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.base.types import VllmOutcome
from prompt_debugger.core.complete import ParserCase
from prompt_debugger.core.parse.engines import WHEELS, fetch
from prompt_debugger.core.parse.engines.wheels import installed_folder
from prompt_debugger.core.tools.fixes import upstream_diff
from prompt_debugger.core.tools.fixes.trial import Runner, try_own_tests
from prompt_debugger.core.tools.fixes.upstream import PARSER_TESTS
from prompt_debugger.core.tools.fixes.upstream_diff import (
    DIFFED,
    MAX_LINES,
    UpstreamDiff,
    parser_diff,
    sentence_of_diff,
)
from prompt_debugger.core.tools.fixes.upstream_repairs import REPAIRS
from tests.core.tools.fixes.test_upstream import case
from tests.core.tools.plugin.test_streams import kimi_call

HEALTHY = kimi_call('{"city": "Paris"}')
WITHOUT_INDEX = HEALTHY.replace("functions.get_weather:0", "get_weather")


def folder_of(kind):
    if kind == "vllm":
        return installed_folder("vllm")
    try:
        return fetch(f"{kind}=={WHEELS[kind].example}")[0]
    except EngineError as error:
        pytest.skip(f"{kind} cannot be had: {error.message}")


def edits_of(name, source):
    (repair,) = [one for one in REPAIRS if one.name == name]
    return list(repair.edits(source))


@pytest.mark.vllm
@pytest.mark.parametrize("kind", ["mlx-lm", "sglang", "vllm"])
async def test_the_diff_of_a_parser_applies_to_the_wheel_and_turns_the_new_test_green(kind, tmp_path):
    folder = folder_of(kind)

    found = await parser_diff(case(WITHOUT_INDEX), kind)

    assert (found.repair, found.streamed) == ("header-without-index", True)
    assert 0 < found.diff.count("\n") <= MAX_LINES
    assert "passes with it" in sentence_of_diff(found)
    assert "The maintainers' own tests of this parser were not run with it" in sentence_of_diff(found)
    copy = tmp_path / found.file
    copy.parent.mkdir(parents=True)
    copy.write_bytes((folder / found.file).read_bytes())
    for command in (["git", "apply", "--check", "-"], ["patch", "-p1", "--dry-run"]):
        done = subprocess.run(command, cwd=tmp_path, input=found.diff, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.parametrize(
    ("own_tests", "says", "wanted", "unwanted"),
    [
        (None, "", "were not run with it", "pass without it"),
        (True, "Of the maintainers' tests 83 pass without it, and with it.", "tests 83 pass", "were not run"),
        (None, "The maintainers' tests were not of use: no module.", "not of use: no module", "were not run"),
    ],
)
def test_a_diff_says_whether_the_maintainers_tests_were_run(own_tests, says, wanted, unwanted):
    found = UpstreamDiff(of="sglang", diff="--- a", version="0.5.23", says=says, own_tests=own_tests)

    assert wanted in sentence_of_diff(found)
    assert unwanted not in sentence_of_diff(found)


@pytest.mark.vllm
@pytest.mark.parametrize("tests_pass", [True, False])
async def test_the_maintainers_tests_must_pass_with_the_change_as_without(tests_pass, tmp_path):
    folder_of("mlx-lm")
    own = tmp_path / "test_own.py"
    refused = "[str(one) for one in [_refusal('get_weather<|tool_call_argument_begin|>{}')] if one]"
    own.write_text(
        "from mlx_lm.tool_parsers import kimi_k2\n\n"
        "def _refusal(text):\n"
        "    try:\n        kimi_k2.parse_tool_call(text, None)\n"
        "    except ValueError as error:\n        return error\n\n"
        f"def test_own():\n    assert {'True' if tests_pass else refused}, 'a name alone is refused'\n\n"
        "def test_that_fails_anyhow():\n    assert kimi_k2.parse_tool_call('', None)\n"
    )

    found = await parser_diff(case(WITHOUT_INDEX), "mlx-lm", own)

    assert (bool(found.diff), found.own_tests) == (tests_pass, tests_pass)
    if tests_pass:
        assert (
            "Of the maintainers' tests 1 pass without it, and with it; 1 fail here with and without it." in found.says
        )
    else:
        assert "it breaks `test_own`: a name alone is refused" in found.says
        assert "There is no diff" in found.says


@pytest.mark.vllm
def test_vllms_own_tests_run_with_fixtures_and_a_vocabulary_of_their_own(tmp_path):
    folder = tmp_path / "tests" / "tool_parsers"
    folder.mkdir(parents=True)
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text("raise SystemExit('the source, not the release')\n")
    (tmp_path / "tests" / "conftest.py").write_text("import no_such_module\n")
    for place in (folder, folder.parent):
        (place / "__init__.py").touch()
    (folder / "conftest.py").write_text("import pytest\n\n@pytest.fixture\ndef text():\n    return 'a<|call|>b'\n")
    own = folder / "test_own.py"
    own.write_text(
        "from tests.tool_parsers.conftest import text\n"
        "from vllm.tokenizers import get_tokenizer\n\n"
        "def test_marker(text):\n"
        "    tokenizer = get_tokenizer(tokenizer_name='some/model', trust_remote_code=True)\n"
        "    assert tokenizer.decode(tokenizer.encode(text)) == text\n"
        "    assert len(tokenizer.encode('<|call|>')) == 1\n\n"
        "def test_that_needs_the_real_vocabulary():\n"
        "    assert get_tokenizer('some/model').encode('weather') == [70519]\n"
    )

    found = try_own_tests(own, Runner(vllm_python(), "vllm"))

    assert (found.passed, list(found.failed), found.explanation) == (
        ("test_marker",), ["test_that_needs_the_real_vocabulary"], "",
    )  # fmt: skip


@pytest.mark.vllm
async def test_tests_of_which_none_passes_prove_nothing(tmp_path):
    folder_of("mlx-lm")
    own = tmp_path / "test_own.py"
    own.write_text("import no_such_module\n\ndef test_own():\n    pass\n")

    found = await parser_diff(case(WITHOUT_INDEX), "mlx-lm", own)

    assert (bool(found.diff), found.own_tests) == (True, None)
    assert "The maintainers' tests were not of use: " in sentence_of_diff(found)
    assert "no_such_module" in sentence_of_diff(found)


@pytest.mark.vllm
async def test_a_parser_that_knows_the_tools_still_refuses_a_name_that_is_none_of_them(tmp_path):
    folder_of("sglang")
    own = tmp_path / "test_own.py"  # as SGLang's own tests want it, 0.5.23
    own.write_text(
        "import unittest\n"
        "from sglang.srt.entrypoints.openai.protocol import Tool\n"
        "from sglang.srt.function_call.kimik2_detector import KimiK2Detector\n"
        "from sglang.test.test_utils import CustomTestCase\n\n"
        "TOOLS = [Tool(type='function', function={'name': 'get_weather', 'parameters': {'type': 'object'}})]\n\n"
        "class TestHeader(CustomTestCase):\n"
        "    def test_garbage(self):\n"
        "        self.assertEqual(KimiK2Detector()._parse_tool_call_id('garbage', TOOLS), (None, 0))\n"
    )

    found = await parser_diff(case(WITHOUT_INDEX), "sglang", own)

    assert (found.repair, found.streamed, found.own_tests) == ("header-without-index", True, True)
    assert "Of the maintainers' tests 1 pass without it, and with it." in found.says


@pytest.mark.vllm
async def test_an_output_that_is_read_needs_no_diff():
    folder_of("mlx-lm")

    found = await parser_diff(case(HEALTHY), "mlx-lm")

    assert (found.diff, found.repair) == ("", None)
    assert "nothing to change" in found.says


async def test_every_sibling_is_asked_although_one_of_them_is_not_read(monkeypatch):
    """A call that a change makes readable may have siblings, such as a cut one, of which nothing can be returned."""
    calls = ({"type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}},)

    class Helper:
        def __init__(self, **_: object) -> None:
            pass

        async def parse_with(self, names, output):
            return {names[0]: VllmOutcome(None, None, calls if output.raw == HEALTHY else ())}

        def close(self) -> None:
            pass

    monkeypatch.setattr(upstream_diff, "VllmEngine", Helper)
    cut = HEALTHY[:-20]

    found = await upstream_diff._read("vllm", Path(), case(HEALTHY), (HEALTHY, cut, f"{cut}>"), goes_on=False)
    nothing = await upstream_diff._read("vllm", Path(), case(cut), (cut, HEALTHY), goes_on=False)

    assert list(found) == [HEALTHY, cut, f"{cut}>"]
    assert list(nothing) == [cut]


@pytest.mark.vllm
async def test_what_no_known_change_mends_has_no_diff():
    folder_of("mlx-lm")
    other = ParserCase("kimi_k2", "<call>get_weather()</call>", (), (("get_weather", "{}"),), "test_output")

    found = await parser_diff(replace(other, raw=WITHOUT_INDEX.replace("<|tool_call_begin|>", "<call>")), "mlx-lm")

    assert found.diff == ""
    assert "so there is no diff" in found.says or "nothing to change" in found.says


@pytest.mark.vllm
@pytest.mark.parametrize(
    ("parser", "file"),
    [("kimi_k2", "parser/kimi_k2.py"), ("hermes", "tool_parsers/"), ("jamba", "tool_parsers/"), ("nobody", None)],
)
def test_the_file_of_a_vllm_parser_is_that_which_reads(parser, file):
    found = PARSER_TESTS["vllm"].source(installed_folder("vllm"), parser)

    assert (found is None) is (file is None)
    assert file is None or f"/vllm/{file}" in str(found)


@pytest.mark.parametrize("kind", sorted(set(PARSER_TESTS) - set(DIFFED)))
async def test_other_engines_say_why_there_is_no_diff(kind):
    found = await parser_diff(case(WITHOUT_INDEX), kind)

    assert found.diff == ""
    assert "there is no diff" in found.says


@pytest.mark.parametrize(
    ("name", "source", "changed"),
    [
        (
            "header-without-index",
            'import re\nR = re.compile(r"^(?P<name>\\w+):(?P<index>\\d+)$")\nI = int(m.group("index"))\n',
            ["(?::(?P<index>\\d+))?$", 'int(m.group("index") or 0)'],
        ),
        ("marker-inside-a-string", 'R = r"<call>(.*?)</call>"\n', ['r"<call>((?:\\x22']),
        ("text-behind-the-call", "import json\nX = json.loads(text)\n", ["raw_decode(text.lstrip())[0]"]),
        ("text-before-the-call", 'R = r"^<call>"\nX = R.match(text)\n', [".search(text)"]),
        ("line-break-at-a-marker", 'START = "<call>\\n"\n', ['"<call>"']),
    ],
)
def test_each_repair_changes_what_it_is_for(name, source, changed):
    first = edits_of(name, source)[0]

    assert all(part in first for part in changed)
    compile(first, "parser.py", "exec")


@pytest.mark.parametrize(
    ("header", "is_read"),
    [
        ("get_weather", True),
        ("functions.get_weather", True),
        ("functions.get_weather:12", True),
        ("v1.2.search:0", True),
        ("v2", True),
        ("functions.tool.2:0", True),
        ("functions.get_weather.0", False),  # vLLM's own tests want it refused
        ("0", False),
        ("12", False),
    ],
)
def test_an_index_that_is_written_wrong_stays_refused(header, is_read):
    changed = edits_of("header-without-index", 'import re\nID = re.compile(r"(?P<id>.+:\\d+)")\n')[0]
    names: dict[str, re.Pattern[str]] = {}
    exec(changed, names)

    assert (names["ID"].match(header) is not None) is is_read


HEADERS = r'''
import re
ID = re.compile(r"^(?:functions\.)?(?P<name>\w+):(?P<index>\d+)$")

def name_of(header, tools, arguments=None):
    """Return the name in a header."""
    found = ID.match(header)
    return found and found["name"]

def of_text(text):
    return ID.match(text)
'''


def test_a_function_that_knows_the_tools_takes_a_declared_name_without_an_index():
    weather = SimpleNamespace(function=SimpleNamespace(name="get_weather"))
    (objects, plain) = edits_of("header-without-index", HEADERS)
    names: dict[str, Callable[..., object]] = {}
    exec(objects, names)
    of_objects = [names["name_of"](one, [weather]) for one in ("get_weather", "functions.get_weather", "get_weather:3")]
    others = [names["name_of"](one, [weather]) for one in ("garbage", "3", "get_weather.0", "")]
    exec(plain, names)

    assert of_objects == ["get_weather"] * 3
    assert others == [None] * 4
    assert names["name_of"]("get_weather", [{"function": {"name": "get_weather"}}]) == "get_weather"
    assert names["name_of"]("get_weather", None) is None
    assert names["of_text"]("get_weather") is None  # it does not know the tools


@pytest.mark.parametrize("name", [repair.name for repair in REPAIRS])
def test_a_source_without_the_construct_is_left_alone(name):
    assert edits_of(name, '"""Says r"^(.*?):\\\\d+" in words."""\nX = 1\n') == []
