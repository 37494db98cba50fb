"""The one question to this package: what the API server and Karpenter would hold against an object."""

from collections.abc import Iterable, Mapping
from typing import Final

from gpupool.codes import Layer, layer
from gpupool.findings import Finding, in_file_order
from gpupool.karpenter.validation import cel_ec2nodeclass, cel_nodepool, crash, runtime
from gpupool.karpenter.validation.reading import as_server_reads, find_nulls, is_odd
from gpupool.karpenter.validation.rules import FieldRule, run_rules
from gpupool.karpenter.validation.structure import check_structure
from gpupool.karpenter.validation.types import TYPES
from gpupool.karpenter.versions import LATEST
from gpupool.yamlio.located import Located, Plain, plain, text_at

CHECKED = tuple(TYPES)
"""The kinds that can be checked."""

CEL: Final[Mapping[str, tuple[FieldRule, ...]]] = {
    "NodePool": cel_nodepool.NODEPOOL_RULES,
    "EC2NodeClass": cel_ec2nodeclass.RULES,
    "NodeOverlay": cel_nodepool.OVERLAY_RULES,
}
"""What the API server asks beyond the schema."""

LATER: Final[Mapping[str, tuple[FieldRule, ...]]] = {
    "NodePool": (*runtime.NODEPOOL, *crash.NODEPOOL),
    "EC2NodeClass": (*runtime.EC2NODECLASS, *crash.EC2NODECLASS),
    "NodeOverlay": (*runtime.NODEOVERLAY, *crash.NODEOVERLAY),
}
"""What Karpenter rejects, or crashes on, once the API server has accepted an object."""


def check(kind: str, body: Located, target: str = LATEST, data: Plain = None) -> list[Finding]:
    """Find everything wrong with an object of one of the `CHECKED` kinds, all layers, in file order.

    `body` is the whole object (`apiVersion`, `kind`, `metadata`, `spec`); each finding stands at the
    place of the Node that causes it, and its `path` is the field path that the API server would name.
    `data` is the body without its places, where the caller has that already.
    """
    odd = is_odd(body)
    seen = as_server_reads(body, odd=odd)
    schema = check_structure(kind, seen, plain(seen) if odd or data is None else data, target)
    found = [*schema.findings, *(find_nulls(body) if odd else ())]
    if target != LATEST:
        from gpupool.karpenter.validation.newer import build_version_rules, find_newer_fields

        found += find_newer_fields(kind, seen, target)
        found += run_rules(build_version_rules(kind, target), seen, schema.broken)
    asked = run_rules((*CEL[kind], *LATER[kind]), seen, schema.broken)
    found += [finding for finding in asked if layer(finding.code) is Layer.CEL]
    found += _elsewhere([finding for finding in asked if layer(finding.code) is not Layer.CEL], found)
    name = f"{kind}/{name_of_object(seen)}"
    return [finding._replace(object=name) for finding in in_file_order(found)]


def name_of_object(body: Located) -> str:
    """Return an object's name, or the beginning of it that the API server would complete, and `*`."""
    return text_at(body, "metadata", "name") or f"{text_at(body, 'metadata', 'generateName')}*"


def _elsewhere(later: Iterable[Finding], found: Iterable[Finding]) -> list[Finding]:
    """Leave out what Karpenter says of a place where the API server has said something already."""
    told = {finding.at for finding in found}
    return [finding for finding in later if finding.at not in told]
