"""Every command and every exit code: what it means, and that nothing else comes, least of all a bug's."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from gpupool.cli.app import app
from tests.cli.run import SECONDS, Outcome, gpupool
from tests.planning.test_signature import KEY, public
from tests.server import leases, statuses
from tests.server.commands.scene import ALONE, CHAT, NAME, QUICK, TRAIN, Scene
from tests.server.objects import EC2_NODE_CLASS, NODE_POOL, changed

COMMANDS = [each.name or each.callback.__name__ for each in app.registered_commands if each.callback]
PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "cluster.md"
BUG = 70

POOL, CLASS = "NodePool/chat", "EC2NodeClass/chat"
MORE = CHAT.replace("gpus: 8", "gpus: 16")
STATIC = "chat: {profile: inference, accelerator: l4, replicas: 1, limits: {nodes: 2}}"
THIRD = "serve: {profile: inference, accelerator: l40s}"
YES = ("--yes", "--context", "rig", *QUICK)

Prepare = Callable[[Scene], None]


class Case(NamedTuple):
    """A cluster and a folder, a command line, and how it ends."""

    prepare: Prepare
    arguments: str
    code: int
    words: str = ""
    """What is said, on either stream."""


def nothing(_scene: Scene) -> None:
    """A blueprint that nobody has applied."""


def applied(scene: Scene) -> None:
    scene.apply()


def more(scene: Scene) -> None:
    scene.apply()
    scene.says(MORE)


def renamed(scene: Scene) -> None:
    scene.apply()
    scene.rewrite("name: demo", "name: gpus")


def ready(scene: Scene) -> None:
    scene.apply()
    statuses.make_ready(scene.server, "chat")


def contested(scene: Scene) -> None:
    scene.apply()
    scene.edit(POOL, {"spec": {"limits": {"nvidia.com/gpu": 12}}})


def contested_and_more(scene: Scene) -> None:
    contested(scene)
    scene.says(CHAT, TRAIN)


def by_hand(scene: Scene) -> None:
    scene.create(changed(NODE_POOL, b"  name: rig\n", b"  name: chat\n"))


def refused(scene: Scene) -> None:
    scene.apply()
    scene.says(STATIC)
    scene.rewrite("cluster: {", "cluster: {features: [StaticCapacity], ")


def refused_and_contested(scene: Scene) -> None:
    scene.says(CHAT, TRAIN)
    scene.apply()
    scene.edit("NodePool/train", {"spec": {"template": {"spec": {"expireAfter": "24h"}}}})
    scene.says(STATIC, TRAIN)
    scene.rewrite("cluster: {", "cluster: {features: [StaticCapacity], ")


def leaving(scene: Scene) -> None:
    scene.apply()
    scene.hold(POOL)


def leaving_and_contested(scene: Scene) -> None:
    contested(scene)
    scene.hold(CLASS)


def dangling(scene: Scene) -> None:
    scene.says(ALONE)


def dangling_since(scene: Scene) -> None:
    """All is as the blueprint says, and the class that the pool needs is gone."""
    scene.server.apply(changed(EC2_NODE_CLASS, b"  name: rig\n", b"  name: shared\n"))
    scene.says(ALONE)
    scene.apply()
    scene.delete("EC2NodeClass/shared")


def two_too_many(scene: Scene) -> None:
    scene.says(CHAT, TRAIN, THIRD)
    scene.apply()
    scene.says(CHAT)


def in_use(scene: Scene) -> None:
    scene.says(CHAT, TRAIN)
    scene.apply()
    statuses.claim(scene.server, "node", "train")
    scene.says(CHAT)


def empty(scene: Scene) -> None:
    scene.apply()
    scene.rewrite(f"  {CHAT}\n", "")
    scene.rewrite("pools:", "pools: {}")


def invalid(scene: Scene) -> None:
    scene.rewrite("accelerator: l4", "acelerator: l4")


def absent(_scene: Scene) -> None:
    Path("gpupool.yaml").unlink()


def pinned(word: str, value: str) -> Prepare:
    return lambda scene: scene.rewrite("cluster: {", f"cluster: {{{word}: '{value}', ")


def locked(scene: Scene) -> None:
    leases.held_by_another(scene.server, f"gpupool-{NAME}")


def saved(*then: Prepare, arguments: tuple[str, ...] = ()) -> Prepare:
    """A saved plan for a blueprint that nobody has applied, and what happens after it."""

    def prepare(scene: Scene) -> None:
        scene.plan(*arguments)
        for each in then:
            each(scene)

    return prepare


def garbled(_scene: Scene) -> None:
    Path("plan.json").write_text(Path("plan.json").read_text("utf-8").replace("chat", "char"), "utf-8")


def with_a_key(_scene: Scene) -> None:
    Path("plan.pub").write_bytes(public(KEY))


def of_another_format(_scene: Scene) -> None:
    Path("plan.json").write_text('{"formatVersion": "2.0", "gpupool": "9.9.9"}', "utf-8")


def files(scene: Scene) -> None:
    """A workload that fits, one that does not, and a rendered folder that is out of date."""
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: c%s}]%s}}"
    taken = ", tolerations: [{key: nvidia.com/gpu, operator: Exists}]"
    Path("pod.yaml").write_text(pod % (", resources: {limits: {nvidia.com/gpu: 1}}", taken), "utf-8")
    Path("many.yaml").write_text(pod % (", resources: {limits: {nvidia.com/gpu: 99}}", taken), "utf-8")
    assert scene.run("render", "-d", "out").code == 0
    scene.says(MORE)


OFFLINE = {
    "init": Case(nothing, "init new.yaml", 0),
    "init over a file": Case(nothing, "init gpupool.yaml", 1, "--force"),
    "validate": Case(nothing, "validate", 0),
    "validate, invalid": Case(invalid, "validate", 1, "unknown field `acelerator`"),
    "render": Case(nothing, "render", 0),
    "render, invalid": Case(invalid, "render", 1, "unknown field `acelerator`"),
    "render, up to date": Case(nothing, "render -d out", 0),
    "render, out of date": Case(files, "render -d out --check", 2, "rendered file out of date"),
    "explain": Case(nothing, "explain", 0),
    "explain, no such pool": Case(nothing, "explain other", 64, "unknown pool `other`"),
    "explain, invalid": Case(invalid, "explain", 1),
    "fit": Case(files, "fit pod.yaml", 0),
    "fit, in no pool": Case(files, "fit many.yaml", 1),
    "profiles": Case(nothing, "profiles", 0),
    "profiles, no such": Case(nothing, "profiles other", 1),
    "schema": Case(nothing, "schema", 0),
    "completion": Case(nothing, "completion bash", 0),
    "catalogue": Case(nothing, "catalogue refresh", 64, "no region is set"),
    "rbac": Case(nothing, "rbac plan", 0),
    "rbac, invalid": Case(invalid, "rbac apply", 1),
    "show": Case(saved(), "show plan.json", 0),
    "show, a plan that is stale": Case(saved(applied), "show plan.json", 0),
    "show, no file": Case(nothing, "show plan.json", 1, "can't read it"),
    "show, changed by hand": Case(saved(garbled), "show plan.json", 1, "changed by hand"),
    "show, unsigned": Case(saved(with_a_key), "show plan.json --verify-key plan.pub", 3, "not signed"),
    "show, of another format": Case(of_another_format, "show plan.json", 5, "format 2.0"),
}
DIFF = {
    "nothing to do": Case(applied, "diff", 0, "No changes"),
    "first of all": Case(nothing, "diff", 2, "2 to create"),
    "changes": Case(more, "diff", 2, "1 to update"),
    "changes, and nobody wants to know": Case(more, "diff --exit-zero", 0, "1 to update"),
    "deletions": Case(two_too_many, "diff", 2, "4 to delete"),
    "invalid": Case(invalid, "diff", 1, "unknown field `acelerator`"),
    "no blueprint": Case(absent, "diff", 1, "can't read the file"),
    "refused by the server": Case(refused, "diff", 1, "the API server rejects NodePool/chat"),
    "refused beats contested": Case(refused_and_contested, "diff", 1, "owned by kubectl-edit"),
    "contested": Case(contested, "diff", 4, "conflict: another owner manages NodePool/chat"),
    "contested beats changes": Case(contested_and_more, "diff", 4, "2 to create"),
    "contested, and nobody wants to know of changes": Case(contested, "diff --exit-zero", 4),
    "made by somebody else": Case(by_hand, "diff", 4, "--adopt NodePool/chat"),
    "about to be deleted": Case(leaving, "diff", 2, "it is being deleted since"),
    "a class that is gone": Case(dangling_since, "diff", 2, "which does not exist"),
    "another uid": Case(pinned("uid", "other"), "diff", 3, "wrong cluster: its uid is"),
    "a place that is none": Case(nothing, "diff -o text=gpupool.yaml/out", 1, "gpupool.yaml"),
}
PLAN = {
    "nothing to do": Case(applied, "plan", 0, "No changes"),
    "nothing to do, in detail": Case(applied, "plan --detailed-exitcode", 0),
    "changes": Case(more, "plan", 0, "1 to update"),
    "changes, in detail": Case(more, "plan --detailed-exitcode", 2),
    "invalid": Case(invalid, "plan", 1),
    "refused by the server": Case(refused, "plan", 1),
    "refused beats contested": Case(refused_and_contested, "plan --detailed-exitcode", 1),
    "contested": Case(contested, "plan", 4),
    "contested, taken": Case(contested, "plan --on-conflict take", 0),
    "contested beats changes": Case(contested_and_more, "plan --detailed-exitcode", 4),
    "contested beats a guard": Case(leaving_and_contested, "plan", 4),
    "made by somebody else": Case(by_hand, "plan", 4),
    "made by somebody else, taken over": Case(by_hand, f"plan --adopt {POOL}", 0),
    "too many deletions": Case(
        two_too_many, "plan --prune", 3, "2 NodePools would be deleted, but --max-deletes is 1"
    ),
    "as many deletions as agreed": Case(two_too_many, "plan --prune --max-deletes 2", 0),
    "deletions that nobody agreed to": Case(
        two_too_many, "plan", 0, "no longer in the blueprint, and not deleted"
    ),
    "a pool with nodes": Case(in_use, "plan --prune", 0, "NodePool/train still has 1 NodeClaim: it is kept"),
    "no pools": Case(empty, "plan --prune", 1),
    "no pools, as agreed": Case(empty, "plan --prune --allow-empty", 0),
    "about to be deleted": Case(leaving, "plan", 0, "it is being deleted since"),
    "a class that is not there": Case(
        dangling, "plan", 3, "refers to EC2NodeClass/shared, which does not exist"
    ),
    "another server": Case(pinned("server", "https://127.0.0.1:1"), "plan", 3, "its server is"),
    "another context": Case(pinned("context", "other"), "plan --context rig", 3, "its context is `rig`"),
}
APPLY = {
    "all": Case(nothing, "apply", 0, "2 created"),
    "all, in detail": Case(nothing, "apply --detailed-exitcode", 2, "2 created"),
    "nothing to do": Case(applied, "apply", 0, "nothing to do"),
    "nothing to do, in detail": Case(applied, "apply --detailed-exitcode", 0),
    "invalid": Case(invalid, "apply", 1),
    "refused by the server": Case(refused, "apply", 1, "rejects NodePool/chat"),
    "refused beats contested": Case(refused_and_contested, "apply", 1),
    "contested": Case(contested, "apply", 4),
    "made by somebody else": Case(by_hand, "apply", 4, "--adopt NodePool/chat"),
    "contested beats a guard": Case(leaving_and_contested, "apply", 4),
    "too many deletions": Case(two_too_many, "apply --prune", 3, "--max-deletes 2"),
    "a pool with nodes": Case(in_use, "apply --prune", 3, "NodePool/train: it still has 1 NodeClaim"),
    "a pool with nodes, as agreed": Case(
        in_use,
        "apply --prune --allow-delete NodePool/train",
        3,
        "EC2NodeClass/train: it still has 1 NodeClaim",
    ),
    "no pools": Case(empty, "apply --prune", 1),
    "no pools, as agreed": Case(empty, "apply --prune --allow-empty", 0),
    "about to be deleted": Case(leaving, "apply", 3, "it is being deleted since"),
    "a class that is not there": Case(dangling, "apply", 3, "which does not exist"),
    "another uid": Case(pinned("uid", "other"), "apply", 3, "its uid is"),
    "another server": Case(pinned("server", "https://127.0.0.1:1"), "apply", 3, "its server is"),
    "another context": Case(pinned("context", "other"), "apply", 3, "its context is `rig`"),
    "a lock that somebody holds": Case(locked, "apply --lock-timeout 0.1s", 3, "gpupool unlock 0ther1d0"),
}
"""Each with the context named, and with --yes and --wait none."""

ALONE_ON_A_LINE = {
    "nobody agrees": Case(nothing, "apply --context rig", 3, "cannot prompt: stdin is not a terminal; pass --yes"),
    "nobody says where": Case(nothing, "apply --yes", 3, "refusing to write to the current context `rig`"),
    "nobody says where, and there is nothing to do": Case(applied, "apply --yes", 3, "refusing to write to the current context"),
    "not Ready in time": Case(applied, "apply --yes --context rig --timeout 2s", 6, "no status yet: is Karpenter running?"),
    "a class not Ready in time": Case(nothing, "apply --yes --context rig --timeout 3s", 7, "apply incomplete: NodePool/chat"),
    "a saved plan": Case(saved(), f"apply plan.json {' '.join(QUICK)}", 0, "2 created"),
    "a saved plan, in detail": Case(saved(), f"apply plan.json --detailed-exitcode {' '.join(QUICK)}", 2),
    "a plan that is no longer true": Case(saved(applied), "apply plan.json", 5, "Make a new one"),
    "a plan that was changed by hand": Case(saved(garbled), "apply plan.json", 1, "changed by hand"),
    "a plan of another format": Case(of_another_format, "apply plan.json", 5, "format 2.0"),
    "no plan": Case(nothing, "apply plan.json", 1, "can't read it"),
    "a plan and somebody's lock": Case(saved(locked), "apply plan.json --lock-timeout 0.1s", 3, "gpupool unlock 0ther1d0"),
    "move": Case(renamed, "move --from demo --yes --context rig", 0, "Moved 2 objects."),
    "a plan that holds a class back": Case(saved(), "apply plan.json --timeout 3s", 7),
}  # fmt: skip
OTHERS = {
    "status": Case(applied, "status", 0),
    "status, invalid": Case(invalid, "status", 1),
    "status, another uid": Case(pinned("uid", "other"), "status", 3),
    "status, not Ready in time": Case(applied, "status --wait ready --timeout 1s", 6),
    "status, Ready": Case(ready, "status --wait ready", 0),
    "doctor": Case(nothing, "doctor", 0),
    "doctor, invalid": Case(invalid, "doctor", 1),
    "doctor, another uid": Case(pinned("uid", "other"), "doctor", 3),
    "unlock": Case(nothing, "unlock", 0),
    "unlock, held": Case(locked, "unlock", 3, "gpupool unlock 0ther1d0"),
    "unlock, the one": Case(locked, "unlock 0ther1d0", 0),
    "unlock, another": Case(locked, "unlock other", 3),
    "unlock, invalid": Case(invalid, "unlock", 1),
    "move, nobody agrees": Case(
        renamed, "move --from demo --context rig", 3, "cannot prompt: stdin is not a terminal"
    ),
    "move, nothing there": Case(nothing, "move --from other --yes", 1, "gpupool-other does not exist"),
    "move, itself": Case(applied, "move --from demo --yes", 64, "this is the blueprint itself"),
    "move, invalid": Case(invalid, "move --from other", 1),
}


def run(scene: Scene, case: Case, *more: str) -> Outcome:
    case.prepare(scene)
    before = scene.versions()

    said = scene.run(*case.arguments.split(), *more)

    assert said.code == case.code, said.out + said.err
    assert case.words in said.out + said.err
    assert ("Traceback" in said.err, "bug in gpupool" in said.err) == (False, False)
    if case.code in {1, 3, 4, 5, 64} and "the rest was applied; blocked: " not in said.err:
        assert scene.versions() == before
    return said


@pytest.mark.parametrize("case", [*OFFLINE.values(), *OTHERS.values()], ids=[*OFFLINE, *OTHERS])
def test_commands_that_write_nothing_to_the_cluster(
    scene: Scene, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(variable, raising=False)
    run(scene, case)


@pytest.mark.parametrize("case", DIFF.values(), ids=DIFF)
def test_diff(scene: Scene, case: Case) -> None:
    run(scene, case)


@pytest.mark.parametrize("case", PLAN.values(), ids=PLAN)
def test_plan(scene: Scene, case: Case) -> None:
    run(scene, case, "-o", "json=plan.json", "-o", "text")


@pytest.mark.parametrize("case", APPLY.values(), ids=APPLY)
def test_apply(scene: Scene, case: Case) -> None:
    run(scene, case, *YES)


@pytest.mark.parametrize("case", ALONE_ON_A_LINE.values(), ids=ALONE_ON_A_LINE)
def test_apply_as_it_is_said(scene: Scene, case: Case) -> None:
    run(scene, case)


def test_where_a_pin_says_which_cluster_is_meant(scene: Scene) -> None:
    scene.rewrite("cluster: {", f"cluster: {{uid: {scene.uid()}, ")

    assert scene.run("apply", "--yes", *QUICK).code == 0


@pytest.mark.parametrize(
    ("prepare", "arguments", "code"),
    [
        (more, "diff", 2),
        (more, "diff --exit-zero", 0),
        (applied, "diff", 0),
        (contested, "diff", 4),
        (refused, "plan", 1),
        (leaving, "plan", 0),
        (more, "plan --detailed-exitcode", 2),
        (more, f"apply {' '.join(YES)}", 0),
        (more, f"apply {' '.join(YES)} --detailed-exitcode", 2),
        (contested, f"apply {' '.join(YES)}", 4),
    ],
)
def test_a_job_s_later_steps_are_told_the_same_code(
    scene: Scene, prepare: Prepare, arguments: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", "outputs")
    prepare(scene)

    said = scene.run(*arguments.split(), "-o", "github")

    assert said.code == code, said.err
    assert f"exit_code={code}\n" in Path("outputs").read_text("utf-8")


WORDS = {
    "apply --wait x": "--wait x: expected none or ready",
    "apply --wait rollout": "--wait rollout: expected none or ready",
    "apply --lock-timeout soon": "--lock-timeout soon: expected a duration such as 90s, 10m or 1h",
    "apply a b": "unexpected extra argument",
    "apply plan.json --prune": "a saved plan contains its options",
    "apply plan.json --adopt NodePool/a": "a saved plan contains its options",
    "apply plan.json --allow-delete NodePool/a": "a saved plan contains its options",
    "apply plan.json --allow-empty": "a saved plan contains its options",
    "apply plan.json --max-deletes 2": "a saved plan contains its options",
    "apply plan.json --on-conflict take": "a saved plan contains its options",
    "apply - -f -": "standard input can be read only once",
    "diff -f - -f -": "standard input can be read only once",
    "plan -f - -f -": "standard input can be read only once",
    "diff --prune": "No such option: --prune",
    "diff --adopt NodePool/a": "No such option: --adopt",
    "plan --yes": "No such option: --yes",
    "status --wait x": "is not one of",
    "rbac x": "is not one of",
    "unlock a b": "unexpected extra argument",
    "move": "Missing option '--from'",
    "move --from a/b/c": "--from a/b/c: expected a blueprint's name",
    "show": "Missing argument 'FILE|-'",
    "show plan.json -o yaml": "unknown format `yaml`; use one of text, patch, json, markdown, github",
}
FOR_SEVERAL = {
    ("diff", "plan", "apply", "status", "doctor", "unlock", "move --from other"): {
        "--timeout x": "--timeout x: expected a duration such as 90s, 10m or 1h",
        "--timeout 0": "--timeout 0: expected a duration",
        "--timeout -5s": "--timeout -5s: expected a duration",
        "--timeout infs": "--timeout infs: expected a duration",
        "--concurrency 0": "should be greater than or equal to 1",
        "--concurrency many": "should be a valid integer",
        "--context": "requires an argument",
        "--kubeconfig": "requires an argument",
        "--as": "requires an argument",
    },
    ("diff", "plan", "apply"): {
        "-o yaml": "unknown format `yaml`; use one of text, patch, json, markdown, github",
        "-o json=": "the file after `=` is missing",
        "-o text -o patch": "2 results to standard output",
    },
    ("status", "doctor"): {"-o yaml": "unknown format `yaml`; use one of text, json"},
    ("plan", "apply"): {
        "--adopt x": "--adopt x: expected KIND/NAME, as in NodePool/chat",
        "--adopt NodePool/": "--adopt NodePool/: expected KIND/NAME",
        "--adopt Pod/x": "--adopt Pod/x: expected KIND/NAME",
        "--allow-delete chat": "--allow-delete chat: expected KIND/NAME, as in NodePool/chat",
        "--on-conflict x": "--on-conflict x: expected fail, take, or take=PATH,PATH",
        "--on-conflict take=": "--on-conflict take=: expected fail, take",
        "--on-conflict fail=spec": "--on-conflict fail=spec: expected fail, take",
        "--max-deletes -1": "should be greater than or equal to 0",
        "--max-deletes all": "should be a valid integer",
    },
}
SENSELESS = WORDS | {
    f"{command} {arguments}": words
    for commands, table in FOR_SEVERAL.items()
    for command in commands
    for arguments, words in table.items()
}
BAD_FLAGS = {f"{command} --no-such-flag": "No such option: --no-such-flag" for command in COMMANDS}


@pytest.mark.parametrize(("line", "words"), (SENSELESS | BAD_FLAGS).items(), ids=SENSELESS | BAD_FLAGS)
def test_a_command_line_that_makes_no_sense(
    line: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told before anything is read, or asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", "absent")

    said = gpupool(capsys, *line.split(" "))

    assert (said.code, said.out) == (64, "")
    assert words in said.err
    assert list(tmp_path.iterdir()) == []


BRACKETS: Final = ("a[0].b", "[", "x]y[", "[/red]")


def test_names_with_what_paths_are_written_with(scene: Scene) -> None:
    """The keys of tags may have any characters."""
    formats = [
        word
        for name in ("text", "patch", "json", "markdown", "github")
        for word in ("-o", f"{name}=out.{name}")
    ]
    scene.says(CHAT.replace("l4,", f"l4, nodeClass: {{tags: {dict.fromkeys(BRACKETS, 'ours')}}},"))

    said = [scene.run("diff"), scene.run("plan", *formats), scene.run("apply", "out.json", *QUICK)]
    scene.edit(CLASS, {"spec": {"tags": {**dict.fromkeys(BRACKETS, "his"), "his]": "own"}}})
    contested = scene.run("diff", "-o", "text", *formats)
    taken = scene.run("apply", *YES, "--on-conflict", "take")

    assert [each.code for each in (*said, contested, taken)] == [2, 0, 0, 4, 0], [each.err for each in said]
    assert [each for each in BRACKETS if each not in contested.out] == []
    assert scene.there(CLASS)["spec"]["tags"] == {**dict.fromkeys(BRACKETS, "ours"), "his]": "own"}
    assert scene.run("diff").code == 0


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_a_signal(scene: Scene, number: signal.Signals, code: int) -> None:
    """What is there is written down, and the lock is given back."""
    command = [sys.executable, "-m", "gpupool", "apply", "--yes", "--context", "rig"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        while "is Karpenter running?" not in child.stderr.readline():
            assert child.poll() is None
        child.send_signal(number)
        _, err = child.communicate(timeout=SECONDS)

    assert child.returncode == code, err
    assert (
        "error: stopped by a signal: 1 of 2 objects are done. Run the same command again to continue\n" in err
    )
    assert (scene.listed(), "pending" in scene.inventory()) == ([CLASS], False)
    assert leases.holder(scene.server, f"gpupool-{NAME}") == ""


class TestThePage:
    """What users are told of exit codes is what was seen above."""

    TABLE: Final = re.findall(r"^\| ([\d, ]+) \| (.+?) \| (.+?) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    SEEN: Final = frozenset(
        (case.arguments.split()[0], case.code)
        for table in (OFFLINE, DIFF, PLAN, APPLY, ALONE_ON_A_LINE, OTHERS)
        for case in table.values()
    ) | {("move", 5), ("move", 7)}
    """Those two are seen where something goes wrong on the way: in `tests/server/applying/test_moving.py`."""

    def test_has_every_code_once(self) -> None:
        codes = [int(code) for codes, *_ in self.TABLE for code in codes.split(",")]

        assert codes == [0, 1, 2, 3, 4, 5, 6, 7, 64, BUG, 129, 130, 143]

    @pytest.mark.parametrize("code", range(2, 8))
    def test_names_the_commands_that_end_so(self, code: int) -> None:
        named = next(commands for codes, _, commands in self.TABLE if codes == str(code))

        assert {command for command in re.findall(r"`([a-z]+)", named) if command in COMMANDS} == {
            command for command, seen in self.SEEN if seen == code
        }

    def test_every_command_is_tried_and_ends_well_or_not(self) -> None:
        assert {command for command, _ in self.SEEN} == set(COMMANDS)
        assert {command for command, code in self.SEEN if code == 0} == set(COMMANDS) - {"catalogue"}
        assert set(COMMANDS) - {command for command, code in self.SEEN if code == 1} == {
            "schema",
            "completion",
            "catalogue",
        }
