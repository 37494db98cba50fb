"""`gpupool rbac`: whom the roles are for, which blueprint they are about, and what makes no sense."""

from pathlib import Path

import pytest
import yaml

from tests.cli.blueprints import SMALL
from tests.cli.run import Outcome, gpupool


@pytest.fixture(autouse=True)
def blueprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "gpupool.yaml"
    path.write_text(SMALL, "utf-8")
    return path


def rbac(capsys: pytest.CaptureFixture[str], *arguments: str) -> Outcome:
    return gpupool(capsys, "rbac", *arguments)


def subjects(said: Outcome) -> set[tuple[str, str, str]]:
    return {
        (each["kind"], each["name"], each.get("namespace", ""))
        for found in yaml.safe_load_all(said.out)
        for each in found.get("subjects", ())
    }


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        ([], ("Group", "gpupool-plan", "")),
        (["--user", "jane"], ("User", "jane", "")),
        (["--group", "ci"], ("Group", "ci", "")),
        (["--service-account", "ci/planner"], ("ServiceAccount", "planner", "ci")),
    ],
    ids=["nobody", "user", "group", "service account"],
)
def test_whom_the_roles_are_for(
    arguments: list[str], subject: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = rbac(capsys, "plan", *arguments)

    assert (said.code, said.err) == (0, "")
    assert subjects(said) == {subject}


def test_the_blueprint_says_where_its_inventory_is(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("prod.yaml").write_text(
        "apiVersion: gpupool.dev/v1alpha1\nkind: Blueprint\ninventory: {namespace: capacity}\n", "utf-8"
    )

    alone, laid_over = rbac(capsys, "apply"), rbac(capsys, "apply", "-f", str(blueprint), "-f", "prod.yaml")

    assert "namespace: kube-system\n" in alone.out
    assert "namespace: capacity\n" in laid_over.out
    assert "namespace: kube-system\n" not in laid_over.out


def test_it_prints_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert rbac(capsys, "plan").out == rbac(capsys, "plan").out


def test_a_blueprint_with_mistakes_gives_no_roles(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blueprint.write_text(SMALL.replace("h100", "h1000"), "utf-8")

    said = rbac(capsys, "plan")

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("gpupool.yaml:7:")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing argument 'plan|apply'"),
        (["write"], "is not one of 'plan', 'apply'"),
        (["plan", "--user", "a", "--group", "b"], "--user and --group conflict"),
        (["plan", "--group", ""], "--group: the name must have printable characters only"),
        (["plan", "--user", "a\nb"], "--user: the name must have printable characters only"),
        (["plan", "--service-account", "planner"], "expected NAMESPACE/NAME"),
        (["plan", "--service-account", "ci/"], "expected NAMESPACE/NAME"),
        (["plan", "--service-account", "ci/a/b"], "expected NAMESPACE/NAME"),
        (["plan", "--group", "system:authenticated"], "built-in groups have other members"),
    ],
)
def test_what_makes_no_sense(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = rbac(capsys, *arguments)

    assert (said.code, said.out) == (64, "")
    assert words in said.err
