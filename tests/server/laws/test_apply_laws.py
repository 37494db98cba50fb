"""After an apply there is nothing to do: nothing is shown, and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings

from gpupool.cluster.resources import KINDS
from gpupool.errors import GuardError
from gpupool.planning.compare import find_differences, strip_server_fields
from gpupool.planning.foreign_fields import is_default
from gpupool.planning.ownership import find_applied_entry
from gpupool.planning.plan import Consent
from gpupool.planning.pruning import read_node_class
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.session import ensure_applicable, is_settled
from gpupool.yamlio.write import dump
from tests import strategies
from tests.cli.run import gpupool
from tests.goldencases import Case, cases
from tests.goldensample import sampled
from tests.profiles.rendering import words_of, write
from tests.server.laws.worlds import clear, world
from tests.server.objects import EC2_NODE_CLASS
from tests.test_examples import ALL, EXAMPLES
from tests.tiers import volume

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gpupool.planning.compare import Difference
    from gpupool.planning.plan import Plan
    from tests.rig.server import ApiServer
    from tests.server.laws.worlds import World

GENERATED = volume(40, at_least=12)
"""By default a part: `tests/rollout/decisions` asks the same of more, on the server in memory."""

NODE_CLASS = yaml.safe_load(EC2_NODE_CLASS)
PROFILES = sorted(path.stem for path in (EXAMPLES.parents[1] / "profiles").glob("*.yaml"))
GOLDEN = sampled([case for case in cases() if case.expected_files is not None])


@pytest.fixture
def here(api_server: ApiServer) -> Iterator[World]:
    """Yield a server with nothing on it."""
    with world(api_server) as found:
        yield found


@pytest.fixture
def example() -> list[str]:
    """Return the blueprint of an example that has pools, a class and overlays."""
    return [str(EXAMPLES / file) for file in ALL["ml-platform"]]


def settles(here: World, files: Sequence[str]) -> None:
    """Ensure the two laws for a blueprint, with the API server's audit log as witness."""
    audit, mark = here.server.audit, here.server.audit.mark()
    first = here.look(files)
    if first.plan.guards:
        create_missing_classes(here, first.plan)
        mark, first = audit.mark(), here.look(files)
    assert all(each.dry_run for each in audit.since(mark))
    ensure_complete(here.carry_out(first))
    inventory, lock = 2, 2
    assert sum(each.is_done for each in audit.since(mark)) == len(first.plan.changes) + inventory + lock
    before, mark = here.versions(), audit.mark()

    after = here.look(files)
    plan = after.plan
    assert is_settled(after)
    assert plan.summary.unchanged == len(plan.changes) == len(first.plan.changes)
    assert (plan.orphans, plan.lost, plan.warnings, plan.guards) == ((), (), (), ())
    assert here.versions() == before
    assert audit.since(mark) == []


def create_missing_classes(here: World, plan: Plan) -> None:
    """Create the node classes that pools refer to and nobody declares; without them nothing is written."""
    with pytest.raises(GuardError) as refused:
        ensure_applicable(plan)
    there = {each.address for each in plan.changes}
    pools = [each.body for each in plan.changes if each.address.startswith("NodePool/")]
    for kind, name in {read_node_class(body) for body in pools}:
        if kind in KINDS and f"{kind}/{name}" not in there:
            assert f"{kind}/{name}" in str(refused.value)
            here.put(f"{kind}/{name}", {**NODE_CLASS, "metadata": {"name": name}})


@pytest.mark.parametrize("name", ALL)
def test_every_example(here: World, name: str) -> None:
    settles(here, [str(EXAMPLES / file) for file in ALL[name]])


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
def test_golden_blueprints(here: World, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.folder)
    settles(here, case.blueprints)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile(here: World, profile: str, tmp_path: Path) -> None:
    settles(here, [write(tmp_path, {"pool": words_of(profile)})])


@settings(
    derandomize=True, deadline=None, database=None, max_examples=GENERATED,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(blueprint=strategies.blueprints())
def test_generated_blueprints(here: World, blueprint: strategies.Words, tmp_path: Path) -> None:
    file = tmp_path / "blueprint.yaml"
    file.write_text(dump(blueprint), "utf-8")
    clear(here.server)
    settles(here, [str(file)])


@settings(
    derandomize=True, deadline=None, database=None, max_examples=GENERATED, phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(blueprint=strategies.blueprints())
def test_from_one_generated_blueprint_to_the_next(
    here: World, blueprint: strategies.Words, tmp_path: Path
) -> None:
    """Whatever was there before, what is there afterwards is what the blueprint says, and nothing else."""
    file = tmp_path / "blueprint.yaml"
    file.write_text(dump(blueprint), "utf-8")
    here.apply([str(file)], Consent(prune=True, max_deletes=99))

    session = here.look([str(file)], Consent(prune=True, max_deletes=99))
    assert is_settled(session)
    assert [each.residue for each in session.plan.changes if each.residue] == []
    assert here.objects().keys() == {each.address for each in session.plan.changes}
    for each in session.prepared.assessed:
        live = session.prepared.observed.live[each.desired.ref]
        found = find_differences(dict(each.desired.body), strip_server_fields(dict(live)))
        assert [one for one in found if one.semantic and not is_filled_in(one)] == []


def is_filled_in(difference: Difference) -> bool:
    """Return whether the server filled in what the body leaves out; a budget that says nothing is 10 %."""
    if difference.op == "add":
        return is_default(difference.keys, difference.after) or difference.after == {"nodes": "10%"}
    return difference.path == "spec.disruption.budgets[]" and difference.before == {}


@pytest.mark.parametrize("name", ["gpu-platform", "ml-platform-prod", "source-003"])
def test_by_the_command_line(here: World, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    audit, mark = here.server.audit, here.server.audit.mark()
    files = [part for file in ALL[name] for part in ("-f", str(EXAMPLES / file))]
    where = (*files, "--kubeconfig", str(here.kubeconfig), "--context", "rig")
    apply = ("apply", *where, "--yes", "--wait", "none")
    before = gpupool(capsys, "diff", *where)
    assert (before.code, bool(before.out)) == (2, True), before.err
    assert all(each.dry_run for each in audit.since(mark))
    first = gpupool(capsys, *apply)
    assert first.code == 0, first.err
    versions, mark = here.versions(), audit.mark()

    found = gpupool(capsys, "diff", *where, "-o", "patch")
    assert (found.code, found.out) == (0, ""), found.err
    again = gpupool(capsys, *apply, "--detailed-exitcode")
    assert (again.code, again.err.splitlines()[-1]) == (0, "nothing to do")
    assert here.versions() == versions
    assert audit.since(mark) == []


def test_what_others_write_beside_it_is_nothing_to_do(here: World, example: list[str]) -> None:
    """Karpenter's status and hashes, the annotations that kubectl leaves, an amount in other words."""
    here.apply(example)
    addresses = [*here.objects()]
    for address in addresses:
        kind, _, name = address.partition("/")
        group = KINDS[kind].group
        path = f"{KINDS[kind].path_of(name)}/status?fieldManager=karpenter"
        condition = {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-11-21T08:00:00Z"}  # fmt: skip
        here.change_at(path, {"status": {"conditions": [condition]}})
        here.change(
            address, {"metadata": {"annotations": {f"{group}/{kind.lower()}-hash": "1"}}}, "karpenter"
        )
        here.change(
            address, {"metadata": {"labels": {"argocd.argoproj.io/instance": "x"}}}, "argocd-controller"
        )
    pool = next(address for address in addresses if address.startswith("NodePool/"))
    here.change(pool, {"spec": {"limits": {"nvidia.com/gpu": "64000m"}}}, "kubectl-edit")
    before = here.versions()

    found = here.look(example)
    assert [each.fields for each in found.plan.changes if each.address == pool]
    assert here.apply(example) is None
    assert here.versions() == before


def test_a_plan_of_nothing_that_is_carried_out_all_the_same(here: World, example: list[str]) -> None:
    """As when two runs of one change begin at the same moment."""
    here.apply(example)
    before = here.versions()
    result = here.carry_out(here.look(example))
    after = here.versions()
    assert {each.action for each in result.outcomes} == {"keep"}
    assert {name for name, version in after.items() if before[name] != version} == {"gpupool-ml-platform"}


def test_what_was_edited_and_put_back_is_ours_again(here: World, example: list[str]) -> None:
    """Who edits a field owns it from then on, though it says the same again; it would stay for ever."""
    here.apply(example)
    for gpus in ("17", 16):
        here.change("NodePool/train", {"spec": {"limits": {"nvidia.com/gpu": gpus}}})
    (train,) = [each for each in here.look(example).plan.changes if each.writes]
    assert (train.address, train.fields) == ("NodePool/train", ())

    here.apply(example)

    assert here.apply(example) is None
    own = find_applied_entry(here.objects()["NodePool/train"])
    assert own is not None
    assert "f:nvidia.com/gpu" in own.fields["f:spec"]["f:limits"]  # type: ignore[index, call-overload, operator]


EMPTIED: dict[str, dict[str, str]] = {"tags": {}, "kubelet": {}, "metadataOptions": {}}
FILLED = {
    "tags": {"team": "ml"},
    "kubelet": {"maxPods": 40},
    "metadataOptions": {"httpPutResponseHopLimit": 2},
}


def test_a_map_that_was_said_to_be_empty(here: World, tmp_path: Path) -> None:
    """Where it had keys before, the server would take it for null and refuse it."""
    pool = {"profile": "general", "labels": {"a": "b"}, "annotations": {"a": "b"}, "limits": {"cpu": "64"}}
    here.apply([write(tmp_path, {"pool": {**pool, "nodeClass": FILLED}})])
    before = here.objects()
    assert before["EC2NodeClass/pool"]["spec"]["tags"] == {"team": "ml"}

    files = [write(tmp_path, {"pool": {**pool, "labels": {}, "annotations": {}, "nodeClass": EMPTIED}})]
    here.apply(files)

    after = here.objects()
    assert not {"tags", "kubelet"} & after["EC2NodeClass/pool"]["spec"].keys()
    assert after["EC2NodeClass/pool"]["spec"]["metadataOptions"]["httpPutResponseHopLimit"] == 1
    assert {"a": "b"} not in after["NodePool/pool"]["spec"]["template"].get("metadata", {}).values()
    assert here.apply(files) is None
