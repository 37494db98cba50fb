"""`python -m tests.karpenter.digests`: write the digests of Karpenter's CRDs anew, as a real API server stores them.

The provider's CRDs can be had for the oldest and the newest minor only. Those of the core have the same
structure in every minor; EC2NodeClass, which the core does not have, is the newest one without the fields
that came later.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from gpupool.cluster.crds import CRDS, digest_crd, digest_structure
from gpupool.cluster.resources import EC2_NODE_CLASS, crd_path
from gpupool.karpenter.versions import LATEST, STATUS_SINCE, TARGETS, is_supported, parse_minor
from gpupool.shapes.annotations import Since
from tests.karpenter.targets import LATER_FIELDS
from tests.rig import older
from tests.rig.client import Client
from tests.rig.older import Release
from tests.rig.server import api_server

FILE = Path(__file__).parents[2] / "gpupool" / "karpenter" / "crd_digests.py"
HEAD = '''\
"""Digests of the CRDs of each Karpenter minor; `python -m tests.karpenter.digests` writes them."""

from typing import Final
'''
STRUCTURES = '"""A digest of the fields of each CRD, by its name and the minor of Karpenter."""'
WHOLE = '"""The same with the rules, as Karpenter for AWS ships them, for the minors with an available release."""'

Crd = dict[str, Any]
Table = dict[str, dict[str, str]]


def stored(client: Client) -> dict[str, Crd]:
    """Return Karpenter's CRDs as the server has them, by name."""
    answers = {name: client.request("GET", crd_path(name)) for name in CRDS}
    return {name: answer.body for name, answer in answers.items() if answer.status == 200}


def tables(client: Client) -> tuple[Table, Table]:
    """Return structures and whole digests, by CRD and minor; the server has older CRDs then.

    It has to be one with the newest CRDs, that nobody else uses.

    Raises:
        ValueError: where a release is not what the others of its minor are.
    """
    newest = stored(client)
    structures = {(name, LATEST): digest_structure(crd) for name, crd in newest.items()}
    whole = {(name, LATEST): digest_crd(crd) for name, crd in newest.items()}
    for target in TARGETS:
        structures[EC2_NODE_CLASS.crd, target] = digest_structure(aged(newest[EC2_NODE_CLASS.crd], target))
    for release in older.releases():
        found = served(client, release)
        made = {(name, release.target): digest_structure(crd) for name, crd in found.items()}
        differing = [key for key, said in made.items() if structures.setdefault(key, said) != said]
        if differing:
            message = f"{release} differs in its structure from what else there is of {differing}"
            raise ValueError(message)
        if release.is_for_aws:
            whole |= {(name, release.target): digest_crd(crd) for name, crd in found.items()}
    return in_order(structures), in_order(whole)


def served(client: Client, release: Release) -> dict[str, Crd]:
    """Put a release's CRDs on the server, and give them as it stores them."""
    names = []
    for kind, crd in older.crds(release).items():
        older.serve(client, release, kind)
        names.append(crd["metadata"]["name"])
    found = stored(client)
    return {name: found[name] for name in names}


def aged(newest: Crd, target: str) -> Crd:
    """Return the EC2NodeClass CRD of a minor: the newest one without what came later."""
    crd = deepcopy(newest)
    (version,) = crd["spec"]["versions"]
    root = version["schema"]["openAPIV3Schema"]["properties"]
    for path, since in later():
        if not is_supported(target, Since(since)):
            _without(root, path)
    return crd


def later() -> Iterator[tuple[str, str]]:
    """Yield each field of EC2NodeClass that is newer than the oldest minor, and the minor that brought it."""
    yield from ((f"spec {name}", since) for name, since in LATER_FIELDS.items())
    for (kind, path), since in STATUS_SINCE.items():
        if kind == EC2_NODE_CLASS.name:
            yield path, str(since.minor)


def text(structures: Table, whole: Table) -> str:
    """Return the module that holds both tables."""
    return "\n".join(
        [HEAD, *_literal("STRUCTURES", structures), STRUCTURES, "", *_literal("WHOLE", whole), WHOLE, ""]
    )


def in_order(digests: Mapping[tuple[str, str], str]) -> Table:
    """Return a table by name and minor."""
    table: Table = {}
    for name, target in sorted(digests, key=lambda key: (key[0], parse_minor(key[1]))):
        table.setdefault(name, {})[target] = digests[name, target]
    return table


def _without(root: Crd, path: str) -> None:
    *steps, last = path.split()
    part = {"properties": root}
    for step in steps:
        part = part["items"] if step == "[]" else part["properties"][step]
    del part["properties"][last]


def _literal(name: str, table: Table) -> list[str]:
    rows = [
        line
        for crd, digests in table.items()
        for line in (
            f'    "{crd}": {{',
            *(f'        "{target}": "{said}",' for target, said in digests.items()),
            "    },",
        )
    ]
    return [f"{name}: Final[dict[str, dict[str, str]]] = {{", *rows, "}"]


if __name__ == "__main__":
    with api_server() as server:
        FILE.write_text(text(*tables(server)), "utf-8")
