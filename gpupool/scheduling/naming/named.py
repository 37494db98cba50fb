"""What there is to say about the names in requirements, each at its own place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpupool.codes import Code
from gpupool.findings import Finding, Severity
from gpupool.karpenter import labels
from gpupool.scheduling.naming.names import NOUNS, State
from gpupool.yamlio.nodes import find, items, place, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.scheduling.naming.names import Names, Verdict
    from gpupool.yamlio.nodes import Node

_LOOKED_UP: Final = frozenset({*NOUNS, labels.ZONE})
"""The labels whose values a catalogue knows."""

_REQUIREMENTS: Final = {
    "NodePool": ("spec", "template", "spec", "requirements"),
    "NodeOverlay": ("spec", "requirements"),
}
_DEAD: Final = (State.SLIP, State.ODD, State.RETIRED)
_WORDS: Final = {
    labels.INSTANCE_TYPE: "types",
    labels.INSTANCE_FAMILY: "families",
    labels.INSTANCE_CATEGORY: "categories",
    labels.INSTANCE_SIZE: "sizes",
}
"""The words of a blueprint's `instances` for what a name may be instead."""

_ZONE: Final = re.compile(r"([a-z]+(?:-[a-z]+)+-[0-9]+)[a-z]")
"""The name of an ordinary zone; those of local zones have a part more."""


def in_manifest(names: Names, kind: str, body: Node) -> list[Finding]:
    """Give what is to be said of the names in an object of Karpenter's: at worst a warning."""
    path = _REQUIREMENTS.get(kind)
    name = text_at(body, "metadata", "name")
    found: list[Finding] = []
    for index, entry in enumerate(items(find(body, *path)) if path else ()):
        place_of = f"{'.'.join(path or ())}[{index}].values"
        found += (
            each._replace(object=f"{kind}/{name}", path=place_of) for each in in_requirement(names, entry)
        )
    return found


def is_looked_up(entry: Node) -> bool:
    """Say whether a requirement lists names that a catalogue knows."""
    return _label(entry) in _LOOKED_UP and text_at(entry, "operator") in ("In", "NotIn")


def in_requirement(names: Names, entry: Node, *, in_short: bool = False) -> Iterator[Finding]:
    """Give what is to be said of one of Karpenter's requirements; in a short word a slip is an error."""
    if is_looked_up(entry):
        values, shuts_out = items(find(entry, "values")), text_at(entry, "operator") == "NotIn"
        yield from of_values(names, _label(entry), values, in_short=in_short, shuts_out=shuts_out)


def of_values(
    names: Names, label: str, values: Sequence[Node], *, in_short: bool = False, shuts_out: bool = False
) -> Iterator[Finding]:
    """Give what is to be said of the values that a label may have, or may not have."""
    texts = [node for node in values if isinstance(node.value, str)]
    if label == labels.ZONE:
        yield from (each for node in texts for each in _zone(names, node))
        return
    verdicts = [names.verdict(label, str(node.value)) for node in texts]
    all_dead = all(verdict is not None and verdict.state in _DEAD for verdict in verdicts)
    for node, verdict in zip(texts, verdicts, strict=True):
        if verdict is None or (shuts_out and verdict.state is State.RETIRED):
            continue
        effect = "shuts nothing out" if shuts_out else "matches nothing"
        if all_dead and not shuts_out:
            effect += ", and neither does the pool"
        is_wrong = in_short and verdict.state in (State.SLIP, State.ODD)
        yield _finding(names, label, node, verdict, "" if is_wrong else effect)


def _label(entry: Node) -> str:
    key = text_at(entry, "key")
    return labels.ALIASES.get(key, key)


def _finding(names: Names, label: str, node: Node, verdict: Verdict, effect: str) -> Finding:
    """Say it at the value; without an effect to tell, the value is wrong and not merely useless."""
    noun, name = NOUNS[label], node.value
    fix = f"did you mean `{verdict.near}`?" if verdict.near else ""
    if fix and not effect:
        fix += " If not, say it under `requirements`"
    if verdict.state is State.RETIRED:
        message = f"EC2 has retired {noun} `{name}` by {verdict.since}, so it {effect}"
        return _said(Code.RETIRED_NAME, message, node, "take it out")
    if verdict.state is State.UNKNOWN:
        message = f"the catalogue of {names.date} has no {noun} `{name}`"
        return _said(Code.UNKNOWN_NAME, message, node, _if_new(name, verdict))
    severity = Severity.WARNING if effect else Severity.ERROR
    message = f"there is no {noun} `{name}`"
    if verdict.elsewhere:
        message = f"`{name}` is no {noun} but {_a(NOUNS[verdict.elsewhere])}"
        fix = f"say `{_where(verdict.elsewhere, in_short=not effect)}: {name}`"
    if str(name).lower() == verdict.near:
        message = f"names of machines and chips have small letters, and this is `{name}`"
    return _said(Code.MISSPELT_NAME, f"{message}, so it {effect}" if effect else message, node, fix, severity)


def _if_new(name: object, verdict: Verdict) -> str:
    if verdict.sizes:
        return f"`{str(name).partition('.')[0]}` comes in {', '.join(verdict.sizes)}"
    if verdict.near:
        return f"if it is not a new one, did you mean `{verdict.near}`?"
    return "if it is a new one, name a newer catalogue with `cluster.catalogue`"


def _where(label: str, *, in_short: bool) -> str:
    """Give the word under which a blueprint's short words take a value, or else the label."""
    if not in_short:
        return label
    return f"instances.{_WORDS[label]}" if label in _WORDS else "accelerator"


def _zone(names: Names, node: Node) -> Iterator[Finding]:
    name = str(node.value)
    parts = _ZONE.fullmatch(name)
    zones = names.zones.get(parts[1]) if parts else None
    if parts and zones and name not in zones:
        theirs = ", ".join(sorted(zones))
        message = f"the catalogue of {names.date} has no zone `{name}`: those of {parts[1]} are {theirs}"
        yield _said(Code.UNKNOWN_ZONE, message, node, "", Severity.INFO)


def _said(
    code: Code, message: str, node: Node, fix: str = "", severity: Severity = Severity.WARNING
) -> Finding:
    return Finding(code, message, place(node), fix, severity)


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"
