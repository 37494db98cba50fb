"""Whose accelerators machines have: worked out from the catalogue, held against what AWS and the makers say."""

import pytest

from gpupool.catalogue.accelerators import GPU_MAKERS, Maker, load_accelerators
from gpupool.catalogue.load import load_shipped
from gpupool.karpenter import labels
from gpupool.scheduling.types.typemasks import TypeMasks

MAKERS = {
    "h100": Maker.NVIDIA, "rtx-pro-server-6000": Maker.NVIDIA, "radeon-pro-v520": Maker.AMD,
    "gaudi-hl-205": Maker.HABANA, "inferentia2": Maker.NEURON, "trainium": Maker.NEURON,
    "qualcomm-ai100": Maker.QUALCOMM,
    "h300": Maker.NVIDIA, "trainium3": Maker.NEURON, "gaudi-hl-225": Maker.HABANA, "gb200": None, "none": None,
}  # fmt: skip
FAMILIES = {
    "p5": Maker.NVIDIA, "g4ad": Maker.AMD, "g4dn": Maker.NVIDIA, "g6f": Maker.NVIDIA, "dl1": Maker.HABANA,
    "dl2q": Maker.QUALCOMM, "inf2": Maker.NEURON, "trn2u": Maker.NEURON, "m5": None, "f2": None, "vt1": None,
    "p7": Maker.NVIDIA, "p6e-gb200": Maker.NVIDIA, "trn9": Maker.NEURON, "zz9": None,
}  # fmt: skip
CATEGORIES = {
    "g": Maker.NVIDIA,
    "gr": Maker.NVIDIA,
    "p": Maker.NVIDIA,
    "trn": Maker.NEURON,
    "m": None,
    "f": None,
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_maker_of_a_chip(name: str) -> None:
    assert load_accelerators().maker(name) is MAKERS[name]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_maker_of_a_familys_chips(family: str) -> None:
    assert load_accelerators().maker_of_family(family) is FAMILIES[family]


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_maker_of_a_categorys_chips(category: str) -> None:
    assert load_accelerators().maker_of_category(category) is CATEGORIES[category]


def test_the_families_that_have_a_chip() -> None:
    found = load_accelerators()
    assert found.families("rtx-pro-4500") == {"g7"}
    assert found.families("v100") == {"p3", "p3dn"}
    assert found.families("trainium") == {"trn1", "trn1n"}
    assert found.families("h300") == frozenset()


def test_names_stand_in_the_labels_that_karpenter_gives() -> None:
    masks, known = TypeMasks(load_shipped()), load_accelerators()
    every = range(len(load_shipped().names))
    for label, names in (
        (labels.INSTANCE_GPU_NAME, known.gpus),
        (labels.INSTANCE_ACCELERATOR_NAME, known.others),
    ):
        assert {value for place in every for value in masks.values(label, place)} == set(names)
    assert all(known.is_gpu(name) for name in known.gpus)
    assert not any(known.is_gpu(name) for name in known.others)
    assert known.is_gpu("gb200") is None
    assert {maker in GPU_MAKERS for maker in known.gpus.values()} == {True}
    assert {maker in GPU_MAKERS for maker in known.others.values()} == {False}
