"""An inventory's lists in a ConfigMap: what is written is read again, whatever its size, and 20,000 objects fit."""

from __future__ import annotations

import json
from random import Random
from uuid import UUID

import pytest

from gpupool.cluster.resources import KINDS
from gpupool.rollout.inventory import encoding
from gpupool.rollout.inventory.encoding import EncodedList, InventoryEntry

KIND = [*KINDS]
MANY = 3_000
"""More than are written as JSON."""


def chance(seed: int) -> Random:
    """Return what draws, always the same."""
    return Random(seed)  # noqa: S311 - no secret


def entries(random: Random, count: int, *, new: float = 0.1) -> list[InventoryEntry]:
    """Draw objects; a part of them has no uid yet."""
    return [
        InventoryEntry(
            random.choice(KIND),
            f"pool-{number}-{'x' * random.randrange(30)}",
            "" if random.random() < new else str(UUID(int=random.getrandbits(128))),
            random.choice((0, 1, 7, 123_456)),
            f"{random.getrandbits(96):024x}",
        )
        for number in range(count)
    ]


def changed(random: Random, there: list[InventoryEntry]) -> list[InventoryEntry]:
    """Draw what is pending: the same with other digests, some anew, some gone, in another order."""
    found = []
    for each in there:
        digest = each.digest if random.random() < 0.5 else f"{random.getrandbits(96):024x}"
        uid = each.uid if random.random() < 0.9 else ""
        found.append(each._replace(digest=digest, uid=uid))
    random.shuffle(found)
    return found[: len(found) - random.randrange(len(found) // 2 + 1)] + entries(random, 5)


@pytest.mark.parametrize("count", [0, 1, 2, 100, MANY])
@pytest.mark.parametrize("seed", range(5))
def test_what_is_there_is_read_as_it_was_written(count: int, seed: int) -> None:
    drawn = entries(chance(seed), count)

    written = encoding.encode_current(drawn)

    assert bool(written.packed) == (count == MANY)
    if written.packed:
        assert encoding.read_current(written.packed) == tuple(drawn)
    else:
        assert [each["name"] for each in json.loads(written.text)] == [each.name for each in drawn]


@pytest.mark.parametrize("seed", range(10))
def test_what_is_pending_is_read_as_it_was_written(seed: int) -> None:
    random = chance(seed)
    there = entries(random, MANY)
    wanted = changed(random, there)

    written = encoding.encode_pending("the plan", wanted, there)

    assert written.packed
    plan, found = encoding.read_pending(written.packed, there)
    assert plan == "the plan"
    assert sorted(found) == sorted(wanted)


def test_twenty_thousand_objects_fit() -> None:
    """All of them there, and all of them about to be changed."""
    random = chance(0)
    there = [
        each._replace(name=f"team-{number:05}-gpu")
        for number, each in enumerate(entries(random, 20_000, new=0))
    ]
    wanted = [each._replace(digest=f"{random.getrandbits(96):024x}") for each in there]

    size = encoding.encode_current(there).size + encoding.encode_pending("f" * 64, wanted, there).size

    assert size < encoding.MOST_BYTES
    assert 0.5 < encoding.calculate_fullness(there) < 1
    assert encoding.calculate_fullness(there + there) > 1


def with_inputs(random: Random, there: list[InventoryEntry]) -> list[InventoryEntry]:
    """Draw inputs of some of the objects."""
    return [
        each._replace(
            inputs=(
                ("accelerator", random.choice(("a100", "h100"))),
                ("disruption.maintenance", f"sat {random.randrange(24):02}:00-23:30"),
                ("limits.usdPerHour", str(random.randrange(2_000))),
            )
        )
        if random.random() < 0.9
        else each
        for each in there
    ]


@pytest.mark.parametrize("count", [1, 100, MANY])
def test_inputs_are_read_as_they_were_written(count: int) -> None:
    drawn = with_inputs(chance(count), entries(chance(0), count))

    written = encoding.encode_current(drawn)

    if written.packed:
        assert encoding.read_current(written.packed) == tuple(drawn)
    else:
        found = [tuple(each.get("inputs", {}).items()) for each in json.loads(written.text)]
        assert found == [each.inputs for each in drawn]


def test_an_older_version_finds_the_columns_that_it_knows() -> None:
    """It reads three parts, and of the first one only the columns that it knows."""
    drawn = entries(chance(0), MANY)
    bare, full = (
        encoding._parts(encoding.encode_current(each).packed, 3)  # noqa: SLF001 - as that version did
        for each in (drawn, with_inputs(chance(1), drawn))
    )
    old, new = (json.loads(encoding._inflated(head)) for head, *_ in (bare, full))  # noqa: SLF001

    assert bare[1:] == full[1:]
    assert {key: new[key] for key in old} == old
    assert new.keys() - old.keys() == {"fields", "texts", "inputs"}


def test_pending_objects_have_no_inputs() -> None:
    there = with_inputs(chance(0), entries(chance(0), MANY))

    for listed in (there, there[:3]):
        written = encoding.encode_pending("p", listed, listed)
        if written.packed:
            assert encoding.read_pending(written.packed, listed) == ("p", encoding.without_inputs(listed))
        else:
            assert "inputs" not in written.text


def test_inputs_are_left_out_before_an_entry_is() -> None:
    few, many = (with_inputs(chance(0), entries(chance(0), count)) for count in (MANY, 20_000))

    assert encoding.fit_inputs(few) == tuple(few)
    assert encoding.fit_inputs(many) == encoding.without_inputs(many)
    assert encoding.calculate_fullness(many) == encoding.calculate_fullness(encoding.without_inputs(many))


@pytest.mark.parametrize(
    "inputs", ["[[9]]", "[[0, 7]]", "[[0]]", '[["a", 0]]', "[]", "[7]"],
)  # fmt: skip
def test_damaged_inputs_are_refused(inputs: str) -> None:
    header = {"fields": [["accelerator"]], "texts": ["a100"], "inputs": json.loads(inputs)}

    with pytest.raises(ValueError, match=r"inputs in the list of objects are damaged|is truncated"):
        encoding._read_inputs(header, 1)  # noqa: SLF001 - a damaged list would be refused as a whole


def damages(packed: bytes, random: Random) -> bytes:
    at = random.randrange(len(packed))
    kind = random.randrange(3)
    if kind == 0:
        return packed[:at]
    if kind == 1:
        return packed + packed[at:]
    return packed[:at] + bytes([packed[at] ^ (1 << random.randrange(8))]) + packed[at + 1 :]


@pytest.mark.parametrize("part", ["current", "pending"])
def test_what_is_damaged_is_refused_or_read_as_something_else(part: str) -> None:
    """Never anything but a ValueError: a uid or digest with another bit is just another one."""
    random = chance(1)
    there = entries(random, MANY)
    if part == "current":
        packed = encoding.encode_current(there).packed
    else:
        packed = encoding.encode_pending("p", changed(random, there), there).packed
    refused = 0
    for _ in range(200):
        damaged = damages(packed, random)
        try:
            if part == "current":
                encoding.read_current(damaged)
            else:
                encoding.read_pending(damaged, there)
        except ValueError:
            refused += 1
    assert refused > 100


def test_the_other_form_is_taken_away() -> None:
    assert EncodedList("[]", b"").data("current") == ({"current": "[]"}, {"current": None})
    assert EncodedList("", b"ab").data("current") == ({"current": None}, {"current": "YWI="})
