"""Templates as hostile programs: each ends in a clear error, and the next render works."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import RenderError, SandboxError
from prompt_debugger.core.base.types import JSON, JSONObject, SpanKind
from prompt_debugger.core.render.job import RenderJob, RenderOutcome, Variable
from prompt_debugger.core.render.local import render_local
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.render.worker.client import RenderWorker
from prompt_debugger.core.sandbox import Limits
from tests.core.render.features import FEATURES
from tests.core.render.test_features import job_for
from tests.hidden import home_of
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.slow

MESSAGES: JSON = [{"role": "user", "content": "hello"}]
ROOT = Path(__file__).resolve().parents[3]

BOMBS = {
    "a huge constant": "{{ 'x' * 10**10 }}",
    "a huge power": "{{ (10 ** (10 ** 8)) % 7 }}",
    "nested loops": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "doubling": "{% set n = namespace(s='x') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}",
    "a huge width": "{{ messages[0].content | center(10**10) }}",
    "a huge format": "{{ '%10000000000d' % 1 }}",
    "a huge indent": "{{ [1] | tojson(indent=10**10) }}",
    "a replacement that explodes": "{% set b = messages[0].content * 100000 %}{{ b | replace('h', b) }}",
    "a huge list": "{{ ([0] * 10**10) | length }}",
    "endless recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "deep parentheses": "{{ " + "(" * 20000 + "1" + ")" * 20000 + " }}",
    "a huge join": "{{ (['a' * 99999] * 99999) | join }}",
    "a huge sort": "{{ ((range(99999) | list) * 300) | sort | length }}",
    "nonsense without end": "{{ lipsum(100000) }}",
    "lines without end": "{{ ('a ' * 5000000) | wordwrap(3) | length }}",
    "a sum without end": "{{ " + "+".join(["1"] * 30000) + " }}",
    "deep branches": "{% if true %}" * 3000 + "{% endif %}" * 3000,
    "huge output": "{% for i in range(99999) %}{{ 'x' * 10000 }}{% endfor %}",
}
ESCAPES = [
    "{{ ''.__class__.__mro__ }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ '{0.__class__}'.format('a') }}",
    "{{ '' | attr('__class__') }}",
    "{{ messages[0].content._runs }}",
    "{{ messages[0]._field }}|{{ messages._raw }}",
    "{{ raise_exception.__globals__ }}",
    "{{ lipsum.__globals__['os'].environ }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ dict.__base__.__subclasses__() }}",
    "{{ self._TemplateReference__context }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}",
]


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    worker = RenderWorker()
    yield worker
    worker.close()


def job(template: str, content: str = "hello") -> RenderJob:
    return RenderJob(template, (Variable("messages", [{"role": "user", "content": content}], ("messages",)),))


def outcome_or_error(worker: RenderWorker, template: str) -> RenderOutcome | RenderError:
    try:
        return worker.render(job(template))
    except RenderError as error:
        return error


@pytest.mark.parametrize("template", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_ends_in_an_error_and_the_next_render_works(worker: RenderWorker, template: str) -> None:
    ended = outcome_or_error(worker, template)

    assert isinstance(ended, RenderError) or ended.fault is not None
    assert worker.render(job("{{ messages[0].content }}")).text == "hello"


def test_a_bomb_that_goes_off_while_compiling_is_contained(worker: RenderWorker) -> None:
    """The reference library folds constants even in branches that are never taken."""
    ended = outcome_or_error(worker, "{% if false %}{{ 'x' * (3 * 10**9) }}{% endif %}ok")

    assert isinstance(ended, RenderError) or ended.fault is not None or ended.text == "ok"
    assert worker.render(job("fine")).text == "fine"


@pytest.mark.parametrize("template", ESCAPES)
def test_the_sandbox_holds(worker: RenderWorker, template: str) -> None:
    ended = outcome_or_error(worker, template)

    assert isinstance(ended, RenderOutcome)
    assert ended.fault is not None or ended.text.strip("|") == ""


def test_the_worker_has_no_secrets_and_can_open_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should a template ever get out of the sandbox, there is nothing to take and no way to send it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "a" * 20)
    monkeypatch.setenv("HF_TOKEN", "hf_" + "a" * 20)
    worker = RenderWorker()
    try:
        worker.render(job("x"))
        home = home_of(worker.process_id)
        names = {entry.partition("=")[0] for entry in (home / "environ").read_text().split("\0")}
        limits = {line[:26].strip(): line[26:].split()[0] for line in (home / "limits").read_text().splitlines()}
        opened = {int(path.name) for path in (home / "fd").iterdir()}
    finally:
        worker.close()

    assert not {"OPENAI_API_KEY", "HF_TOKEN"} & names
    assert set(range(int(limits["Max open files"]))) <= opened
    assert (limits["Max file size"], limits["Max processes"]) == ("0", "0")


@pytest.mark.parametrize("feature", FEATURES)
def test_a_locked_in_worker_renders_what_a_free_process_renders(worker: RenderWorker, feature: str) -> None:
    asked = job_for(FEATURES[feature])

    outcome = worker.render(asked)

    assert outcome.fault is None
    assert outcome.is_identical
    assert outcome.text == run_job(asked).text


def test_a_render_too_fine_to_trace_still_gives_its_text() -> None:
    patient = RenderWorker(Limits(cpu_s=1.5))
    template = "{% for a in range(300) %}{% for c in messages[0].content %}{{ c }}{% endfor %}{% endfor %}"
    try:
        outcome = patient.render(job(template, "abcdefghij" * 150))
    finally:
        patient.close()

    assert outcome.text == "abcdefghij" * 150 * 300
    assert not outcome.is_identical
    assert {span.kind for span in outcome.spans} == {SpanKind.UNKNOWN}


def test_a_killed_worker_is_replaced(worker: RenderWorker) -> None:
    worker.render(job("a"))
    first = worker.process_id
    assert first is not None
    os.kill(first, 9)

    ended = outcome_or_error(worker, "b")

    assert isinstance(ended, RenderError) or ended.text == "b"
    assert worker.render(job("c")).text == "c"
    assert worker.process_id != first


def test_many_threads_share_one_worker(worker: RenderWorker) -> None:
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        answers[number] = worker.render(job("{{ messages[0].content }}", f"n{number}" * 1000)).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == {number: f"n{number}" * 1000 for number in range(12)}


def test_large_and_odd_texts_pass_the_wire(worker: RenderWorker) -> None:
    content = "\ud800 lone, \x00 zero, 👩\u200d👩\u200d👧 " * 60_000

    outcome = worker.render(job("{{ messages[0].content }}", content))

    assert outcome.text == content
    assert [span.kind for span in outcome.spans] == [SpanKind.REQUEST]


def test_the_worker_dies_with_its_parent() -> None:
    program = (
        "import os, signal\n"
        "from prompt_debugger.core.render.worker import shared_worker\n"
        "from prompt_debugger.core.render.job import RenderJob, Variable\n"
        "worker = shared_worker()\n"
        "worker.render(RenderJob('x', (Variable('messages', [{'role': 'user'}], ('messages',)),)))\n"
        "print(worker.process_id, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE_S)
    process_id = int(done.stdout)

    for _ in range(200):
        if not Path(f"/proc/{process_id}").exists():
            break
        time.sleep(0.05)

    assert not Path(f"/proc/{process_id}").exists()


def test_render_local_says_in_plain_words_what_is_wrong() -> None:
    with pytest.raises(RenderError, match=r"ran for more than|needs more memory") as raised:
        render_local({"messages": MESSAGES}, template=BOMBS["nested loops"])

    assert raised.value.hint
    assert render_local({"messages": MESSAGES}, template="fine").text == "fine"


class _EndsInTracing:
    """A sandbox whose process ends behind the plain render."""

    def __init__(self, limit: str) -> None:
        self.limit = limit

    def follow(self, _: object, on_step: Callable[[JSONObject], None], *__: object) -> None:
        on_step(RenderOutcome("the text").to_json())
        raise SandboxError("It ended.", limit=self.limit)


@pytest.mark.parametrize(
    ("limit", "doubt"),
    [
        ("cpu", "tracing it took too long"),
        ("memory", "tracing it took too much memory"),
        ("crash", "tracing it failed"),
        ("busy", "tracing it was ended after a moment, because others who used less were waiting"),
    ],
)
def test_a_text_without_attribution_says_why(limit: str, doubt: str) -> None:
    worker = RenderWorker(is_shared=True)
    worker._own = _EndsInTracing(limit)  # type: ignore[assignment]  # all that a render needs of one

    outcome = worker.render(RenderJob("", ()))

    assert (outcome.text, outcome.doubt) == ("the text", doubt)
