"""Reading catalogues: the shipped one, files that anybody wrote, and the user's own."""

import copy
import gzip
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpupool.catalogue.assemble import CatalogueOrigin, assemble_catalogue, build_column
from gpupool.catalogue.checked import COLUMNS
from gpupool.catalogue.load import (
    MOST_BYTES,
    MOST_OPENED,
    SHIPPED,
    get_fetched_path,
    load_fetched,
    load_file,
    load_shipped,
)
from gpupool.catalogue.model import CatalogueSource
from gpupool.catalogue.packed import decompress, pack, write_document
from gpupool.errors import InputError
from tests.tiers import volume

DOCUMENT = json.loads(decompress(SHIPPED.read_bytes(), MOST_OPENED))
ROUNDS, SEED = volume(400, at_least=100), 20261121


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "catalogue.json.gz"


def refused(file: Path) -> str:
    """What is said of a file that is no catalogue."""
    with pytest.raises(InputError) as caught:
        load_file(file)
    (finding,) = caught.value.findings
    assert (finding.code, finding.at.file) == ("GP0090", str(file))
    return finding.message


def write(file: Path, document: object) -> Path:
    file.write_bytes(gzip.compress(json.dumps(document).encode(), 0))
    return file


def test_what_is_packed_is_read_again(file: Path) -> None:
    file.write_bytes(pack(load_shipped()))

    assert load_file(file) == load_shipped()
    assert write_document(load_file(file)) == write_document(load_shipped())


def test_more_values_than_a_byte_counts(file: Path) -> None:
    facts = {name: column.at(0) for name, column in load_shipped().columns.items()}
    names = [f"a{number:03}.large" for number in range(300)]
    types = {name: {**facts, "memory": 1024 * place} for place, name in enumerate(names)}
    made = assemble_catalogue(
        types, {}, [], {}, CatalogueOrigin("1.14.1", "2026-01-01", (CatalogueSource("x", "1", "2026", "y"),))
    )
    file.write_bytes(pack(made))
    found = load_file(file)

    assert found == made
    assert isinstance(found.columns["memory"].index, tuple)
    assert [found.columns["memory"].at(place) for place in (0, 255, 256, 299)] == [0, 261120, 262144, 306176]


def test_values_are_told_apart_by_type() -> None:
    column = build_column([True, 1, 1.0, "1", None, False, 0, True])

    assert [type(column.at(place)) for place in range(8)] == [
        bool,
        int,
        float,
        str,
        type(None),
        bool,
        int,
        bool,
    ]
    assert len(column.values) == 7


def test_positions_and_zones() -> None:
    catalogue = load_shipped()

    assert [catalogue.position(name) for name in catalogue.names] == list(range(len(catalogue.names)))
    assert catalogue.position("p5.49xlarge") is None
    assert catalogue.offered("mars-north-1") is None
    assert catalogue.prices("eu-west-1") is None
    assert hash(catalogue) == hash(load_file(SHIPPED))


def test_the_bounds_leave_room_for_the_real_thing() -> None:
    assert SHIPPED.stat().st_size < 24_000
    assert len(write_document(load_shipped())) * 20 < MOST_OPENED


NO_FILES = {
    "empty": (b"", "it ends too early"),
    "no gzip": (b"PK\x03\x04 and so on", "it is not a gzip file"),
    "cut": (SHIPPED.read_bytes()[:-9], "it ends too early"),
    "a wrong sum": (SHIPPED.read_bytes()[:-8] + b"12345678", "it is not a gzip file"),
    "a bomb": (gzip.compress(bytes(MOST_OPENED + 1), 1), "it holds more than 32 MiB"),
    "too large": (random.Random(1).randbytes(MOST_BYTES + 1), "it has more than 4 MiB"),  # noqa: S311
    "no JSON": (gzip.compress(b"columns: []"), "it is not JSON: Expecting value"),
    "no UTF-8": (gzip.compress(b'{"format": "\xff"}'), "it is not JSON: 'utf-8' codec"),
    "nested": (gzip.compress(b"[" * 200_000), "it is nested too deeply"),
    "a long number": (gzip.compress(b"1" * 5_000), "it is not JSON: Exceeds the limit"),
    "no number": (gzip.compress(b'{"format": NaN}'), "it is not JSON: NaN is not a JSON number"),
    "a list": (gzip.compress(b"[]"), "it is not a JSON object"),
    "another format": (gzip.compress(b'{"format": "gpupool.catalogue/2"}'), "its format is not gpupool.catalogue/1"),
    "nothing else": (gzip.compress(b'{"format": "gpupool.catalogue/1"}'), "`karpenter` is missing or invalid"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(NO_FILES))
def test_what_is_no_catalogue_is_said(case: str, file: Path) -> None:
    content, words = NO_FILES[case]
    file.write_bytes(content)

    assert refused(file).startswith(f"the file is not a gpupool catalogue: {words}")


def test_what_can_not_be_read(tmp_path: Path) -> None:
    assert refused(tmp_path / "none") == "can't read the file: No such file or directory"
    assert refused(tmp_path) == "can't read the file: Is a directory"


WRONG: dict[str, Any] = {
    "names": ["", "a", "B.large", "a.large a.large", "b.large a.large", "a1.large large", 5, "a1.large\n"],
    "karpenter": [1, None, "\x1b[31m", "x" * 201],
    "date": ["today", 20261011, "2026-10-11\n", "2026"],
    "sources": [[["moto"]], [["a", "b", "c", 4]], {}],
    "columns": [[], None],
    "regions": [{"us-east-1": [["us-east-1a"]]}, {"US": []}, [], {"us-east-1": [["a", "b"]] * 65}],
    "offers": [[], [[], "zz"], [[[0]], "00"]],
    "prices": [[["us-east-1", "USD", "2026-01-01", [1.0]]], [["us-east-1", "USD", "x", []]], 1],
    "unlisted": [{"a.b": [1, 2]}, {"a.b": [None, -1, None]}, {"a.b": [None, True, None]}],
}


@pytest.mark.parametrize("part", list(WRONG))
def test_each_part_is_held_to_its_form(part: str, file: Path) -> None:
    for value in WRONG[part]:
        said = refused(write(file, {**DOCUMENT, part: value}))
        assert f"`{part}`" in said or (part == "columns" and "column" in said), value
    without = {key: value for key, value in DOCUMENT.items() if key != part}
    assert refused(write(file, without)).endswith(f"`{part}` is missing or invalid")


@pytest.mark.parametrize("column", list(COLUMNS))
def test_each_column_is_held_to_its_form(column: str, file: Path) -> None:
    values, index = DOCUMENT["columns"][column]
    others = [
        None, [values, index[2:]], [values, index + "00"], [values, "ff" + index[2:]], [values, "0g" + index[2:]],
        [values, index.upper() + "A"], [[*values, {}], index], [[*values, -1], index], [[*values, 1.5], index],
        [[], index], [values], [{"0": 1}, index],
    ]  # fmt: skip

    for other in others:
        assert f"the column `{column}`" in refused(
            write(file, {**DOCUMENT, "columns": {**DOCUMENT["columns"], column: other}})
        ), other
    left = {name: each for name, each in DOCUMENT["columns"].items() if name != column}
    assert refused(write(file, {**DOCUMENT, "columns": left})).endswith(f"the column `{column}` is missing")


def test_zones_that_a_region_has_not_are_refused(file: Path) -> None:
    regions = {**DOCUMENT["regions"], "us-east-1": DOCUMENT["regions"]["us-east-1"][:5]}

    assert refused(write(file, {**DOCUMENT, "regions": regions})).endswith("`offers` does not fit `regions`")


def test_columns_of_a_later_gpupool_are_left_out(file: Path) -> None:
    columns = {**DOCUMENT["columns"], "enclaves": [[True], "00" * len(load_shipped().names)]}

    assert load_file(write(file, {**DOCUMENT, "columns": columns})) == load_shipped()


def test_no_change_of_a_file_is_more_than_an_error(file: Path) -> None:
    """Whatever stands where, a catalogue comes out or an error."""
    source = random.Random(SEED)  # noqa: S311 - the same changes in each run
    junk: list[Any] = [None, True, -1, 0, 1.5, 2**70, "", "x", "\x00", "ff", [], [[]], [None], {}, {"a": 1}]
    outcomes = {"read": 0, "refused": 0}
    small = {**DOCUMENT, "prices": []}

    for number in range(ROUNDS):
        changed = copy.deepcopy(small)
        at: Any = changed
        keys: list[Any] = [source.choice(sorted(at))]
        while isinstance(at[keys[-1]], list | dict) and at[keys[-1]] and source.random() < 0.8:
            at = at[keys[-1]]
            keys.append(source.choice(sorted(at) if isinstance(at, dict) else range(len(at))))
        at[keys[-1]] = source.choice(junk)
        write(file, changed)
        try:
            found = load_file(file)
        except InputError:
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        every = [column.at(place) for column in found.columns.values() for place in range(len(found.names))]
        assert len(every) == len(found.columns) * len(found.names), (SEED, number, keys)
        assert all(found.offered(region) is not None for region in found.regions), (SEED, number, keys)

    assert outcomes["refused"] > ROUNDS / 2
    assert outcomes["read"] > 0


class TestUsersOwn:
    """The catalogue in the user's cache."""

    @pytest.fixture(autouse=True)
    def _cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def test_there_is_none(self) -> None:
        assert load_fetched() is None

    def test_it_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "gpupool").mkdir()
        get_fetched_path().write_bytes(SHIPPED.read_bytes())

        assert get_fetched_path() == tmp_path / "gpupool" / "instance-types.json.gz"
        assert load_fetched() == load_shipped()

    def test_a_broken_one_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "gpupool").mkdir()
        get_fetched_path().write_bytes(b"")

        with pytest.raises(InputError):
            load_fetched()


def test_loading_the_shipped_one_imports_little() -> None:
    code = (
        "import sys; import gpupool.catalogue.load as load; load.load_shipped(); print(*sorted(sys.modules))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()

    assert {name for name in said if name.startswith("gpupool.")} == {
        "gpupool.catalogue", "gpupool.catalogue.load", "gpupool.catalogue.model", "gpupool.catalogue.packed",
    }  # fmt: skip
    assert {"gzip", "re", "boto3", "pydantic"} & set(said) <= {"re"}
