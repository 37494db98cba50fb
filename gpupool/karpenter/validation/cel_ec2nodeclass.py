"""CEL rules of the EC2NodeClass CRD, including selector terms and kubelet settings."""

from collections import Counter
from collections.abc import Collection, Iterator
from functools import partial
from typing import Final, get_args

from gpupool.codes import Code
from gpupool.karpenter.kubelet_keys import EvictionSignal, ReservedResource
from gpupool.karpenter.validation import cel_selectors
from gpupool.karpenter.validation.rules import (
    ITEMS,
    Complaint,
    FieldRule,
    find_value,
    find_values,
    read_number,
    read_text,
)
from gpupool.shapes.error_messages import find_close_match
from gpupool.yamlio.located import Located, items, mapping, place

_CLUSTER_TAGS = "kubernetes.io/cluster"
_KARPENTER_TAGS = (
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
)
_TIMEOUTS = ("tcpEstablishedTimeout", "udpStreamTimeout", "udpTimeout")
_EBS = f"spec blockDeviceMappings {ITEMS} ebs"
_SIGNALS: Final = get_args(EvictionSignal)
_RESERVED: Final = get_args(ReservedResource)
_SOFT, _GRACE = "evictionSoft", "evictionSoftGracePeriod"


def check_role_or_profile(spec: Located) -> Iterator[Complaint]:
    """Check that exactly one of `role` and `instanceProfile` is set."""
    present = find_values(spec, "role", "instanceProfile")
    if len(present) != 1:
        if present:
            message, fix = "`role` and `instanceProfile` can't both be set", "remove one of them"
        else:
            message = "`role` or `instanceProfile` is required"
            fix = "set `role` to the name of the nodes' IAM role"
        yield Complaint(present[1].key or present[1].at if present else place(spec), message, fix)


def check_name_not_empty(key: str, value: Located) -> Iterator[Complaint]:
    """Check that a name is not empty."""
    if value.value == "":
        yield Complaint(place(value), f"`{key}` is empty", f"set a name, or remove `{key}`")


def check_root_volumes(mappings: Located) -> Iterator[Complaint]:
    """Check that at most one volume is the root volume."""
    roots = [
        root for item in items(mappings) if (root := find_value(item, "rootVolume")) and root.value is True
    ]
    for root in roots[1:]:
        yield Complaint(
            root.key or root.at, "a second volume has `rootVolume: true`", "keep it on one volume"
        )


def check_volume_source(ebs: Located) -> Iterator[Complaint]:
    """Check that a volume has a size or a snapshot."""
    if not find_values(ebs, "snapshotID", "volumeSize"):
        yield Complaint(
            place(ebs), "the volume has neither `volumeSize` nor `snapshotID`", "add `volumeSize`"
        )


def check_initialization_rate(ebs: Located) -> Iterator[Complaint]:
    """Check that only a volume from a snapshot has an initialization rate."""
    rate = find_value(ebs, "volumeInitializationRate")
    if rate is not None and not read_text(ebs, "snapshotID"):
        message = "`volumeInitializationRate` requires a `snapshotID` to fill the volume from"
        yield Complaint(place(rate), message, "add `snapshotID`, or remove the rate")


def check_timeouts(tracking: Located) -> Iterator[Complaint]:
    """Check that at least one timeout is set."""
    if not find_values(tracking, *_TIMEOUTS):
        yield Complaint(
            place(tracking),
            f"none of {', '.join(_TIMEOUTS)} is set",
            "set one, or remove `connectionTracking`",
        )


def check_primary_interface(interfaces: Located) -> Iterator[Complaint]:
    """Check that one of the network interfaces, if there are any, is the primary one."""
    if items(interfaces) and ("interface", 0, 0) not in [_get_slot(item) for item in items(interfaces)]:
        message = "no primary interface: none has card 0, device 0 and the type `interface`"
        yield Complaint(
            place(interfaces),
            message,
            "add `{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}`",
        )


def check_interface_slots(interfaces: Located) -> Iterator[Complaint]:
    """Check for duplicate device indexes on a card, and for a second `efa-only` interface on it."""
    slots = [_get_slot(item) for item in items(interfaces)]
    slot_counts = Counter(slot[1:] for slot in slots)
    efa_counts = Counter(card for kind, card, _ in slots if kind == "efa-only")
    for item, (kind, card, device) in zip(items(interfaces), slots, strict=True):
        if slot_counts[card, device] > 1:
            yield Complaint(
                item.at,
                f"more than one interface at card {card}, device {device}",
                "give each its own card or device",
            )
        elif kind == "efa-only" and efa_counts[card] > 1:
            yield Complaint(
                item.at, f"more than one `efa-only` interface on card {card}", "keep one per card"
            )


def check_placement_group(selector: Located) -> Iterator[Complaint]:
    """Check that a placement group has a name or an id."""
    if not find_values(selector, "name", "id"):
        yield Complaint(
            place(selector),
            "the placement group has neither `name` nor `id`",
            "set one, or remove `placementGroupSelector`",
        )


def check_one_placement_group(selector: Located) -> Iterator[Complaint]:
    """Check that a placement group does not have both a name and an id."""
    if len(present := find_values(selector, "name", "id")) > 1:
        yield Complaint(
            present[1].key or present[1].at,
            "the placement group has both `name` and `id`",
            "keep one of them",
        )


def check_tag_keys(tags: Located) -> Iterator[Complaint]:
    """Check that no tag has an empty key."""
    if (value := mapping(tags).get("")) is not None:
        yield Complaint(value.key or value.at, "a tag has an empty key", "set the key of the tag")


def check_reserved_tag(tag: str, tags: Located) -> Iterator[Complaint]:
    """Check that a tag which Karpenter sets is not set by the user."""
    if (value := mapping(tags).get(tag)) is not None:
        yield Complaint(value.key or value.at, f"the tag `{tag}` is reserved: Karpenter sets it", "remove it")


def check_cluster_tags(tags: Located) -> Iterator[Complaint]:
    """Check that no cluster tag is set, because Karpenter sets it."""
    for key, value in mapping(tags).items():
        if key.startswith(_CLUSTER_TAGS):
            message = f"the tag `{key}` is reserved: Karpenter sets it to the cluster of an instance"
            yield Complaint(value.key or value.at, message, "remove it")


def _get_slot(interface: Located) -> tuple[str, int | None, int | None]:
    kind = read_text(interface, "interfaceType")
    return kind, read_number(interface, "networkCardIndex"), read_number(interface, "deviceIndex")


def check_image_thresholds(kubelet: Located) -> Iterator[Complaint]:
    """Check that the high image threshold is above the low one."""
    high, low = (
        read_number(kubelet, "imageGCHighThresholdPercent"),
        read_number(kubelet, "imageGCLowThresholdPercent"),
    )
    if high is not None and low is not None and high <= low:
        message = f"`imageGCHighThresholdPercent: {high}` is not above `imageGCLowThresholdPercent: {low}`"
        at = place(find_values(kubelet, "imageGCHighThresholdPercent")[0])
        yield Complaint(at, message, "raise the high threshold, or lower the low one")


def check_matching_signals(name: str, other: str, kubelet: Located) -> Iterator[Complaint]:
    """Check that each signal of one map is in the other."""
    other_signals = mapping(find_value(kubelet, other))
    for signal, value in mapping(find_value(kubelet, name)).items():
        if signal not in other_signals:
            message = f"`{signal}` is set in `{name}` but not in `{other}`"
            yield Complaint(value.key or value.at, message, f"add it to `{other}`, or remove it here")


def check_known_keys(known_keys: Collection[str], settings: Located) -> Iterator[Complaint]:
    """Check that all keys are known resources or signals."""
    for key, value in mapping(settings).items():
        if key not in known_keys:
            close_match = find_close_match(key, tuple(known_keys))
            fix = f"did you mean `{close_match}`?" if close_match else f"use one of {', '.join(known_keys)}"
            yield Complaint(
                value.key or value.at, f"unknown key `{key}`: the kubelet does not support it here", fix
            )


def check_not_negative(reserved: Located) -> Iterator[Complaint]:
    """Check that no reserved amount is negative."""
    for key, value in mapping(reserved).items():
        if str(value.value).startswith("-"):
            yield Complaint(place(value), f"`{key}: {value.value}` is negative", "set 0 or more")


_KUBELET_RULES: Final = (
    FieldRule(Code.IMAGE_THRESHOLDS, "spec kubelet", check_image_thresholds),
    FieldRule(Code.SOFT_EVICTION, "spec kubelet", partial(check_matching_signals, _SOFT, _GRACE)),
    FieldRule(Code.SOFT_EVICTION, "spec kubelet", partial(check_matching_signals, _GRACE, _SOFT)),
    *(
        FieldRule(Code.KUBELET_KEY, f"spec kubelet {name}", partial(check_known_keys, _SIGNALS))
        for name in ("evictionHard", _SOFT, _GRACE)
    ),
    *(
        FieldRule(Code.KUBELET_KEY, f"spec kubelet {name}", partial(check_known_keys, _RESERVED))
        for name in ("kubeReserved", "systemReserved")
    ),
    *(
        FieldRule(Code.NEGATIVE_RESERVE, f"spec kubelet {name}", check_not_negative)
        for name in ("kubeReserved", "systemReserved")
    ),
)
RULES: Final = (
    FieldRule(Code.ROLE_OR_PROFILE, "spec", check_role_or_profile),
    *(
        FieldRule(Code.EMPTY_IDENTITY, f"spec {key}", partial(check_name_not_empty, key))
        for key in ("role", "instanceProfile")
    ),
    *cel_selectors.RULES,
    FieldRule(Code.TWO_ROOT_VOLUMES, "spec blockDeviceMappings", check_root_volumes),
    FieldRule(Code.VOLUME_OF_NOTHING, _EBS, check_volume_source),
    FieldRule(Code.RATE_WITHOUT_SNAPSHOT, _EBS, check_initialization_rate),
    FieldRule(Code.NO_TIMEOUT, "spec connectionTracking", check_timeouts),
    *_KUBELET_RULES,
    FieldRule(Code.NO_PRIMARY_INTERFACE, "spec networkInterfaces", check_primary_interface),
    FieldRule(Code.INTERFACE_TWICE, "spec networkInterfaces", check_interface_slots),
    FieldRule(Code.PLACEMENT_GROUP, "spec placementGroupSelector", check_placement_group),
    FieldRule(Code.PLACEMENT_GROUP, "spec placementGroupSelector", check_one_placement_group),
    FieldRule(Code.EMPTY_TAG, "spec tags", check_tag_keys),
    *(
        FieldRule(Code.KARPENTERS_TAG, "spec tags", partial(check_reserved_tag, tag))
        for tag in _KARPENTER_TAGS
    ),
    FieldRule(Code.KARPENTERS_TAG, "spec tags", check_cluster_tags),
)
"""Each rule of the CRD, at its path in the schema."""
