"""Plan files: what is written is read back, and nothing else is."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpupool.errors import InputError, OutdatedError
from gpupool.findings import Finding
from gpupool.planning import file
from gpupool.planning.plan import FORMAT_VERSION, Plan
from gpupool.shapes.error_messages import format_path
from tests.planning.plans import EXAMPLES, PLANS, large
from tests.tiers import examples

UPDATE = EXAMPLES["update"]


def refused(raw: bytes | str) -> Finding:
    """Return the one finding for which a file is refused."""
    with pytest.raises(InputError) as caught:
        file.parse_plan(raw if isinstance(raw, bytes) else raw.encode(), "plan.json")
    (finding,) = caught.value.findings
    assert str(finding.code) == "GP0100"
    assert "gpupool plan -o json=FILE" in finding.fix
    return finding


def said(raw: bytes | str) -> str:
    finding = refused(raw)
    return f"{finding.at}: {finding.message}"


def changed(*path: str | int, to: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Return a plan's text with another value at a path, sealed again."""
    document = json.loads(file.render_plan(UPDATE))
    here = document
    *above, last = path
    for key in above:
        here = here[key]
    here[last] = to
    return sealed(document)


def sealed(document: dict[str, Any]) -> str:
    """Seal a document by the rule, and not with gpupool's own code."""
    import hashlib

    unsigned = {"signature": ""} if "signature" in document else {}
    empty = json.dumps(document | {"id": ""} | unsigned, indent=2, ensure_ascii=False) + "\n"
    identity = hashlib.sha256(empty.encode()).hexdigest()
    return json.dumps(document | {"id": identity}, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("plan", EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_is_read_back(plan: Plan) -> None:
    assert file.parse_plan(file.render_plan(plan).encode(), "plan.json") == plan


@settings(derandomize=True, max_examples=examples(200))
@given(st.sampled_from(sorted(EXAMPLES)), PLANS)
def test_any_plan_is_read_back(name: str, other: Plan) -> None:
    """Whatever the cluster and the blueprint said: those parts of a plan do not follow from its others."""
    kept = EXAMPLES[name]
    changes = tuple(replace(each, reason=other.target.server) for each in kept.changes)
    source = replace(other.source, blueprint=kept.source.blueprint)
    plan = file.seal(
        replace(
            kept,
            changes=changes,
            target=other.target,
            source=source,
            warnings=other.warnings,
            charts=other.charts,
        )
    )
    written = file.render_plan(plan)
    read = file.parse_plan(written.encode(), "plan.json")

    assert read == plan
    assert file.render_plan(read) == written


@settings(derandomize=True, max_examples=examples(200))
@given(PLANS)
def test_the_text_is_what_python_writes_too(plan: Plan) -> None:
    written = file.render_plan(plan)

    assert written == json.dumps(json.loads(written), indent=2, ensure_ascii=False) + "\n"
    assert written == sealed(json.loads(written))


def test_the_keys_are_the_fields_in_camel_case() -> None:
    document = json.loads(file.render_plan(UPDATE))

    assert list(document) == [
        "formatVersion", "gpupool", "id", "createdAt", "expiresAt", "target", "source", "inventory", "consent", "changes",
        "orphans", "lost", "warnings", "guards", "charts", "summary", "signature",
    ]  # fmt: skip
    assert list(document["consent"]) == [
        "prune",
        "maxDeletes",
        "drain",
        "allowDelete",
        "allowEmpty",
        "adopt",
        "adoptFrom",
        "failOnAdmission",
        "onConflict",
    ]
    assert list(document["changes"][1])[:4] == ["address", "actions", "place", "reason"]
    assert list(document["changes"][1])[-3:] == ["nodeClaims", "summaries", "inputs"]


def test_the_id_is_of_everything_but_itself() -> None:
    assert re.fullmatch("[0-9a-f]{64}", UPDATE.id)
    assert file.calculate_id(replace(UPDATE, id="x")) == UPDATE.id
    assert file.calculate_id(replace(UPDATE, expires_at="2027-11-22T08:00:00Z")) != UPDATE.id
    assert file.seal(replace(UPDATE, id="")) == UPDATE


@settings(derandomize=True, max_examples=examples(400))
@given(st.sampled_from(sorted(EXAMPLES)), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
@example("update", 0.0, 1)
def test_a_flipped_byte_is_refused_or_changes_nothing(name: str, where: float, flip: int) -> None:
    plan = EXAMPLES[name]
    raw = bytearray(file.render_plan(plan).encode())
    raw[int(where * len(raw))] ^= flip

    try:
        assert file.parse_plan(bytes(raw), "plan.json") == plan
    except InputError:
        assert raw != file.render_plan(plan).encode()
    except OutdatedError:
        assert not raw.startswith(b'{\n  "formatVersion": "1.')


@settings(derandomize=True, max_examples=100)
@given(st.floats(0, 1, exclude_max=True))
def test_a_file_that_was_cut_off_is_refused(where: float) -> None:
    raw = file.render_plan(UPDATE).encode()

    finding = refused(raw[: int(where * (len(raw) - 2))])

    assert finding.message == "invalid plan file (the file ends too early)"


def test_layout_does_not_count() -> None:
    document = json.loads(file.render_plan(UPDATE))

    assert file.parse_plan(json.dumps(document).encode(), "plan.json") == UPDATE
    assert (
        file.parse_plan(file.render_plan(UPDATE).replace("\n", "\r\n").encode("utf-8-sig"), "plan.json")
        == UPDATE
    )


REFUSED = {
    "an empty file": ("", "plan.json:1:1: invalid plan file (the file ends too early)"),
    "a blueprint": ("apiVersion: gpupool.dev/v1alpha1\n", "plan.json:1:1: invalid plan file (not JSON)"),
    "bytes": (b"\x80abc", "plan.json:1:1: invalid plan file (the file is not UTF-8: invalid byte 0x80)"),
    "UTF-16": ("{}".encode("utf-16"), "plan.json:1:1: invalid plan file (the file is UTF-16, not UTF-8)"),
    "a comma too many": (
        '{\n  "formatVersion": "1.0",\n}',
        "plan.json:3:1: invalid plan file (not JSON)",
    ),
    "two plans": (
        file.render_plan(UPDATE) + file.render_plan(UPDATE),
        f"plan.json:{file.render_plan(UPDATE).count(chr(10)) + 1}:1: invalid plan file (not JSON)",
    ),
    "half a surrogate pair": (
        '{"formatVersion": "\\ud800"}',
        "plan.json:1:26: invalid plan file (not JSON)",
    ),
    "depth": ("[" * 500 + "]" * 500, "plan.json:1:202: invalid plan file (not JSON)"),
}
TWICE = file.render_plan(UPDATE).replace(
    '"maxDeletes": 1', '"maxDeletes": 9, "prune": false, "maxDeletes": 1'
)
NO_PLAN = "plan.json: this is not a plan of gpupool: it does not start with `formatVersion` and `gpupool`"


@pytest.mark.parametrize(("raw", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_json(raw: bytes | str, expected: str) -> None:
    assert said(raw) == expected


@pytest.mark.parametrize(
    "raw", ["[]", "1", '{"findings": [], "summary": {}}', '{"formatVersion": "1.0"}', '{"formatVersion": 1, "gpupool": "0"}',
            '{"formatVersion": "one", "gpupool": "0"}', '{"formatVersion": "01.0", "gpupool": "0"}'],
)  # fmt: skip
def test_json_that_is_no_plan(raw: str) -> None:
    assert said(raw) == NO_PLAN


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "MAX_BYTES", 1 << 20)

    assert said(b" " * (1 << 20) + b" ") == (
        "plan.json: invalid plan file (the file is 1.0 MiB; files over 1 MiB are not read)"
    )


def test_a_key_that_is_there_twice() -> None:
    """The last one counts here, and fits the id; a reviewer's reader may show the first."""
    assert said(TWICE) == "plan.json: invalid plan file (duplicate key `prune`)"


def test_a_plan_that_was_changed_by_hand() -> None:
    text = file.render_plan(UPDATE).replace('"maxDeletes": 1', '"maxDeletes": 99')

    assert said(text) == (
        "plan.json: invalid plan file (changed by hand or damaged: `id` does not match the contents)"
    )


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("consent", "maxDeletes"), "1"),
        (("consent", "force"), True),
        (("changes", 1, "actions", 0), "replace"),
        (("changes", 1, "fields", 0, "semantic"), "yes"),
        (("changes", 1, "verified"), 1),
        (("changes", 1, "pre"), []),
        (("impact",), {}),
    ],
)
def test_a_field_of_another_type_or_name(path: tuple[str | int, ...], to: object) -> None:
    finding = refused(changed(*path, to=to))

    assert finding.path == format_path(path)
    assert finding.message == f"invalid plan file (field `{format_path(path)}`)"


def test_a_field_that_is_missing() -> None:
    document = json.loads(file.render_plan(UPDATE))
    del document["target"]["uid"]

    assert said(sealed(document)) == "plan.json: invalid plan file (field `target.uid`)"


def test_many_mistakes_are_one_error() -> None:
    document = json.loads(file.render_plan(large(30)))
    for change in document["changes"]:
        change["verified"] = 1

    assert said(sealed(document)) == "plan.json: invalid plan file (field `changes[0].verified`)"


def test_unknown_keys_of_a_later_minor_version_are_passed_over() -> None:
    document = json.loads(changed("formatVersion", to="1.4")) | {"impact": {"nodes": 4}}
    document["changes"][1]["impact"] = []
    document["changes"][0]["pre"]["sha"] = "x"

    read = file.parse_plan(sealed(document).encode(), "plan.json")

    assert replace(read, format_version=FORMAT_VERSION, id=UPDATE.id) == UPDATE


def test_a_plan_of_format_1_1_which_had_no_signature() -> None:
    document = json.loads(changed("formatVersion", to="1.1"))
    del document["signature"]

    read = file.parse_plan(sealed(document).encode(), "plan.json")

    assert replace(read, format_version=FORMAT_VERSION, id=UPDATE.id) == UPDATE


def test_a_plan_of_format_1_2_which_had_no_feature_gates() -> None:
    document = json.loads(changed("formatVersion", to="1.2"))
    del document["source"]["features"]

    read = file.parse_plan(sealed(document).encode(), "plan.json")

    assert not read.source.is_overlay_gate_on
    assert replace(read, format_version=FORMAT_VERSION, id=UPDATE.id) == UPDATE


def test_a_plan_that_lists_a_feature_gate_twice() -> None:
    document = json.loads(changed("formatVersion", to=FORMAT_VERSION))
    document["source"]["features"] = ["NodeOverlay", "NodeOverlay"]

    assert refused(sealed(document)).path == "source.features"


def test_a_plan_of_format_1_2_which_named_no_causes() -> None:
    document = json.loads(changed("formatVersion", to="1.2"))
    for change in document["changes"]:
        del change["summaries"], change["inputs"]
        for part in (*change["fields"], *change["conflicts"], *change["rejections"]):
            part.pop("causes", None)
            part.pop("cause") if "manager" in part or "message" in part else None

    read = file.parse_plan(sealed(document).encode(), "plan.json")

    assert read.format_version == "1.2"
    assert [(each.summaries, each.inputs) for each in read.changes] == [((), {})] * len(read.changes)
    assert {field.causes for each in read.changes for field in each.fields} == {()}
    assert {conflict.cause for each in read.changes for conflict in each.conflicts} == {None}


def test_a_later_minor_version_is_sealed_too() -> None:
    document = json.loads(changed("formatVersion", to="1.4")) | {"impact": {"nodes": 4}}
    text = sealed(document).replace('"nodes": 4', '"nodes": 5')

    assert refused(text).path == "id"


@pytest.mark.parametrize("version", ["2.0", "3.11"])
def test_another_major_version(version: str) -> None:
    with pytest.raises(OutdatedError) as caught:
        file.parse_plan(changed("formatVersion", to=version).encode(), "plan.json")

    assert caught.value.exit_code == 5
    assert str(caught.value) == (
        f"plan.json: unsupported plan format {version}, written by gpupool 0.1.0; this version reads format 1."
        " Use that version, or make a new one with `gpupool plan -o json=FILE`"
    )


def test_a_file_s_name_that_is_no_text_can_be_written() -> None:
    plan = file.seal(replace(UPDATE, source=replace(UPDATE.source, files={"a\udcff.yaml": "sha256:0"})))

    read = file.parse_plan(file.render_plan(plan).encode(), "plan.json")

    assert read.source.files == {"a\\udcff.yaml": "sha256:0"}
    assert read.id == plan.id


def test_contents_of_a_file(tmp_path: Path) -> None:
    place = tmp_path / "plan.json"
    place.write_bytes(b"{}")

    assert file.read_contents(str(place)) == b"{}"


@pytest.mark.parametrize("name", ["none.json", ".", "a\0b"])
def test_a_file_that_cannot_be_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError) as caught:
        file.read_contents(name)

    (finding,) = caught.value.findings
    assert finding.message.startswith("can't read it: ")
    assert str(finding.code) == "GP0100"
