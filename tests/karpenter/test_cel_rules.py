"""Every CEL rule of the real CRDs has its counterpart at the same path, and none is made up."""

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from gpupool.karpenter.validation.check import CEL, CHECKED
from tests.karpenter import crds

OURS_MORE = {
    # An empty list breaks the CRD's rule about mixed terms; ours says that it is empty.
    ("EC2NodeClass", "spec capacityReservationSelectorTerms"): 1,
}
TEXTS = {"NodePool": "e8c739bb2efe", "EC2NodeClass": "e4b160f49636", "NodeOverlay": "491674fc1fd6"}
"""The digest of each CRD's rules as they were when ours were written: another one means, read them again."""


def crd_rules(part: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Each rule that a new object has to keep, with its path."""
    for rule in part.get("x-kubernetes-validations", ()):
        if "oldSelf" not in rule["rule"]:
            yield path.strip(), rule["rule"]
    for name, child in part.get("properties", {}).items():
        yield from crd_rules(child, f"{path} {name}")
    if "items" in part:
        yield from crd_rules(part["items"], f"{path} []")


@pytest.mark.parametrize("kind", CHECKED)
def test_as_many_at_each_path(kind: str) -> None:
    theirs = Counter(path for path, _ in crd_rules(crds.schema(kind)))
    more = Counter({path: count for (of, path), count in OURS_MORE.items() if of == kind})

    assert Counter(rule.at for rule in CEL[kind]) == theirs + more


@pytest.mark.parametrize("kind", CHECKED)
def test_the_rules_read_as_they_did(kind: str) -> None:
    text = "\n".join(f"{path}: {rule}" for path, rule in sorted(crd_rules(crds.schema(kind))))

    assert sha256(text.encode()).hexdigest()[:12] == TEXTS[kind]
