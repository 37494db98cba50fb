"""`gpupool completion`: the scripts in real shells, and the values that they offer."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from gpupool.api import render_files, write_folder
from gpupool.blueprint.load import load
from gpupool.catalogue.load import load_shipped
from gpupool.cli.app import app
from gpupool.cli.completion_answers import Completion, Paths, complete, format_answer, split_line
from gpupool.expansion.expand import expand
from gpupool.provenance import names
from gpupool.provenance.trace import trace
from gpupool.rendering.render import render
from tests.cli.blueprints import HEAD, TOP
from tests.cli.guard import GUARD
from tests.cli.run import SECONDS, gpupool, process
from tests.cli.shells import Shell, fish_words, installed, interactive, surroundings

SHELLS = ["bash", "zsh", "fish"]
COMMANDS = [
    "init", "validate", "render", "explain", "fit", "diff", "plan", "apply", "status", "show", "doctor", "rbac",
    "unlock", "move", "profiles", "catalogue", "schema", "completion",
]  # fmt: skip
POOLS = f"""\
{TOP}nodeClasses:
  shared: {{ami: al2023@v20260810}}
pools:
  pretrain: {{profile: training, accelerator: h100, limits: {{gpus: 64}}, labels: {{example.com/team: ml}}}}
  chat: {{profile: spot-tiered, accelerator: l4, limits: {{gpus: 40}}}}
"""
CLUSTER = "arn:aws:eks:us-east-1:111122223333:cluster"
KUBECONFIG = f"""\
apiVersion: v1
kind: Config
contexts:
  - {{name: "{CLUSTER}/prod", context: {{cluster: prod, user: plugin}}}}
  - {{name: "{CLUSTER}/test", context: {{cluster: prod, user: plugin}}}}
  - {{name: "on a laptop", context: {{cluster: prod, user: plugin}}}}
  - {{name: "x$(touch injected)", context: {{}}}}
clusters: [{{name: prod, cluster: {{server: "https://127.0.0.1:1"}}}}]
users: [{{name: plugin, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, command: touch, args: [asked]}}}}}}]
"""
FILES = {
    "gpupool.yaml": POOLS,
    "other.yaml": f"{TOP}pools: {{solo: {{accelerator: l4}}, duo: {{accelerator: l4}}}}\n",
    "prod.yaml": f"{HEAD}pools: {{chat: {{limits: {{gpus: 80}}}}, batch: {{profile: batch-spot, accelerator: l4}}}}\n",
    "broken.yaml": "pools: {chat: [}\n",
    "configs/one": KUBECONFIG,
    "configs/two": "contexts: [{name: minikube}]\n",
}
PRETRAIN = [
    "pretrain", "pretrain.capacity", "pretrain.arch", "pretrain.os", "pretrain.accelerator", "pretrain.instances",
    "pretrain.labels", "pretrain.taints", "pretrain.expireAfter", "pretrain.terminationGracePeriod",
    "pretrain.disruption", "pretrain.limits", "pretrain.profile", "pretrain.nodeClass",
]  # fmt: skip
EACH_KIND = [
    ("gpupool pr", ["profiles"]),
    ("gpupool render --c", ["--check"]),
    ("gpupool explain ", ["pretrain", "chat", "chat-spot", "chat-ondemand", "nodeClasses.shared"]),
    ("gpupool explain pret", PRETRAIN),
    ("gpupool explain chat.lim", ["chat.limits", "chat.limits.gpus"]),
    (
        "gpupool explain --file=gpupool.yaml -f prod.yaml ",
        ["pretrain", "chat", "chat-spot", "chat-ondemand", "batch", "nodeClasses.shared"],
    ),
    ("gpupool explain GP501", ["GP5010", "GP5011", "GP5013", "GP5012", "GP5014"]),
    ("gpupool explain chat --why p4", ["p4d.24xlarge", "p4de.24xlarge"]),
    ("gpupool explain chat --calendar -o ", ["text", "json", "svg"]),
    ("gpupool plan -o ", ["text", "patch", "json", "markdown", "github"]),
    ("gpupool validate --karpenter 1.1", ["1.10", "1.11", "1.12", "1.13", "1.14"]),
    ("gpupool profiles training-", ["training-efa", "training-static"]),
    ("gpupool diff --context mi", ["minikube"]),
    ("gpupool rbac ", ["plan", "apply"]),
]
"""What each shell is asked: one line for each kind of value."""

MORE = [
    ("gpupool explain chat-spot.nodeClass.d", ["chat-spot.nodeClass.disk", "chat-spot.nodeClass.disk.size"]),
    ("gpupool explain -f other.yaml ", ["solo", "duo"]),
    ("gpupool explain --manifests manifests ", ["chat-ondemand", "chat-spot", "pretrain"]),
    ("gpupool explain nodeClasses.", ["nodeClasses.shared", "nodeClasses.shared.ami"]),
    ("gpupool explain chat -o ", ["text", "json"]),
    ("gpupool validate -o ", ["text", "json", "github", "sarif", "junit"]),
    ("gpupool apply --on-conflict ", ["fail", "take"]),
    ("gpupool apply --wait ", ["none", "ready"]),
    ("gpupool apply --adopt NodePool/chat-s", ["NodePool/chat-spot"]),
    ("gpupool status --wait ", ["ready", "rollout"]),
    ("gpupool schema ", ["blueprint", "profile", "karpenter", "plan"]),
    ("gpupool schema --karpenter=1.9", ["--karpenter=1.9"]),
    ("gpupool completion ", ["bash", "zsh", "fish"]),
    ("gpupool catalogue ", ["refresh"]),
    ("gpupool init --timezone Europe/Berl", ["Europe/Berlin"]),
    ("gpupool init --region us-", ["us-east-1", "us-east-2", "us-west-1", "us-west-2"]),
    ("gpupool render --values ", ["nvidia-device-plugin"]),
    ("gpupool render -f oth", ["(files)"]),
    ("gpupool profiles ./oth", ["(files)"]),
    ("gpupool plan -o json=x", ["(files)"]),
    ("gpupool render -d man", ["(folders)"]),
]
NOTHING = [
    "gpupool nothing ",
    "gpupool explain nope",
    "gpupool explain -f absent.yaml ",
    "gpupool explain -f broken.yaml ",
    "gpupool apply --timeout ",
    "gpupool rbac plan --user ",
]
FREE = {
    "--allow-delete": "a NodePool in the cluster, which is not asked",
    "--as": "a user", "--user": "a user", "--group": "a group", "--service-account": "a service account",
    "--cluster": "made up", "--name": "made up",
    "--concurrency": "a number", "--max-deletes": "a number", "--nodes": "a number",
    "--lock-timeout": "a time", "--timeout": "a time", "--week": "a day",
    "--from": "a blueprint in the cluster, which is not asked",
    "--profile": "a profile of the AWS CLI",
    "holder": "the id of a holder in the cluster, which is not asked",
}  # fmt: skip
"""The options and arguments whose values nothing can list."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("work")
    for name, text in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text, "utf-8")
    write_folder(render_files([str(made / "gpupool.yaml")]), made / "manifests")
    return made


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    places = [folder / "configs" / name for name in ("one", "absent", "two")]
    return {"KUBECONFIG": os.pathsep.join(map(str, places)), "XDG_CACHE_HOME": str(folder / "cache")}


@pytest.fixture(scope="module", params=["bash", "zsh"])
def shell(
    request: pytest.FixtureRequest,
    folder: Path,
    environment: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shell]:
    with interactive(request.param, folder, tmp_path_factory.mktemp("shell"), environment) as started:
        yield started


@pytest.fixture
def _here(folder: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


def offered(line: str) -> list[str]:
    answer = complete(app, line)
    return [f"({answer.kind})"] if isinstance(answer, Paths) else [each.word for each in answer]


class TestInAShell:
    """What a user of bash, zsh or fish gets."""

    @pytest.mark.parametrize(("line", "expected"), EACH_KIND)
    def test_a_line_on_a_terminal(self, line: str, expected: list[str], shell: Shell) -> None:
        assert sorted(shell.words(line)) == sorted(expected)

    @pytest.mark.parametrize("line", NOTHING[:2])
    def test_nothing_is_offered_on_a_terminal(self, line: str, shell: Shell) -> None:
        assert shell.completed(line) == line

    def test_each_line_in_fish(self, folder: Path, environment: dict[str, str]) -> None:
        paths = {
            "gpupool plan -o json=configs/o": ["json=configs/one"],
            "gpupool plan --output=json=configs/o": ["--output=json=configs/one"],
            "gpupool render -f oth": ["other.yaml"],
            "gpupool render -d oth": [],
            "gpupool render -d man": ["manifests/"],
            "gpupool diff --context=min": ["--context=minikube"],
            "gpupool diff --context on": ["on a laptop"],
        }
        nothing: dict[str, list[str]] = {line: [] for line in NOTHING[:2]}
        expected = {**dict(EACH_KIND), **nothing, **paths}

        words = fish_words(list(expected), folder, environment)

        assert {line: sorted(each) for line, each in words.items()} == {
            line: sorted(each) for line, each in expected.items()
        }

    @pytest.mark.parametrize(
        ("typed", "becomes"),
        [
            ("gpupool diff --context ar", f"gpupool diff --context {CLUSTER}/"),
            (f"gpupool diff --context {CLUSTER}/p", f"gpupool diff --context {CLUSTER}/prod "),
            (f'gpupool diff --context "{CLUSTER}/p', f'gpupool diff --context "{CLUSTER}/prod" '),
            (f"gpupool diff --context={CLUSTER}/p", f"gpupool diff --context={CLUSTER}/prod "),
            ("gpupool diff --context on", "gpupool diff --context on\\ a\\ laptop "),
            ("gpupool diff --context 'on", "gpupool diff --context 'on a laptop' "),
            ("gpupool diff --context x", "gpupool diff --context x"),
            ("true && X=1 gpupool prof", "true && X=1 gpupool profiles "),
            ("gpupool plan -o json=configs/tw", "gpupool plan -o json=configs/two "),
            ("gpupool plan --output=json=configs/tw", "gpupool plan --output=json=configs/two "),
            ("gpupool render -f oth", "gpupool render -f other.yaml "),
            ("gpupool validate oth", "gpupool validate other.yaml "),
            ("gpupool profiles ./oth", "gpupool profiles ./other.yaml "),
            ("gpupool render -d man", "gpupool render -d manifests/"),
            ("gpupool render -d oth", "gpupool render -d oth"),
        ],
    )
    def test_a_line_becomes(self, typed: str, becomes: str, shell: Shell, folder: Path) -> None:
        assert shell.completed(typed) == becomes
        assert not {"injected", "asked"} & {each.name for each in folder.iterdir()}

    @pytest.mark.parametrize("name", SHELLS)
    def test_the_script_is_of_the_shell_s_language(
        self, name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        script = tmp_path / "script"
        script.write_text(gpupool(capsys, "completion", name).out, "utf-8")

        ended = subprocess.run(
            [installed(name), "-n", script], capture_output=True, check=False, timeout=SECONDS
        )

        assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")

    def test_zsh_loads_the_script_from_its_path(self, folder: Path, tmp_path: Path) -> None:
        made = process("completion", "zsh", folder=tmp_path)
        (tmp_path / "_gpupool").write_text(made.out, "utf-8")
        code = (
            f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -d {tmp_path}/dump;"
            " print $_comps[gpupool]; words=(gpupool ''); CURRENT=2; PREFIX=prof;"
            " _describe() { print -r -- ${(P)3} }; _gpupool"
        )

        ended = subprocess.run(
            [installed("zsh"), "-f", "-c", code], cwd=folder, env=surroundings({}), capture_output=True, text=True,
            check=True, timeout=SECONDS,
        )  # fmt: skip

        assert ended.stdout.splitlines() == [
            "_gpupool",
            "profiles:List the profiles, or show what one sets and why.",
        ]


@pytest.mark.usefixtures("_here")
class TestValues:
    """What may stand at the end of a line."""

    def test_each_command(self) -> None:
        assert offered("gpupool ") == COMMANDS

    @pytest.mark.parametrize(("line", "expected"), [*EACH_KIND, *MORE])
    def test_a_value(self, line: str, expected: list[str]) -> None:
        assert offered(line) == expected

    @pytest.mark.parametrize("line", NOTHING)
    def test_nothing(self, line: str) -> None:
        assert offered(line) == []

    def test_options_that_are_there_are_offered_again_only_where_they_may_be_repeated(self) -> None:
        options = offered("gpupool render --check -f gpupool.yaml -d out -")

        assert {"--file", "-f", "--values", "--help"} <= set(options)
        assert {"--check", "-d", "--dir"} & set(options) == set()

    def test_every_instance_type(self) -> None:
        assert offered("gpupool explain chat --why ") == list(load_shipped().names)

    def test_contexts_of_a_named_kubeconfig(self) -> None:
        assert offered("gpupool diff --kubeconfig configs/two --context ") == ["minikube"]

    def test_contexts_of_the_home_folder(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("KUBECONFIG")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert offered("gpupool diff --context ") == []

        (tmp_path / ".kube").mkdir()
        (tmp_path / ".kube" / "config").write_text(FILES["configs/two"], "utf-8")
        assert offered("gpupool diff --context ") == ["minikube"]
        assert offered("gpupool init --from-context ") == ["minikube"]

    @pytest.mark.parametrize("text", ["", "a: [", "contexts: 3", "contexts: [3, {name: [x]}, {}]", "\x00"])
    def test_no_context_of_what_is_no_kubeconfig(
        self, text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "config").write_text(text, "utf-8")
        monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'config'}{os.pathsep}{tmp_path}")

        assert (
            process(folder=tmp_path, environment={"_GPUPOOL_COMPLETE": "gpupool diff --context "}).out == ""
        )

    def test_a_blueprint_that_does_not_check_still_has_its_names(self, folder: Path) -> None:
        (folder / "unchecked.yaml").write_text(
            POOLS.replace("h100", "h1000") + "  next: {profil: x}\n", "utf-8"
        )

        assert offered("gpupool explain -f unchecked.yaml ") == [
            "pretrain", "chat", "chat-spot", "chat-ondemand", "next", "nodeClasses.shared",
        ]  # fmt: skip

    def test_the_files_of_the_line_in_the_user_s_words(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setenv("PLACE", str(folder))

        for line in (
            "explain -f ~/other.yaml ",
            "explain -f $PLACE/other.yaml ",
            "explain --file 'other.yaml' ",
        ):
            assert offered(f"gpupool {line}") == ["solo", "duo"]

    def test_what_stands_after_two_dashes_is_no_option(self) -> None:
        assert offered("gpupool rbac -- ") == ["plan", "apply"]
        assert offered("gpupool rbac -- --us") == []

    def test_a_label_s_key_stands_in_brackets(self) -> None:
        assert "pretrain.labels[example.com/team]" in offered("gpupool explain pretrain.labels")
        assert offered("gpupool explain pretrain.labels[ex") == ["pretrain.labels[example.com/team]"]

    @pytest.mark.parametrize("name", ["pipe", "-"])
    def test_it_waits_for_no_file_that_is_none(self, name: str, folder: Path) -> None:
        if name == "pipe" and not (folder / name).exists():
            os.mkfifo(folder / name)

        ended = process(folder=folder, environment={"_GPUPOOL_COMPLETE": f"gpupool explain -f {name} "})

        assert (ended.code, ended.out, ended.err) == (0, "", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_offers_its_values_or_nothing_can_list_them(command: str) -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    silent = []
    for each in group.commands[command].get_params(typer.Context(group.commands[command])):
        if isinstance(each, TyperOption) and each.is_flag:
            continue
        assert isinstance(each, TyperOption | TyperArgument)
        name = next((one for one in each.opts if one.startswith("--")), each.name)
        answers = each._custom_shell_complete is not None or each.type_descriptor.is_choice  # noqa: SLF001
        metavar = each.metavar or ""
        is_path = any(word in metavar.split("|") for word in ("FILE", "DIR", "PATH", "PLAN"))
        if not answers and not is_path:
            silent.append(name)
        assert not (name in FREE and (answers or is_path)), name

    assert [name for name in silent if name not in FREE] == []


EXAMPLES = sorted((Path(__file__).parents[2] / "docs/examples").glob("*.yaml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_explain_answers_each_field_that_is_offered(example: Path) -> None:
    loaded = load([str(example)])
    manifests = render(expand(loaded)).manifests
    offers = names.read_unchecked([str(example)])
    fields = [path for pool in names.pool_names(offers) for path in names.field_paths(offers, pool)]
    fields += names.section_paths(offers)

    assert len(fields) > 20
    for field in fields:
        trace(loaded, manifests, field)


@pytest.mark.parametrize(
    "line",
    [
        "gpupool ", "gpupool explain ", "gpupool explain chat.", "gpupool explain chat --why ", "gpupool profiles ",
        "gpupool plan -o ", "gpupool diff --context ", "gpupool apply --adopt ", "gpupool init --timezone ",
    ],
)  # fmt: skip
def test_completing_opens_no_socket_starts_no_program_and_imports_little(
    line: str, folder: Path, environment: dict[str, str]
) -> None:
    code = f"{GUARD}main([]); sys.stderr.write(' '.join(sys.modules))"

    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={**os.environ, **environment, "_GPUPOOL_COMPLETE": line},
        capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip

    assert ended.stdout
    assert "FORBIDDEN" not in ended.stderr
    heavy = {"kubernetes", "urllib3", "boto3", "rich"} | ({"pydantic"} if "--adopt" not in line else set())
    assert heavy & set(ended.stderr.split()) == set()
    assert not (folder / "asked").exists()


class TestTheLine:
    """Reading an unfinished line, and writing the answer to it."""

    @pytest.mark.parametrize(
        ("line", "words", "incomplete"),
        [
            ("gpupool ", ["gpupool"], ""),
            ("gpupool re", ["gpupool"], "re"),
            ("gpupool -f 'my file.yaml' ex", ["gpupool", "-f", "my file.yaml"], "ex"),
            ("gpupool -f 'my fi", ["gpupool", "-f"], "my fi"),
            ('gpupool "a:b', ["gpupool"], "a:b"),
            ("gpupool my\\ fi", ["gpupool"], "my fi"),
            ("gpupool my\\ ", ["gpupool"], "my "),
            ("gpupool a\\", ["gpupool"], "a"),
            ("gpupool # x", ["gpupool", "#"], "x"),
        ],
    )
    def test_is_split_as_a_shell_does(self, line: str, words: list[str], incomplete: str) -> None:
        assert split_line(line) == (words, incomplete)

    def test_bash_gets_only_what_it_replaces(self) -> None:
        answer = [Completion("--context=a:b/c", "x  y")]

        assert list(format_answer(answer, "gpupool diff --context=a:b", "b")) == ["b/c\tx y"]
        assert list(format_answer(answer, "gpupool diff --context=a:b", None)) == ["--context=a:b/c\tx y"]
        assert list(format_answer(Paths("files", "json="), "gpupool plan -o json=x", "x")) == ["\tfiles\t"]

    @pytest.mark.parametrize("name", ["$(x)", "`x`", 'a"b', "a'b", "a\\b", "a!b", "a\nb", "a\tb", "\x1b[31m"])
    def test_a_name_that_a_shell_could_run_is_not_offered(self, name: str) -> None:
        assert list(format_answer([Completion(name), Completion("plain")], "gpupool ", None)) == ["plain"]

    def test_whatever_goes_wrong_prints_nothing(self, tmp_path: Path) -> None:
        for line in (
            "gpupool",
            " ",
            "'",
            "gpupool --x=y --",
            "gpupool explain --file",
            "gpupool explain -f\x01 ",
        ):
            ended = process(folder=tmp_path, environment={"_GPUPOOL_COMPLETE": line})
            assert (ended.code, ended.err) == (0, "")
