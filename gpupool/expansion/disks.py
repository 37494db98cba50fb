"""`disk` and `osDisk` become block device mappings, on the devices of the AMI family."""

from gpupool.blueprint.merge import merge, settled
from gpupool.expansion.problem import Problem
from gpupool.yamlio.nodes import Node, find, leaf, listing, mapping, tree

_ROOT = {"AL2": "/dev/xvda", "AL2023": "/dev/xvda"}
_WINDOWS_ROOT = "/dev/sda1"
_OS_DEVICE, _DATA_DEVICE = "/dev/xvda", "/dev/xvdb"
_OS_SIZE = "4Gi"
_FIELDS = {
    "size": "volumeSize",
    "type": "volumeType",
    "iops": "iops",
    "throughput": "throughput",
    "encrypted": "encrypted",
    "kmsKeyID": "kmsKeyID",
    "snapshotID": "snapshotID",
    "deleteOnTermination": "deleteOnTermination",
    "volumeInitializationRate": "volumeInitializationRate",
}
_BUILT_IN = {"type": "gp3", "encrypted": True, "deleteOnTermination": True}


def block_devices(words: Node, family: str) -> Node | None:
    """Give the mappings that a class' `disk` and `osDisk` say; None where neither is there.

    Raises:
        Problem: where the family has no such disk, or no device that is known.
    """
    disk, os_disk = find(words, "disk"), find(words, "osDisk")
    if disk is None and os_disk is None:
        return None
    if family == "Bottlerocket":
        return _bottlerocket(disk, os_disk)
    if os_disk is not None:
        fix = "say `disk`; it is the root volume there"
        raise Problem("GP0034", f"`osDisk` is Bottlerocket's, and the image is {family or 'unknown'}", os_disk, fix)
    cause = disk or words
    device = _WINDOWS_ROOT if family.startswith("Windows") else _ROOT.get(family)
    if device is None:
        fix = "say `blockDeviceMappings`, with the image's own device names"
        raise Problem("GP0034", f"the root device of a {family or 'unknown'} image is not known", cause, fix)
    return listing([_mapping(device, cause)], cause)


def _bottlerocket(disk: Node | None, os_disk: Node | None) -> Node:
    made, cause = [], disk or os_disk
    if os_disk is not None:
        made.append(_mapping(_OS_DEVICE, os_disk, _OS_SIZE))
    elif disk is not None:
        made.append(_mapping(_OS_DEVICE, Node({}, disk.at, disk.key), _OS_SIZE))
    if disk is not None:
        made.append(_mapping(_DATA_DEVICE, disk))
    assert cause is not None  # noqa: S101 - one of the two is there, the caller saw to it
    return listing(made, cause)


def _mapping(device: str, disk: Node, size: str | None = None) -> Node:
    note = "built-in of disk"
    under: dict[str, Node | None] = {key: leaf(value, disk, note) for key, value in _BUILT_IN.items()}
    if size is not None:
        under["size"] = leaf(size, disk, note)
    said = mapping(settled(merge(tree(under, disk), disk)))
    ebs = {_FIELDS[key]: said[key] for key in _FIELDS if key in said}
    return tree({"deviceName": leaf(device, disk, note), "ebs": tree(dict(ebs), disk)}, disk)
