"""Migration hints: fixes for field names of other tools, such as eksctl and the Cluster Autoscaler."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gpupool.codes import Code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpupool.findings import Finding
    from gpupool.shapes.fields import Fields

_WITHOUT_FIELD = {
    "autoMode": "remove it; gpupool renders EC2NodeClass and does not support EKS Auto Mode's NodeClass",
    "resourceClaims": "use device plugins; Karpenter on AWS does not support dynamic resource allocation yet",
    "clusterAutoscaler": "remove it; gpupool renders nothing for the Cluster Autoscaler",
    "fabric": "remove it; Karpenter attaches EFA when a pod requests `vpc.amazonaws.com/efa`",
}
"""Hints for names that no field of a blueprint stands for; the others are in the tables of fields."""


def foreign_answer(name: str) -> str:
    """Return the fix for a field name of another tool, or an empty text where there is no hint."""
    return _collect_hints().get(name, "")


def add_hint(finding: Finding) -> Finding:
    """Return the finding about an unknown field with the migration hint as its fix, if there is one."""
    if finding.code != Code.UNKNOWN_KEY:
        return finding
    hint = foreign_answer(finding.path.rpartition(".")[2])
    return finding._replace(fix=hint) if hint else finding


@cache
def _collect_hints() -> Mapping[str, str]:
    from gpupool.blueprint.model import Blueprint

    return {**_WITHOUT_FIELD, **dict(_find_hints(Blueprint))}


def _find_hints(table: type[Fields]) -> Iterator[tuple[str, str]]:
    for row in table.rows.values():
        yield from row.hints.items()
        if below := row.find_table():
            yield from _find_hints(below)
