"""What programs may call by name on a running page, on one's own machine and public, and what stays closed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

from prompt_debugger.core.pipeline import cases
from prompt_debugger.ui.web.call_route import CALLS
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.security import is_open
from prompt_debugger.ui.web.settings import PageSettings
from tests.patience import PATIENCE_S

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "calls.md").read_text(encoding="utf-8")
RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
REQUEST = '{"messages": [{"role": "user", "content": "Hi there"}]}'
FIRST = {"diagnose": RAW, "render": REQUEST, "parse": RAW, "explain": "PD401"}
HEADERS = {"host": "localhost"}


@pytest.fixture(scope="module", params=[False, True], ids=["own", "public"])
def url(request):
    settings = PageSettings(port=0, lab=False, public=request.param)
    app = build_app(settings)
    yield serve_app(app, settings)[1].rstrip("/")
    app.close(verbose=False)


def post(url, name, values, **more):
    body = {"data": values, **more}
    return httpx.post(f"{url}/gradio_api/call/{name}", json=body, headers=HEADERS, timeout=PATIENCE_S)


def fetch(url, name, event_id):
    return httpx.get(f"{url}/gradio_api/call/{name}/{event_id}", headers=HEADERS, timeout=PATIENCE_S)


def call(url, name, *values):
    answer = fetch(url, name, post(url, name, values).json()["event_id"]).text
    events = [line for line in answer.split("\n") if line.startswith("event: ")]
    assert {*events[:-1]} <= {"event: heartbeat"}, "gradio says so every 15 s"
    assert events[-1:] == ["event: complete"]
    [document] = json.loads(answer.rpartition("data: ")[2])
    return document


def test_evidence_is_diagnosed(url):
    document = call(url, "diagnose", RAW)

    assert (document["taken_for"], document["holds"]) == ("raw output", ["raw"])
    assert [one["name"] for one in document["parse"]["calls"]] == ["get_weather"]


def test_a_request_is_judged_in_the_sandbox_and_not_by_the_page(url, monkeypatch):
    monkeypatch.setattr(cases, "diagnose_trace", lambda _: pytest.fail("in the page's own process"))
    document = call(url, "render", REQUEST, "no message")

    assert [one["code"] for one in document["findings"]] == ["PD206"]


def test_a_request_is_rendered_by_a_template_of_its_own_or_the_pages(url):
    own = call(url, "render", REQUEST)
    given = call(url, "render", REQUEST, "{{ messages[0].content }}!")

    assert "Hi there" in own["text"]
    assert own["tokens"]
    assert (given["text"], given["tokens"]) == ("Hi there!", None)


def test_a_raw_output_is_parsed_against_a_message(url):
    lost = call(url, "parse", RAW, '{"role": "assistant", "content": null}')

    assert [one["outcome"] for one in lost["calls"]] == ["dropped"]


def test_a_rule_is_explained(url):
    assert call(url, "explain", "pd401")["text"].startswith("# PD401 dropped-call")


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("explain", ["PD999"], "There is no rule"),
        ("render", [RAW], "not a request"),
        ("parse", [RAW, "{"], "`message` is not JSON."),
        ("diagnose", [""], "paste"),
    ],
)
def test_what_cannot_be_done_is_an_answer(url, name, values, said):
    assert said.lower() in json.dumps(call(url, name, *values)["error"], ensure_ascii=False).lower()


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("explain", {"data": [1]}, 400),
        ("explain", {"data": [{"path": "/etc/passwd"}]}, 400),
        ("explain", {"data": []}, 400),
        ("explain", {"data": ["PD401", "x"]}, 400),
        ("explain", {"data": ["PD401"], "session_hash": "somebody"}, 400),
        ("explain", {"data": ["PD401"], "fn_index": 3}, 400),
        ("run", {"data": ["x"]}, 404),
        ("share", {"data": ["x"]}, 404),
        ("v2/explain", {"data": ["PD401"]}, 404),
    ],
)
def test_nothing_else_is_taken(url, name, body, status):
    answer = httpx.post(f"{url}/gradio_api/call/{name}", json=body, headers=HEADERS, timeout=PATIENCE_S)

    assert answer.status_code == status


def test_another_site_cannot_call(url):
    answer = httpx.post(
        f"{url}/gradio_api/call/explain",
        json={"data": ["PD401"]},
        headers={**HEADERS, "origin": "https://evil.example"},
    )

    assert answer.status_code == 403


def test_an_answer_is_fetched_by_its_own_name_alone(url):
    assert fetch(url, "explain", "0" * 32).status_code == 404
    assert fetch(url, "explain", "x").status_code == 404


def test_the_names_are_listed_and_the_pages_own_events_are_not(url):
    listed = httpx.get(f"{url}/gradio_api/call", headers=HEADERS, timeout=PATIENCE_S).json()

    assert tuple(listed) == CALLS
    assert listed["parse"]["data"][0] == {"name": "raw", "required": True}
    for path in ("/config", "/gradio_api/info"):
        assert httpx.get(url + path, headers=HEADERS, timeout=PATIENCE_S).status_code == 404


def test_every_name_is_open_and_documented(url):
    listed = httpx.get(f"{url}/gradio_api/call", headers=HEADERS, timeout=PATIENCE_S).json()

    for name in CALLS:
        assert is_open("POST", f"/gradio_api/call/{name}")
        [row] = re.findall(rf"\| `{name}` \| (.*?) \|", DOCS)
        assert re.findall(r"`(\w+)`", row) == [one["name"] for one in listed[name]["data"]]


def test_the_example_of_the_docs_works(url):
    code = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)[0].replace("http://127.0.0.1:7860", url)
    scope = {}
    exec(code.rpartition("\n\n")[0], scope)  # our own page
    code_of_call = code.rpartition("\n\n")[2]

    [found] = eval(code_of_call, scope)
    assert found["name"] == "f"
