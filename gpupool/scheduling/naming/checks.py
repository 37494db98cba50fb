"""Findings about unknown, misspelt and retired names in requirements."""

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
"""The labels whose values are looked up in the catalogue."""

_REQUIREMENTS: Final = {
    "NodePool": ("spec", "template", "spec", "requirements"),
    "NodeOverlay": ("spec", "requirements"),
}
_WITHOUT_EFFECT: Final = (NameState.TYPO, NameState.IMPOSSIBLE, NameState.RETIRED)
_SHORT_FIELDS: Final = {
    labels.INSTANCE_TYPE: "types",
    labels.INSTANCE_FAMILY: "families",
    labels.INSTANCE_CATEGORY: "categories",
    labels.INSTANCE_SIZE: "sizes",
}
"""The fields of a blueprint's `instances` by label."""

_ZONE: Final = re.compile(r"([a-z]+(?:-[a-z]+)+-[0-9]+)[a-z]")
"""The name of an ordinary zone; names of local zones have one part more."""


def check_manifest_names(names: Names, kind: str, body: Located) -> list[Finding]:
    """Check the names in a Karpenter object; the worst severity is a warning."""
    path = _REQUIREMENTS.get(kind)
    name = text_at(body, "metadata", "name")
    findings: list[Finding] = []
    for index, entry in enumerate(items(find(body, *path)) if path else ()):
        values_path = f"{'.'.join(path or ())}[{index}].values"
        findings += (
            finding._replace(object=f"{kind}/{name}", path=values_path)
            for finding in check_requirement_names(names, entry)
        )
    return findings


def is_looked_up(entry: Located) -> bool:
    """Return whether a requirement lists names that are looked up in the catalogue."""
    return _get_label(entry) in _LOOKED_UP and text_at(entry, "operator") in ("In", "NotIn")


def check_requirement_names(names: Names, entry: Located, *, in_short: bool = False) -> Iterator[Finding]:
    """Check the names in one Karpenter requirement; in a short field a typo is an error."""
    if is_looked_up(entry):
        values, is_exclusion = items(find(entry, "values")), text_at(entry, "operator") == "NotIn"
        yield from check_value_names(
            names, _get_label(entry), values, in_short=in_short, is_exclusion=is_exclusion
        )


def check_value_names(
    names: Names, label: str, values: Sequence[Located], *, in_short: bool = False, is_exclusion: bool = False
) -> Iterator[Finding]:
    """Check the values that a label may have, or may not have."""
    texts = [node for node in values if isinstance(node.value, str)]
    if label == labels.ZONE:
        yield from (finding for node in texts for finding in _check_zone(names, node))
        return
    verdicts = [names.judge(label, str(node.value)) for node in texts]
    all_dead = all(verdict is not None and verdict.state in _WITHOUT_EFFECT for verdict in verdicts)
    for node, verdict in zip(texts, verdicts, strict=True):
        if verdict is None or (is_exclusion and verdict.state is NameState.RETIRED):
            continue
        effect = "excludes nothing" if is_exclusion else "matches nothing"
        if all_dead and not is_exclusion:
            effect += ", and the pool can't launch a node"
        is_wrong = in_short and verdict.state in (NameState.TYPO, NameState.IMPOSSIBLE)
        yield _build_finding(names, label, node, verdict, "" if is_wrong else effect)


def _get_label(entry: Located) -> str:
    key = text_at(entry, "key")
    return labels.ALIASES.get(key, key)


def _build_finding(names: Names, label: str, node: Located, verdict: NameVerdict, effect: str) -> Finding:
    """Return the finding about a value; without an effect, the value is an error and not just useless."""
    noun, name = NOUNS[label], node.value
    fix = f"did you mean `{verdict.close_match}`?" if verdict.close_match else ""
    if fix and not effect:
        fix += " If not, set it under `requirements`"
    if verdict.state is NameState.RETIRED:
        message = f"EC2 no longer offers {noun} `{name}` (retired by {verdict.since}), so it {effect}"
        return _build_warning(Code.RETIRED_NAME, message, node, "remove it")
    if verdict.state is NameState.UNKNOWN:
        message = f"{noun} `{name}` is not in the catalogue of {names.date}"
        return _build_warning(Code.UNKNOWN_NAME, message, node, _suggest_fix(name, verdict))
    severity = Severity.WARNING if effect else Severity.ERROR
    message = f"unknown {noun} `{name}`"
    if verdict.other_label:
        message = f"unknown {noun} `{name}`; it is {add_article(NOUNS[verdict.other_label])}"
        fix = f"set `{_describe_field(verdict.other_label, str(name), in_short=not effect)}`"
    if str(name).lower() == verdict.close_match:
        message = f"unknown {noun} `{name}`; names are in lower case"
    return _build_warning(
        Code.MISSPELT_NAME, f"{message}, so it {effect}" if effect else message, node, fix, severity
    )


def _suggest_fix(name: object, verdict: NameVerdict) -> str:
    if verdict.sizes:
        return f"set a known size of `{str(name).partition('.')[0]}`: {', '.join(verdict.sizes)}"
    if verdict.close_match:
        return f"if it is not new, did you mean `{verdict.close_match}`?"
    return "if it is new, set `cluster.catalogue` to a newer catalogue"


def _describe_field(label: str, name: str, *, in_short: bool) -> str:
    """Return the blueprint's short field for a name, or else its label."""
    if not in_short:
        return f"{label}: {name}"
    return (
        f"instances: {{{_SHORT_FIELDS[label]}: {name}}}" if label in _SHORT_FIELDS else f"accelerator: {name}"
    )


def _check_zone(names: Names, node: Located) -> Iterator[Finding]:
    name = str(node.value)
    parts = _ZONE.fullmatch(name)
    zones = names.zones.get(parts[1]) if parts else None
    if parts and zones and name not in zones:
        known_zones = ", ".join(sorted(zones))
        message = f"zone `{name}` is not in the catalogue of {names.date}; {parts[1]} has {known_zones}"
        yield _build_warning(Code.UNKNOWN_ZONE, message, node, "", Severity.INFO)


def _build_warning(
    code: Code, message: str, node: Located, fix: str = "", severity: Severity = Severity.WARNING
) -> Finding:
    return Finding(code, message, place(node), fix, severity)


def add_article(noun: str) -> str:
    """Return a noun with the article `a` or `an`."""
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"
