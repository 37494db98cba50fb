"""The real kubectl reads what gpupool writes, and reads plain scalars as gpupool says it does."""

from __future__ import annotations

import json
import random
import subprocess
from functools import cache
from typing import TYPE_CHECKING

import pytest

from gpupool.yamlio.scalars import resolve_kubectl
from gpupool.yamlio.write import dump_all
from tests.rig.programs import KUBECTL, build
from tests.yamlio.texts import WORDS

if TYPE_CHECKING:
    from pathlib import Path

    from gpupool.yamlio.located import Plain

pytestmark = pytest.mark.server

PIECES = [*WORDS, *" \t\n\r\x00\x1b\x85\xa0\u2028abyYnN019_.,:;#-?!&*|>%@`'\"\\[]{}()=+~<^$/é日😀"]
NUMBERISH = "0019.7_e+-xXoObBaE:tTZ~yYn.N"


@cache
def kubectl() -> Path:
    return build(KUBECTL).path


def through_kubectl(written: str) -> list[dict[str, object]]:
    """Return each object as kubectl reads it; a local patch that changes nothing needs no server."""
    command = [str(kubectl()), "patch", "--local", "-f", "-", "--type=merge", "-p", "{}", "-o", "json"]
    done = subprocess.run(command, input=written.encode(), capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()[:2000]
    decoder, text, found = json.JSONDecoder(), done.stdout.decode().strip(), []
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def case(name: str, data: Plain) -> Plain:
    return {"apiVersion": "example.org/v1", "kind": "Case", "metadata": {"name": name}, "data": data}


def shape(text: str, other: str) -> Plain:
    """Put a text where values, keys and items stand."""
    return {
        "value": text,
        text: other,
        "list": [text, [other, text], {text: text, "k": [text]}],
        "map": {other: [text]},
    }


def test_words_come_through_in_every_place() -> None:
    objects = [case(f"case-{index}", shape(word, f"k{index}")) for index, word in enumerate(WORDS)]

    assert through_kubectl(dump_all(objects, ["a header"])) == objects


def test_random_texts_come_through() -> None:
    chance = random.Random(20260810)  # noqa: S311 - test data, not a secret
    texts = ["".join(chance.choices(PIECES, k=chance.randint(1, 6))) for _ in range(4000)]
    objects = [case(f"case-{index}", shape(text, f"k{index}")) for index, text in enumerate(texts)]

    assert through_kubectl(dump_all(objects)) == objects


def test_numbers_and_empty_values_come_through() -> None:
    numbers: list[Plain] = [
        0,
        -1,
        2**63 - 1,
        -(2**63),
        1.5,
        -0.5,
        1e16,
        1e-7,
        1e300,
        5e-324,
        True,
        False,
        None,
        [],
        {},
    ]
    objects = [case("numbers", {f"k{index}": number for index, number in enumerate(numbers)})]

    (found,) = through_kubectl(dump_all(objects))

    # kubectl leaves out nothing in `data`, but a merge patch drops null
    data = found["data"]
    assert isinstance(data, dict)
    assert [data.get(f"k{index}") for index in range(len(numbers))] == numbers


def test_kubectl_reads_plain_scalars_as_we_say() -> None:
    chance = random.Random(1)  # noqa: S311 - test data, not a secret
    made = {"".join(chance.choices(NUMBERISH, k=chance.randint(1, 7))) for _ in range(20_000)}
    words = sorted(word for word in made | set(WORDS) if is_a_plain_scalar(word))
    lines = [f"  k{index}: {word}" for index, word in enumerate(words)]

    (found,) = through_kubectl(
        "\n".join(["kind: Case", "apiVersion: example.org/v1", "metadata: {name: a}", "data:", *lines])
    )

    data = found["data"]
    assert isinstance(data, dict)
    read = {word: data.get(f"k{index}") for index, word in enumerate(words)}
    wrong = {word: value for word, value in read.items() if not is_same(value, resolve_kubectl(word))}
    assert wrong == {}


def is_a_plain_scalar(word: str) -> bool:
    """Leave out what is syntax, and the numbers for which there is no JSON."""
    if not word or not set(word) <= set(NUMBERISH + "truefalsnoyFOTRUEALSNY<=") or ":" in {word[0], word[-1]}:
        return False
    return word not in {"-", "---", "..."} and word.lower().lstrip("+-") not in {".inf", ".nan"}


def is_same(value: object, expected: object) -> bool:
    """Compare as JSON does: 1 and 1.0 are the same, 1 and true are not."""
    return value == expected and (type(value) in {int, float}) == (type(expected) in {int, float})
