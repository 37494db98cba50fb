"""The ways to a cluster that users have: kubeconfigs, contexts, plugins, a Pod's own; and what is said of broken ones."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from gpupool.rendering.roles import RoleScope, Subject
from tests.cli.run import Outcome, process
from tests.pauses import skip_pauses
from tests.server.commands.scene import NAME, QUICK, Scene
from tests.server.commands.ways import Config, config, credential, plugin, script, written
from tests.server.identities import granted

COMMANDS = {
    "diff": ["diff"],
    "plan": ["plan", "-o", "json=plan.json"],
    "apply": ["apply", "--yes", *QUICK],
    "status": ["status"],
    "doctor": ["doctor"],
    "unlock": ["unlock"],
    "move": ["move", "--from", "demo", "--yes"],
}
"""Every command that reaches a cluster."""


@pytest.fixture
def found(scene: Scene) -> Config:
    """The kubeconfig of the user who may do everything."""
    return config(scene.server.access)


@pytest.fixture
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask again at once."""
    skip_pauses(monkeypatch)


class TestWhole:
    """Each leads to the cluster."""

    def test_several_files(self, scene: Scene, found: Config, monkeypatch: pytest.MonkeyPatch) -> None:
        """One has the contexts, one the cluster, one the user; one is not there."""
        parts = [
            {**found, "clusters": [], "users": []},
            {"clusters": found["clusters"]},
            {"users": found["users"]},
        ]
        names = [written(f"part-{index}", part) for index, part in enumerate(parts)]
        monkeypatch.setenv("KUBECONFIG", os.pathsep.join([names[0], "absent", *names[1:]]))

        said = scene.run("diff")

        assert (said.code, said.err) == (2, "")
        assert f"Cluster    rig, {scene.server.url}, uid " in said.out

    def test_the_first_of_several_files_counts(
        self, scene: Scene, found: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = {
            **found,
            "current-context": "other",
            "users": [{"name": "admin", "user": {"token": "wrong"}}],
        }
        monkeypatch.setenv("KUBECONFIG", os.pathsep.join([written("mine", found), written("other", other)]))

        assert scene.run("diff").code == 2

    def test_the_file_that_is_named(
        self, scene: Scene, found: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KUBECONFIG", "absent")

        assert scene.run("diff", "--kubeconfig", written("mine", found)).code == 2

    def test_the_file_in_the_home_folder(
        self, scene: Scene, found: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("KUBECONFIG")
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / ".kube").mkdir()
        written(".kube/config", found)

        assert scene.run("diff").code == 2

    @pytest.mark.parametrize("current", ["broken", "", None])
    def test_the_context_that_is_named(self, scene: Scene, found: Config, current: str | None) -> None:
        found["contexts"].append({"name": "broken", "context": {"cluster": "nowhere", "user": "nobody"}})
        found |= {"current-context": current} if current is not None else {}
        if current is None:
            del found["current-context"]
        written("mine", found)

        named = scene.run("diff", "--kubeconfig", "mine", "--context", "rig")
        scene.rewrite("cluster: {", "cluster: {context: rig, ")
        pinned = scene.run("diff", "--kubeconfig", "mine")

        assert (named.code, pinned.code) == (2, 2), named.err + pinned.err

    def test_beside_the_kubeconfig(self, scene: Scene, found: Config) -> None:
        """A relative path is meant from where the kubeconfig is, not from where the command runs."""
        Path("elsewhere").mkdir()
        Path("elsewhere/ca.crt").write_bytes(scene.server.access.authority.read_bytes())
        found["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"

        assert scene.run("diff", "--kubeconfig", written("elsewhere/mine", found)).code == 2

    @pytest.mark.parametrize("version", ["v1", "v1beta1"])
    def test_a_plugin(self, scene: Scene, found: Config, version: str) -> None:
        answer = credential(scene.server.access.token).replace("k8s.io/v1", f"k8s.io/{version}")
        text = f'test "$1" = token && test "$FOR_THE_PLUGIN" = yes && echo run >> calls && echo \'{answer}\''
        written("mine", plugin(found, script("make-token", text), "token", version=version))

        said = scene.run("apply", "--kubeconfig", "mine", "--context", "rig", "--yes", *QUICK)

        assert said.code == 0, said.err
        assert Path("calls").read_text("utf-8") == "run\n"

    def test_a_plugin_beside_the_kubeconfig(self, scene: Scene, found: Config) -> None:
        Path("elsewhere").mkdir()
        script("elsewhere/make-token", f"echo '{credential(scene.server.access.token)}'")

        said = scene.run("diff", "--kubeconfig", written("elsewhere/mine", plugin(found, "./make-token")))

        assert said.code == 2, said.err

    def test_as_somebody_else(self, scene: Scene) -> None:
        subject = Subject("User", "deployer")

        forbidden = scene.run("diff", "--as", "deployer")
        with granted(scene.server, "apply", RoleScope(NAME, "kube-system"), subject):
            said = scene.run("apply", "--as", "deployer", "--context", "rig", "--yes", *QUICK)

        assert (forbidden.code, said.code) == (1, 0), said.err
        assert 'User "deployer" cannot get resource "namespaces"' in forbidden.err

    @pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
    def test_no_proxy_is_used_that_the_kubeconfig_does_not_name(
        self, scene: Scene, variable: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As the client library does it, where NO_PROXY excepts the server."""
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")

        assert scene.run("diff").code == 2


def no_server(found: Config) -> None:
    found["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"


def unknown_authority(found: Config) -> None:
    del found["clusters"][0]["cluster"]["certificate-authority"]


def nobody(found: Config) -> None:
    found["users"] = []


def by_plugin(command: str, *arguments: str) -> Callable[[Config], object]:
    return lambda found: plugin(found, command, *arguments)


def in_cluster(key: str, value: str) -> Callable[[Config], object]:
    return lambda found: found["clusters"][0]["cluster"].update({key: value})


NO_CREDENTIALS = "the context `rig` has no credentials: the API server treats the request as system:anonymous"
BROKEN: dict[str, tuple[Callable[[Config], object], str]] = {
    "no server": (no_server, "https://127.0.0.1:1: Failed to establish a new connection: [Errno 111] Connection refused"),
    "a server that nobody knows": (
        in_cluster("server", "https://nowhere.invalid:6443"), "https://nowhere.invalid:6443: Failed to resolve 'nowhere.invalid'",
    ),
    "a server that is no address": (in_cluster("server", "127.0.0.1:1"), "is `127.0.0.1:1`: write it with https://"),
    "a server whose address has a blank": (in_cluster("server", "https://a b"), "https://a b: the address is not valid"),
    "a server with a bracket": (in_cluster("server", "https://[::1"), "can't use broken: "),
    "a proxy with a bracket": (in_cluster("proxy-url", "http://[::1"), "can't use the proxy `http://[::1` of the context `rig`: write it as"),
    "a server by another protocol": (in_cluster("server", "ftp://127.0.0.1"), "ftp://127.0.0.1: the address is not valid"),
    "a token of two lines": (
        lambda found: found["users"][0]["user"].update({"token": "one\ntwo"}),
        "the token in the kubeconfig has a line break, or a character that no token has",
    ),
    "no such authority": (in_cluster("certificate-authority", "absent.crt"), "absent.crt"),
    "an unknown authority": (unknown_authority, "certificate verify failed"),
    "no proxy": (in_cluster("proxy-url", "http://127.0.0.1:1"), "at the proxy: Failed to establish a new connection: [Errno 111] Connection refused"),
    "no such user": (nobody, f"error: {NO_CREDENTIALS}"),
    "a wrong token": (
        lambda found: found["users"][0]["user"].update({"token": "wrong"}),
        "answers 401: Unauthorized; the credentials are not valid, or have expired",
    ),
    "a plugin that fails": (
        by_plugin("sh", "-c", "echo 'the session has expired: log in again' >&2; exit 3"),
        "no credentials for the cluster: the plugin sh ended with exit code 3: the session has expired: log in again",
    ),
    "a plugin that is not there": (by_plugin("absent-plugin"), "No such file or directory: 'absent-plugin'"),
    "a plugin that says nothing": (by_plugin("true"), "no credentials for the cluster: the plugin true did not print JSON"),
    "a plugin that says something else": (by_plugin("echo", "hello"), "no credentials for the cluster: the plugin echo did not print JSON"),
    "a plugin without a token": (by_plugin("echo", credential("")), NO_CREDENTIALS),
    "no such context": (lambda found: found.update({"current-context": "b"}), "can't use broken: it has no context `b`"),
    "no current context": (lambda found: found.pop("current-context"), "it has no current context; name one with --context"),
    "an empty current context": (
        lambda found: found.update({"current-context": ""}), "it has no current context; name one with --context",
    ),
    "no such cluster": (lambda found: found.update({"clusters": []}), "can't use broken: it has no cluster `rig`"),
    "no clusters at all": (lambda found: found.pop("clusters"), "can't use broken: "),
    "nothing in it": (lambda found: found.clear(), "can't use broken: "),
}  # fmt: skip


@pytest.mark.usefixtures("_hurried")
@pytest.mark.parametrize(("change", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_way(scene: Scene, found: Config, change: Callable[[Config], object], words: str) -> None:
    change(found)

    said = scene.run("diff", "--kubeconfig", written("broken", found))

    assert (said.code, said.out) == (1, ""), said
    assert words in said.err
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1


AT_ONCE = (
    "a server that nobody knows", "a server whose address has a blank", "a server by another protocol", "a token of two lines",
    "an unknown authority", "no such user", "a wrong token",
)  # fmt: skip


@pytest.mark.usefixtures("_hurried")
@pytest.mark.parametrize("case", AT_ONCE)
def test_what_the_next_try_would_not_mend_is_asked_once(
    scene: Scene, found: Config, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that a resolver does not find is no such name; one without a network says that it can't tell."""
    change, words = BROKEN[case]
    change(found)
    if case == "a server that nobody knows":
        monkeypatch.setattr(socket, "getaddrinfo", nowhere)

    said = scene.run("diff", "--kubeconfig", written("broken", found))

    assert (said.code, words in said.err, " attempts)" in said.err) == (1, True, False), said.err


def nowhere(*_: object, **__: object) -> NoReturn:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.usefixtures("scene")
def test_a_server_whose_certificate_nobody_looks_at_is_a_warning(found: Config) -> None:
    """Once, and in gpupool's words; in a process of its own, as the library warns as Python does."""
    del found["clusters"][0]["cluster"]["certificate-authority"]
    found["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True

    said = process("diff", "--kubeconfig", written("insecure", found), folder=Path.cwd())

    assert said.code == 2
    assert said.err == (
        "warning: the context `rig` has insecure-skip-tls-verify: anyone on the network path can read and change everything;"
        " set certificate-authority\n"
    )


FILES = {
    "absent": (None, "can't use broken: there is no such file; name one with --kubeconfig or $KUBECONFIG"),
    "empty": ("", "can't use broken: "),
    "no YAML": ("{a: [b", "can't use broken: while parsing a flow"),
    "a word": ("hello", "can't use broken: it is no kubeconfig"),
    "a list": ("[]", "can't use broken: "),
    "a number": ("users: 5\nclusters: 6\ncontexts: 7\ncurrent-context: 8", "can't use broken: "),
    "not text": ("\x00\x01", "can't use broken: "),
}


@pytest.mark.parametrize(("text", "words"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_kubeconfig(scene: Scene, text: str | None, words: str) -> None:
    if text is not None:
        Path("broken").write_text(text, "utf-8")

    said = scene.run("diff", "--kubeconfig", "broken")

    assert (said.code, said.out) == (1, "")
    assert words in said.err
    assert said.err.count("\n") == 1


@pytest.mark.usefixtures("_hurried")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_why_it_gets_nowhere(scene: Scene, found: Config, command: str) -> None:
    no_server(found)
    ways = {
        "refused": ([written("refused", found)], "Connection refused"),
        "absent": (["absent"], "there is no such file"),
        "plugin": ([written("plugin", plugin(config(scene.server.access), "sh", "-c", "echo log in >&2; exit 1"))], "log in"),
        "context": ([str(scene.server.kubeconfig), "--context", "b"], "it has no context `b`"),
        "nobody": ([str(scene.server.kubeconfig_nobody)], 'User "nobody" cannot get resource "namespaces"'),
    }  # fmt: skip

    for way, words in ways.values():
        said = scene.run(*COMMANDS[command], "--kubeconfig", *way)
        assert said.code == 1, said
        assert words in said.out + said.err
    assert not Path("plan.json").exists()


def test_no_traceback_and_nothing_of_the_library_s(scene: Scene, found: Config) -> None:
    """In a process of its own, where nothing holds back what the library writes by itself."""
    nobody_home = {"HOME": str(Path.cwd()), "KUBECONFIG": ""}
    ways: list[tuple[dict[str, str], str]] = [
        ({}, written("a", plugin(config(scene.server.access), "absent-plugin"))),
        ({}, written("b", {**found, "clusters": []})),
    ]

    for environment, file in ways:
        said = process("diff", "--kubeconfig", file, folder=Path.cwd(), environment=environment)
        assert (said.code, said.err.count("\n"), said.err[:7]) == (1, 1, "error: ")
    said = process("diff", folder=Path.cwd(), environment=nobody_home)
    assert (said.code, said.err) == (
        1,
        f"error: can't use {Path.cwd()}/.kube/config: there is no such file; name one with --kubeconfig or $KUBECONFIG\n",
    )


@pytest.mark.parametrize("user", ["a\nb", "", "ü", "\x1b[31m"])
def test_nobody_has_such_a_name(scene: Scene, user: str) -> None:
    said = scene.run("diff", "--as", user)

    assert said.code == 64
    assert said.err.endswith(": expected a user's name in printable ASCII\n")
    assert said.err.count("\n") == 1


class TestInAPod:
    """The environment of a Pod, and no kubeconfig."""

    @pytest.fixture(autouse=True)
    def _in_a_pod(self, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        host, _, port = scene.server.url.removeprefix("https://").partition(":")
        monkeypatch.delenv("KUBECONFIG")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)

    def test_without_a_service_account(self, scene: Scene) -> None:
        said = scene.run("diff")

        assert (said.code, said.out) == (1, "")
        assert said.err == "error: can't use the Pod's service account: Service token file does not exist.\n"

    def test_with_one(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        from kubernetes.config import incluster_config

        Path("token").write_text(scene.server.access.token, "utf-8")
        monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(Path("token").absolute()))
        monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(scene.server.access.authority))

        shown = scene.run("diff")
        refused = scene.run("apply", "--yes", *QUICK)
        scene.rewrite("cluster: {", f"cluster: {{uid: {scene.uid()}, ")
        said = scene.run("apply", "--yes", *QUICK)

        assert (shown.code, refused.code, said.code) == (2, 3, 0), shown.err + said.err
        assert "Cluster    in-cluster, " in shown.out
        assert "refusing to write to the current context `in-cluster`" in refused.err

    def test_a_kubeconfig_counts_first(self, scene: Scene, found: Config, tmp_path: Path) -> None:
        (tmp_path / ".kube").mkdir()
        written(".kube/config", found)

        assert scene.run("diff").code == 2


def test_a_token_is_never_printed(scene: Scene, found: Config) -> None:
    token = scene.server.access.token
    files = [written("whole", found), written("cut", {**found, "clusters": []})]

    said = [
        scene.run(command, "--kubeconfig", file, "-o", "json")
        for file in files
        for command in ("diff", "plan", "status", "doctor")
    ]

    assert {each.code for each in said} == {0, 1, 2}
    assert token not in json.dumps([[each.out, each.err] for each in said])


SECRET = "S3cret-pass"  # noqa: S105 - of a test


def assert_hidden(said: Outcome) -> None:
    files = [each.read_text("utf-8", "replace") for each in Path().iterdir() if each.name.startswith("out.")]
    for text in (said.out, said.err, *files):
        assert SECRET not in text
        assert SECRET[:8] not in text


@pytest.mark.parametrize("user", [f"admin:{SECRET}", SECRET, f"admin:{SECRET}%40x"])
def test_credentials_in_the_address_of_a_server_that_answers(scene: Scene, found: Config, user: str) -> None:
    found["clusters"][0]["cluster"]["server"] = scene.server.url.replace("://", f"://{user}@")
    way = ("--kubeconfig", written("mine", found), "--context", "rig")
    formats = [
        word
        for name in ("text", "patch", "json", "markdown", "github")
        for word in ("-o", f"{name}=out.{name}")
    ]

    planned = scene.run("plan", *way, *formats, "-o", "text")
    said = [
        planned,
        scene.run("diff", *way),
        scene.run("status", *way),
        scene.run("doctor", *way, "-o", "json"),
        scene.run("apply", "out.json", *way, *QUICK),
    ]

    assert (planned.code, said[-1].code) == (0, 0), planned.err + said[-1].err
    assert f"Cluster    rig, {scene.server.url}, uid " in planned.out
    for each in said:
        assert_hidden(each)


def test_a_server_is_pinned_without_credentials(scene: Scene, found: Config) -> None:
    """Who writes them into the blueprint means the same server; and they are not shown either."""
    found["clusters"][0]["cluster"]["server"] = scene.server.url.replace("://", f"://admin:{SECRET}@")
    way = ("--kubeconfig", written("mine", found))
    other = "https://elsewhere.example.com"
    for server, code in ((scene.server.url, 2), (scene.server.url.replace("://", f"://x:{SECRET}@"), 2), (other, 3),
                         (other.replace("://", f"://x:{SECRET}@"), 3)):  # fmt: skip
        scene.says("chat: {profile: inference, accelerator: l4, limits: {gpus: 8}}")
        scene.rewrite("cluster: {", f'cluster: {{server: "{server}", ')
        said = scene.run("diff", *way)
        assert said.code == code, said.err
        assert_hidden(said)


def proxied(address: str) -> Callable[[Config], object]:
    return in_cluster("proxy-url", address)


LEAKY: dict[str, tuple[Callable[[Config], object], str]] = {
    "no server": (in_cluster("server", f"https://a:{SECRET}@127.0.0.1:1"), "https://127.0.0.1:1: Failed to establish"),
    "no such server": (in_cluster("server", f"https://a:{SECRET}@nowhere.invalid"), "Failed to resolve 'nowhere.invalid'"),
    "no scheme": (in_cluster("server", f"a:{SECRET}@127.0.0.1:1"), "is `127.0.0.1:1`: write it with https://"),
    "a port of words": (in_cluster("server", f"https://a:{SECRET}@127.0.0.1:x"), "the address is not valid"),
    "a password with a slash": (in_cluster("server", f"https://a:{SECRET}/x@127.0.0.1:1"), "the address is not valid"),
    "no proxy": (proxied(f"http://a:{SECRET}@127.0.0.1:1"), "at the proxy: Failed to establish a new connection"),
    "no such proxy": (proxied(f"http://a:{SECRET}@nowhere.invalid:3128"), "at the proxy: Failed to resolve"),
    "a proxy of another scheme": (proxied(f"ftp://a:{SECRET}@127.0.0.1:1"), "can't use the proxy `ftp://127.0.0.1:1`"),
    "a proxy without a scheme": (proxied(f"a:{SECRET}@127.0.0.1:1"), "can't use the proxy `127.0.0.1:1`"),
    "a proxy with a port of words": (proxied(f"http://a:{SECRET}@127.0.0.1:x"), "can't use the proxy `http://127.0.0.1:x`"),
    "a plugin that quotes one": (
        by_plugin("sh", "-c", f"echo 'no way through http://a:{SECRET}@proxy:3128' >&2; exit 3"),
        "no credentials for the cluster: the plugin sh ended with exit code 3: no way through http://proxy:3128",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("_hurried")
@pytest.mark.parametrize("command", ["diff", "doctor"])
@pytest.mark.parametrize(("change", "words"), LEAKY.values(), ids=LEAKY)
def test_a_broken_way_shows_no_credentials(
    scene: Scene, found: Config, change: Callable[[Config], object], words: str, command: str
) -> None:
    change(found)

    said = scene.run(command, "--kubeconfig", written("broken", found))

    assert said.code == 1, said
    assert words in said.out + said.err
    assert_hidden(said)


@pytest.mark.usefixtures("_hurried")
def test_a_proxy_of_the_environment_shows_no_credentials(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://a:{SECRET}@127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    said = scene.run("diff")

    assert (said.code, "at the proxy: " in said.err) == (1, True)
    assert_hidden(said)
