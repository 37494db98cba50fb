"""`gpupool schema karpenter`: the real kubeconform says with these schemas what our structural layer says."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gpupool import api
from gpupool.codes import Layer, layer
from gpupool.findings import Finding, Severity
from gpupool.karpenter.schemas import build_schemas
from gpupool.karpenter.validation.check import check
from gpupool.karpenter.versions import LATEST, TARGETS
from tests.differential.mutants import Mutant, mutants, sampled
from tests.differential.trees import as_bytes, node
from tests.goldencases import FOLDER, cases
from tests.karpenter.examples import ALL, EC2NODECLASS, NODEPOOL
from tests.rig.conformance import Kubeconform
from tests.tiers import is_thorough, volume

Body = dict[str, Any]
PATHS = [
    "karpenter.k8s.aws/ec2nodeclass_v1.json",
    "karpenter.sh/nodeoverlay_v1alpha1.json",
    "karpenter.sh/nodepool_v1.json",
]
LAYOUT = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"
SEED = 20260820
MUTANTS = 12_000
EACH = 2
"""Of the mutants every second one is asked about: enough for each place, and fast."""
VERDICTS = {"statusValid": True, "statusInvalid": False, "statusError": False}

LOOSER: Mapping[str, Callable[[Finding], bool]] = {
    "metadata, of which a schema can say only the half: moments, sizes, what excludes each other": lambda it: (
        it.path.startswith("metadata.")
    ),
    "a number beside the last that fits in 64 bits, which kubeconform can't tell from it": lambda it: (
        re.search(r"922337203685477580[789]$", it.message) is not None
    ),
    "a day that its month does not have": lambda it: (
        it.path.endswith(".timeAdded") and re.search(r"-(29|30|31)T", it.message) is not None
    ),
    "a list where a status has none": lambda it: re.match(r"status.*\[", it.path) is not None,
}
"""What our structural layer refuses and these schemas can't; they refuse nothing that it takes."""


class Judge:
    """kubeconform, offline, with the schemas that gpupool wrote into a folder."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder = program, folder
        self.schemas, self._objects = folder / "schemas", folder / "objects"
        self._objects.mkdir()
        api.write_karpenter_schemas(self.schemas, LATEST)

    def __call__(self, bodies: Sequence[Body]) -> list[bool]:
        """Say of each object whether kubeconform takes it."""
        for index, body in enumerate(bodies):
            (self._objects / f"{index}.json").write_bytes(as_bytes(body))
        location = f"{self.schemas}/{LAYOUT}"
        options = ["-strict", "-verbose", "-output", "json", "-schema-location", location]
        done = subprocess.run(
            [self._program, *options, self._objects], capture_output=True, text=True, check=False
        )
        found = {each["filename"]: each for each in json.loads(done.stdout)["resources"]}
        said = [found[str(self._objects / f"{index}.json")] for index in range(len(bodies))]
        assert [each["msg"] for each in said if "could not find schema" in each["msg"]] == []
        return [VERDICTS[each["status"]] for each in said]


@pytest.fixture
def judge(kubeconform: Kubeconform, tmp_path: Path) -> Judge:
    """kubeconform with our schemas for the latest Karpenter."""
    return Judge(kubeconform.program, tmp_path)


def structural(kind: str, body: Body) -> list[Finding]:
    """Return what our structural layer refuses in an object."""
    found = check(kind, node(body))
    return [
        each for each in found if each.severity is Severity.ERROR and layer(each.code) is Layer.STRUCTURAL
    ]


def has_a_schema(mutant: Mutant) -> bool:
    """Return whether kubeconform knows which schema an object is to be held against."""
    return all(mutant.body.get(key) == mutant.seed[key] for key in ("apiVersion", "kind"))


def test_the_layout_is_that_of_schema_catalogues(judge: Judge) -> None:
    written = {
        path.relative_to(judge.schemas).as_posix(): path.read_text("utf-8")
        for path in judge.schemas.rglob("*")
        if path.is_file()
    }

    assert sorted(written) == PATHS
    assert written == build_schemas()


def test_every_example_and_every_golden_object_is_taken(judge: Judge) -> None:
    folders = ("ec2nodeclasses/", "nodeoverlays/", "nodepools/")
    golden = [
        str(case.folder / FOLDER / path)
        for case in cases()
        for path in case.expected_files or {}
        if path.startswith(folders)
    ]
    bodies = [*ALL, *(_read(path) for path in golden)]

    assert len(bodies) > 100
    assert judge(bodies) == [True] * len(bodies)


def _read(path: str) -> Body:
    from yaml import CSafeLoader, load

    read: Body = load(Path(path).read_bytes(), CSafeLoader)
    return read


def test_kubeconform_agrees_with_the_structural_layer(judge: Judge) -> None:
    asked = [each for each in sampled(mutants(MUTANTS, SEED)[::EACH]) if has_a_schema(each)]
    ours = [structural(each.kind, each.body) for each in asked]

    theirs = judge([each.body for each in asked])

    stricter = [
        each.body for each, found, takes in zip(asked, ours, theirs, strict=True) if not (takes or found)
    ]
    looser = [found for found, takes in zip(ours, theirs, strict=True) if takes and found]
    reasons = Counter(_reason(found) for found in looser)
    assert [each["metadata"] for each in stricter[:5]] == []
    assert [found for found in looser if not _reason(found)][:5] == []
    assert set(reasons) <= set(LOOSER)
    if is_thorough():
        assert set(reasons) == set(LOOSER), "a reason that is none any more"
    assert min(theirs.count(True), theirs.count(False)) > len(asked) / 4 > volume(4_000) / 4
    assert len(looser) < len(asked) / 50


def _reason(found: Sequence[Finding]) -> str:
    """Return why kubeconform takes what has these findings; empty where no reason holds for all of them."""
    return next((reason for reason, holds in LOOSER.items() if all(map(holds, found))), "")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("limit",), {}, "additional properties 'limit' not allowed"),
        (("weight",), "1", "got string, want null or integer"),
        (("weight",), 101, "maximum: got 101, want 100"),
        (("disruption", "consolidateAfter"), "1d", "does not match pattern"),
        (("template", "spec", "nodeClassRef"), None, "got null, want object"),
    ],
)
def test_kubeconform_s_words_name_the_mistake(
    path: tuple[str, ...], value: object, words: str, judge: Judge, kubeconform: Kubeconform, tmp_path: Path
) -> None:
    body = json.loads(json.dumps(NODEPOOL))
    here = body["spec"]
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    (tmp_path / "bad.json").write_text(json.dumps(body), "utf-8")

    done = subprocess.run(
        [kubeconform.program, "-strict", "-schema-location", f"{judge.schemas}/{LAYOUT}", tmp_path / "bad.json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert words in done.stdout


@pytest.mark.parametrize("target", TARGETS)
def test_an_older_target_knows_less(target: str) -> None:
    made = {path: json.loads(text) for path, text in build_schemas(target).items()}
    classes = made[PATHS[0]]["properties"]["spec"]["properties"]
    disruption = made[PATHS[2]]["properties"]["spec"]["properties"]["disruption"]["properties"]
    minor = int(target.partition(".")[2])

    assert {"networkInterfaces", "placementGroupSelector"} <= classes.keys() or minor < 11
    assert ({"networkInterfaces", "placementGroupSelector"} & classes.keys() == set()) == (minor < 11)
    assert ({"connectionTracking", "cpuOptions"} & classes.keys() == set()) == (minor < 13)
    assert ("Balanced" in disruption["consolidationPolicy"]["enum"]) == (minor >= 14)
    assert ("uniqueItems" in disruption["budgets"]["items"]["properties"]["reasons"]) == (minor >= 13)
    assert "capacityReservationSelectorTerms" in classes


def test_nothing_is_left_to_look_up_and_every_field_is_described() -> None:
    for text in build_schemas().values():
        assert '"$ref"' not in text
        assert '"default"' not in text
    spec = json.loads(build_schemas()[PATHS[0]])["properties"]["spec"]

    assert spec["properties"].keys() >= EC2NODECLASS["spec"].keys()
    assert [name for name, field in spec["properties"].items() if not field.get("description")] == []
