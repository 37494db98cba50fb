"""Laws: what is written is read back the same by everybody; what we read, ruamel.yaml reads the same."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gpupool.yamlio.located import Located, plain
from gpupool.yamlio.quoting import format_string
from gpupool.yamlio.read import read
from gpupool.yamlio.write import dump, dump_all
from tests.tiers import volume
from tests.yamlio import texts

if TYPE_CHECKING:
    from gpupool.yamlio.located import Plain

laws = settings(derandomize=True, max_examples=volume(3_000, at_least=750), deadline=None, database=None)
fewer = settings(laws, max_examples=volume(300, at_least=100))


def exactly(value: object) -> str:
    """Return a value in a form in which 1, 1.0 and True, or two orders of keys, are not the same."""
    return repr(value)


def yaml_1_1(text: str) -> object:
    return yaml.load(text, Loader=yaml.CSafeLoader)


def yaml_1_2(text: str) -> object:
    return YAML(typ="safe", pure=True).load(text)


def ours(text: str) -> Plain:
    result = read(text.encode(), "written.yaml")
    assert result.findings == ()
    assert result.node is not None
    return plain(result.node)


READERS = (yaml_1_1, yaml_1_2, ours)


def read_back(data: Plain) -> list[str]:
    """Write data and give what each reader makes of it."""
    written = dump(data)
    return [exactly(reader(written)) for reader in READERS]


@laws
@given(texts.maps)
def test_everybody_reads_back_what_was_written(data: dict[str, Plain]) -> None:
    assert read_back(data) == [exactly(data)] * len(READERS)


@fewer
@given(texts.values)
def test_a_document_may_be_any_value(data: Plain) -> None:
    assert read_back(data) == [exactly(data)] * len(READERS)


@pytest.mark.parametrize("text", texts.WORDS)
def test_every_word_is_read_back_in_every_place(text: str) -> None:
    data: dict[str, Plain] = {
        text: text,
        "list": [text, [text], {text: text}],
        "map": {"a": text, text: [text]},
    }

    assert read_back(data) == [exactly(data)] * len(READERS)


@pytest.mark.parametrize("length", [*range(996, 1030), 5000])
@pytest.mark.parametrize("character", ["k", "é", "\n"])
def test_keys_of_every_length_are_read_back(length: int, character: str) -> None:
    key = character * length
    data: dict[str, Plain] = {key: {key: [{key: "a\nb\n", "b": 1}]}}

    assert read_back(data) == [exactly(data)] * len(READERS)


@fewer
@given(st.lists(texts.maps, max_size=3))
def test_documents_stay_apart(data: list[dict[str, Plain]]) -> None:
    documents = yaml.load_all(dump_all(data), Loader=yaml.CSafeLoader)

    assert exactly(list(documents)) == exactly(data)


@fewer
@given(texts.maps)
def test_the_place_of_each_value_is_where_its_key_says(data: dict[str, Plain]) -> None:
    written = dump(data, ["a line above"])
    lines = written.split("\n")
    node = read(written.encode(), "f").node
    assert node is not None
    assert isinstance(node.value, dict)

    for key, value in node.value.items():
        assert value.key is not None
        line = lines[value.key.line - 1]
        assert line[value.key.column - 1 :].startswith(format_string(key))


_PLAIN = """
a b-c x.y 1x true True FALSE null Null ~ 0 12 -7 +12 0o17 0x1F 1.5 1. .5 -.5 1e3 1E-3 1.5e+3 -0 0.0
14d 5m 2000Gi us-east-1a true:NoSchedule a:b p5.48xlarge 10% http://x/y #x a#b
"""
PLAIN_WORDS = st.sampled_from(_PLAIN.split())


@st.composite
def written_by_others(draw: st.DrawFn) -> str:
    """Draw a document in one of the styles in which YAML can be written."""
    data = draw(texts.maps)
    style = draw(st.sampled_from(["json", "PyYAML", "ruamel.yaml"]))
    if style == "json":
        return json.dumps(data, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 2])))
    if style == "PyYAML":
        return yaml.dump(
            data,
            Dumper=yaml.SafeDumper,
            default_style=draw(st.sampled_from([None, '"', "'", "|", ">"])),
            default_flow_style=draw(st.sampled_from([True, False, None])),
            width=draw(st.sampled_from([20, 80])),
            allow_unicode=draw(st.booleans()),
            explicit_start=draw(st.booleans()),
        )
    stream = io.StringIO()
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = draw(st.booleans())
    writer.dump(data, stream)
    return stream.getvalue()


# fmt: off
SHAPES = st.sampled_from([
    "k{i}: {a}", "k{i}: [{a}, {b} ]", "k{i}: {{x: {a}, y: {b} }}", "k{i}:\n- {a}\n- {b}", "k{i}:\n  x: {a}",
    "k{i}: &a{i} {a}\nl{i}: *a{i}", "k{i}: >\n  {a}\n  {b}", "k{i}: '{a}'", "k{i}: {a}\n  {b}", "k{i}:",
    "? k{i}\n: {a}", 'k{i}: "{a}\n  {b}"', "k{i}: !!str {a}", "k{i}: |-\n   {a}\n    {b}", "\n# {a}",
])
# fmt: on


@st.composite
def written_by_hand(draw: st.DrawFn) -> str:
    """Draw a document with plain scalars in every spelling, in block and flow style, with comments."""
    lines = []
    for index in range(draw(st.integers(1, 5))):
        first, second = draw(PLAIN_WORDS), draw(PLAIN_WORDS)
        shape = draw(SHAPES)
        lines.append(shape.format(i=index, a=first, b=second))
    return "\n".join(lines)


@laws
@given(written_by_others() | written_by_hand())
def test_we_read_what_ruamel_reads(text: str) -> None:
    result = read(text.encode(), "f")
    assume(not result.findings)
    event("read without findings")

    expected = YAML(typ="safe", pure=True).load(text)

    assert exactly(plain(result.node) if result.node is not None else None) == exactly(expected)


def spellings(node: Located) -> list[tuple[object, str | None]]:
    """Return every scalar with its `text`."""
    if isinstance(node.value, dict):
        return [pair for item in node.value.values() for pair in spellings(item)]
    if isinstance(node.value, list):
        return [pair for item in node.value for pair in spellings(item)]
    return [(node.value, node.text)]


@laws
@given(written_by_hand())
def test_only_what_is_no_text_keeps_its_spelling(text: str) -> None:
    node = read(text.encode(), "f").node

    for value, spelled in spellings(node) if node is not None else []:
        assert (spelled is None) == isinstance(value, str)
        assert spelled is None or spelled in text
