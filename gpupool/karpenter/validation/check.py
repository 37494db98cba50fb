"""Validation of one Karpenter object: everything that the API server and Karpenter would reject."""

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
"""The CEL rules that the API server checks after the schema."""

CONTROLLER: Final[Mapping[str, tuple[FieldRule, ...]]] = {
    "NodePool": (*runtime.NODEPOOL, *crash.NODEPOOL),
    "EC2NodeClass": (*runtime.EC2NODECLASS, *crash.EC2NODECLASS),
    "NodeOverlay": (*runtime.NODEOVERLAY, *crash.NODEOVERLAY),
}
"""Rules about what Karpenter rejects or crashes on after the API server has accepted an object."""


def check(kind: str, body: Located, target: str = LATEST, data: Plain = None) -> list[Finding]:
    """Find everything wrong with an object of one of the `CHECKED` kinds, all layers, in file order.

    `body` is the whole object (`apiVersion`, `kind`, `metadata`, `spec`). Each finding is at the value
    that causes it, and its `path` is the field path that the API server would report. `data` is the
    plain form of the body, if the caller already has it.
    """
    has_odd_values = is_odd(body)
    read_body = as_server_reads(body, odd=has_odd_values)
    schema = check_structure(
        kind, read_body, plain(read_body) if has_odd_values or data is None else data, target
    )
    findings = [*schema.findings, *(find_nulls(body) if has_odd_values else ())]
    if target != LATEST:
        from gpupool.karpenter.validation.newer import build_version_rules, find_newer_fields

        findings += find_newer_fields(kind, read_body, target)
        findings += run_rules(build_version_rules(kind, target), read_body, schema.broken)
    rule_findings = run_rules((*CEL[kind], *CONTROLLER[kind]), read_body, schema.broken)
    findings += [finding for finding in rule_findings if layer(finding.code) is Layer.CEL]
    findings += _drop_reported(
        [finding for finding in rule_findings if layer(finding.code) is not Layer.CEL], findings
    )
    name = f"{kind}/{get_object_name(read_body)}"
    return [finding._replace(object=name) for finding in in_file_order(findings)]


def get_object_name(body: Located) -> str:
    """Return an object's name, or its `generateName` followed by `*`."""
    return text_at(body, "metadata", "name") or f"{text_at(body, 'metadata', 'generateName')}*"


def _drop_reported(later: Iterable[Finding], reported: Iterable[Finding]) -> list[Finding]:
    """Return Karpenter's findings except where the API server already has one at the same location."""
    reported_locations = {finding.at for finding in reported}
    return [finding for finding in later if finding.at not in reported_locations]
