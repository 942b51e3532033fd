"""The record of each family is the only place of its facts; every table elsewhere follows from it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from prompt_debugger.core.base.errors import PluginError
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.formats import (
    FORMATS,
    PARSERS_OF_ANY_FORMAT,
    TABLES,
    find_stripped_calls,
    load_formats,
    pick_format,
)
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.tools.grammar import FAMILIES
from tests.conftest import ROOT

NEW_FAMILY = '''
"""Mint: a family that nobody has."""

from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts, Grammar
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reading import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.base.structural_tag import json_calls_between

FORMAT = TextFormat(
    name="mint",
    marks=(Mark("<mint:call>"), Mark("<mint:end>")),
    conventions=Conventions(
        reasoning=ReasoningTags(("<mint:muse>",), ("</mint:muse>",)),
        turns=("<mint:turn>",),
        ends=frozenset({"<mint:end>"}),
        markers=frozenset({"<mint:call>", "</mint:call>"}),
    ),
    scan=JSONCalls(openers=("<mint:call>",), closers=("</mint:call>",)).scan,
    facts=FamilyFacts(
        tool_parsers=("mint",),
        reasoning_parsers=("mint",),
        switches=(ENABLE_THINKING,),
        grammars=(Grammar("mint", "mint", build=json_calls_between("<mint:call>", "</mint:call>")),),
    ),
)
'''

# Its markers begin with no bracket that a family here begins one with, and its reasoning is tagged with a word.
STRANGE_FAMILY = '''
"""Lantern: the name in the opening bracket, the arguments as JSON behind it.

    <ponder>REASONING</ponder>CONTENT⟦call NAME⟧{…}⟦/call⟧⟦over⟧
"""

from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.header_calls import HeaderCalls
from prompt_debugger.core.parse.reading import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags

FORMAT = TextFormat(
    name="lantern",
    marks=(Mark("⟦call "), Mark("⟦/call⟧"), Mark("⟦over⟧"), Mark("<ponder>", STRONG)),
    conventions=Conventions(
        reasoning=ReasoningTags(("<ponder>",), ("</ponder>",)),
        ends=frozenset({"⟦over⟧"}),
        markers=frozenset({"⟦call ", "⟦/call⟧"}),
    ),
    scan=HeaderCalls(opener="⟦call ", separators=("⟧",), closers=("⟦/call⟧",)).scan,
    facts=FamilyFacts(has_json_arguments=True),
)
'''

ASK_STRANGE = """
import json
from prompt_debugger.core.formats import FORMATS, TABLES, pick_format
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.recognise import recognise
from prompt_debugger.core.tools.plugin.inside.call_stream import CallStream
from prompt_debugger.core.base.protocols import ReadContext

calls = '⟦call f⟧{"a": "⟧⟦"}⟦/call⟧⟦call g⟧{}⟦/call⟧'
raw = '<ponder>Hm.</ponder>Let me check.' + calls + '⟦over⟧'
again = 'One.' + calls + '<ponder>Well.</ponder>Two.⟦over⟧'
found = []
for reason in (None, "length"):
    whole = 0
    for size in range(raw.index("Let"), len(raw)):
        read = FORMATS["lantern"].read(raw[:size], ReadContext(finish_reason=reason))
        if not "Let me check.".startswith(read.content or "") and (reason or not raw[:size].endswith((".⟦", ".⟦c"))):
            found.append((raw[:size], read.content))
        complete = sum(call.status.value == "complete" for call in read.calls)
        if complete < whole:
            found.append((raw[:size], complete))
        whole = max(whole, complete)
streamed = ""
for family in ("lantern", "auto"):
    for step in (1, 2, 7):
        stream = CallStream(family, ReadContext())
        text = raw.partition("</ponder>")[2]
        streamed += "".join(stream.feed(text[at : at + step]).content for at in range(0, len(text), step))
        streamed += stream.finish().content + "|"
read, later = (pick_format(text, ReadContext()).read(text, ReadContext()) for text in (raw, again))
print(json.dumps({
    "format": read.format,
    "reasoning": read.reasoning,
    "calls": [call.name for call in read.calls],
    "odd when cut": found,
    "streamed": sorted(set(streamed.strip("|").split("|"))),
    "ends a turn": "⟦over⟧" in TABLES.turn_ends,
    "later": [later.reasoning, later.content],
    "pasted": [recognise(text) is Form.OUTPUT for text in (raw, calls, "Done.⟦over⟧", "<ponder>Hm.")],
}))
"""

ASK = """
import json
from prompt_debugger.core.diagnose.markers import find_markers
from prompt_debugger.core.diagnose.trace_queries import open_think_tail
from prompt_debugger.core.formats import TABLES, pick_format
from prompt_debugger.core.tools.grammar import find_family
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import Prompt, Request, Trace

raw = '<mint:muse>Hm.</mint:muse>Yes.<mint:call>{"name": "f", "arguments": {}}</mint:call><mint:end>'
read = pick_format(raw, ReadContext()).read(raw, ReadContext())
prompt = Prompt("server", "<mint:turn>assistant<mint:muse>", spans=(), tokens=None)
print(json.dumps({
    "format": read.format,
    "reasoning": read.reasoning,
    "content": read.content,
    "calls": [call.name for call in read.calls],
    "parsers": TABLES.tool_parsers["mint"],
    "open": open_think_tail(Trace(request=Request({}, "{}"), prompt=prompt)),
    "marker": [raw[a:b] for a, b in find_markers(raw)][0],
    "grammar": find_family("mint").ends,
}))
"""

# Texts of several families at once, each with the reason why it is not derived.
ALLOWED = {
    "core/diagnose/parser_setup.py": "TensorRT-LLM's names for its parsers, of which no record of an engine is kept",
    "core/diagnose/calls/python_calls.py": "families whose calls are Python, as one finding groups them; none does",
    "core/diagnose/calls/unread_blocks.py": "markers that begin and end one call alone, which no record pairs",
    "core/diagnose/parser_faults.py": "which releases of an engine's parsers have a fault: of engines, not of families",
    "core/parse/conventions.py": "ends that many families share, for texts of an unknown family; below the records",
    "core/parse/scan.py": "where a call that is never closed ends at the latest, whoever wrote it; below the records",
    "core/tools/plugin/inside/certainty.py": "how careful a stream is with each, which nothing but the plugin asks",
    "core/parse/engines/vllm_worker/vocabulary.py": "runs inside vLLM's process, which has none of our records",
    "core/parse/engines/wheel_worker/mlx_lm.py": "the reasoning markers that mlx-lm's server knows, for its own code",
    "core/parse/engines/wheel_worker/sglang.py": "SGLang's names for its parsers, and what its server does for each",
}


def registered(table: str) -> set[str]:
    """Read the parsers' names from vLLM's source: importing it takes seconds."""
    spec = find_spec("vllm")
    if spec is None or spec.origin is None:
        pytest.skip("vLLM is not installed")
    source = (Path(spec.origin).parent / table / "__init__.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            return {ast.literal_eval(key) for key in node.value.keys if key is not None}
    raise AssertionError(f"vLLM's table of {table} is not where it was")


@pytest.mark.parametrize(
    ("table", "by_format"),
    [("tool_parsers", TABLES.tool_parsers), ("reasoning", TABLES.reasoning_parsers)],
)
def test_every_parser_of_vllm_belongs_to_a_family(table: str, by_format: dict[str, tuple[str, ...]]) -> None:
    known = {name for names in by_format.values() for name in names} | PARSERS_OF_ANY_FORMAT

    assert registered(table) == known


def test_every_grammar_is_asked_for_by_a_parser_of_its_family() -> None:
    strangers = {
        family.name: family.grammar.parser
        for family in FAMILIES.values()
        if family.grammar.parser not in TABLES.tool_parsers[family.format]
    }

    assert strangers == {}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_an_answer_in_words_keeps_no_end_token_of_its_family(name: str) -> None:
    for end in FORMATS[name].conventions.ends:
        raw = f"It is sunny.{end}"
        if end not in (FORMATS[name].conventions.reasoning or ReasoningTags()).closers:
            assert pick_format(raw, ReadContext()).read(raw, ReadContext()).content == "It is sunny."


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_reasoning_tag_that_is_read_is_known_to_the_rules(name: str) -> None:
    tags = FORMATS[name].conventions.reasoning

    known = {text for pair in TABLES.reasoning_pairs for text in pair}

    assert tags is None or {*tags.openers, *tags.closers} <= known


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_stripped_form_is_a_pattern_with_a_name(name: str) -> None:
    stripped = FORMATS[name].facts.stripped

    assert not stripped or "name" in re.compile(stripped).groupindex


@pytest.mark.slow
def test_no_table_of_family_facts_stands_outside_the_records() -> None:
    facts = {text for pair in TABLES.prompt_pairs for text in pair}
    facts |= {*TABLES.call_markers, *TABLES.turn_markers, *TABLES.end_texts}
    facts |= {name for names in TABLES.tool_parsers.values() for name in names} | set(FORMATS)
    tables = subprocess.run([sys.executable, "-c", _TABLES], cwd=ROOT, capture_output=True, text=True, check=True)

    found = [(place, texts) for place, texts in json.loads(tables.stdout) if len(facts.intersection(texts)) > 2]

    assert [(place, texts) for place, texts in found if place not in ALLOWED] == []
    assert found, "the search finds what is there"


# In a process of its own: CPython 3.11 cannot build a syntax tree where greenlets have moved the stack.
_TABLES = """
import ast, json, pathlib
found = []
for path in sorted(pathlib.Path("core").rglob("*.py")):
    if path.parts[:2] != ("core", "formats"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
            texts = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
            if len(texts) > 2:
                found.append((path.as_posix(), texts))
print(json.dumps(found))
"""


# The compiled files are taken along: they fit what keeps its time, and to compile the core anew takes five seconds.
HALF_WRITTEN = shutil.ignore_patterns("*.pyc.*")


@pytest.fixture(scope="module")
def core_with_more(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the core, drop family files into it, and touch nothing else."""
    folder = tmp_path_factory.mktemp("core-with-more")
    package = folder / "prompt_debugger"
    shutil.copytree(ROOT / "core", package / "core", ignore=HALF_WRITTEN)
    (package / "__init__.py").touch()  # else an installed package of this name would come first
    (package / "core" / "formats" / "mint.py").write_text(NEW_FAMILY, encoding="utf-8")
    (package / "core" / "formats" / "lantern.py").write_text(STRANGE_FAMILY, encoding="utf-8")
    return folder


def shown(folder: Path, ask: str) -> JSON:
    """Return what a program prints that runs with the core of a folder."""
    done = subprocess.run(
        [sys.executable, "-c", ask],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    value: JSON = json.loads(done.stdout)
    return value


@pytest.mark.slow
def test_one_new_file_is_in_detection_rules_and_grammar(core_with_more: Path) -> None:
    assert shown(core_with_more, ASK) == {
        "format": "mint",
        "reasoning": "Hm.",
        "content": "Yes.",
        "calls": ["f"],
        "parsers": ["mint"],
        "open": ["<mint:muse>", "</mint:muse>"],
        "marker": "<mint:call>",
        "grammar": ["<mint:end>"],
    }


@pytest.mark.slow
def test_a_family_with_brackets_of_its_own_needs_no_more_than_its_file(core_with_more: Path) -> None:
    assert shown(core_with_more, ASK_STRANGE) == {
        "format": "lantern",
        "reasoning": "Hm.",
        "calls": ["f", "g"],
        "odd when cut": [],
        "streamed": ["Let me check."],
        "ends a turn": True,
        "later": ["Well.", "One.Two."],
        "pasted": [True, True, True, True],
    }


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("FORMAT = 'x'", r"`FORMAT` of `families\.sage` is not a `TextFormat`."),
        (
            "from prompt_debugger.core.formats.hermes import FORMAT",
            r"`FORMAT` of `families\.sage` has the name 'hermes'.",
        ),
        (
            "from prompt_debugger.core.formats._family import Mark, TextFormat\n"
            "from prompt_debugger.core.parse.reading import Conventions\n"
            "FORMAT = TextFormat('sage', (Mark('<sage>'),), Conventions(ends=frozenset({'<sage:end>'})))",
            r"The end token '<sage:end>' of `FORMAT` of `families\.sage` is not one of its `marks`\.",
        ),
    ],
)
def test_a_bad_family_is_refused_with_its_file_and_the_way_out(
    source: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = ModuleType("families")
    package.__path__ = [str(tmp_path)]
    (tmp_path / "sage.py").write_text(source, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "families", package)

    try:
        with pytest.raises(PluginError, match=words) as caught:
            load_formats(package)
    finally:
        sys.modules.pop("families.sage", None)

    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Let me see. functions.get_weather:0{"city": "Paris"}', {"kimi_k2"}),
        ('analysisI look it up.assistantcommentary to=functions.get_weather json{"city": "Paris"}', {"harmony"}),
        ('call:get_weather{city:"Paris"}', {"gemma4", "functiongemma"}),
        ('functionget_weather\n```json\n{"city": "Paris"}\n```', {"deepseek_v3"}),
        ('call tool="get_weather" index="0"argument key="city" type="string"Paris', {"kimi_k3"}),
        ('get_weather{"city": "Paris"}', {"deepseek_v31", "mistral_v11"}),
        ('get_weatherjson{"city": "Paris"}', {"plamo3"}),
        ("I call get_weather for Paris.", set()),
        ('functions.other:0{"city": "Paris"}', set()),
        ('{"name": "get_weather", "arguments": {}}', set()),
    ],
)
def test_calls_without_their_control_tokens_are_recognised(text: str, expected: set[str]) -> None:
    found = {call.format for call in find_stripped_calls(text, ("get_weather",))}

    assert found == expected
