"""`disk` and `osDisk` become block device mappings, on the devices of the AMI family."""

from gpupool.blueprint.merge import merge, settled
from gpupool.codes import Code
from gpupool.expansion.problem import Problem
from gpupool.yamlio.nodes import Node, Scalar, find, leaf, listing, mapping, tree

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
_BUILT_IN: dict[str, Scalar] = {"type": "gp3", "encrypted": True, "deleteOnTermination": True}


def block_devices(words: Node, family: str) -> Node | None:
    """Give the mappings that a class' `disk` and `osDisk` say; None where neither is there.

    Raises:
        Problem: where the family has no such disk, or no device that is known.
    """
    disk, os_disk = find(words, "disk"), find(words, "osDisk")
    if family == "Bottlerocket":
        return _bottlerocket(disk, os_disk)
    if os_disk is not None:
        message = f"`osDisk` is for Bottlerocket only, and this is {_named(family)}"
        raise Problem(Code.DISK, message, os_disk, "set `disk`, which is the root volume here")
    return None if disk is None else listing([_mapping(_root_device(family, disk), disk)], disk)


def _named(family: str) -> str:
    return f"an image of family {family}" if family else "an image of unknown family"


def _root_device(family: str, disk: Node) -> str:
    device = _WINDOWS_ROOT if family.startswith("Windows") else _ROOT.get(family)
    if device is None:
        fix = "set `blockDeviceMappings` with the image's device names"
        raise Problem(Code.DISK, f"the root device of {_named(family)} is unknown", disk, fix)
    return device


def _bottlerocket(disk: Node | None, os_disk: Node | None) -> Node | None:
    """Write the system volume out beside the data volume: any mapping replaces all of the family's own."""
    if disk is None:
        return None if os_disk is None else listing([_mapping(_OS_DEVICE, os_disk, _OS_SIZE)], os_disk)
    system = os_disk if os_disk is not None else Node({}, disk.at, disk.key)
    return listing([_mapping(_OS_DEVICE, system, _OS_SIZE), _mapping(_DATA_DEVICE, disk)], disk)


def _mapping(device: str, disk: Node, size: str | None = None) -> Node:
    note = "built-in of disk"
    under: dict[str, Node | None] = {key: leaf(value, disk, note) for key, value in _BUILT_IN.items()}
    if size is not None:
        under["size"] = leaf(size, disk, note)
    said = mapping(settled(merge(tree(under, disk), disk)))
    ebs = {_FIELDS[key]: said[key] for key in _FIELDS if key in said}
    return tree({"deviceName": leaf(device, disk, note), "ebs": tree(dict(ebs), disk)}, disk)
