"""The scripts as modules: what an entry needs, one script of them for a file, and what Python calls by name."""

import json
import re
import shutil
import subprocess

import pytest

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.ui import scripts
from prompt_debugger.ui.scripts import imports_of, needed_by, one_script
from prompt_debugger.ui.web.script_route import ENTRY
from tests.conftest import ROOT
from tests.patience import PATIENCE_S

SCRIPTS = assets_dir() / "js"
FILES = {path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("*.js")}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that puts modules in place of ours."""

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / "js" / f"{name}.js").parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "js" / f"{name}.js").write_text(text)
        monkeypatch.setattr(scripts, "assets_dir", lambda: tmp_path)
        scripts.read_script.cache_clear()

    yield write
    scripts.read_script.cache_clear()


def test_every_module_comes_after_what_it_imports(written):
    written(
        a='import { b } from "./b.js";\nimport "./c.js";\n',
        b='import { c } from "./c.js";\n',
        c="export const c = 1;\n",
    )

    assert imports_of("a.js") == ("b.js", "c.js")
    assert needed_by("a.js") == ("c.js", "b.js", "a.js")


def test_one_script_carries_no_types(written):
    written(
        a='/** @typedef {import("./b.js").B} B */\n\n/**\n * @param {B} b\n * @returns {number}\n */\n'
        "export function a(b) {\n  /** @type {number} */\n  const x = 1;\n"
        "  /** @type {B} */ (b).x = x;\n  /** No more. */\n}\n"
    )

    script = one_script("a.js")

    assert "@param" not in script
    assert "import(" not in script
    assert "  const x = 1;\n  /** @type {B} */ (b).x = x;\n}\n" in script


def test_one_script_gives_every_module_its_own_scope_and_only_what_it_imports(written):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    written(
        entry='import { add as plus, NAME,\n  make } from "./low.js";\nimport "./seen.js";\nconst hidden = 2;\n'
        "export { told as said };\nfunction told() {\n  return [plus(hidden), NAME, new make().x];\n}\n",
        low='const hidden = 40;\nexport function add(x) {\n  return x + hidden;\n}\nexport const NAME = "low";\n'
        "class Maker {\n  x = 1;\n}\nexport { Maker as make };\nexport async function later() {}\n",
        seen="globalThis.seen = true;\n",
    )
    script = f"const made = {one_script('entry.js')};"
    shown = (
        "console.log(JSON.stringify([made['entry.js'].said(), Object.keys(made), Object.keys(made['low.js']), seen]))"
    )

    done = subprocess.run(
        [node, "--eval", script + shown], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )

    assert json.loads(done.stdout) == [
        [42, "low", 1],
        ["low.js", "seen.js", "entry.js"],
        ["make", "add", "NAME", "later"],
        True,
    ]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"a": 'import "./b.js";\n', "b": 'import "./a.js";\n'}, "circle"),
        ({"a": "export let now = 1;\n"}, "export"),
        ({"a": "export default 1;\n"}, "export"),
        ({"a": 'import * as b from "./b.js";\n', "b": "\n"}, "import"),
        ({"a": 'const b = await import("./b.js");\n', "b": "\n"}, "import"),
    ],
)
def test_what_one_script_cannot_say_is_refused(written, texts, words):
    written(**texts)

    with pytest.raises(ValueError, match=words):
        one_script("a.js")


def test_the_view_of_the_guide_draws_what_it_is_given(written):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    guide = (ROOT / "docs" / "guides" / "add-a-view.md").read_text("utf-8")
    needed = {name.removesuffix(".js"): scripts.read_script(name) for name in needed_by("views/linking.js")}
    written(**needed, **{"views/view": re.search(r"```js\n(.*?)```", guide, re.S)[1]})
    page = """
      const element = () => ({ classList: { add() {} }, parts: [],
        append(...all) { this.parts.push(...all); }, replaceChildren(...all) { this.parts = all; } });
      globalThis.document = { createElement: element };
      const root = element();
      made["lib/builders.js"].builders.finish_reasons(root).show({ header: { reasons: ["stop", "length"] } });
      console.log(root.parts.map((one) => one.parts.join("")).join());"""

    done = subprocess.run(
        [node, "--eval", f"const made = {one_script('views/view.js')};{page}"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip

    assert done.stdout == "stop,length\n", done.stderr


def test_every_script_is_needed_by_the_page_or_the_report():
    assert {*needed_by(ENTRY), *needed_by("report/report.js")} == FILES


def test_python_calls_by_name_what_the_facade_offers_and_nothing_else_makes_a_global():
    facade = (SCRIPTS / "page" / "facade.js").read_text("utf-8")
    offered = set(re.findall(r"\w+", facade.split("globalThis.PromptDebugger = {")[1]))
    code = [path.read_text("utf-8") for folder in ("ui", "tests") for path in (ROOT / folder).rglob("*.py")]
    called = {name for text in code for name in re.findall(r"\bPromptDebugger\.(\w+)\(", text)}
    makers = [
        (name, found[0])
        for name in FILES
        for found in re.finditer(r"\b(globalThis|window)\.\w+ = ", (SCRIPTS / name).read_text("utf-8"))
    ]

    assert offered >= called - {"inspect", "release"}  # the static page of the tests has these of its own
    assert called >= offered
    own = {
        ("page/unnamed_events.js", "globalThis.fetch = "),
        ("page/frames.js", "globalThis.requestAnimationFrame = "),
        ("page/plain_clones.js", "globalThis.structuredClone = "),
    }
    made = {("page/facade.js", "globalThis.PromptDebugger = "), *own}
    assert set(makers) == made  # three are the browser's own, with something done before them
