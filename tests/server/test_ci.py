"""The action for GitHub and the guides for CI do on a real cluster what they say."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from gpupool.rendering.roles import RoleScope, Subject
from tests.cli.blueprints import HEAD
from tests.cli.run import SECONDS
from tests.install.action import Ran, Runner
from tests.rig import programs
from tests.rig.server import ApiServer, api_server
from tests.server.identities import Impersonated
from tests.server.test_plan_only_identity import until_in_force
from tests.test_readme import as_pattern, run, steps

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "how-to"
NUMBER = "7"
ME, ANOTHER = 5, 6
GH = """\
#!/bin/sh
# Stands for GitHub's own program: keeps what it is asked, and lists the comments of a file.
printf '%s\\n' "$@" "" >> "$ASKED"
case "$*" in *--paginate*) cat "$COMMENTS" ;; esac
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    """A server of this module's own, on which only its blueprints are applied."""
    with api_server() as found:
        yield found


def blocks(guide: str, language: str) -> list[str]:
    text = (GUIDES / f"{guide}.md").read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("guide", ["give-gpupool-its-rights", "plan-and-apply-in-ci"])
def test_a_guide_shows_what_is_printed(
    guide: str, server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubectl = programs.build(programs.KUBECTL).path
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig))
    monkeypatch.setenv("PATH", f"{kubectl.parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "gpupool.yaml").write_text(blocks(guide, "yaml")[0], "utf-8")
    tour = [step for session in blocks(guide, "console") for step in steps(session)]
    assert len(tour) >= 6

    for command, shown in tour:
        if "--prove-plan-only" in command:
            with Impersonated(server.access, Subject("User", "ci-plan")) as planner:
                until_in_force(server, planner, f"{RoleScope('ml-platform', '').inventory}-plan")
        printed = run(command, tmp_path).rstrip("\n")
        assert re.fullmatch(as_pattern(shown), printed, re.DOTALL), f"$ {command}\n{printed}"


class ClusterRunner(Runner):
    """A runner whose jobs have a kubeconfig, and GitHub's own program."""

    def __init__(self, folder: Path, kubeconfig: Path) -> None:
        self.comments, self.asked = folder / "comments", folder / "asked"
        (folder / "bin").mkdir()
        (folder / "bin" / "gh").write_text(GH)
        (folder / "bin" / "gh").chmod(0o755)
        self.comments.write_text("")
        super().__init__(
            folder,
            [folder / "bin", Path(sys.executable).parent],
            KUBECONFIG=str(kubeconfig),
            ASKED=str(self.asked),
            COMMENTS=str(self.comments),
        )
        self.plan = self.temporary / "plan.json"

    def make_plan(self, options: str = "") -> Ran:
        return self.step("Plan", FILES="gpupool.yaml\n", OPTIONS=options, PLAN=str(self.plan))

    def apply(self) -> Ran:
        return self.step("Apply", FILES="gpupool.yaml\n", OPTIONS="--wait\nnone\n", PLAN=str(self.plan))

    def comment(self, planned: Ran) -> list[str]:
        """Return the words of the writes that the step for the comment asked for."""
        self.asked.write_text("")
        ran = self.step(
            "Comment",
            REPOSITORY="org/repo",
            NUMBER=NUMBER,
            COMMENT=planned.outputs["comment"],
            HAS_CHANGES=planned.outputs.get("has_changes", ""),
            CODE=planned.outputs["code"],
        )
        assert ran.code == 0, ran.text
        calls = [call.splitlines() for call in self.asked.read_text().split("\n\n") if call]
        assert all(call[0] == "api" for call in calls)
        return [" ".join(call[2:5]) for call in calls if "--method" in call]


@pytest.fixture
def runner(server: ApiServer, tmp_path: Path) -> ClusterRunner:
    write_blueprint(tmp_path, "action", 8)
    return ClusterRunner(tmp_path, server.kubeconfig)


def write_blueprint(folder: Path, name: str, gpus: int) -> None:
    text = f"""\
{HEAD}metadata: {{name: {name}}}
cluster: {{name: prod-eks, region: us-east-1, timezone: UTC}}
defaults: {{nodeClass: {{ami: al2023@v20260810}}}}
pools:
  {name}: {{profile: inference, accelerator: l4, limits: {{gpus: {gpus}}}}}
"""
    (folder / "gpupool.yaml").write_text(text, "utf-8")


def test_the_action_plans_comments_and_applies_that_plan(runner: ClusterRunner) -> None:
    planned = runner.make_plan()
    posted = runner.comment(planned)
    comment = Path(planned.outputs["comment"]).read_text("utf-8")
    runner.comments.write_text("42\n43\n")
    edited = runner.comment(planned)

    assert (planned.code, planned.outputs["code"], planned.outputs["saved"]) == (0, "0", "true")
    assert (planned.outputs["has_changes"], planned.outputs["creates"]) == ("true", "2")
    assert json.loads(runner.plan.read_text())["id"] == planned.outputs["plan_id"]
    assert comment.startswith("<!-- gpupool:action:")
    assert posted == ["--method POST repos/org/repo/issues/7/comments"]
    assert edited == ["--method PATCH repos/org/repo/issues/comments/42"]
    assert runner.step("Verdict", COMMAND="plan", CODE="0").code == 0
    assert "### gpupool" in (runner.folder / "summary.md").read_text()

    applied = runner.apply()
    again = runner.make_plan()
    runner.comments.write_text("")
    assert (applied.code, applied.outputs["code"]) == (0, "0"), applied.text
    assert (again.outputs["code"], again.outputs["has_changes"]) == ("0", "false")
    assert runner.comment(again) == []
    runner.comments.write_text("42\n")
    assert runner.comment(again) == ["--method PATCH repos/org/repo/issues/comments/42"]


def test_a_plan_that_is_no_longer_true_fails_with_what_to_do(
    runner: ClusterRunner, server: ApiServer
) -> None:
    write_blueprint(runner.folder, "stale", 8)
    assert runner.make_plan().outputs["code"] == "0"
    assert runner.apply().outputs["code"] == "0"
    write_blueprint(runner.folder, "stale", 16)
    assert runner.make_plan().outputs["code"] == "0"
    patched = server.request(
        "PATCH",
        "/apis/karpenter.sh/v1/nodepools/stale",
        b'{"spec": {"limits": {"nvidia.com/gpu": 4}}}',
        "application/merge-patch+json",
    )
    assert patched.status == 200

    applied = runner.apply()
    verdict = runner.step("Verdict", COMMAND="apply", CODE=applied.outputs["code"])

    assert (applied.code, applied.outputs["code"], verdict.code) == (0, "5", 5)
    assert "make a new plan" in verdict.text
    found = server.request("GET", "/apis/karpenter.sh/v1/nodepools/stale").body
    assert found["spec"]["limits"] == {"nvidia.com/gpu": 4}


def test_a_blueprint_with_mistakes_fails_and_leaves_no_plan(runner: ClusterRunner) -> None:
    assert runner.make_plan().outputs["saved"] == "true"
    (runner.folder / "gpupool.yaml").write_text("kind: Blueprint\n")

    planned = runner.make_plan()

    assert (planned.code, planned.outputs["code"]) == (0, "1")
    assert "saved" not in planned.outputs
    assert not runner.plan.exists()
    assert runner.comment(planned) == []
    assert runner.step("Verdict", COMMAND="plan", CODE="1").code == 1


def test_options_and_files_are_words_and_nothing_else(runner: ClusterRunner) -> None:
    shutil.copy(runner.folder / "gpupool.yaml", runner.folder / "a $(touch made) b.yaml")

    planned = runner.step(
        "Plan",
        FILES="a $(touch made) b.yaml\n\n",
        OPTIONS="--on-conflict\ntake=a b;c\n",
        PLAN=str(runner.plan),
    )

    assert planned.outputs["code"] == "0", planned.text
    assert json.loads(runner.plan.read_text())["consent"]["onConflict"] == "take=a b;c"
    assert not (runner.folder / "made").exists()


class _GitLab(BaseHTTPRequestHandler):
    """The notes of one merge request, two on a page."""

    notes: ClassVar[list[dict[str, Any]]] = []
    asked: ClassVar[list[tuple[str, str, str]]] = []

    def do_GET(self) -> None:
        if self.path == "/user":
            self._answer({"id": ME})
            return
        page = int(parse_qs(urlsplit(self.path).query)["page"][0])
        more = str(page + 1) if len(self.notes) > page * 2 else ""
        self._answer(self.notes[page * 2 - 2 : page * 2], more)

    def do_POST(self) -> None:
        self._answer({})

    def do_PUT(self) -> None:
        self._answer({})

    def _answer(self, found: object, following: str = "") -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length) or "{}")
        if self.command != "GET":
            self.asked.append((self.command, self.path, body["body"]))
        assert self.headers["PRIVATE-TOKEN"] == "secret"
        self.send_response(200)
        self.send_header("X-Next-Page", following)
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


POST = "POST", "/projects/1/merge_requests/7/notes"


@pytest.mark.parametrize(
    ("notes", "written"),
    [
        ([], POST),
        ([(ME, "other"), (ME, "other"), (ME, "other"), (ANOTHER, "<!-- mark -->\nquoted")], POST),
        ([(ME, "other"), (ANOTHER, "other"), (ME, "<!-- mark -->\nold")], ("PUT", f"{POST[1]}/3")),
    ],
    ids=["none yet", "none of ours", "on the second page"],
)
def test_the_note_of_a_merge_request_is_kept_up_to_date(
    notes: list[tuple[int, str]], written: tuple[str, str], tmp_path: Path
) -> None:
    (script,) = blocks("plan-and-apply-in-ci", "python")
    (tmp_path / "note.py").write_text(script, "utf-8")
    (tmp_path / "comment.md").write_text("<!-- mark -->\nnew\n", "utf-8")
    _GitLab.notes = [
        {"id": number, "author": {"id": author}, "body": body}
        for number, (author, body) in enumerate(notes, 1)
    ]
    _GitLab.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _GitLab) as gitlab:
        thread = threading.Thread(target=gitlab.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            ended = subprocess.run(
                [sys.executable, "note.py", "comment.md"],
                cwd=tmp_path,
                env={
                    "CI_API_V4_URL": f"http://127.0.0.1:{gitlab.server_port}",
                    "CI_PROJECT_ID": "1",
                    "CI_MERGE_REQUEST_IID": "7",
                    "GITLAB_TOKEN": "secret",
                },
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
            )
        finally:
            gitlab.shutdown()
            thread.join()

    assert ended.returncode == 0, ended.stderr
    assert _GitLab.asked == [(*written, "<!-- mark -->\nnew\n")]
