"""Conversion of a node class to an EC2NodeClass spec: image, identity, selectors, disks and user data."""

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path, PurePath

from gpupool.blueprint.merge import merge, remove_nulls
from gpupool.blueprint.nodeclass import AMI, AMITerm, BlueprintNodeClass, Disk, NodeClassFields
from gpupool.codes import Code
from gpupool.expansion.causes import add_causes, collect_causes
from gpupool.expansion.problem import Problem, warning
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, Location
from gpupool.profiles.folders import is_allowed_user_data
from gpupool.shapes.fields import LocatedItems
from gpupool.yamlio.located import Located, YamlValue, leaf, listing, mapping, text_of, tree

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

_EXPANDED = frozenset(
    row.key
    for row in (
        NodeClassFields.metadata, NodeClassFields.ami, NodeClassFields.subnets, NodeClassFields.disk,
        NodeClassFields.security_groups, NodeClassFields.reservations, NodeClassFields.os_disk,
        NodeClassFields.user_data, NodeClassFields.role, NodeClassFields.instance_profile,
        BlueprintNodeClass.external,
    )
)  # fmt: skip
"""Fields that a function here converts; all others are copied."""

DISCOVERY_TAG = "karpenter.sh/discovery"

_ROOT = {"AL2": "/dev/xvda", "AL2023": "/dev/xvda"}
_WINDOWS_ROOT = "/dev/sda1"
_OS_DEVICE, _DATA_DEVICE = "/dev/xvda", "/dev/xvdb"
_OS_SIZE = "4Gi"


def build_class_spec(
    class_fields: NodeClassFields, target: TargetCluster, findings: list[Finding]
) -> Located:
    """Build the EC2NodeClass spec of a node class; errors are added to `findings`.

    The fields contain explicit `null`s: in a disk they remove a default.
    """
    here = class_fields.here
    # A class whose fields are all null has none.
    fields = NodeClassFields(tree(dict(mapping(remove_nulls(here))), here))
    disks = class_fields.disk, class_fields.os_disk
    spec: dict[str, Located] = {}
    has_image = _add_part(spec, findings, lambda: _expand_image(fields))
    _add_part(spec, findings, lambda: _expand_identity(fields, target))
    _add_part(spec, findings, lambda: _expand_selectors(fields, target))
    if has_image:  # the names of devices depend on it
        _add_part(spec, findings, lambda: _expand_devices(fields, *disks))
    _add_part(spec, findings, lambda: _expand_user_data(fields))
    spec |= _copy_fields(fields, spec)
    findings += _check_driver_install(spec.get(NodeClassFields.user_data.key), _alias(fields))
    alias = find_latest_alias(fields)
    if alias and has_image:
        message = f"`{alias.value}` replaces every node of the class on each new image"
        findings.append(warning(Code.LATEST_IMAGE, message, alias, "pin a release, as in `al2023@v20260810`"))
    return tree(dict(spec), here)


def _add_part(
    spec: dict[str, Located], findings: list[Finding], build: Callable[[], dict[str, Located]]
) -> bool:
    """Add the fields that `build` returns, or its problem to the findings; return whether it had none."""
    try:
        spec |= build()
    except Problem as problem:
        findings.append(problem.finding)
        return False
    return True


def _copy_fields(fields: NodeClassFields, spec: Mapping[str, Located]) -> dict[str, Located]:
    """Return the fields that Karpenter has as they are, and those that the table only names differently."""
    copied: dict[str, Located] = {}
    for key, node in fields.entries().items():
        if key in _EXPANDED or key in spec:
            continue
        row = NodeClassFields.rows.get(key)
        name, *inner = row.to.split(".") if row is not None and row.to else [key]
        value = node if row is None or row.convert is None else row.convert(node)
        for step in reversed(inner):
            value = tree({step: value}, node)
        copied[name] = merge(copied[name], value) if name in copied else value
    return copied


def find_ami_family(fields: NodeClassFields) -> str:
    """Return the AMI family of a node class; empty where it is unknown."""
    # An alias in upper case is reported elsewhere; its family is clear.
    return text_of(fields.ami_family) or _ALIAS_FAMILIES.get(_alias(fields).partition("@")[0].lower(), "")


def find_family_causes(fields: NodeClassFields) -> tuple[Located, ...]:
    """Return the fields of a node class that determine its AMI family."""
    rows = (NodeClassFields.ami_family, NodeClassFields.ami, NodeClassFields.ami_selector_terms)
    return collect_causes(*(fields.get(row.key) for row in rows))


def find_latest_alias(fields: NodeClassFields) -> Located | None:
    """Return the image alias of a node class where it ends with `@latest`."""
    node = _alias_node(fields)
    return node if node is not None and str(node.value).endswith("@latest") else None


def _alias_node(fields: NodeClassFields) -> Located | None:
    for ami in fields.ami[:1]:
        return ami.node if "@" in text_of(ami.node) else None
    terms = fields.ami_selector_terms.values
    return AMITerm(terms[0]).alias if terms else None


def _alias(fields: NodeClassFields) -> str:
    return text_of(_alias_node(fields))


def _expand_image(fields: NodeClassFields) -> dict[str, Located]:
    node = _expand_image_terms(fields)
    terms = {NodeClassFields.ami_selector_terms.key: node}
    if fields.ami_family is not None:
        return {NodeClassFields.ami_family.key: fields.ami_family, **terms}
    if not find_ami_family(fields):
        fix = "set the family, as in `amiFamily: AL2023`, `Bottlerocket` or `Custom`"
        message = "`amiFamily` is missing; it is required where `ami` is not an alias"
        raise Problem(Code.IMAGE, message, node, fix)
    return terms


def _expand_image_terms(fields: NodeClassFields) -> Located:
    own, setting = fields.ami_selector_terms.node, fields.get(NodeClassFields.ami.key)
    if setting is not None:
        return listing([_expand_image_term(item) for item in fields.ami], setting)
    if own is None:
        fix = "set it, as in `ami: al2023@v20260810`; `al2023@latest` replaces all nodes on each release"
        raise Problem(Code.IMAGE, "`ami` is missing: the node class has no image", fields.here, fix)
    return own


def _expand_image_term(ami: AMI) -> Located:
    item = ami.here
    if not isinstance(item.value, str):
        return tree({key: ami.get(key) for key in AMI.rows}, item)
    if item.value.startswith("ami-"):
        return tree({AMI.id.key: item}, item)
    alias, separator, version = item.value.partition("@")
    if alias not in _ALIAS_FAMILIES:
        raise Problem(Code.IMAGE, *_describe_invalid_image(alias, version, item))
    if not separator:
        fix = f"did you mean `{_suggest_alias(alias, '')}`?"
        raise Problem(Code.IMAGE, f"the image alias `{alias}` has no version", item, fix)
    return tree({AMITerm.alias.key: item}, item)


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


def _expand_identity(fields: NodeClassFields, target: TargetCluster) -> dict[str, Located]:
    role, key = fields.role, NodeClassFields.role.key
    if fields.instance_profile is not None:
        return {NodeClassFields.instance_profile.key: fields.instance_profile}
    if role is None:
        name = target.name
        if name is None:
            raise _missing_name_error(fields, target)
        return {key: leaf(f"KarpenterNodeRole-{name.value}", name, "built-in, from cluster.name")}
    if role.value.startswith("arn:"):
        fix = f"set `role: {role.value.rpartition('/')[2]}`"
        raise Problem(Code.IDENTITY, "`role` must be a name, but this is an ARN", role, fix)
    return {key: role}


def _expand_selectors(fields: NodeClassFields, target: TargetCluster) -> dict[str, Located]:
    subnets = _expand_terms(fields.subnets) or fields.subnet_selector_terms.node
    groups = _expand_terms(fields.security_groups) or fields.security_group_selector_terms.node
    reservations = _expand_terms(fields.reservations) or fields.capacity_reservation_selector_terms.node
    if subnets is None or groups is None:
        discovered = _build_discovery_terms(fields, target)
        subnets, groups = subnets or discovered, groups or discovered
    terms = {
        NodeClassFields.subnet_selector_terms.key: subnets,
        NodeClassFields.security_group_selector_terms.key: groups,
    }
    if reservations is not None:
        terms[NodeClassFields.capacity_reservation_selector_terms.key] = reservations
    return terms


def _expand_terms(setting: LocatedItems[YamlValue]) -> Located | None:
    return None if setting.node is None else listing([_build_term(item) for item in setting], setting.node)


def _build_term(item: Located) -> Located:
    return tree({"tags": item} if isinstance(item.value, dict) else {"id": item}, item)


def _missing_name_error(fields: NodeClassFields, target: TargetCluster) -> Problem:
    """Return the error for a blueprint without a cluster name; it is reported once."""
    message = "`cluster.name` is missing: the node role, subnets and security groups are found by it"
    setting = "`name: my-cluster` under `cluster`" if target else "`cluster: {name: my-cluster}`"
    fix = f"set {setting}, or `role`, `subnets` and `securityGroups` of each node class"
    return Problem(Code.IDENTITY, message, target.node or fields.here, fix)


def _build_discovery_terms(fields: NodeClassFields, target: TargetCluster) -> Located:
    name = target.name
    if name is None:
        raise _missing_name_error(fields, target)
    tag = leaf(name.value, name, "built-in, from cluster.name")
    return listing([tree({"tags": tree({DISCOVERY_TAG: tag}, name)}, name)], name)


def _expand_devices(fields: NodeClassFields, disk: Disk, os_disk: Disk) -> dict[str, Located]:
    own, key = fields.block_device_mappings, NodeClassFields.block_device_mappings.key
    if own is not None:
        return {key: own}
    devices = _build_block_devices(disk, os_disk, find_ami_family(fields))
    return {} if devices is None else {key: add_causes(devices, find_family_causes(fields))}


def _expand_user_data(fields: NodeClassFields) -> dict[str, Located]:
    node, file = fields.user_data.node, fields.user_data.file
    if node is None:
        return {}
    if file is not None:
        node = Located(_read_user_data(file), Location(file.at.file, file.at.line, file.at.column), node.key)
    if _has_only_comments(str(node.value)):
        fix = "remove it or add a command; the images already have the driver and the container toolkit"
        message = "a user data script of comments only is read as node configuration, and the node can't join"
        raise Problem(Code.USER_DATA, message, node, fix)
    return {NodeClassFields.user_data.key: node}


def _check_driver_install(script: Located | None, alias: str) -> Iterator[Finding]:
    """Yield a warning for user data that installs a GPU driver although the image contains one."""
    lines = str(script.value).splitlines() if script is not None and alias else []
    if script is not None and any(_INSTALLS_DRIVER.search(line.partition("#")[0]) for line in lines):
        message = f"the script installs an NVIDIA driver, but `{alias}` has one; two break the GPUs"
        fix = "remove the line; for another driver, use your own image"
        yield warning(Code.USER_DATA, message, script, fix)


def _read_user_data(file: Located[str]) -> str:
    path = Path(PurePath(file.at.file).parent, file.value)
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


def _build_block_devices(disk: Disk, os_disk: Disk, family: str) -> Located | None:
    """Build the block device mappings of `disk` and `osDisk`; None where neither is set.

    Raises:
        Problem: where the family does not support the disk, or its device name is unknown.
    """
    if family == "Bottlerocket":
        return _build_bottlerocket_devices(disk, os_disk)
    if os_disk:
        message = f"`osDisk` is for Bottlerocket only, and this is {_describe_family(family)}"
        raise Problem(Code.DISK, message, os_disk.here, "set `disk`, which is the root volume here")
    if not disk:
        return None
    return listing([_build_mapping(_root_device(family, disk.here), disk.here)], disk.here)


def _describe_family(family: str) -> str:
    return f"an image of family {family}" if family else "an image of unknown family"


def _root_device(family: str, disk: Located) -> str:
    device = _WINDOWS_ROOT if family.startswith("Windows") else _ROOT.get(family)
    if device is None:
        fix = "set `blockDeviceMappings` with the image's device names"
        raise Problem(Code.DISK, f"the root device of {_describe_family(family)} is unknown", disk, fix)
    return device


def _build_bottlerocket_devices(disk: Disk, os_disk: Disk) -> Located | None:
    """Build the system volume and the data volume: any mapping replaces all defaults of the family."""
    if not disk:
        if not os_disk:
            return None
        return listing([_build_mapping(_OS_DEVICE, os_disk.here, _OS_SIZE)], os_disk.here)
    data = disk.here
    system = os_disk.here if os_disk else Located({}, data.at, data.key)
    return listing([_build_mapping(_OS_DEVICE, system, _OS_SIZE), _build_mapping(_DATA_DEVICE, data)], data)


def _build_mapping(device: str, disk: Located, size: str | None = None) -> Located:
    note = "built-in of disk"
    values = {key: row.default for key, row in Disk.rows.items() if row.default is not None}
    if size is not None:
        values[Disk.size.key] = size
    defaults: dict[str, Located | None] = {key: leaf(value, disk, note) for key, value in values.items()}
    fields = Disk(remove_nulls(merge(tree(defaults, disk), disk)))
    ebs = {row.to: fields.get(key) for key, row in Disk.rows.items()}
    return tree({"deviceName": leaf(device, disk, note), "ebs": tree(ebs, disk)}, disk)
