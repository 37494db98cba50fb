"""The words of one node class become an EC2NodeClass spec."""

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path, PurePath

from gpupool.blueprint.merge import settled
from gpupool.codes import Code
from gpupool.expansion.disks import block_devices
from gpupool.expansion.problem import Problem, warning
from gpupool.expansion.target import Target
from gpupool.findings import Finding, Location
from gpupool.profiles.folders import may_be_user_data
from gpupool.yamlio.nodes import Node, find, items, leaf, listing, mapping, text_at, tree

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
MOST_USER_DATA = 16 * 1024
"""EC2's own limit, in bytes."""

DISCOVERY_TAG = "karpenter.sh/discovery"


def class_spec(words: Node, target: Target, found: list[Finding]) -> Node:
    """Give the EC2NodeClass spec that a class' words say; mistakes go to `found`.

    `words` still holds its `null`s: in a disk they leave a built-in value out.
    """
    disks = {key: node for key in ("disk", "osDisk") if (node := find(words, key)) and node.value is not None}
    words = tree({**mapping(settled(words)), **disks}, words)
    made: dict[str, Node] = {}
    wrong: list[Callable[[Node, Target], dict[str, Node]]] = []
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
    alias = latest_alias(words)
    if alias and _image not in wrong:
        message = f"`{alias.value}` replaces every node of the class on each new image"
        found.append(warning(Code.LATEST_IMAGE, message, alias, "pin a release, as in `al2023@v20260810`"))
    return tree(dict(made), words)


def family(words: Node | None) -> str:
    """Give the AMI family of a class, as EC2NodeClass spells it; empty where nothing tells."""
    said = text_at(words, "amiFamily")
    # Capitals are an error of their own; which family is meant is clear all the same.
    return said or _ALIAS_FAMILIES.get(_alias(words).partition("@")[0].lower(), "")


def latest_alias(words: Node) -> Node | None:
    """Give the place where a class asks for `@latest`, if it does."""
    node = _alias_node(words)
    return node if node is not None and str(node.value).endswith("@latest") else None


def _alias_node(words: Node | None) -> Node | None:
    ami = find(words, "ami")
    if ami is not None:
        ami = (items(ami) or [ami])[0]
        return ami if isinstance(ami.value, str) and "@" in ami.value else None
    terms = items(find(words, "amiSelectorTerms"))
    return find(terms[0], "alias") if terms else None


def _alias(words: Node | None) -> str:
    node = _alias_node(words)
    return str(node.value) if node is not None else ""


def _image(words: Node, _target: Target) -> dict[str, Node]:
    terms, said_family = _image_terms(words), find(words, "amiFamily")
    if said_family is not None:
        return {"amiFamily": said_family, "amiSelectorTerms": terms}
    if not family(words):
        fix = "set the family, as in `amiFamily: AL2023`, `Bottlerocket` or `Custom`"
        raise Problem(
            Code.IMAGE, "`amiFamily` is missing; it is required where `ami` is not an alias", terms, fix
        )
    return {"amiSelectorTerms": terms}


def _image_terms(words: Node) -> Node:
    own, ami = find(words, "amiSelectorTerms"), find(words, "ami")
    if ami is not None:
        return listing([_image_term(item) for item in items(ami) or [ami]], ami)
    if own is None:
        fix = "set it, as in `ami: al2023@v20260810`; `al2023@latest` replaces all nodes on each release"
        raise Problem(Code.IMAGE, "`ami` is missing: the node class has no image", words, fix)
    return own


def _image_term(item: Node) -> Node:
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


def _no_alias(said: str, version: str, item: Node) -> tuple[str, Node, str]:
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


def _identity(words: Node, target: Target) -> dict[str, Node]:
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


def _selectors(words: Node, target: Target) -> dict[str, Node]:
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


def _terms(said: Node) -> list[Node]:
    return items(said) if isinstance(said.value, list) else [said]


def _term(item: Node) -> Node:
    return tree({"tags": item} if isinstance(item.value, dict) else {"id": item}, item)


def _nameless(words: Node, target: Target) -> Problem:
    """Return the one mistake of a blueprint that does not name its cluster."""
    message = "`cluster.name` is missing: the node role, subnets and security groups are found by it"
    where = "`name: my-cluster` under `cluster`" if target.node else "`cluster: {name: my-cluster}`"
    fix = f"set {where}, or `role`, `subnets` and `securityGroups` of each node class"
    return Problem(Code.IDENTITY, message, target.node or words, fix)


def _discovered(words: Node, target: Target) -> Node:
    name = target.named("name")
    if name is None:
        raise _nameless(words, target)
    tag = leaf(name.value, name, "built-in, from cluster.name")  # type: ignore[arg-type] # a name is a text
    return listing([tree({"tags": tree({DISCOVERY_TAG: tag}, name)}, name)], name)


def _devices(words: Node, _target: Target) -> dict[str, Node]:
    own = find(words, "blockDeviceMappings")
    made = own if own is not None else block_devices(words, family(words))
    return {} if made is None else {"blockDeviceMappings": made}


def _user_data(words: Node, _target: Target) -> dict[str, Node]:
    node = find(words, "userData")
    if node is None:
        return {}
    file = find(node, "file")
    if file is not None:
        node = Node(_file_text(file), Location(file.at.file, file.at.line, file.at.column), node.key)
    if _only_comments(str(node.value)):
        fix = "remove it or add a command; the images already have the driver and the container toolkit"
        message = "a user data script of comments only is read as node configuration, and the node can't join"
        raise Problem(Code.USER_DATA, message, node, fix)
    return {"userData": node}


def _driver_twice(script: Node | None, alias: str) -> Iterator[Finding]:
    """Find a script, in a file or not, that installs a GPU driver over the one that an image brings."""
    lines = str(script.value).splitlines() if script is not None and alias else []
    if script is not None and any(_INSTALLS_DRIVER.search(line.partition("#")[0]) for line in lines):
        message = f"the script installs an NVIDIA driver, but `{alias}` has one; two break the GPUs"
        fix = "remove the line; for another driver, use your own image"
        yield warning(Code.USER_DATA, message, script, fix)


def _file_text(file: Node) -> str:
    path = Path(PurePath(file.at.file).parent, str(file.value))
    if not may_be_user_data(str(path), file.at.file):
        message = "the path is outside the blueprint's and the working folder, or is a hidden file"
        fix = "move the file next to the blueprint, or allow its folder with `--profiles DIR`"
        raise Problem(Code.USER_DATA, message, file, fix)
    try:
        with path.open("rb") as opened:
            text = opened.read(MOST_USER_DATA + 1)
        if len(text) > MOST_USER_DATA:
            message = f"the user data file has more than {MOST_USER_DATA // 1024} KiB, which EC2 rejects"
            raise Problem(Code.USER_DATA, message, file, "shorten it; a script can download the rest at boot")
        return text.decode("utf-8")
    except (OSError, ValueError) as problem:  # a ValueError is no UTF-8, or a name that no file can have
        reason = getattr(problem, "strerror", None) or "not UTF-8 text, or an invalid file name"
        raise Problem(Code.USER_DATA, f"can't read the user data file: {reason}", file) from None


def _only_comments(script: str) -> bool:
    lines = [line.strip() for line in script.splitlines()]
    return script.startswith("#!") and not any(line and not re.match("#", line) for line in lines)
