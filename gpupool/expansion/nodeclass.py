"""The words of one node class become an EC2NodeClass spec."""

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path, PurePath

from gpupool.blueprint.merge import merge, remove_nulls
from gpupool.codes import Code
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
_OTHER_WORDS = {
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
"""What a pinned version looks like: Bottlerocket's, and all others'."""

_INSTALLS_DRIVER = re.compile(r"\binstall\b.*\b(nvidia-(driver|open)|cuda-drivers)|NVIDIA-Linux-\S*\.run")
MAX_USER_DATA = 16 * 1024
"""EC2's own limit, in bytes."""

DISCOVERY_TAG = "karpenter.sh/discovery"


def build_class_spec(words: Located, target: TargetCluster, found: list[Finding]) -> Located:
    """Return the EC2NodeClass spec that a class' words say; mistakes go to `found`.

    `words` still holds its `null`s: in a disk they leave a built-in value out.
    """
    disks = {key: node for key in ("disk", "osDisk") if (node := find(words, key)) and node.value is not None}
    words = tree({**mapping(remove_nulls(words)), **disks}, words)
    made: dict[str, Located] = {}
    wrong: list[Callable[[Located, TargetCluster], dict[str, Located]]] = []
    for part in (_image, _identity, _selectors, _devices, _user_data):
        if part is _devices and _image in wrong:
            continue  # the names of devices depend on the image
        try:
            made |= part(words, target)
        except Problem as problem:
            wrong.append(part)
            found.append(problem.finding)
    made |= {key: node for key, node in mapping(words).items() if key not in _OTHER_WORDS and key not in made}
    found += _driver_twice(made.get("userData"), _alias(words))
    alias = find_latest_alias(words)
    if alias and _image not in wrong:
        message = f"`{alias.value}` replaces every node of the class on each new image"
        found.append(warning(Code.LATEST_IMAGE, message, alias, "pin a release, as in `al2023@v20260810`"))
    return tree(dict(made), words)


def find_ami_family(words: Located | None) -> str:
    """Return the AMI family of a class, as EC2NodeClass spells it; empty where nothing tells."""
    said = text_at(words, "amiFamily")
    # Capitals are an error of their own; which family is meant is clear all the same.
    return said or _ALIAS_FAMILIES.get(_alias(words).partition("@")[0].lower(), "")


def find_latest_alias(words: Located) -> Located | None:
    """Return the place where a class asks for `@latest`, if it does."""
    node = _alias_node(words)
    return node if node is not None and str(node.value).endswith("@latest") else None


def _alias_node(words: Located | None) -> Located | None:
    ami = find(words, "ami")
    if ami is not None:
        ami = (items(ami) or [ami])[0]
        return ami if isinstance(ami.value, str) and "@" in ami.value else None
    terms = items(find(words, "amiSelectorTerms"))
    return find(terms[0], "alias") if terms else None


def _alias(words: Located | None) -> str:
    node = _alias_node(words)
    return str(node.value) if node is not None else ""


def _image(words: Located, _target: TargetCluster) -> dict[str, Located]:
    terms, said_family = _image_terms(words), find(words, "amiFamily")
    if said_family is not None:
        return {"amiFamily": said_family, "amiSelectorTerms": terms}
    if not find_ami_family(words):
        fix = "set the family, as in `amiFamily: AL2023`, `Bottlerocket` or `Custom`"
        raise Problem(
            Code.IMAGE, "`amiFamily` is missing; it is required where `ami` is not an alias", terms, fix
        )
    return {"amiSelectorTerms": terms}


def _image_terms(words: Located) -> Located:
    own, ami = find(words, "amiSelectorTerms"), find(words, "ami")
    if ami is not None:
        return listing([_image_term(item) for item in items(ami) or [ami]], ami)
    if own is None:
        fix = "set it, as in `ami: al2023@v20260810`; `al2023@latest` replaces all nodes on each release"
        raise Problem(Code.IMAGE, "`ami` is missing: the node class has no image", words, fix)
    return own


def _image_term(item: Located) -> Located:
    if not isinstance(item.value, str):
        return tree(
            {key: mapping(item).get(key) for key in ("id", "name", "owner", "tags", "ssmParameter")}, item
        )
    if item.value.startswith("ami-"):
        return tree({"id": item}, item)
    said, at, version = item.value.partition("@")
    if said not in _ALIAS_FAMILIES:
        raise Problem(Code.IMAGE, *_no_alias(said, version, item))
    if not at:
        fix = f"did you mean `{_pinned(said, '')}`?"
        raise Problem(Code.IMAGE, f"the image alias `{said}` has no version", item, fix)
    return tree({"alias": item}, item)


def _no_alias(said: str, version: str, item: Located) -> tuple[str, Located, str]:
    """Return what is wrong with the name of an image, where, and what was probably meant."""
    near = get_close_matches(said.lower(), _ALIAS_FAMILIES, n=1, cutoff=0.8)
    if near:
        return f"unknown image alias `{item.value}`", item, f"did you mean `{_pinned(near[0], version)}`?"
    fix = "set an alias (`al2023@v20260810`), an id (`ami-0123456789abcdef0`), or `{name: …, owner: …}`"
    return f"`{item.value}` is neither an image alias nor an image id", item, fix


def _pinned(alias: str, version: str) -> str:
    if alias.startswith("windows"):
        return f"{alias}@latest"
    is_pinned = version not in {"", "latest"}
    return f"{alias}@{version if is_pinned else _EXAMPLES.get(alias, _EXAMPLE)}"


def _identity(words: Located, target: TargetCluster) -> dict[str, Located]:
    profile, role = find(words, "instanceProfile"), find(words, "role")
    if profile is not None:
        return {"instanceProfile": profile}
    if role is None:
        name = target.named("name")
        if name is None:
            raise _nameless(words, target)
        return {"role": leaf(f"KarpenterNodeRole-{name.value}", name, "built-in, from cluster.name")}
    if str(role.value).startswith("arn:"):
        fix = f"set `role: {str(role.value).rpartition('/')[2]}`"
        raise Problem(Code.IDENTITY, "`role` must be a name, but this is an ARN", role, fix)
    return {"role": role}


def _selectors(words: Located, target: TargetCluster) -> dict[str, Located]:
    made = {}
    for word, field in _SELECTORS.items():
        own, said = find(words, field), find(words, word)
        if said is not None:
            made[field] = listing([_term(item) for item in _terms(said)], said)
        elif own is not None:
            made[field] = own
        elif word != "reservations":
            made[field] = _discovered(words, target)
    return made


def _terms(said: Located) -> list[Located]:
    return items(said) if isinstance(said.value, list) else [said]


def _term(item: Located) -> Located:
    return tree({"tags": item} if isinstance(item.value, dict) else {"id": item}, item)


def _nameless(words: Located, target: TargetCluster) -> Problem:
    """Return the one mistake of a blueprint that does not name its cluster."""
    message = "`cluster.name` is missing: the node role, subnets and security groups are found by it"
    where = "`name: my-cluster` under `cluster`" if target.node else "`cluster: {name: my-cluster}`"
    fix = f"set {where}, or `role`, `subnets` and `securityGroups` of each node class"
    return Problem(Code.IDENTITY, message, target.node or words, fix)


def _discovered(words: Located, target: TargetCluster) -> Located:
    name = target.named("name")
    if name is None:
        raise _nameless(words, target)
    tag = leaf(name.value, name, "built-in, from cluster.name")  # type: ignore[arg-type] # a name is a text
    return listing([tree({"tags": tree({DISCOVERY_TAG: tag}, name)}, name)], name)


def _devices(words: Located, _target: TargetCluster) -> dict[str, Located]:
    own = find(words, "blockDeviceMappings")
    made = own if own is not None else build_block_devices(words, find_ami_family(words))
    return {} if made is None else {"blockDeviceMappings": made}


def _user_data(words: Located, _target: TargetCluster) -> dict[str, Located]:
    node = find(words, "userData")
    if node is None:
        return {}
    file = find(node, "file")
    if file is not None:
        node = Located(_file_text(file), Location(file.at.file, file.at.line, file.at.column), node.key)
    if _only_comments(str(node.value)):
        fix = "remove it or add a command; the images already have the driver and the container toolkit"
        message = "a user data script of comments only is read as node configuration, and the node can't join"
        raise Problem(Code.USER_DATA, message, node, fix)
    return {"userData": node}


def _driver_twice(script: Located | None, alias: str) -> Iterator[Finding]:
    """Find a script, in a file or not, that installs a GPU driver over the one that an image brings."""
    lines = str(script.value).splitlines() if script is not None and alias else []
    if script is not None and any(_INSTALLS_DRIVER.search(line.partition("#")[0]) for line in lines):
        message = f"the script installs an NVIDIA driver, but `{alias}` has one, and two break the GPUs"
        fix = "remove the line; for another driver, use your own image"
        yield warning(Code.USER_DATA, message, script, fix)


def _file_text(file: Located) -> str:
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
    except (OSError, ValueError) as problem:  # a ValueError is no UTF-8, or a name that no file can have
        reason = getattr(problem, "strerror", None) or "not UTF-8 text, or an invalid file name"
        raise Problem(Code.USER_DATA, f"can't read the user data file: {reason}", file) from None


def _only_comments(script: str) -> bool:
    lines = [line.strip() for line in script.splitlines()]
    return script.startswith("#!") and not any(line and not re.match("#", line) for line in lines)


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


def build_block_devices(words: Located, family: str) -> Located | None:
    """Return the mappings that a class' `disk` and `osDisk` say; None where neither is there.

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


def _root_device(family: str, disk: Located) -> str:
    device = _WINDOWS_ROOT if family.startswith("Windows") else _ROOT.get(family)
    if device is None:
        fix = "set `blockDeviceMappings` with the image's device names"
        raise Problem(Code.DISK, f"the root device of {_named(family)} is unknown", disk, fix)
    return device


def _bottlerocket(disk: Located | None, os_disk: Located | None) -> Located | None:
    """Write the system volume out beside the data volume: any mapping replaces all of the family's own."""
    if disk is None:
        return None if os_disk is None else listing([_mapping(_OS_DEVICE, os_disk, _OS_SIZE)], os_disk)
    system = os_disk if os_disk is not None else Located({}, disk.at, disk.key)
    return listing([_mapping(_OS_DEVICE, system, _OS_SIZE), _mapping(_DATA_DEVICE, disk)], disk)


def _mapping(device: str, disk: Located, size: str | None = None) -> Located:
    note = "built-in of disk"
    under: dict[str, Located | None] = {key: leaf(value, disk, note) for key, value in _BUILT_IN.items()}
    if size is not None:
        under["size"] = leaf(size, disk, note)
    said = mapping(remove_nulls(merge(tree(under, disk), disk)))
    ebs = {_FIELDS[key]: said[key] for key in _FIELDS if key in said}
    return tree({"deviceName": leaf(device, disk, note), "ebs": tree(dict(ebs), disk)}, disk)
