"""The settings of a served page, as data and as answers of a running one."""

import httpx
import pytest

from core.pipeline import Target
from ui.web import PageSettings, build_app
from ui.web.launch import serve_app
from ui.web.security import CLOSED_PATHS, CONTENT_SECURITY_POLICY, MAX_BODY_BYTES, allowed_hosts
from ui.web.settings import launch_arguments

SETTINGS = PageSettings(target=Target(base_url="http://127.0.0.1:9/v1"), port=0, lab=False)


@pytest.fixture(scope="module")
def app():
    blocks = build_app(SETTINGS)
    yield blocks
    blocks.close(verbose=False)


@pytest.fixture(scope="module")
def url(app):
    return serve_app(app, SETTINGS)[1].rstrip("/")


def test_the_defaults_of_gradio_that_leak_are_off():
    arguments = launch_arguments(SETTINGS)

    for name in ("share", "ssr_mode", "run_history", "enable_monitoring", "mcp_server"):
        assert arguments[name] is False, name
    assert not arguments["show_error"]
    assert not arguments["pwa"]
    assert arguments["strict_cors"]
    assert arguments["allowed_paths"] == []
    assert arguments["state_session_capacity"] <= 200
    assert arguments["app_kwargs"]["openapi_url"] is None


def test_every_event_of_the_page_is_private(app):
    events = app.config["dependencies"]

    assert events
    assert [event["api_name"] for event in events if event["api_visibility"] != "private"] == []


def test_no_view_has_a_value_in_its_markup(app):
    views = [part["props"] for part in app.config["components"] if part["type"] == "html"]

    assert views
    assert [view["elem_id"] for view in views if "$" in view["html_template"] and view["elem_id"] != "pd-foot"] == []


def test_the_page_answers_with_our_headers(url):
    answer = httpx.get(url)

    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", CLOSED_PATHS)
def test_routes_that_nothing_here_uses_are_closed(url, path):
    path = path.replace("{path:path}", "/etc/hostname")

    assert [httpx.request(method, url + path).status_code for method in ("GET", "POST")] == [404, 404]


def test_documentation_routes_are_closed(url):
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert "swagger" not in httpx.get(url + path).text.lower()


def test_a_name_that_somebody_else_pointed_here_is_refused(url):
    assert httpx.get(url, headers={"host": "attacker.example"}).status_code == 400
    assert httpx.get(url, headers={"host": "localhost"}).status_code == 200


def test_a_body_that_is_too_long_is_refused_before_it_is_read(url):
    answer = httpx.post(url + "/gradio_api/queue/join", content=b"x" * (MAX_BODY_BYTES + 1))

    assert answer.status_code == 413


def test_a_body_that_hides_its_length_is_cut_off(url):
    def chunks():
        for _ in range(MAX_BODY_BYTES // 1_000_000 + 2):
            yield b"x" * 1_000_000

    try:
        status = httpx.post(url + "/gradio_api/queue/join", content=chunks(), timeout=60).status_code
    except httpx.HTTPError:
        status = None  # the connection was cut, which is as good

    assert status != 200


def test_listening_everywhere_trusts_no_new_name():
    assert "0.0.0.0" not in allowed_hosts("0.0.0.0")
    assert "box.local" in allowed_hosts("box.local")
    assert "*" not in allowed_hosts("0.0.0.0", ("me.example",))


def test_the_head_holds_our_scripts_and_no_address(app):
    from ui.web.head import page_head

    head = page_head()

    assert "PromptDebugger" in head
    assert "src=" not in head
    assert "@import" not in head
