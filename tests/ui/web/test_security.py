"""The settings of a served page, as data and as answers of a running one: on one's own machine, and public."""

import os
import re
import socket

import httpx
import pytest

from prompt_debugger.core.pipeline import Target
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.security import (
    MAX_BODY_BYTES,
    MAX_PUBLIC_BODY_BYTES,
    allowed_hosts,
    is_answered,
    is_open,
    is_own_origin,
    security_headers,
)
from prompt_debugger.ui.web.settings import PageSettings, launch_arguments, prepare_environment
from tests.patience import PATIENCE_S

NAME = "me-debugger.hf.space"
SETTINGS = {
    "own": PageSettings(target=Target(base_url="http://127.0.0.1:9/v1"), port=0, lab=False),
    "public": PageSettings(target=Target(base_url="http://127.0.0.1:9/v1"), port=0, lab=False, public=True),
}
# Gradio's launch arguments whose default lets others read prompts or keys, or opens what the page does not need.
LEAKS = {
    "share": False,
    "ssr_mode": False,
    "run_history": False,
    "enable_monitoring": False,
    "mcp_server": False,
    "pwa": False,
    "show_error": False,
    "strict_cors": True,
    "allowed_paths": [],
    "footer_links": [],
}
# Routes of gradio that leak, write or fetch: each with a request that gets something out of a page with defaults.
CLOSED = [
    ("GET", "/gradio_api/deep_link?session_hash=abc"),  # writes all values of a session to disk
    ("POST", "/gradio_api/upload"),
    ("GET", "/gradio_api/upload_progress?upload_id=x"),
    ("GET", "/gradio_api/info"),
    ("GET", "/gradio_api/info/"),
    ("GET", "/gradio_api/openapi.json"),
    ("GET", "/gradio_api/runs"),
    ("GET", "/gradio_api/run-history/buckets"),
    ("POST", "/gradio_api/run-history/connect"),
    ("GET", "/gradio_api/file=/etc/hostname"),
    ("GET", "/gradio_api/file/etc/hostname"),
    ("GET", "/gradio_api/proxy=https://example.hf.space/x"),
    ("POST", "/gradio_api/component_server"),
    ("POST", "/gradio_api/component_server/"),
    ("POST", "/gradio_api/process_recording"),
    ("POST", "/gradio_api/vibe-edit"),
    ("GET", "/gradio_api/vibe-code"),
    ("POST", "/gradio_api/call/run"),
    ("POST", "/gradio_api/api/run"),
    ("GET", "/gradio_api/queue/status"),
    ("GET", "/gradio_api/stream/abc/1/2/playlist.m3u8"),
    ("GET", "/gradio_api/token"),
    ("GET", "/monitoring"),
    ("GET", "/monitoring/summary"),
    ("GET", "/config"),
    ("GET", "/docs"),
    ("GET", "/redoc"),
    ("GET", "/openapi.json"),
    ("GET", "/gradio_api/mcp/"),
    ("GET", "/login"),
    ("GET", "/svelte/x"),
    ("OPTIONS", "/gradio_api/queue/join"),
    ("DELETE", "/gradio_api/queue/join"),
]


@pytest.fixture(scope="module", params=SETTINGS)
def mode(request):
    return request.param


@pytest.fixture(scope="module")
def app(mode):
    blocks = build_app(SETTINGS[mode])
    yield blocks
    blocks.close(verbose=False)


@pytest.fixture(scope="module")
def url(app, mode):
    return serve_app(app, SETTINGS[mode])[1].rstrip("/")


@pytest.fixture(scope="module")
def name(mode):
    """A name the page is reached by."""
    return NAME if mode == "public" else "localhost"


@pytest.mark.parametrize("argument", LEAKS)
def test_the_defaults_of_gradio_that_leak_are_off(mode, argument):
    arguments = launch_arguments(SETTINGS[mode])

    assert arguments[argument] == LEAKS[argument]
    assert arguments["state_session_capacity"] <= 512
    assert [arguments["app_kwargs"][name] for name in ("docs_url", "redoc_url", "openapi_url")] == [None] * 3


def test_what_gradio_opens_by_the_environment_alone_is_cleared(monkeypatch):
    for variable in (
        "GRADIO_ALLOWED_PATHS",
        "GRADIO_SHARE",
        "GRADIO_VIBE_MODE",
        "GRADIO_RUN_HISTORY",
        "GRADIO_SSR_MODE",
    ):
        monkeypatch.setenv(variable, "/")
    monkeypatch.setenv("GRADIO_TEMP_DIR", "/kept")

    prepare_environment()

    assert [name for name in os.environ if name.startswith("GRADIO_") and os.environ[name] == "/"] == []
    assert os.environ["GRADIO_ANALYTICS_ENABLED"] == "False"
    assert os.environ["GRADIO_TEMP_DIR"] == "/kept"


def test_every_event_of_the_page_is_private(app):
    events = app.config["dependencies"]

    assert events
    assert [event["api_name"] for event in events if event["api_visibility"] != "private"] == []


def test_no_view_has_a_value_in_its_markup(app):
    views = [part["props"] for part in app.config["components"] if part["type"] == "html"]

    with_value = [view for view in views if "$" in view["html_template"]]
    ours = {"pd-off", "pd-said"}
    fixed = [view for view in with_value if view.get("elem_id") == "pd-foot" or ours & {*view["elem_classes"]}]

    assert views
    assert with_value == fixed, "only words of ours that never change"


def test_only_the_page_of_one_person_takes_a_secret_and_none_takes_files(app, mode):
    parts = [(part["type"], part["props"].get("type")) for part in app.config["components"]]

    assert [part for part in parts if part[0] in ("file", "uploadbutton", "image", "audio", "video", "gallery")] == []
    assert [part for part in parts if part[1] == "password"] == ([] if mode == "public" else [("textbox", "password")])


def test_the_page_answers_with_our_headers(url, mode):
    for path in ("/", "/theme.css", "/nowhere"):
        answer = httpx.get(url + path, timeout=PATIENCE_S)

        for header, value in security_headers(is_public=mode == "public").items():
            assert answer.headers[header] == value, (path, header)


def test_only_a_public_page_may_be_framed_by_the_hub(url, mode):
    policy = httpx.get(url, timeout=PATIENCE_S).headers["content-security-policy"]

    assert ("huggingface.co" in policy) == (mode == "public")
    assert "frame-ancestors 'self'" in policy
    assert "connect-src 'self';" in policy
    assert "default-src 'self';" in policy


def test_an_upgrade_to_a_websocket_is_refused(url):
    headers = {
        "connection": "upgrade", "upgrade": "websocket", "sec-websocket-version": "13",
        "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }  # fmt: skip

    for path in ("/", "/queue/join", "/gradio_api/queue/data"):
        assert 400 <= httpx.get(url + path, headers=headers, timeout=PATIENCE_S).status_code < 500, path


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_routes_that_the_page_does_not_need_are_closed(url, method, path):
    assert httpx.request(method, url + path).status_code == 404


def test_every_route_of_this_gradio_is_either_needed_or_closed(app, url):
    """Counts what is there, so that a route that a new gradio brings is seen."""
    routes = [(method, route.path) for route in app.app.routes for method in getattr(route, "methods", None) or ()]
    filled = [(method, re.sub(r"\{[^}]*\}", "x", path)) for method, path in routes]
    closed = [(method, path) for method, path in filled if not is_open(method, path)]

    statuses = {(method, path): httpx.request(method, url + path).status_code for method, path in closed}

    assert len(closed) > 40
    assert set(statuses.values()) == {404}


@pytest.mark.parametrize("path", ["/", "/theme.css", "/gradio_api/startup-events", "/static/img/logo.svg"])
def test_what_the_page_needs_is_open(url, path):
    assert httpx.get(url + path, timeout=PATIENCE_S).status_code == 200


@pytest.mark.parametrize(
    "path", ["/assets/../../app.py", "/static/..%2f..%2f..%2f..%2fetc/passwd", "//gradio_api/upload"]
)
def test_no_spelling_of_a_path_leads_elsewhere(url, path):
    with httpx.Client() as client:
        request = client.build_request("GET", url)
        request.url = httpx.URL(url).copy_with(raw_path=path.encode())

        assert client.send(request).status_code == 404


def test_a_name_that_someone_else_pointed_here_is_refused(url, name):
    assert httpx.get(url, timeout=PATIENCE_S, headers={"host": "attacker.example"}).status_code == 400
    assert httpx.get(url, timeout=PATIENCE_S, headers={"host": f"{name}.attacker.example"}).status_code == 400
    assert httpx.get(url, timeout=PATIENCE_S, headers={"host": name}).status_code == 200
    assert httpx.get(url, timeout=PATIENCE_S, headers={"host": f"{name}:7860"}).status_code == 200


@pytest.mark.parametrize("header", ["x-forwarded-host", "x-gradio-server"])
@pytest.mark.parametrize("value", ["evil.example", "http://evil.example", "192.0.2.1", "localhost, evil.example"])
def test_no_one_tells_the_page_where_it_is(url, header, value):
    page = httpx.get(url, headers={header: value}, timeout=PATIENCE_S).text

    assert "evil.example" not in page
    assert "192.0.2.1" not in page


def test_a_proxy_may_name_the_page_as_it_is_known(url, name):
    page = httpx.get(url, headers={"x-forwarded-host": f"{name}:8443"}, timeout=PATIENCE_S).text

    assert f'"root":"http://{name}:8443"' in page


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://localhost:3000", "null", "file://", "https://other.hf.space"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_another_site_may_not_call_the_page(url, name, origin, method):
    """Gradio would echo any origin on a host that is not localhost, and allow credentials."""
    path = "/gradio_api/queue/data?session_hash=x" if method == "GET" else "/gradio_api/queue/join"
    headers = {"host": name, "origin": origin, "access-control-request-method": "POST"}

    answer = httpx.request(method, url + path, headers=headers)

    assert answer.status_code == 403
    assert not [header for header in answer.headers if header.startswith("access-control")]


def test_the_page_itself_may_call(url, name):
    answer = httpx.post(
        url + "/gradio_api/reset",
        timeout=PATIENCE_S,
        headers={"host": name, "origin": f"https://{name}"},
        json={"event_id": 7},
    )

    assert answer.status_code == 400  # it got as far as what is sent, and that is no name


def test_a_form_of_another_site_cannot_start_anything(url):
    """A browser sends plain text without asking first; gradio must not take it for JSON."""
    answer = httpx.post(
        url + "/gradio_api/queue/join", timeout=PATIENCE_S, content="{}", headers={"content-type": "text/plain"}
    )

    assert answer.status_code == 415


def test_a_body_that_is_too_long_is_refused_before_it_is_read(url, mode):
    most = MAX_PUBLIC_BODY_BYTES if mode == "public" else MAX_BODY_BYTES

    answer = httpx.post(url + "/gradio_api/queue/join", timeout=PATIENCE_S, content=b"x" * (most + 1))

    assert answer.status_code == 413


def test_a_body_that_hides_its_length_is_cut_off(url):
    def chunks():
        for _ in range(MAX_BODY_BYTES // 1_000_000 + 2):
            yield b"x" * 1_000_000

    try:
        status = httpx.post(url + "/gradio_api/queue/join", content=chunks(), timeout=PATIENCE_S).status_code
    except httpx.HTTPError:
        status = None  # the connection was cut, which is as good

    assert status != 200


@pytest.mark.parametrize("length", ["-1", "1e3", "x", "99999999999999999999"])
def test_a_length_that_is_none_is_refused(url, length):
    parts = httpx.URL(url)
    with socket.create_connection((parts.host, parts.port), timeout=PATIENCE_S) as connection:
        head = f"POST /gradio_api/queue/join HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
        connection.sendall(head.encode() + b"{}")

        assert connection.recv(100).split()[1] in (b"400", b"413")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "10.1.2.3:7860", "[::1]:7860", "[2606:4700::1]", "localhost", "LOCALHOST:1"]
)
def test_an_address_is_always_answered_for_no_name_can_be_pointed_by_it(host):
    assert is_answered(host.lower(), allowed_hosts("0.0.0.0"))


@pytest.mark.parametrize(
    "host", ["", "a.example", "127.0.0.1.example", "[::1", "a@127.0.0.1", "127.0.0.1#a", "[::1]x", "x.hf.space"]
)
def test_any_other_name_is_not(host):
    assert not is_answered(host, allowed_hosts("127.0.0.1"))


def test_listening_everywhere_trusts_no_new_name():
    assert "0.0.0.0" not in allowed_hosts("0.0.0.0")
    assert "box.local" in allowed_hosts("box.local")
    assert not is_answered("any.example", allowed_hosts("0.0.0.0", ("me.example",)))
    assert is_answered("me.example:443", allowed_hosts("0.0.0.0", ("me.example",)))


@pytest.mark.parametrize(
    ("origin", "host", "is_own"),
    [
        ("https://a.example", "a.example", True),
        ("https://a.example:443", "A.example", True),
        ("http://127.0.0.1:7860", "127.0.0.1:7860", True),
        ("https://spelled.example", "10.0.0.1:7860", True),
        ("http://127.0.0.1:3000", "127.0.0.1:7860", False),
        ("http://localhost", "127.0.0.1:7860", False),
        ("https://x.hf.space", "y.hf.space", False),
        ("https://a.example.evil", "a.example", False),
        ("null", "null", False),
        ("", "", False),
    ],
)
def test_the_origin_is_the_page_itself(origin, host, is_own):
    assert is_own_origin(origin, host, frozenset({"localhost", "*.hf.space", "spelled.example"})) == is_own


@pytest.mark.parametrize("place", ["127.0.0.1", "localhost", "[::1]", "192.168.1.5", "page.localhost"])
def test_another_server_on_port_80_of_this_machine_is_not_the_page(place):
    """It listens at the address that the page was started with, on another port."""
    names = frozenset({"localhost", place, place.strip("[]")})

    assert not is_own_origin(f"http://{place}", f"{place}:7860", names)
    assert is_own_origin(f"http://{place}:7860", f"{place}:7860", names)
    assert is_own_origin(f"http://{place}", f"{place}:80", names)


def test_the_head_holds_our_styles_and_no_address(app):
    from prompt_debugger.ui.web.head import page_head

    head = page_head()

    assert ".pd-verdict" in head
    assert "src=" not in head
    assert "@import" not in head


def test_the_page_names_its_modules_ahead_of_gradios_own_script(url, name):
    page = httpx.get(f"{url}/", headers={"Host": name, "Accept-Encoding": "gzip"})
    asked = re.findall(r'<link rel="modulepreload" href="(scripts/[0-9a-f]{16}/[\w./]+)">', page.text)
    entry = re.search(r'<script type="module" src="(scripts/[0-9a-f]{16}/page/page_entry.js)"></script>', page.text)
    own = re.search(r'<script type="module" crossorigin src="\./assets/', page.text)

    assert page.headers["content-length"] == str(len(page.content))
    assert entry is not None
    assert own is not None
    assert entry.start() < own.start()
    assert entry[1] in asked
    for address in asked:
        answer = httpx.get(f"{url}/{address}", headers={"Host": name})
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_a_module_comes_as_it_is_packed_or_not(url, name, encoding):
    from prompt_debugger.ui.scripts import read_script
    from prompt_debugger.ui.web.script_route import scripts_version

    address = f"{url}/scripts/{scripts_version()}/lib/dom.js"
    answer = httpx.get(address, headers={"Host": name, "Accept-Encoding": encoding})

    assert answer.headers.get("content-encoding", "identity") == encoding
    assert answer.text == read_script("lib/dom.js")


@pytest.mark.parametrize(
    "path", ["{v}/views.css", "{v}/report/report.js", "{v}/../app.py", "{v}/", "0123456789abcdef/lib/dom.js"]
)
def test_no_other_file_and_no_other_version_is_a_module(url, name, path):
    from prompt_debugger.ui.web.script_route import scripts_version

    address = f"{url}/scripts/{path.format(v=scripts_version())}"

    assert httpx.get(address, headers={"Host": name}).status_code == 404
