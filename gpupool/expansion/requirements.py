"""Conversion of the fields that select instance types to Karpenter's requirements, sorted by key."""

from collections.abc import Iterator, Sequence
from functools import partial

from gpupool.blueprint.constraint import RequirementEntry
from gpupool.blueprint.merge import remove_nulls
from gpupool.blueprint.merge_schema import find_targets
from gpupool.blueprint.pool import PoolFields
from gpupool.blueprint.targets import MANUFACTURER_LABELS, NAME_LABELS
from gpupool.catalogue.accelerators import GPU_MAKERS, Maker
from gpupool.codes import Code
from gpupool.expansion import constraints
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.expansion.causes import collect_causes
from gpupool.expansion.problem import Problem, collect_problem, error, info
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, has_errors
from gpupool.karpenter import labels
from gpupool.scheduling.naming.checks import check_requirement_names, check_value_names, is_looked_up
from gpupool.scheduling.naming.names import ACCELERATOR
from gpupool.yamlio.located import Located, leaf, listing, text_of

_GPU_LABELS = (labels.INSTANCE_GPU_NAME, labels.INSTANCE_GPU_MANUFACTURER)
_MANUFACTURER_VALUES = {Maker.NEURON: "aws"}
_CAPACITY_ORDER = ("reserved", "spot", "on-demand")


def build_requirements(
    fields: PoolFields, target: TargetCluster, catalogue: CatalogueAccess, findings: list[Finding]
) -> Located | None:
    """Build the requirements of one NodePool; `fields` contains explicit `null`s.

    Errors are added to `findings`, and invalid fields are omitted.
    """
    requirements: list[Located] = []
    for label, node, in_short in _label_constraints(fields):
        converted = collect_problem(findings, partial(_convert_label, label, node))
        findings += check_names(converted, catalogue, in_short=in_short)
        requirements += converted
    requirements += collect_problem(
        findings, lambda: list(_convert_accelerator(fields, target, catalogue, findings))
    )
    zones = list(_convert_zones(fields, target, findings))
    findings += check_names(zones, catalogue)
    requirements += zones
    findings += _check_capacity_order(fields)
    findings += _check_gpu_count_bounds(requirements)
    return listing(sorted(requirements, key=_requirement_key), fields.here)


def _requirement_key(requirement: Located) -> str:
    return text_of(RequirementEntry(requirement).label)


def _label_constraints(fields: PoolFields) -> Iterator[tuple[str, Located, bool]]:
    """Yield each label with the constraint on it, and whether it is set by one of gpupool's short fields."""
    for part in (fields, fields.instances):
        for row, node in part.labelled():
            if node.value != "any":
                yield row.label, node, True
    for label, node in fields.requirements.by_key.items():
        if node.value is not None:
            yield label, node, False


def check_names(
    requirements: list[Located], catalogue: CatalogueAccess, *, in_short: bool = False
) -> Iterator[Finding]:
    """Yield findings about unknown names; a typo in one of gpupool's short fields is an error."""
    for requirement in requirements:
        if is_looked_up(requirement):
            yield from check_requirement_names(catalogue.names, requirement, in_short=in_short)


def _convert_label(label: str, node: Located) -> list[Located]:
    if problem := labels.find_key_problem(label):
        message = f"the requirement's key `{label}` {problem}"
        raise Problem(Code.LABEL_KEY, message, node, "remove it, or use your own domain")
    constraint = remove_nulls(node)
    return [] if constraint.value is None else list(constraints.convert_constraint(label, constraint))


def _check_capacity_order(fields: PoolFields) -> Iterator[Finding]:
    node, capacities = fields.capacity.node, fields.capacity.texts()
    in_order = [capacity for capacity in _CAPACITY_ORDER if capacity in capacities]
    if node is not None and isinstance(node.value, list) and capacities != in_order:
        message = "the order of `capacity` is ignored: Karpenter tries reserved, then spot, then on-demand"
        yield info(Code.CAPACITY_ORDER, message, node, "use `tiers` to set an order")


def _convert_zones(fields: PoolFields, target: TargetCluster, findings: list[Finding]) -> Iterator[Located]:
    node = fields.zones.node
    if node is None:
        return
    by_label: dict[str, list[Located]] = {}
    for zone_setting in fields.zones:
        try:
            label, zone = target.parse_zone(zone_setting)
            by_label.setdefault(label, []).append(zone)
        except Problem as problem:
            findings.append(problem.finding)
    for label, zones in by_label.items():
        yield constraints.build_requirement(label, "In", node, zones)


def _convert_accelerator(
    fields: PoolFields, target: TargetCluster, catalogue: CatalogueAccess, findings: list[Finding]
) -> Iterator[Located]:
    node, names = fields.accelerator.node, fields.accelerator.values
    if node is None:
        return
    name_findings = list(_check_accelerator_names(names, catalogue))
    findings += name_findings
    if has_errors(name_findings):
        return
    name_labels = {label for name in names if (label := _find_name_label(name.value, catalogue))}
    if len(name_labels) > 1 or (len(names) > 1 and any(name.value == "none" for name in names)):
        fix = "create a pool for each, or use `requirements`"
        message = "one pool can't select several kinds of accelerator"
        raise Problem(Code.ACCELERATOR, message, node, fix)
    also = collect_causes(*names, target.catalogue)
    for label in name_labels:
        values = [_label_value(label, name) for name in names if name.value]
        yield constraints.build_requirement(label, "In", node, values, also=also)
    yield from _build_guards(fields, node, next(iter(name_labels), ""), also)


def _label_value(label: str, name: Located[str]) -> Located:
    """Return the value of a label for an accelerator or maker."""
    if label not in MANUFACTURER_LABELS:
        return name
    return leaf(_MANUFACTURER_VALUES.get(Maker(name.value), name.value), name)


def _check_accelerator_names(names: Sequence[Located], catalogue: CatalogueAccess) -> Iterator[Finding]:
    """Yield findings about accelerators that are not in the catalogue."""
    if any(name.value != "none" for name in names):
        yield from check_value_names(catalogue.names, ACCELERATOR, names, in_short=True)


def _find_name_label(name: str, catalogue: CatalogueAccess) -> str:
    """Return the label that contains an accelerator's name; an unknown name counts as a GPU's."""
    if name == "none":
        return ""
    if name in set(Maker):
        return MANUFACTURER_LABELS[Maker(name) not in GPU_MAKERS]
    is_other = catalogue.accelerators.is_gpu(name) is False
    return NAME_LABELS[is_other]


def _build_guards(
    fields: PoolFields, node: Located, label: str, also: tuple[Located, ...]
) -> Iterator[Located]:
    """Yield requirements against instance types that match by name only, unless a field sets the same key.

    `label` contains the accelerator's name; it is empty for `none`.
    """
    own = (PoolFields.accelerator.key,)
    set_targets = {target for path, target in find_targets(PoolFields, fields.here) if path != own}
    if not label:
        for count in (labels.INSTANCE_GPU_COUNT, labels.INSTANCE_ACCELERATOR_COUNT):
            if f"requirement {count}" not in set_targets:
                yield constraints.build_requirement(
                    count, "DoesNotExist", node, note="guard of accelerator: none", also=also
                )
    elif label in _GPU_LABELS and f"requirement {labels.INSTANCE_GPU_COUNT}" not in set_targets:
        note = "guard of accelerator: fractional GPUs count 0"
        yield constraints.build_requirement(
            labels.INSTANCE_GPU_COUNT, "Gt", node, [leaf("0", node, note, also)], note, also
        )


def _check_gpu_count_bounds(requirements: list[Located]) -> Iterator[Finding]:
    """Yield an error for NotIn with a bound on the GPU count: together they match types without GPUs."""
    counts = [node for node in requirements if _requirement_key(node) == labels.INSTANCE_GPU_COUNT]
    operators = {text_of(RequirementEntry(node).operator): node for node in counts}
    if "NotIn" in operators and operators.keys() & {"Gt", "Lt", "Gte", "Lte"}:
        message = "`not` beside a bound on the GPU count also matches instance types without a GPU"
        fix = "list the counts instead, as in `gpus: [1, 4, 8]`"
        yield error(Code.CPU_TYPES_TOO, message, operators["NotIn"], fix)
