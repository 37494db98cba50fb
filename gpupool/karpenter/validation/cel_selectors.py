"""CEL rules of the EC2NodeClass CRD about selector terms: AMIs, subnets, groups, reservations."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from gpupool.codes import Code
from gpupool.karpenter.validation.rules import ITEMS, Complaint, FieldRule, find_value, find_values, read_text
from gpupool.shapes.annotations import is_match
from gpupool.yamlio.located import Located, items, mapping, place

ALIAS_FAMILIES: Final = {
    "al2": "AL2",
    "al2023": "AL2023",
    "bottlerocket": "Bottlerocket",
    "windows2019": "Windows2019",
    "windows2022": "Windows2022",
    "windows2025": "Windows2025",
}
"""The value of `amiFamily` by its name in an alias."""

_AMI, _SUBNET, _GROUP = "amiSelectorTerms", "subnetSelectorTerms", "securityGroupSelectorTerms"
_RESERVATION = "capacityReservationSelectorTerms"
_SELECTING = {
    _AMI: ("tags", "id", "name", "alias", "ssmParameter"),
    _SUBNET: ("tags", "id"),
    _GROUP: ("tags", "id", "name"),
    _RESERVATION: ("tags", "id", "instanceMatchCriteria"),
}
"""The keys of which a term must set at least one."""


def check_terms_not_empty(terms: Located) -> Iterator[Complaint]:
    """Check that a list of terms is not empty."""
    if not items(terms):
        yield Complaint(place(terms), "an empty list of terms selects nothing", "add a term")


def check_terms_select(keys: tuple[str, ...], terms: Located) -> Iterator[Complaint]:
    """Check that each term sets one of the keys that select."""
    for term in items(terms):
        if not find_values(term, *keys):
            message = f"this term selects nothing: it sets none of {', '.join(f'`{key}`' for key in keys)}"
            yield Complaint(term.at, message, "add one of them, or remove the term")


def check_no_mixed_term(key: str, others: tuple[str, ...], terms: Located) -> Iterator[Complaint]:
    """Check that no term sets `key` together with one of `others`."""
    for term in items(terms):
        yield from _find_mixed(key, others, term)


def check_not_all_mixed(key: str, others: tuple[str, ...], terms: Located) -> Iterator[Complaint]:
    """Check that not all terms set `key` together with one of `others`; the CRD accepts some that do.

    The same CRD rule rejects an empty list, which `check_terms_not_empty` reports.
    """
    if all(_find_mixed(key, others, term) for term in items(terms)):
        for term in items(terms):
            yield from _find_mixed(key, others, term)


def check_alias_alone(terms: Located) -> Iterator[Complaint]:
    """Check that a term with an alias is the only term."""
    aliases = [alias for term in items(terms) if (alias := find_value(term, "alias"))]
    if aliases and len(items(terms)) != 1:
        message = "a term with `alias` must be the only AMI term"
        yield Complaint(place(aliases[0]), message, "keep only the alias, or select all AMIs by other fields")


def check_alias_form(alias: Located) -> Iterator[Complaint]:
    """Check that an alias is a family, `@` and a version."""
    if not is_match(r"^[a-zA-Z0-9]+@.+$", str(alias.value)):
        text = str(alias.value)
        message = (
            f"invalid AMI alias `{text}`: it is not `family@version`" if text else "the AMI alias is empty"
        )
        yield Complaint(place(alias), message, "write an alias such as `al2023@v20260810`")


def check_alias_family(alias: Located) -> Iterator[Complaint]:
    """Check that an alias has a known family, in lower case."""
    family = str(alias.value).partition("@")[0]
    if family not in ALIAS_FAMILIES:
        case_hint = f"did you mean `{family.lower()}`?" if family.lower() in ALIAS_FAMILIES else ""
        families_hint = f"use one of {', '.join(ALIAS_FAMILIES)}"
        yield Complaint(place(alias), f"unknown AMI alias family `{family}`", case_hint or families_hint)


def check_windows_version(alias: Located) -> Iterator[Complaint]:
    """Check that an alias does not pin a Windows AMI."""
    family, *versions = str(alias.value).split("@")
    if family.startswith("windows") and family in ALIAS_FAMILIES and versions[:1] != ["latest"]:
        message = f"an alias of {family} supports only the version `latest`"
        yield Complaint(place(alias), message, f"write `{family}@latest`, or select a fixed AMI by `id`")


def check_ami_family(name: str, spec: Located) -> Iterator[Complaint]:
    """Check that `amiFamily` matches the alias or is Custom."""
    ami_family, family = find_value(spec, "amiFamily"), ALIAS_FAMILIES[name]
    if ami_family is None or ami_family.value in (family, "Custom"):
        return
    for term in items(find_value(spec, _AMI)):
        if read_text(term, "alias").partition("@")[0] == name:
            message = f"`amiFamily: {ami_family.value}` conflicts with the AMI alias, which is of {family}"
            fix = f"remove `amiFamily` (the alias implies it), or write `amiFamily: {family}` or `Custom`"
            yield Complaint(place(ami_family), message, fix)


def check_family_set(spec: Located) -> Iterator[Complaint]:
    """Check that `amiFamily` is set where no term has an alias."""
    terms = find_value(spec, _AMI)
    if (
        terms
        and not any(find_values(term, "alias") for term in items(terms))
        and not find_values(spec, "amiFamily")
    ):
        message = "`amiFamily` is required without an alias: it determines how the AMI boots"
        yield Complaint(place(terms), message, "set `amiFamily` to AL2023, Bottlerocket, … or Custom")


def check_selector_tags(tags: Located) -> Iterator[Complaint]:
    """Check that no tag of a selector has an empty key or value."""
    for key, value in mapping(tags).items():
        if not key or value.value == "":
            empty, fix = ("value", "use `*` for any value") if key else ("key", "set the key of the tag")
            yield Complaint(value.key or value.at, f"a tag with an empty {empty} selects nothing", fix)


def _find_mixed(key: str, others: tuple[str, ...], term: Located) -> list[Complaint]:
    own, conflicting = find_value(term, key), [name for name in others if find_values(term, name)]
    if own is None or not conflicting:
        return []
    message = f"a term with `{key}` can't also set {', '.join(f'`{name}`' for name in conflicting)}"
    return [Complaint(own.key or own.at, message, f"keep `{key}`, and move the rest to another term")]


RULES: Final = (
    *(FieldRule(Code.OTHER_FAMILY, "spec", partial(check_ami_family, name)) for name in ALIAS_FAMILIES),
    FieldRule(Code.NO_FAMILY, "spec", check_family_set),
    *(
        FieldRule(Code.NO_TERMS, f"spec {terms}", check_terms_not_empty)
        for terms in (_SUBNET, _GROUP, _RESERVATION)
    ),
    *(
        FieldRule(Code.SELECTS_NOTHING, f"spec {terms}", partial(check_terms_select, keys))
        for terms, keys in _SELECTING.items()
    ),
    FieldRule(
        Code.MIXED_TERM,
        f"spec {_AMI}",
        partial(check_no_mixed_term, "id", ("alias", "tags", "name", "owner")),
    ),
    FieldRule(
        Code.MIXED_TERM,
        f"spec {_AMI}",
        partial(check_no_mixed_term, "alias", ("id", "tags", "name", "owner")),
    ),
    FieldRule(Code.ALIAS_NOT_ALONE, f"spec {_AMI}", check_alias_alone),
    FieldRule(Code.MIXED_TERM, f"spec {_SUBNET}", partial(check_not_all_mixed, "id", ("tags",))),
    FieldRule(Code.MIXED_TERM, f"spec {_GROUP}", partial(check_not_all_mixed, "id", ("tags", "name"))),
    FieldRule(Code.MIXED_TERM, f"spec {_GROUP}", partial(check_not_all_mixed, "name", ("tags", "id"))),
    FieldRule(
        Code.MIXED_TERM,
        f"spec {_RESERVATION}",
        partial(check_not_all_mixed, "id", ("tags", "ownerID", "instanceMatchCriteria")),
    ),
    FieldRule(Code.ALIAS_FORM, f"spec {_AMI} {ITEMS} alias", check_alias_form),
    FieldRule(Code.ALIAS_FAMILY, f"spec {_AMI} {ITEMS} alias", check_alias_family),
    FieldRule(Code.WINDOWS_ALIAS, f"spec {_AMI} {ITEMS} alias", check_windows_version),
    *(FieldRule(Code.EMPTY_TAG, f"spec {terms} {ITEMS} tags", check_selector_tags) for terms in _SELECTING),
)
"""Each rule of the CRD, at its path in the schema."""
