"""What there is to say about the names in requirements, each at its own place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpupool.codes import Code
from gpupool.findings import Finding, Severity
from gpupool.karpenter import labels
from gpupool.scheduling.naming.names import NOUNS, NameState
from gpupool.yamlio.located import find, items, place, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.scheduling.naming.names import Names, NameVerdict
    from gpupool.yamlio.located import Located

_LOOKED_UP: Final = frozenset({*NOUNS, labels.ZONE})
"""The labels whose values a catalogue knows."""

_REQUIREMENTS: Final = {
    "NodePool": ("spec", "template", "spec", "requirements"),
    "NodeOverlay": ("spec", "requirements"),
}
_DEAD: Final = (NameState.SLIP, NameState.ODD, NameState.RETIRED)
_WORDS: Final = {
    labels.INSTANCE_TYPE: "types",
    labels.INSTANCE_FAMILY: "families",
    labels.INSTANCE_CATEGORY: "categories",
    labels.INSTANCE_SIZE: "sizes",
}
"""The words of a blueprint's `instances` for what a name may be instead."""

_ZONE: Final = re.compile(r"([a-z]+(?:-[a-z]+)+-[0-9]+)[a-z]")
"""The name of an ordinary zone; those of local zones have a part more."""


def check_manifest_names(names: Names, kind: str, body: Located) -> list[Finding]:
    """Return what is to be said of the names in an object of Karpenter's: at worst a warning."""
    path = _REQUIREMENTS.get(kind)
    name = text_at(body, "metadata", "name")
    found: list[Finding] = []
    for index, entry in enumerate(items(find(body, *path)) if path else ()):
        place_of = f"{'.'.join(path or ())}[{index}].values"
        found += (
            each._replace(object=f"{kind}/{name}", path=place_of)
            for each in check_requirement_names(names, entry)
        )
    return found


def is_looked_up(entry: Located) -> bool:
    """Return whether a requirement lists names that a catalogue knows."""
    return _label(entry) in _LOOKED_UP and text_at(entry, "operator") in ("In", "NotIn")


def check_requirement_names(names: Names, entry: Located, *, in_short: bool = False) -> Iterator[Finding]:
    """Yield what is to be said of one of Karpenter's requirements; in a short word a slip is an error."""
    if is_looked_up(entry):
        values, shuts_out = items(find(entry, "values")), text_at(entry, "operator") == "NotIn"
        yield from check_value_names(names, _label(entry), values, in_short=in_short, shuts_out=shuts_out)


def check_value_names(
    names: Names, label: str, values: Sequence[Located], *, in_short: bool = False, shuts_out: bool = False
) -> Iterator[Finding]:
    """Yield what is to be said of the values that a label may have, or may not have."""
    texts = [node for node in values if isinstance(node.value, str)]
    if label == labels.ZONE:
        yield from (each for node in texts for each in _zone(names, node))
        return
    verdicts = [names.verdict(label, str(node.value)) for node in texts]
    all_dead = all(verdict is not None and verdict.state in _DEAD for verdict in verdicts)
    for node, verdict in zip(texts, verdicts, strict=True):
        if verdict is None or (shuts_out and verdict.state is NameState.RETIRED):
            continue
        effect = "excludes nothing" if shuts_out else "matches nothing"
        if all_dead and not shuts_out:
            effect += ", and the pool can't launch a node"
        is_wrong = in_short and verdict.state in (NameState.SLIP, NameState.ODD)
        yield _finding(names, label, node, verdict, "" if is_wrong else effect)


def _label(entry: Located) -> str:
    key = text_at(entry, "key")
    return labels.ALIASES.get(key, key)


def _finding(names: Names, label: str, node: Located, verdict: NameVerdict, effect: str) -> Finding:
    """Say it at the value; without an effect to tell, the value is wrong and not merely useless."""
    noun, name = NOUNS[label], node.value
    fix = f"did you mean `{verdict.near}`?" if verdict.near else ""
    if fix and not effect:
        fix += " If not, set it under `requirements`"
    if verdict.state is NameState.RETIRED:
        message = f"EC2 no longer offers {noun} `{name}` (retired by {verdict.since}), so it {effect}"
        return _said(Code.RETIRED_NAME, message, node, "remove it")
    if verdict.state is NameState.UNKNOWN:
        message = f"{noun} `{name}` is not in the catalogue of {names.date}"
        return _said(Code.UNKNOWN_NAME, message, node, _if_new(name, verdict))
    severity = Severity.WARNING if effect else Severity.ERROR
    message = f"unknown {noun} `{name}`"
    if verdict.elsewhere:
        message = f"unknown {noun} `{name}`; it is {add_article(NOUNS[verdict.elsewhere])}"
        fix = f"set `{_where(verdict.elsewhere, str(name), in_short=not effect)}`"
    if str(name).lower() == verdict.near:
        message = f"unknown {noun} `{name}`; names are in lower case"
    return _said(Code.MISSPELT_NAME, f"{message}, so it {effect}" if effect else message, node, fix, severity)


def _if_new(name: object, verdict: NameVerdict) -> str:
    if verdict.sizes:
        return f"set a known size of `{str(name).partition('.')[0]}`: {', '.join(verdict.sizes)}"
    if verdict.near:
        return f"if it is not new, did you mean `{verdict.near}`?"
    return "if it is new, set `cluster.catalogue` to a newer catalogue"


def _where(label: str, name: str, *, in_short: bool) -> str:
    """Return the blueprint's short field for a name, or else its label."""
    if not in_short:
        return f"{label}: {name}"
    return f"instances: {{{_WORDS[label]}: {name}}}" if label in _WORDS else f"accelerator: {name}"


def _zone(names: Names, node: Located) -> Iterator[Finding]:
    name = str(node.value)
    parts = _ZONE.fullmatch(name)
    zones = names.zones.get(parts[1]) if parts else None
    if parts and zones and name not in zones:
        theirs = ", ".join(sorted(zones))
        message = f"zone `{name}` is not in the catalogue of {names.date}; {parts[1]} has {theirs}"
        yield _said(Code.UNKNOWN_ZONE, message, node, "", Severity.INFO)


def _said(
    code: Code, message: str, node: Located, fix: str = "", severity: Severity = Severity.WARNING
) -> Finding:
    return Finding(code, message, place(node), fix, severity)


def add_article(noun: str) -> str:
    """Return a noun with `a` or `an`."""
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"
