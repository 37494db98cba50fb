"""The EC2NodeClass CRD's CEL rules over the terms that select images, subnets, groups, reservations."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from gpupool.codes import Code
from gpupool.karpenter.validation.rules import ITEMS, Complaint, FieldRule, find_value, find_values, read_text
from gpupool.shapes.annotations import matches
from gpupool.yamlio.located import Located, items, mapping, place

ALIAS_FAMILIES: Final = {
    "al2": "AL2",
    "al2023": "AL2023",
    "bottlerocket": "Bottlerocket",
    "windows2019": "Windows2019",
    "windows2022": "Windows2022",
    "windows2025": "Windows2025",
}
"""`amiFamily` by the name that an alias has for it."""

_AMI, _SUBNET, _GROUP = "amiSelectorTerms", "subnetSelectorTerms", "securityGroupSelectorTerms"
_RESERVATION = "capacityReservationSelectorTerms"
_SELECTING = {
    _AMI: ("tags", "id", "name", "alias", "ssmParameter"),
    _SUBNET: ("tags", "id"),
    _GROUP: ("tags", "id", "name"),
    _RESERVATION: ("tags", "id", "instanceMatchCriteria"),
}
"""The keys of which a term needs one."""


def no_terms(terms: Located) -> Iterator[Complaint]:
    """The list may not be empty."""
    if not items(terms):
        yield Complaint(place(terms), "an empty list of terms selects nothing", "add a term")


def selects_nothing(keys: tuple[str, ...], terms: Located) -> Iterator[Complaint]:
    """Each term needs one of the keys that select."""
    for term in items(terms):
        if not find_values(term, *keys):
            message = f"this term selects nothing: it sets none of {', '.join(f'`{key}`' for key in keys)}"
            yield Complaint(term.at, message, "add one of them, or remove the term")


def mixes(key: str, others: tuple[str, ...], terms: Located) -> Iterator[Complaint]:
    """No term has `key` beside one of `others`."""
    for term in items(terms):
        yield from _mixed(key, others, term)


def all_mix(key: str, others: tuple[str, ...], terms: Located) -> Iterator[Complaint]:
    """Not every term has `key` beside one of `others`; the CRD lets it pass where one term does not.

    An empty list is refused by the same words of the CRD; `no_terms` says that.
    """
    if all(_mixed(key, others, term) for term in items(terms)):
        for term in items(terms):
            yield from _mixed(key, others, term)


def alias_beside_terms(terms: Located) -> Iterator[Complaint]:
    """A term with an alias stands alone."""
    aliases = [alias for term in items(terms) if (alias := find_value(term, "alias"))]
    if aliases and len(items(terms)) != 1:
        message = "a term with `alias` must be the only AMI term"
        yield Complaint(place(aliases[0]), message, "keep only the alias, or select all AMIs by other fields")


def alias_form(alias: Located) -> Iterator[Complaint]:
    """An alias is a family, `@` and a version."""
    if not matches(r"^[a-zA-Z0-9]+@.+$", str(alias.value)):
        message = f"invalid AMI alias `{alias.value}`: it is not of the form `family@version`"
        yield Complaint(place(alias), message, "write an alias such as `al2023@v20260810`")


def alias_family(alias: Located) -> Iterator[Complaint]:
    """An alias is of a known family, in lower case."""
    family = str(alias.value).partition("@")[0]
    if family not in ALIAS_FAMILIES:
        near = f"did you mean `{family.lower()}`?" if family.lower() in ALIAS_FAMILIES else ""
        known = f"use one of {', '.join(ALIAS_FAMILIES)}"
        yield Complaint(place(alias), f"unknown AMI alias family `{family}`", near or known)


def windows_version(alias: Located) -> Iterator[Complaint]:
    """Windows images can't be pinned by an alias."""
    family, *versions = str(alias.value).split("@")
    if family.startswith("windows") and family in ALIAS_FAMILIES and versions[:1] != ["latest"]:
        message = f"an alias of {family} supports only the version `latest`"
        yield Complaint(place(alias), message, f"write `{family}@latest`, or select a fixed AMI by `id`")


def other_family(name: str, spec: Located) -> Iterator[Complaint]:
    """`amiFamily` agrees with the alias, or is Custom."""
    said, family = find_value(spec, "amiFamily"), ALIAS_FAMILIES[name]
    if said is None or said.value in (family, "Custom"):
        return
    for term in items(find_value(spec, _AMI)):
        if read_text(term, "alias").partition("@")[0] == name:
            message = f"`amiFamily: {said.value}` conflicts with the AMI alias, which is of {family}"
            fix = f"remove `amiFamily` (the alias implies it), or write `amiFamily: {family}` or `Custom`"
            yield Complaint(place(said), message, fix)


def no_family(spec: Located) -> Iterator[Complaint]:
    """Without an alias, `amiFamily` has to be said."""
    terms = find_value(spec, _AMI)
    if (
        terms
        and not any(find_values(term, "alias") for term in items(terms))
        and not find_values(spec, "amiFamily")
    ):
        message = "`amiFamily` is required: without an alias, nothing else tells how the AMI boots"
        yield Complaint(place(terms), message, "set `amiFamily` to AL2023, Bottlerocket, … or Custom")


def empty_tag(tags: Located) -> Iterator[Complaint]:
    """Neither key nor value of a selecting tag is empty."""
    for key, value in mapping(tags).items():
        if not key or value.value == "":
            what = "value" if key else "key"
            yield Complaint(
                value.key or value.at, f"a tag with an empty {what} selects nothing", "use `*` for any value"
            )


def _mixed(key: str, others: tuple[str, ...], term: Located) -> list[Complaint]:
    own, beside = find_value(term, key), [name for name in others if find_values(term, name)]
    if own is None or not beside:
        return []
    message = f"a term with `{key}` can't also set {', '.join(f'`{name}`' for name in beside)}"
    return [Complaint(own.key or own.at, message, f"keep `{key}`, and move the rest to another term")]


RULES: Final = (
    *(FieldRule(Code.OTHER_FAMILY, "spec", partial(other_family, name)) for name in ALIAS_FAMILIES),
    FieldRule(Code.NO_FAMILY, "spec", no_family),
    *(FieldRule(Code.NO_TERMS, f"spec {terms}", no_terms) for terms in (_SUBNET, _GROUP, _RESERVATION)),
    *(
        FieldRule(Code.SELECTS_NOTHING, f"spec {terms}", partial(selects_nothing, keys))
        for terms, keys in _SELECTING.items()
    ),
    FieldRule(Code.MIXED_TERM, f"spec {_AMI}", partial(mixes, "id", ("alias", "tags", "name", "owner"))),
    FieldRule(Code.MIXED_TERM, f"spec {_AMI}", partial(mixes, "alias", ("id", "tags", "name", "owner"))),
    FieldRule(Code.ALIAS_NOT_ALONE, f"spec {_AMI}", alias_beside_terms),
    FieldRule(Code.MIXED_TERM, f"spec {_SUBNET}", partial(all_mix, "id", ("tags",))),
    FieldRule(Code.MIXED_TERM, f"spec {_GROUP}", partial(all_mix, "id", ("tags", "name"))),
    FieldRule(Code.MIXED_TERM, f"spec {_GROUP}", partial(all_mix, "name", ("tags", "id"))),
    FieldRule(
        Code.MIXED_TERM,
        f"spec {_RESERVATION}",
        partial(all_mix, "id", ("tags", "ownerID", "instanceMatchCriteria")),
    ),
    FieldRule(Code.ALIAS_FORM, f"spec {_AMI} {ITEMS} alias", alias_form),
    FieldRule(Code.ALIAS_FAMILY, f"spec {_AMI} {ITEMS} alias", alias_family),
    FieldRule(Code.WINDOWS_ALIAS, f"spec {_AMI} {ITEMS} alias", windows_version),
    *(FieldRule(Code.EMPTY_TAG, f"spec {terms} {ITEMS} tags", empty_tag) for terms in _SELECTING),
)
"""Each rule of the CRD, at the path where it stands there."""
