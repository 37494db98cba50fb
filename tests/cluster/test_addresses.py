"""Addresses as they are shown: without whatever lets somebody in."""

import pytest

from gpupool.cluster.addresses import hide_credentials, without_credentials

SECRET = "S3cret-pass"  # noqa: S105 - of a test


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://api.example.com:6443", "https://api.example.com:6443"),
        ("https://rancher.example.com/k8s/clusters/c-1", "https://rancher.example.com/k8s/clusters/c-1"),
        (f"https://admin:{SECRET}@api.example.com:6443/path", "https://api.example.com:6443/path"),
        (f"https://{SECRET}@api.example.com", "https://api.example.com"),
        (f"https://admin:{SECRET}@more@api.example.com", "https://api.example.com"),
        (f"https://admin:{SECRET}/more@api.example.com", "https://api.example.com"),
        (f"https://admin:{SECRET}?more@api.example.com", "https://api.example.com"),
        (f"https://api.example.com/?token={SECRET}", "https://api.example.com/"),
        (f"https://api.example.com#{SECRET}", "https://api.example.com"),
        (f"admin:{SECRET}@api.example.com:6443", "api.example.com:6443"),
        ("", ""),
    ],
)
def test_how_an_address_is_shown(address: str, shown: str) -> None:
    assert without_credentials(address) == shown


@pytest.mark.parametrize(
    "address",
    [
        f"http://admin:{SECRET}@proxy:3128", f"http://{SECRET}@proxy", f"http://a:{SECRET}/x@proxy", f"a:{SECRET}@proxy",
        f"http://a:{SECRET.replace('-', '%2D')}@proxy",
    ],
)  # fmt: skip
def test_a_message_that_quotes_one(address: str) -> None:
    for quoted in (address, address.rpartition("@")[0], f"'{SECRET}'", f"label in {address!r} is empty"):
        said = hide_credentials(f"Failed to parse: {quoted}: no", [address, None])
        assert SECRET not in said
        assert said.startswith("Failed to parse: ")


def test_another_address_in_a_message() -> None:
    """As a plugin says it of its own proxy."""
    said = hide_credentials(f"exec: http://me:{SECRET}@proxy:3128/ and https://ok.example.com failed", [])
    assert said == "exec: http://proxy:3128/ and https://ok.example.com failed"


def test_a_word_of_everyday_life_is_no_password() -> None:
    assert hide_credentials("at the proxy", ["http://a:the@proxy"]) == "at the proxy"
