"""EC2NodeClass conditions without a result, because Karpenter failed before it wrote them.

Karpenter 1.14 writes a condition of a class after a successful answer of AWS. Where AWS rejects a request, as
for a role that does not exist or an AMI date that was never published, the condition stays as it was, no
event is recorded, and the error is only in the controller's log. The condition's fields are known even so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gpupool.yamlio.located import Plain

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "AMIsReady": ("amiSelectorTerms",),
    "SubnetsReady": ("subnetSelectorTerms",),
    "SecurityGroupsReady": ("securityGroupSelectorTerms",),
    "InstanceProfileReady": ("role", "instanceProfile"),
    "PlacementGroupReady": ("placementGroupSelector",),
    "CapacityReservationsReady": ("capacityReservationSelectorTerms",),
}
"""The fields of `spec` for each condition of a class; no other kind has these conditions."""

_NAMES: Final = ("alias", "id", "name", "ssmParameter")
"""The keys of a selector that are quoted; tags can be secret."""

ONLY_LOGGED: Final = "the error is only in its log"


def has_class_conditions(types: Collection[str]) -> bool:
    """Return whether conditions of these types are those of an EC2NodeClass."""
    return any(name in _FIELDS for name in types)


def describe_no_result(types: Iterable[str], body: Mapping[str, Plain]) -> str:
    """Return a sentence that names conditions without a result, and the fields that they are about."""
    spec = plain_map(body.get("spec"))
    conditions = " and ".join(f"{name}{_about(name, spec)}" for name in types)
    return f"no result for {conditions}: Karpenter failed, and {ONLY_LOGGED}"


def _about(condition: str, spec: Mapping[str, Plain]) -> str:
    field = next((name for name in _FIELDS.get(condition, ()) if name in spec), "")
    if not field:
        return ""
    value = _quoted(spec[field])
    return f" (spec.{field}{f': {value}' if value else ''})"


def _quoted(value: Plain) -> str:
    if isinstance(value, str):
        return value
    terms = [plain_map(term) for term in (plain_list(value) or [value])]
    return ", ".join(plain_text(term[key]) for term in terms for key in _NAMES if key in term)
