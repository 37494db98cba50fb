"""Conversion of a node class to an EC2NodeClass spec: image, identity, selectors, disks and user data."""

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path, PurePath

from gpupool.blueprint.merge import merge, remove_nulls
from gpupool.codes import Code
from gpupool.expansion.causes import add_causes, collect_causes
from gpupool.expansion.problem import Problem, warning
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, Location
from gpupool.profiles.folders import is_allowed_user_data
from gpupool.yamlio.located import Located, Scalar, find, items, leaf, listing, mapping, text_at, tree

_SELECTORS = {
    "subnets": "subnetSelectorTerms",
    "securityGroups": "securityGroupSelectorTerms",
    "reservations": "capacityReservationSelectorTerms",
}
_CONVERTED_FIELDS = {
    *_SELECTORS,
    "ami",
    "disk",
    "osDisk",
    "metadata",
    "external",
    "userData",
    "role",
    "instanceProfile",
}
_ALIAS_FAMILIES = {
    "al2": "AL2", "al2023": "AL2023", "bottlerocket": "Bottlerocket",
    "windows2019": "Windows2019", "windows2022": "Windows2022", "windows2025": "Windows2025",
}  # fmt: skip
_EXAMPLES = {"bottlerocket": "v1.50.0"}
_EXAMPLE = "v20260810"
"""Examples of a pinned version: of Bottlerocket, and of all other families."""

_INSTALLS_DRIVER = re.compile(r"\binstall\b.*\b(nvidia-(driver|open)|cuda-drivers)|NVIDIA-Linux-\S*\.run")
MAX_USER_DATA = 16 * 1024
"""EC2's limit, in bytes."""

DISCOVERY_TAG = "karpenter.sh/discovery"

_ROOT = {"AL2": "/dev/xvda", "AL2023": "/dev/xvda"}
_WINDOWS_ROOT = "/dev/sda1"
_OS_DEVICE, _DATA_DEVICE = "/dev/xvda", "/dev/xvdb"
_OS_SIZE = "4Gi"
_DISK_FIELDS = {
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
"""The field of EBS for each field of `disk`."""

_DISK_DEFAULTS: dict[str, Scalar] = {"type": "gp3", "encrypted": True, "deleteOnTermination": True}


def build_class_spec(fields: Located, target: TargetCluster, findings: list[Finding]) -> Located:
    """Build the EC2NodeClass spec of a node class; errors are added to `findings`.

    `fields` contains explicit `null`s: in a disk they remove a default.
    """
    disks = {
        key: node for key in ("disk", "osDisk") if (node := find(fields, key)) and node.value is not None
    }
    fields = tree({**mapping(remove_nulls(fields)), **disks}, fields)
    spec: dict[str, Located] = {}
    failed: list[Callable[[Located, TargetCluster], dict[str, Located]]] = []
    for build in (_expand_image, _expand_identity, _expand_selectors, _expand_devices, _expand_user_data):
        if build is _expand_devices and _expand_image in failed:
            continue  # the names of devices depend on the image
        try:
            spec |= build(fields, target)
        except Problem as problem:
            failed.append(build)
            findings.append(problem.finding)
    spec |= {
        key: node for key, node in mapping(fields).items() if key not in _CONVERTED_FIELDS and key not in spec
    }
    findings += _check_driver_install(spec.get("userData"), _alias(fields))
    alias = find_latest_alias(fields)
    if alias and _expand_image not in failed:
        message = f"`{alias.value}` replaces every node of the class on each new image"
        findings.append(warning(Code.LATEST_IMAGE, message, alias, "pin a release, as in `al2023@v20260810`"))
    return tree(dict(spec), fields)


def find_ami_family(fields: Located | None) -> str:
    """Return the AMI family of a node class; empty where it is unknown."""
    ami_family = text_at(fields, "amiFamily")
    # An alias in upper case is reported elsewhere; its family is clear.
    return ami_family or _ALIAS_FAMILIES.get(_alias(fields).partition("@")[0].lower(), "")


def find_family_causes(fields: Located | None) -> tuple[Located, ...]:
    """Return the fields of a node class that determine its AMI family."""
    return collect_causes(*(find(fields, key) for key in ("amiFamily", "ami", "amiSelectorTerms")))


def find_latest_alias(fields: Located) -> Located | None:
    """Return the image alias of a node class where it ends with `@latest`."""
    node = _alias_node(fields)
    return node if node is not None and str(node.value).endswith("@latest") else None


def _alias_node(fields: Located | None) -> Located | None:
    ami = find(fields, "ami")
    if ami is not None:
        ami = (items(ami) or [ami])[0]
        return ami if isinstance(ami.value, str) and "@" in ami.value else None
    terms = items(find(fields, "amiSelectorTerms"))
    return find(terms[0], "alias") if terms else None


def _alias(fields: Located | None) -> str:
    node = _alias_node(fields)
    return str(node.value) if node is not None else ""


def _expand_image(fields: Located, _target: TargetCluster) -> dict[str, Located]:
    terms, ami_family = _expand_image_terms(fields), find(fields, "amiFamily")
    if ami_family is not None:
        return {"amiFamily": ami_family, "amiSelectorTerms": terms}
    if not find_ami_family(fields):
        fix = "set the family, as in `amiFamily: AL2023`, `Bottlerocket` or `Custom`"
        raise Problem(
            Code.IMAGE, "`amiFamily` is missing; it is required where `ami` is not an alias", terms, fix
        )
    return {"amiSelectorTerms": terms}


def _expand_image_terms(fields: Located) -> Located:
    own, ami = find(fields, "amiSelectorTerms"), find(fields, "ami")
    if ami is not None:
        return listing([_expand_image_term(item) for item in items(ami) or [ami]], ami)
    if own is None:
        fix = "set it, as in `ami: al2023@v20260810`; `al2023@latest` replaces all nodes on each release"
        raise Problem(Code.IMAGE, "`ami` is missing: the node class has no image", fields, fix)
    return own


def _expand_image_term(item: Located) -> Located:
    if not isinstance(item.value, str):
        return tree(
            {key: mapping(item).get(key) for key in ("id", "name", "owner", "tags", "ssmParameter")}, item
        )
    if item.value.startswith("ami-"):
        return tree({"id": item}, item)
    alias, separator, version = item.value.partition("@")
    if alias not in _ALIAS_FAMILIES:
        raise Problem(Code.IMAGE, *_describe_invalid_image(alias, version, item))
    if not separator:
        fix = f"did you mean `{_suggest_alias(alias, '')}`?"
        raise Problem(Code.IMAGE, f"the image alias `{alias}` has no version", item, fix)
    return tree({"alias": item}, item)


def _describe_invalid_image(alias: str, version: str, item: Located) -> tuple[str, Located, str]:
    """Return the message, location and fix for an invalid image name."""
    matches = get_close_matches(alias.lower(), _ALIAS_FAMILIES, n=1, cutoff=0.8)
    if matches:
        return (
            f"unknown image alias `{item.value}`",
            item,
            f"did you mean `{_suggest_alias(matches[0], version)}`?",
        )
    fix = "set an alias (`al2023@v20260810`), an id (`ami-0123456789abcdef0`), or `{name: …, owner: …}`"
    return f"`{item.value}` is neither an image alias nor an image id", item, fix


def _suggest_alias(alias: str, version: str) -> str:
    if alias.startswith("windows"):
        return f"{alias}@latest"
    is_pinned = version not in {"", "latest"}
    return f"{alias}@{version if is_pinned else _EXAMPLES.get(alias, _EXAMPLE)}"


def _expand_identity(fields: Located, target: TargetCluster) -> dict[str, Located]:
    profile, role = find(fields, "instanceProfile"), find(fields, "role")
    if profile is not None:
        return {"instanceProfile": profile}
    if role is None:
        name = target.find("name")
        if name is None:
            raise _missing_name_error(fields, target)
        return {"role": leaf(f"KarpenterNodeRole-{name.value}", name, "built-in, from cluster.name")}
    if str(role.value).startswith("arn:"):
        fix = f"set `role: {str(role.value).rpartition('/')[2]}`"
        raise Problem(Code.IDENTITY, "`role` must be a name, but this is an ARN", role, fix)
    return {"role": role}


def _expand_selectors(fields: Located, target: TargetCluster) -> dict[str, Located]:
    terms = {}
    for key, field in _SELECTORS.items():
        own, setting = find(fields, field), find(fields, key)
        if setting is not None:
            terms[field] = listing([_build_term(item) for item in _listed(setting)], setting)
        elif own is not None:
            terms[field] = own
        elif key != "reservations":
            terms[field] = _build_discovery_terms(fields, target)
    return terms


def _listed(setting: Located) -> list[Located]:
    return items(setting) if isinstance(setting.value, list) else [setting]


def _build_term(item: Located) -> Located:
    return tree({"tags": item} if isinstance(item.value, dict) else {"id": item}, item)


def _missing_name_error(fields: Located, target: TargetCluster) -> Problem:
    """Return the error for a blueprint without a cluster name; it is reported once."""
    message = "`cluster.name` is missing: the node role, subnets and security groups are found by it"
    setting = "`name: my-cluster` under `cluster`" if target.node else "`cluster: {name: my-cluster}`"
    fix = f"set {setting}, or `role`, `subnets` and `securityGroups` of each node class"
    return Problem(Code.IDENTITY, message, target.node or fields, fix)


def _build_discovery_terms(fields: Located, target: TargetCluster) -> Located:
    name = target.find("name")
    if name is None:
        raise _missing_name_error(fields, target)
    tag = leaf(name.value, name, "built-in, from cluster.name")  # type: ignore[arg-type] # a name is a text
    return listing([tree({"tags": tree({DISCOVERY_TAG: tag}, name)}, name)], name)


def _expand_devices(fields: Located, _target: TargetCluster) -> dict[str, Located]:
    own = find(fields, "blockDeviceMappings")
    if own is not None:
        return {"blockDeviceMappings": own}
    devices = _build_block_devices(fields, find_ami_family(fields))
    if devices is None:
        return {}
    return {"blockDeviceMappings": add_causes(devices, find_family_causes(fields))}


def _expand_user_data(fields: Located, _target: TargetCluster) -> dict[str, Located]:
    node = find(fields, "userData")
    if node is None:
        return {}
    file = find(node, "file")
    if file is not None:
        node = Located(_read_user_data(file), Location(file.at.file, file.at.line, file.at.column), node.key)
    if _has_only_comments(str(node.value)):
        fix = "remove it or add a command; the images already have the driver and the container toolkit"
        message = "a user data script of comments only is read as node configuration, and the node can't join"
        raise Problem(Code.USER_DATA, message, node, fix)
    return {"userData": node}


def _check_driver_install(script: Located | None, alias: str) -> Iterator[Finding]:
    """Yield a warning for user data that installs a GPU driver although the image contains one."""
    lines = str(script.value).splitlines() if script is not None and alias else []
    if script is not None and any(_INSTALLS_DRIVER.search(line.partition("#")[0]) for line in lines):
        message = f"the script installs an NVIDIA driver, but `{alias}` has one; two break the GPUs"
        fix = "remove the line; for another driver, use your own image"
        yield warning(Code.USER_DATA, message, script, fix)


def _read_user_data(file: Located) -> str:
    path = Path(PurePath(file.at.file).parent, str(file.value))
    if not is_allowed_user_data(str(path), file.at.file):
        message = "the path is outside the blueprint's and the working folder, or is a hidden file"
        fix = "move the file next to the blueprint, or allow its folder with `--profiles DIR`"
        raise Problem(Code.USER_DATA, message, file, fix)
    try:
        with path.open("rb") as opened:
            text = opened.read(MAX_USER_DATA + 1)
        if len(text) > MAX_USER_DATA:
            message = f"the user data file has more than {MAX_USER_DATA // 1024} KiB, which EC2 rejects"
            raise Problem(Code.USER_DATA, message, file, "shorten it; a script can download the rest at boot")
        return text.decode("utf-8")
    except (OSError, ValueError) as problem:  # a ValueError is invalid UTF-8, or an invalid file name
        reason = getattr(problem, "strerror", None) or "not UTF-8 text, or an invalid file name"
        raise Problem(Code.USER_DATA, f"can't read the user data file: {reason}", file) from None


def _has_only_comments(script: str) -> bool:
    lines = [line.strip() for line in script.splitlines()]
    return script.startswith("#!") and not any(line and not re.match("#", line) for line in lines)


def _build_block_devices(fields: Located, family: str) -> Located | None:
    """Build the block device mappings of `disk` and `osDisk`; None where neither is set.

    Raises:
        Problem: where the family does not support the disk, or its device name is unknown.
    """
    disk, os_disk = find(fields, "disk"), find(fields, "osDisk")
    if family == "Bottlerocket":
        return _build_bottlerocket_devices(disk, os_disk)
    if os_disk is not None:
        message = f"`osDisk` is for Bottlerocket only, and this is {_describe_family(family)}"
        raise Problem(Code.DISK, message, os_disk, "set `disk`, which is the root volume here")
    return None if disk is None else listing([_build_mapping(_root_device(family, disk), disk)], disk)


def _describe_family(family: str) -> str:
    return f"an image of family {family}" if family else "an image of unknown family"


def _root_device(family: str, disk: Located) -> str:
    device = _WINDOWS_ROOT if family.startswith("Windows") else _ROOT.get(family)
    if device is None:
        fix = "set `blockDeviceMappings` with the image's device names"
        raise Problem(Code.DISK, f"the root device of {_describe_family(family)} is unknown", disk, fix)
    return device


def _build_bottlerocket_devices(disk: Located | None, os_disk: Located | None) -> Located | None:
    """Build the system volume and the data volume: any mapping replaces all defaults of the family."""
    if disk is None:
        return None if os_disk is None else listing([_build_mapping(_OS_DEVICE, os_disk, _OS_SIZE)], os_disk)
    system = os_disk if os_disk is not None else Located({}, disk.at, disk.key)
    return listing([_build_mapping(_OS_DEVICE, system, _OS_SIZE), _build_mapping(_DATA_DEVICE, disk)], disk)


def _build_mapping(device: str, disk: Located, size: str | None = None) -> Located:
    note = "built-in of disk"
    defaults: dict[str, Located | None] = {
        key: leaf(value, disk, note) for key, value in _DISK_DEFAULTS.items()
    }
    if size is not None:
        defaults["size"] = leaf(size, disk, note)
    fields = mapping(remove_nulls(merge(tree(defaults, disk), disk)))
    ebs = {_DISK_FIELDS[key]: fields[key] for key in _DISK_FIELDS if key in fields}
    return tree({"deviceName": leaf(device, disk, note), "ebs": tree(dict(ebs), disk)}, disk)
