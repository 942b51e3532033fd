"""Where a server is, and whether a key may travel there."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.complete import ServerClient, is_this_machine, may_carry_key
from prompt_debugger.core.complete.backends.address import read_address

KEY = "sk-very-secret-value"


@pytest.mark.parametrize(
    ("given", "base", "root"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"),
        (" http://h:1/ ", "http://h:1/v1", "http://h:1"),
        ("http://h/v1/chat/completions", "http://h/v1", "http://h"),
        ("HTTPS://h/openai/v1/", "https://h/openai/v1", "https://h/openai"),
        ("https://h/api/v3", "https://h/api/v3", "https://h/api/v3"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1", "http://[::1]:80"),
    ],
)
def test_an_address_is_read_as_people_write_it(given: str, base: str, root: str) -> None:
    address = read_address(given)

    assert (address.base_url, address.root_url) == (base, root)
    assert address.url_of("/v1/models") == f"{base}/models"
    assert address.url_of("/tokenize") == f"{root}/tokenize"


NO_ADDRESS = ["", "ftp://h/v1", "http://", "http://h:99999/v1", "http://h:x", "http://[::1", "://"]
NO_HOST = ["http://\ud800/v1", "http://a..b/v1", "http://[v1.x]/v1", "http://xn--/v1", f"http://{'a' * 300}.org/v1"]


@pytest.mark.parametrize("text", [*NO_ADDRESS, *NO_HOST, "http://h/\ud800"])
def test_what_is_not_an_address_is_refused(text: str) -> None:
    with pytest.raises(BackendError) as caught:
        read_address(text)

    assert caught.value.kind == "refused"
    assert "http://127.0.0.1:8000/v1" in caught.value.hint


@pytest.mark.parametrize(
    "text", [f"http://me:{KEY}@h/v1", f"ftp://me:{KEY}@h/v1", f"http://h/v1?key={KEY}", f"http://me:{KEY}@h:x/v1"]
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(BackendError) as caught:
        read_address(text)

    assert KEY not in str(caught.value.to_json())


HERE = [
    "http://localhost:8000/v1",
    "localhost:8000",
    "http://LOCALHOST./v1",
    "http://127.0.0.7/v1",
    "http://[::1]:1/v1",
]
ELSEWHERE = ["http://10.0.0.7/v1", "https://localhost.example.org/v1", "http://[::2]/v1", "no address", "http://[::1"]


@pytest.mark.parametrize("base_url", HERE)
def test_this_machine_is_known_by_all_its_names(base_url: str) -> None:
    assert is_this_machine(base_url)
    assert may_carry_key(base_url)


@pytest.mark.parametrize("base_url", ELSEWHERE)
def test_another_machine_is_not_this_one(base_url: str) -> None:
    assert not is_this_machine(base_url)
    assert may_carry_key(base_url) == base_url.startswith("https://")


@pytest.mark.parametrize("base_url", ["http://10.0.0.7:8000/v1", "http://example.org/v1", "example.org"])
def test_a_key_is_not_sent_in_clear_to_another_machine(base_url: str) -> None:
    with pytest.raises(BackendError) as caught:
        ServerClient(base_url, api_key=KEY)

    assert caught.value.kind == "refused"
    assert "not encrypted" in caught.value.message
    assert KEY not in str(caught.value.to_json())


@pytest.mark.parametrize(
    "base_url", ["https://example.org/v1", "http://127.0.0.1/v1", "http://localhost:1/v1", "http://[::1]/v1"]
)
def test_a_key_may_go_over_https_and_to_this_machine(base_url: str) -> None:
    assert ServerClient(base_url, api_key=KEY).base_url == base_url


@pytest.mark.parametrize("key", ["a\nb-secret", "schlüssel-geheim", "a\u200bb-secret"])
def test_a_key_that_no_header_carries_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(BackendError) as caught:
        ServerClient("https://example.org/v1", api_key=key)

    assert key not in str(caught.value.to_json())
