"""References to objects and their addresses."""

import pytest

from gpupool.objects import Ref, is_pool
from gpupool.planning.addresses import is_address


@pytest.mark.parametrize("address", ["NodePool/chat", "EC2NodeClass/a.b", "NodeOverlay/x", "NodePool/a/b"])
def test_an_address_is_parsed_and_written_alike(address: str) -> None:
    ref = Ref.parse(address)
    assert (str(ref), f"{ref}") == (address, address)
    assert is_pool(ref) == address.startswith("NodePool/")


@pytest.mark.parametrize("text", ["", "NodePool", "/chat", "NodePool/", "Pod/chat", "NodePool/a/b"])
def test_texts_that_are_no_addresses(text: str) -> None:
    assert not is_address(text)


def test_references_are_sorted_as_their_addresses() -> None:
    refs = [
        Ref(kind, name)
        for kind in ("NodePool", "NodeOverlay", "EC2NodeClass")
        for name in ("b", "a", "a-1", "a.1")
    ]
    assert [str(ref) for ref in sorted(refs)] == sorted(map(str, refs))
