"""The CEL rules of the EC2NodeClass CRD, those over selector terms and kubelet settings included."""

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
from gpupool.shapes.error_messages import nearest
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


def role_or_profile(spec: Located) -> Iterator[Complaint]:
    """Exactly one of `role` and `instanceProfile` is there."""
    said = find_values(spec, "role", "instanceProfile")
    if len(said) != 1:
        if said:
            message, fix = "`role` and `instanceProfile` can't both be set", "remove one of them"
        else:
            message = "`role` or `instanceProfile` is required"
            fix = "set `role` to the name of the nodes' IAM role"
        yield Complaint(said[1].key or said[1].at if said else place(spec), message, fix)


def empty_name(key: str, value: Located) -> Iterator[Complaint]:
    """The name may not be empty."""
    if value.value == "":
        yield Complaint(place(value), f"`{key}` is empty", f"set a name, or remove `{key}`")


def several_root_volumes(mappings: Located) -> Iterator[Complaint]:
    """At most one volume is the root volume."""
    roots = [
        root for item in items(mappings) if (root := find_value(item, "rootVolume")) and root.value is True
    ]
    for root in roots[1:]:
        yield Complaint(
            root.key or root.at, "a second volume has `rootVolume: true`", "keep it on one volume"
        )


def volume_of_nothing(ebs: Located) -> Iterator[Complaint]:
    """A volume has a size or a snapshot."""
    if not find_values(ebs, "snapshotID", "volumeSize"):
        yield Complaint(
            place(ebs), "the volume has neither `volumeSize` nor `snapshotID`", "add `volumeSize`"
        )


def rate_without_snapshot(ebs: Located) -> Iterator[Complaint]:
    """Only a volume from a snapshot is filled at a rate."""
    rate = find_value(ebs, "volumeInitializationRate")
    if rate is not None and not read_text(ebs, "snapshotID"):
        message = "`volumeInitializationRate` requires a `snapshotID` to fill the volume from"
        yield Complaint(place(rate), message, "add `snapshotID`, or remove the rate")


def no_timeout(tracking: Located) -> Iterator[Complaint]:
    """At least one timeout is there."""
    if not find_values(tracking, *_TIMEOUTS):
        yield Complaint(
            place(tracking),
            f"none of {', '.join(_TIMEOUTS)} is set",
            "set one, or remove `connectionTracking`",
        )


def no_primary_interface(interfaces: Located) -> Iterator[Complaint]:
    """Where there are interfaces, one is the primary one."""
    if items(interfaces) and ("interface", 0, 0) not in [_slot(item) for item in items(interfaces)]:
        message = "no primary interface: none has card 0, device 0 and the type `interface`"
        yield Complaint(
            place(interfaces),
            message,
            "add `{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}`",
        )


def interface_twice(interfaces: Located) -> Iterator[Complaint]:
    """No place on a card is taken twice, and each card has one `efa-only` interface at most."""
    slots = [_slot(item) for item in items(interfaces)]
    places = Counter(slot[1:] for slot in slots)
    efas = Counter(card for kind, card, _ in slots if kind == "efa-only")
    for item, (kind, card, device) in zip(items(interfaces), slots, strict=True):
        if places[card, device] > 1:
            yield Complaint(
                item.at,
                f"more than one interface at card {card}, device {device}",
                "give each its own card or device",
            )
        elif kind == "efa-only" and efas[card] > 1:
            yield Complaint(
                item.at, f"more than one `efa-only` interface on card {card}", "keep one per card"
            )


def no_placement_group(selector: Located) -> Iterator[Complaint]:
    """A placement group is named, or told by its id."""
    if not find_values(selector, "name", "id"):
        yield Complaint(
            place(selector),
            "the placement group has neither `name` nor `id`",
            "set one, or remove `placementGroupSelector`",
        )


def placement_group_twice(selector: Located) -> Iterator[Complaint]:
    """A placement group has one of name and id."""
    if len(said := find_values(selector, "name", "id")) > 1:
        yield Complaint(
            said[1].key or said[1].at, "the placement group has both `name` and `id`", "keep one of them"
        )


def empty_tag_key(tags: Located) -> Iterator[Complaint]:
    """No tag has an empty key."""
    if (value := mapping(tags).get("")) is not None:
        yield Complaint(value.key or value.at, "a tag has an empty key", "set the key of the tag")


def tag_of_karpenter(tag: str, tags: Located) -> Iterator[Complaint]:
    """The tags that Karpenter sets are not the user's."""
    if (value := mapping(tags).get(tag)) is not None:
        yield Complaint(value.key or value.at, f"the tag `{tag}` is reserved: Karpenter sets it", "remove it")


def tag_of_the_cluster(tags: Located) -> Iterator[Complaint]:
    """The tags of clusters are Karpenter's to set."""
    for key, value in mapping(tags).items():
        if key.startswith(_CLUSTER_TAGS):
            message = f"the tag `{key}` is reserved: Karpenter sets it to the cluster of an instance"
            yield Complaint(value.key or value.at, message, "remove it")


def _slot(interface: Located) -> tuple[str, int | None, int | None]:
    kind = read_text(interface, "interfaceType")
    return kind, read_number(interface, "networkCardIndex"), read_number(interface, "deviceIndex")


def thresholds_crossed(kubelet: Located) -> Iterator[Complaint]:
    """Images are removed from the high mark down to the low one."""
    high, low = (
        read_number(kubelet, "imageGCHighThresholdPercent"),
        read_number(kubelet, "imageGCLowThresholdPercent"),
    )
    if high is not None and low is not None and high <= low:
        message = f"`imageGCHighThresholdPercent: {high}` is not above `imageGCLowThresholdPercent: {low}`"
        at = place(find_values(kubelet, "imageGCHighThresholdPercent")[0])
        yield Complaint(at, message, "raise the high threshold, or lower the low one")


def unmatched(there: str, other: str, kubelet: Located) -> Iterator[Complaint]:
    """Each signal of one map stands in the other."""
    known = mapping(find_value(kubelet, other))
    for signal, value in mapping(find_value(kubelet, there)).items():
        if signal not in known:
            message = f"`{signal}` is set in `{there}` but not in `{other}`"
            yield Complaint(value.key or value.at, message, f"add it to `{other}`, or remove it here")


def unknown_key(known: Collection[str], settings: Located) -> Iterator[Complaint]:
    """Only known resources and signals are keys."""
    for key, value in mapping(settings).items():
        if key not in known:
            near = nearest(key, tuple(known))
            fix = f"did you mean `{near}`?" if near else f"use one of {', '.join(known)}"
            yield Complaint(
                value.key or value.at, f"unknown key `{key}`: the kubelet does not support it here", fix
            )


def negative(reserved: Located) -> Iterator[Complaint]:
    """Nothing negative is kept back."""
    for key, value in mapping(reserved).items():
        if str(value.value).startswith("-"):
            yield Complaint(place(value), f"`{key}: {value.value}` is negative", "set 0 or more")


_KUBELET_RULES: Final = (
    FieldRule(Code.IMAGE_THRESHOLDS, "spec kubelet", thresholds_crossed),
    FieldRule(Code.SOFT_EVICTION, "spec kubelet", partial(unmatched, _SOFT, _GRACE)),
    FieldRule(Code.SOFT_EVICTION, "spec kubelet", partial(unmatched, _GRACE, _SOFT)),
    *(
        FieldRule(Code.KUBELET_KEY, f"spec kubelet {name}", partial(unknown_key, _SIGNALS))
        for name in ("evictionHard", _SOFT, _GRACE)
    ),
    *(
        FieldRule(Code.KUBELET_KEY, f"spec kubelet {name}", partial(unknown_key, _RESERVED))
        for name in ("kubeReserved", "systemReserved")
    ),
    *(
        FieldRule(Code.NEGATIVE_RESERVE, f"spec kubelet {name}", negative)
        for name in ("kubeReserved", "systemReserved")
    ),
)
RULES: Final = (
    FieldRule(Code.ROLE_OR_PROFILE, "spec", role_or_profile),
    *(
        FieldRule(Code.EMPTY_IDENTITY, f"spec {key}", partial(empty_name, key))
        for key in ("role", "instanceProfile")
    ),
    *cel_selectors.RULES,
    FieldRule(Code.TWO_ROOT_VOLUMES, "spec blockDeviceMappings", several_root_volumes),
    FieldRule(Code.VOLUME_OF_NOTHING, _EBS, volume_of_nothing),
    FieldRule(Code.RATE_WITHOUT_SNAPSHOT, _EBS, rate_without_snapshot),
    FieldRule(Code.NO_TIMEOUT, "spec connectionTracking", no_timeout),
    *_KUBELET_RULES,
    FieldRule(Code.NO_PRIMARY_INTERFACE, "spec networkInterfaces", no_primary_interface),
    FieldRule(Code.INTERFACE_TWICE, "spec networkInterfaces", interface_twice),
    FieldRule(Code.PLACEMENT_GROUP, "spec placementGroupSelector", no_placement_group),
    FieldRule(Code.PLACEMENT_GROUP, "spec placementGroupSelector", placement_group_twice),
    FieldRule(Code.EMPTY_TAG, "spec tags", empty_tag_key),
    *(FieldRule(Code.KARPENTERS_TAG, "spec tags", partial(tag_of_karpenter, tag)) for tag in _KARPENTER_TAGS),
    FieldRule(Code.KARPENTERS_TAG, "spec tags", tag_of_the_cluster),
)
"""Each rule of the CRD, at the path where it stands there."""
