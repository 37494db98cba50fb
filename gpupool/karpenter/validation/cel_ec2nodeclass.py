"""The CEL rules of the EC2NodeClass CRD, those over selector terms included."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Final

from gpupool.codes import Code
from gpupool.karpenter.validation import cel_kubelet, cel_selectors
from gpupool.karpenter.validation.rules import ITEMS, Complaint, Rule, has, number, present, word
from gpupool.yamlio.nodes import Node, items, mapping, place

_CLUSTER_TAGS = "kubernetes.io/cluster"
_KARPENTER_TAGS = (
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
)
_TIMEOUTS = ("tcpEstablishedTimeout", "udpStreamTimeout", "udpTimeout")
_EBS = f"spec blockDeviceMappings {ITEMS} ebs"


def role_or_profile(spec: Node) -> Iterator[Complaint]:
    """Exactly one of `role` and `instanceProfile` is there."""
    said = has(spec, "role", "instanceProfile")
    if len(said) != 1:
        if said:
            message, fix = "`role` and `instanceProfile` can't both be set", "remove one of them"
        else:
            message = "`role` or `instanceProfile` is required"
            fix = "set `role` to the name of the nodes' IAM role"
        yield Complaint(said[1].key or said[1].at if said else place(spec), message, fix)


def empty_name(key: str, value: Node) -> Iterator[Complaint]:
    """The name may not be empty."""
    if value.value == "":
        yield Complaint(place(value), f"`{key}` is empty", f"set a name, or remove `{key}`")


def several_root_volumes(mappings: Node) -> Iterator[Complaint]:
    """At most one volume is the root volume."""
    roots = [root for item in items(mappings) if (root := present(item, "rootVolume")) and root.value is True]
    for root in roots[1:]:
        yield Complaint(
            root.key or root.at, "a second volume has `rootVolume: true`", "keep it on one volume"
        )


def volume_of_nothing(ebs: Node) -> Iterator[Complaint]:
    """A volume has a size or a snapshot."""
    if not has(ebs, "snapshotID", "volumeSize"):
        yield Complaint(
            place(ebs), "the volume has neither `volumeSize` nor `snapshotID`", "add `volumeSize`"
        )


def rate_without_snapshot(ebs: Node) -> Iterator[Complaint]:
    """Only a volume from a snapshot is filled at a rate."""
    rate = present(ebs, "volumeInitializationRate")
    if rate is not None and not word(ebs, "snapshotID"):
        message = "`volumeInitializationRate` requires a `snapshotID` to fill the volume from"
        yield Complaint(place(rate), message, "add `snapshotID`, or remove the rate")


def no_timeout(tracking: Node) -> Iterator[Complaint]:
    """At least one timeout is there."""
    if not has(tracking, *_TIMEOUTS):
        yield Complaint(
            place(tracking),
            f"none of {', '.join(_TIMEOUTS)} is set",
            "set one, or remove `connectionTracking`",
        )


def no_primary_interface(interfaces: Node) -> Iterator[Complaint]:
    """Where there are interfaces, one is the primary one."""
    if items(interfaces) and ("interface", 0, 0) not in [_slot(item) for item in items(interfaces)]:
        message = "no primary interface: none has card 0, device 0 and the type `interface`"
        yield Complaint(
            place(interfaces),
            message,
            "add `{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}`",
        )


def interface_twice(interfaces: Node) -> Iterator[Complaint]:
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


def no_placement_group(selector: Node) -> Iterator[Complaint]:
    """A placement group is named, or told by its id."""
    if not has(selector, "name", "id"):
        yield Complaint(
            place(selector),
            "the placement group has neither `name` nor `id`",
            "set one, or remove `placementGroupSelector`",
        )


def placement_group_twice(selector: Node) -> Iterator[Complaint]:
    """A placement group has one of name and id."""
    if len(said := has(selector, "name", "id")) > 1:
        yield Complaint(
            said[1].key or said[1].at, "the placement group has both `name` and `id`", "keep one of them"
        )


def empty_tag_key(tags: Node) -> Iterator[Complaint]:
    """No tag has an empty key."""
    if (value := mapping(tags).get("")) is not None:
        yield Complaint(value.key or value.at, "a tag has an empty key", "set the key of the tag")


def tag_of_karpenter(tag: str, tags: Node) -> Iterator[Complaint]:
    """The tags that Karpenter sets are not the user's."""
    if (value := mapping(tags).get(tag)) is not None:
        yield Complaint(value.key or value.at, f"the tag `{tag}` is reserved: Karpenter sets it", "remove it")


def tag_of_the_cluster(tags: Node) -> Iterator[Complaint]:
    """The tags of clusters are Karpenter's to set."""
    for key, value in mapping(tags).items():
        if key.startswith(_CLUSTER_TAGS):
            message = f"the tag `{key}` is reserved: Karpenter sets it to the cluster of an instance"
            yield Complaint(value.key or value.at, message, "remove it")


def _slot(interface: Node) -> tuple[str, int | None, int | None]:
    kind = word(interface, "interfaceType")
    return kind, number(interface, "networkCardIndex"), number(interface, "deviceIndex")


RULES: Final = (
    Rule(Code.ROLE_OR_PROFILE, "spec", role_or_profile),
    *(
        Rule(Code.EMPTY_IDENTITY, f"spec {key}", partial(empty_name, key))
        for key in ("role", "instanceProfile")
    ),
    *cel_selectors.RULES,
    Rule(Code.TWO_ROOT_VOLUMES, "spec blockDeviceMappings", several_root_volumes),
    Rule(Code.VOLUME_OF_NOTHING, _EBS, volume_of_nothing),
    Rule(Code.RATE_WITHOUT_SNAPSHOT, _EBS, rate_without_snapshot),
    Rule(Code.NO_TIMEOUT, "spec connectionTracking", no_timeout),
    *cel_kubelet.RULES,
    Rule(Code.NO_PRIMARY_INTERFACE, "spec networkInterfaces", no_primary_interface),
    Rule(Code.INTERFACE_TWICE, "spec networkInterfaces", interface_twice),
    Rule(Code.PLACEMENT_GROUP, "spec placementGroupSelector", no_placement_group),
    Rule(Code.PLACEMENT_GROUP, "spec placementGroupSelector", placement_group_twice),
    Rule(Code.EMPTY_TAG, "spec tags", empty_tag_key),
    *(Rule(Code.KARPENTERS_TAG, "spec tags", partial(tag_of_karpenter, tag)) for tag in _KARPENTER_TAGS),
    Rule(Code.KARPENTERS_TAG, "spec tags", tag_of_the_cluster),
)
"""Each rule of the CRD, at the path where it stands there."""
