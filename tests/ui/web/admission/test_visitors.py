"""Who is counted: the address that a proxy saw, if the proxy is one that is trusted."""

import pytest

from prompt_debugger.ui.web.admission.visitors import SPACE_PROXIES, read_networks, visitor_of

PROXIES = read_networks(["10.0.0.0/8", "127.0.0.1", "fd00::/8"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "visitor"),
    [
        ("203.0.113.7", [], "203.0.113.7"),
        ("203.0.113.7", ["198.51.100.1"], "203.0.113.7"),  # anyone who comes by themselves may write what they like
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1, 198.51.100.1"], "198.51.100.1"),  # what stands further left, the visitor wrote
        ("10.0.0.1", ["1.1.1.1, 198.51.100.1, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1", "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("127.0.0.1", ["[2001:db8:1:2:3:4:5:6]:443"], "2001:db8:1:2::/64"),
        ("127.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["198.51.100.1, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1, nonsense, 10.0.0.3"], "10.0.0.3"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("::ffff:203.0.113.7", [], "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::/64"),
        (None, ["198.51.100.1"], "unknown"),
        ("testclient", [], "unknown"),
    ],
)
def test_a_visitor_is_the_first_address_from_the_right_that_is_not_a_proxy(peer, forwarded, visitor):
    assert visitor_of(peer, forwarded, PROXIES) == visitor


def test_without_a_named_proxy_no_header_is_believed():
    assert visitor_of("127.0.0.1", ["198.51.100.1"], ()) == "127.0.0.1"


def test_a_long_row_of_hops_is_not_walked():
    assert visitor_of("10.0.0.1", ["198.51.100.1, " + "10.0.0.2, " * 50_000 + "10.0.0.3"], PROXIES) == "10.0.0.2"


def test_in_a_space_the_proxies_are_those_of_private_networks():
    proxies = read_networks(SPACE_PROXIES)

    assert visitor_of("10.16.3.4", ["6.6.6.6, 203.0.113.7"], proxies) == "203.0.113.7"
    assert visitor_of("203.0.113.9", ["203.0.113.7"], proxies) == "203.0.113.9"


@pytest.mark.parametrize("text", ["proxy.example", "10.0.0.0/99", ""])
def test_what_is_not_an_address_is_not_a_proxy(text):
    with pytest.raises(ValueError):
        read_networks([text])
