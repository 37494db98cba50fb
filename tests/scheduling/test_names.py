"""What is said of names: slips of known ones are told from new ones, and no real name was ever a slip."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupool.catalogue.load import load_shipped
from gpupool.catalogue.model import Catalogue, Column
from gpupool.karpenter import labels
from gpupool.karpenter.requirements import build_requirement
from gpupool.scheduling.naming.names import ACCELERATOR, NOUNS, Names, NameState, NameVerdict
from gpupool.scheduling.naming.suggestions import CloseMatches, count_edits
from gpupool.scheduling.types.typemasks import TypeMasks, positions

if TYPE_CHECKING:
    from collections.abc import Iterable


TYPE, FAMILY = labels.INSTANCE_TYPE, labels.INSTANCE_FAMILY
SIZE, CATEGORY = labels.INSTANCE_SIZE, labels.INSTANCE_CATEGORY
GPU, CHIP = labels.INSTANCE_GPU_NAME, labels.INSTANCE_ACCELERATOR_NAME


@cache
def names() -> Names:
    return Names(TypeMasks(load_shipped()))


SLIPS = [
    (ACCELERATOR, "h10O", "h100"), (ACCELERATOR, "H100", "h100"), (ACCELERATOR, "h1000", "h100"),
    (ACCELERATOR, "trainum2", "trainium2"), (ACCELERATOR, "nvidai", "nvidia"), (ACCELERATOR, "l40x", "l40s"),
    (ACCELERATOR, "nvidia-l4", "l4"), (ACCELERATOR, "a100-80gb", "a100"), (ACCELERATOR, "rtxpro4500", "rtx-pro-4500"),
    (ACCELERATOR, "gaudi", "gaudi-hl-205"), (GPU, "L4", "l4"), (CHIP, "inferenta2", "inferentia2"),
    (TYPE, "p5.48xlrage", "p5.48xlarge"), (TYPE, "p5.84xlarge", "p5.48xlarge"), (TYPE, "p5-48xlarge", "p5.48xlarge"),
    (TYPE, "p5ne.48xlarge", "p5en.48xlarge"), (TYPE, "P5.48xlarge", "p5.48xlarge"), (TYPE, "g6.xlarg", "g6.xlarge"),
    (TYPE, "trm1.32xlarge", "trn1.32xlarge"), (TYPE, "m5.metl", "m5.metal"), (TYPE, "g6e.48large", "g6e.48xlarge"),
    (TYPE, "g6.48xl", "g6.48xlarge"),
    (FAMILY, "p5ne", "p5en"), (FAMILY, "p5em", "p5en"), (FAMILY, "g4dm", "g4dn"), (FAMILY, "p6b200", "p6-b200"),
    (FAMILY, "c71", "c7i"), (FAMILY, "tnr1", "trn1"), (FAMILY, "trm1", "trn1"), (FAMILY, "gg6", "g6"),
    (FAMILY, "m7i_flex", "m7i-flex"),
    (SIZE, "48xlrage", "48xlarge"), (SIZE, "84xlarge", "48xlarge"), (SIZE, "2x-large", "2xlarge"),
    (CATEGORY, "tnr", "trn"), (CATEGORY, "G", "g"), (labels.INSTANCE_GPU_MANUFACTURER, "NVIDIA", "nvidia"),
]  # fmt: skip
NEW = [
    (ACCELERATOR, "h300"), (ACCELERATOR, "b400"), (ACCELERATOR, "gb200"), (ACCELERATOR, "trainium3"),
    (ACCELERATOR, "zzzz"), (GPU, "rtx-pro-6000"),
    (TYPE, "p5.2xlarge"), (TYPE, "p7.48xlarge"), (TYPE, "p6e-gb200.36xlarge"), (TYPE, "m5.metal-32xl"),
    (FAMILY, "p7"), (FAMILY, "g8"), (FAMILY, "p6e-gb200"), (FAMILY, "g7f"), (FAMILY, "g7en"), (FAMILY, "trn3"),
    (FAMILY, "p4"), (FAMILY, "inf3"), (FAMILY, "c7id"), (FAMILY, "q5"), (FAMILY, "u7i-16tb"),
    (SIZE, "40xlarge"), (SIZE, "metal-40xl"), (CATEGORY, "q"),
]  # fmt: skip
ODD = [
    (ACCELERATOR, "foo bar", ""), (ACCELERATOR, "", ""), (ACCELERATOR, "p5.48xlarge", TYPE),
    (GPU, "trainium", CHIP), (GPU, "nvidia", labels.INSTANCE_GPU_MANUFACTURER), (TYPE, "p5", FAMILY),
    (TYPE, "foo.bar", ""), (FAMILY, "p5.48xlarge", TYPE), (FAMILY, "g", CATEGORY), (CATEGORY, "g5", FAMILY),
    (SIZE, "48xl", ""),
]  # fmt: skip


def test_known_names_are_passed_over() -> None:
    for label, name in (
        (ACCELERATOR, "h100"),
        (ACCELERATOR, "none"),
        (GPU, "h200"),
        (FAMILY, "p5e"),
        (FAMILY, "g7"),
    ):
        assert names().judge(label, name) is None


@pytest.mark.parametrize(("label", "name", "meant"), SLIPS)
def test_a_slip_of_a_known_name(label: str, name: str, meant: str) -> None:
    found = names().judge(label, name)

    assert found is not None
    assert (found.state in (NameState.TYPO, NameState.IMPOSSIBLE), found.close_match) == (True, meant)
    assert meant in names().get_names(label)


@pytest.mark.parametrize(("label", "name"), NEW)
def test_what_may_be_a_new_name(label: str, name: str) -> None:
    found = names().judge(label, name)

    assert found is not None
    assert found.state is NameState.UNKNOWN


@pytest.mark.parametrize(("label", "name", "elsewhere"), ODD)
def test_what_no_such_name_can_be(label: str, name: str, elsewhere: str) -> None:
    found = names().judge(label, name)

    assert found is not None
    assert (found.state, found.other_label) == (NameState.IMPOSSIBLE, elsewhere)


def test_of_an_unknown_size_the_familys_sizes_are_told() -> None:
    found = names().judge(TYPE, "p5.2xlarge")

    assert found == NameVerdict(NameState.UNKNOWN, sizes=("4xlarge", "48xlarge"))


RETIRED = [
    (TYPE, "p3.2xlarge", "2026-05"), (FAMILY, "p3", "2026-05"), (FAMILY, "dl1", "2026-08"), (GPU, "k80", "2026-03"),
    (ACCELERATOR, "gaudi-hl-205", "2026-08"), (ACCELERATOR, "amd", "2026-10"),
    (labels.INSTANCE_GPU_MANUFACTURER, "habana", "2026-08"),
]  # fmt: skip


@pytest.mark.parametrize(("label", "name", "since"), RETIRED)
def test_what_is_retired_altogether(label: str, name: str, since: str) -> None:
    assert names().judge(label, name) == NameVerdict(NameState.RETIRED, since=since)


def test_what_is_still_offered_in_part_is_not_retired() -> None:
    # v100 is p3's, which is gone, and p3dn's; of i3 only the metal size is gone.
    for label, name in (
        (GPU, "v100"),
        (ACCELERATOR, "v100"),
        (FAMILY, "i3"),
        (CATEGORY, "dl"),
        (SIZE, "112xlarge"),
    ):
        assert names().judge(label, name) is None


def without(label: str, name: str) -> Names:
    """Return names of a catalogue that has no machine with this one."""
    whole = names().masks
    gone = whole.find_types(build_requirement(label, "In", (name,)))
    kept = list(positions(whole.all & ~gone))
    return Names(TypeMasks(smaller(whole.catalogue, kept)))


def smaller(catalogue: Catalogue, kept: list[int]) -> Catalogue:
    columns = {
        name: Column(column.values, tuple(column.index[place] for place in kept))
        for name, column in catalogue.columns.items()
    }
    return replace(catalogue, names=tuple(catalogue.names[place] for place in kept), columns=columns)


BOTH, FIRST_OF_ITS_LETTER = "t4g", "trn2u"
"""A GPU and a family; and the one family with a letter that no other has: that looks like a slip."""

REAL = [(label, name) for label in (FAMILY, CATEGORY, GPU, CHIP) for name in sorted(names().get_names(label))]
REAL += [(SIZE, name) for name in sorted(names().get_names(SIZE)) if name[0].isdigit() or "-" in name]
REAL += [(TYPE, name) for name in names().masks.catalogue.names[::7]]


def test_no_real_name_would_have_been_refused_when_it_was_new() -> None:
    refused = [
        (label, name) for label, name in REAL
        if (verdict := without(label, name).judge(label, name)) is None or verdict.state is not NameState.UNKNOWN
    ]  # fmt: skip

    assert {name for _, name in refused} <= {BOTH, FIRST_OF_ITS_LETTER}


def swaps(name: str) -> Iterable[str]:
    return (f"{name[:at]}{name[at + 1]}{name[at]}{name[at + 2 :]}" for at in range(len(name) - 1))


@given(st.data())
def test_two_swapped_letters_are_always_seen(data: st.DataObject) -> None:
    label = data.draw(st.sampled_from([FAMILY, SIZE, GPU, CHIP, TYPE, ACCELERATOR]))
    known = names().get_names(label)
    name = data.draw(st.sampled_from(sorted(known)))
    wrong = data.draw(st.sampled_from([*swaps(name), name.upper(), name.replace("1", "l").replace("0", "O")]))
    if wrong in known:
        return

    found = names().judge(label, wrong)

    assert found is not None
    assert found.state is NameState.TYPO, (label, name, wrong)
    assert found.close_match in known


@given(st.text(max_size=20), st.sampled_from(sorted(NOUNS)))
def test_any_text_gets_a_verdict(text: str, label: str) -> None:
    found = names().judge(label, text)

    assert (found is None) == (text in names().get_names(label))
    assert found is None or not found.close_match or found.close_match in names().get_names(label)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("ab", "ba", 1),
        ("abc", "cab", 2),
        ("48xlrage", "48xlarge", 1),
        ("l4", "t4", 1),
    ],
)
def test_the_distance_of_two_words(one: str, other: str, expected: int) -> None:
    assert count_edits(one, other) == count_edits(other, one) == expected


def test_short_words_are_no_slips_of_each_other() -> None:
    assert CloseMatches(["h100", "a100", "b200"], 4).find("v100") == ""
    assert CloseMatches(["xlarge", "large"], 4).find("xlage") == "xlarge"
