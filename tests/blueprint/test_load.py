"""Several files to one blueprint: their order, their names, and what is said between them."""

from pathlib import Path

import pytest

from gpupool.blueprint.load import LoadedBlueprint, load
from gpupool.errors import InputError
from gpupool.expansion.expand import expand
from gpupool.findings import Severity
from gpupool.yamlio.located import find, mapping, plain, text_at
from tests.cli.blueprints import HEAD, SMALL


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files(*texts: str) -> list[str]:
    """Write `0.yaml`, `1.yaml`, …; each after the first gets the two lines that every file needs."""
    for number, text in enumerate(texts):
        Path(f"{number}.yaml").write_text(text if number == 0 else HEAD + text, "utf-8")
    return [f"{number}.yaml" for number in range(len(texts))]


def loaded(*texts: str) -> LoadedBlueprint:
    return load(files(*texts))


def refused(*texts: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        expand(load(files(*texts)))
    return [
        f"{finding.at} {finding.code} {finding.message}; {finding.fix}" for finding in caught.value.findings
    ]


def test_one_file() -> None:
    result = loaded(SMALL)

    assert result.files == ("0.yaml",)
    assert result.findings == ()
    assert text_at(result.node, "metadata", "name") == "demo"


def test_later_files_lie_over_earlier_ones() -> None:
    result = loaded(SMALL, "pools: {train: {weight: 1, arch: amd64}}\n", "pools: {train: {weight: 2}}\n")
    pool = find(result.node, "pools", "train")

    assert pool is not None
    assert plain(pool) == {"profile": "training", "accelerator": "h100", "weight": 2, "arch": "amd64"}
    weight = find(pool, "weight")
    assert weight is not None
    assert (weight.at.file, weight.at.line) == ("2.yaml", 3)
    assert result.findings == ()


def test_null_in_a_later_file_stays_to_work_on_what_lies_below() -> None:
    result = loaded(SMALL, "pools: {train: null}\ndefaults: {nodeClass: {ami: null}}\n")

    assert plain(find(result.node, "pools") or result.node) == {"train": None}
    assert plain(find(result.node, "defaults") or result.node) == {"nodeClass": {"ami": None}}


def test_a_later_file_may_repeat_the_name() -> None:
    assert loaded(SMALL, "metadata: {name: demo}\n").findings == ()
    assert loaded(SMALL, "metadata: {name: null}\n").findings == ()


def test_a_later_file_may_not_change_the_name() -> None:
    assert refused(SMALL, "metadata: {name: other}\n") == [
        (
            "1.yaml:3:18 GP0015 `metadata.name` is `other`, but `demo` in the first file; remove "
            "`metadata.name` from later files"
        )
    ]


def test_the_first_file_has_the_name() -> None:
    nameless = SMALL.replace("metadata: {name: demo}\n", "")

    assert refused(nameless, "metadata: {name: demo}\n") == [
        "0.yaml:1:1 GP0011 `metadata.name` is missing; set `metadata: {name: …}`"
    ]


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("pools", "{}"),
        ("nodeClasses", "{}"),
        ("nodeOverlays", "{requirements: [{key: a, operator: Exists}]}"),
    ],
)
def test_a_new_name_is_said(section: str, words: str) -> None:
    result = loaded(SMALL, f"{section}: {{serve: {words}}}\n", f"{section}: {{serve: {words}}}\n")

    assert [(str(each.at), each.code, each.severity, each.path) for each in result.findings] == [
        (f"1.yaml:3:{len(section) + 4}", "GP0016", Severity.INFO, f"{section}.serve")
    ]


@pytest.mark.parametrize("name", ["trian", "tain", "trrain", "trains", "ttrain", "rtain"])
def test_a_slip_of_the_pen_is_an_error(name: str) -> None:
    (said,) = refused(SMALL, f"pools: {{{name}: {{weight: 1}}}}\n")

    assert (
        said == f"1.yaml:3:9 GP0016 `pools.{name}` does not exist in any earlier file; did you mean `train`?"
    )


@pytest.mark.parametrize("name", ["brain", "train2", "train-b", "trainer", "t", "infer"])
def test_another_name_is_none(name: str) -> None:
    result = loaded(SMALL, f"pools: {{{name}: {{weight: 1}}}}\n")

    assert [finding.severity for finding in result.findings] == [Severity.INFO]


def test_a_name_can_not_be_removed_that_nobody_said() -> None:
    assert refused(SMALL, "pools: {other: null}\n") == [
        "1.yaml:3:9 GP0016 `pools.other` does not exist in any earlier file; remove the line"
    ]


def test_two_words_for_one_thing_in_two_files_are_a_replacement() -> None:
    result = loaded(
        SMALL,
        "pools: {train: {requirements: {kubernetes.io/arch: arm64}}}\n",
        "pools: {train: {arch: amd64}}\n",
    )
    pool = plain(find(result.node, "pools", "train") or result.node)

    assert isinstance(pool, dict)
    assert (pool["requirements"], pool["arch"]) == ({}, "amd64")


def test_mistakes_between_files_wait_until_each_file_is_right() -> None:
    said = refused(SMALL, "metadata: {name: other}\npools: {train: {weight: 0}}\n")

    assert [line.split(" ")[1] for line in said] == ["GP0013"]


def test_an_error_in_one_pool_leaves_it_out_and_keeps_the_others() -> None:
    result = loaded(SMALL + "  serve: {weight: 0}\n")

    assert [(finding.code, finding.path) for finding in result.findings] == [("GP0013", "pools.serve.weight")]
    assert list(mapping(find(result.node, "pools"))) == ["train"]
