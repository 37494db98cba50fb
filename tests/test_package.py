"""The package as a whole: what starting it costs, that it is offline, and the rules of the house."""

import ast
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupool import errors
from gpupool.codes import Code
from gpupool.rollout.planning.verify import StalePlanError
from tests import shares
from tests.cli.blueprints import SMALL
from tests.cli.guard import GUARD
from tests.cli.run import SECONDS, process

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "gpupool").rglob("*.py"))
HEAVY = {"kubernetes", "jinja2", "ruamel", "pydantic", "pydantic_core", "yaml", "rich"}


class TestStart:
    """What starting gpupool imports."""

    def imported(self, *arguments: str, folder: Path) -> set[str]:
        code = (
            "import sys, json; from gpupool.cli.app import main; code = main(sys.argv[1:]);"
            " sys.stderr.write('\\n' + json.dumps([code, sorted(sys.modules)]))"
        )
        ended = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=True,
            timeout=SECONDS,
        )  # fmt: skip
        exit_code, modules = json.loads(ended.stderr.splitlines()[-1])
        assert exit_code == 0, ended.stderr
        return {name.partition(".")[0] for name in modules}

    @pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
    def test_of_what_needs_no_blueprint(self, arguments: list[str], tmp_path: Path) -> None:
        assert self.imported(*arguments, folder=tmp_path) & HEAVY == set()

    @pytest.mark.parametrize("arguments", [["render", "--help"], ["completion", "bash"]])
    def test_of_a_command_s_words(self, arguments: list[str], tmp_path: Path) -> None:
        # Typer reads a choice of words with pydantic.
        assert self.imported(*arguments, folder=tmp_path) & HEAVY <= {"pydantic", "pydantic_core"}

    def test_of_render(self, tmp_path: Path) -> None:
        (tmp_path / "gpupool.yaml").write_text(SMALL, "utf-8")

        assert self.imported("render", folder=tmp_path) & HEAVY == {"pydantic", "pydantic_core", "yaml"}


EACH = f"""
import json, os
{GUARD}
found = []
for folder, command in json.loads(sys.argv[1]):
    os.chdir(folder)
    found.append([main(command), events[:]])
    events.clear()
sys.stderr.write("\\n" + json.dumps(found))
"""
"""Run commands, each in a folder of its own; say how each ended and what it did that it must not do.

One process runs them all: what is imported for a command is seen at the first one that needs it.
"""

OFFLINE = [
    ["--version"], ["--help"], ["init", "new.yaml"], ["render"], ["render", "-d", "out"],
    ["render", "-d", "out", "--check"], ["render", "--values", "nvidia-device-plugin"],
    ["render", "-f", "none.yaml"], ["profiles"], ["profiles", "training"], ["schema"], ["completion", "zsh"],
    ["explain"], ["explain", "train", "--why", "g6.xlarge"], ["explain", "train", "--calendar", "-o", "svg"],
    ["explain", "--manifests", ".", "--region", "us-east-1"], ["explain", "--catalogue"], ["explain", "train.limits"],
    ["validate"], ["validate", "."], ["validate", "-o", "sarif=found.sarif"], ["schema", "karpenter", "-d", "out"],
    ["fit", "pod.yaml"], ["fit", "pod.yaml", "-o", "json=fit.json"], ["rbac", "plan"], ["rbac", "apply", "--group", "ci"],
]  # fmt: skip


def guarded(code: str, runs: list[tuple[str, list[str]]]) -> list[tuple[int, list[str]]]:
    ended = subprocess.run(
        [sys.executable, "-c", code, json.dumps(runs)],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert ended.returncode == 0, ended.stderr
    return [(exit_code, events) for exit_code, events in json.loads(ended.stderr.splitlines()[-1])]


def test_no_command_opens_a_socket_or_starts_a_program(tmp_path: Path) -> None:
    runs = [(str(tmp_path / str(number)), command) for number, command in enumerate(OFFLINE)]
    for folder, _ in runs:
        Path(folder).mkdir()
        (Path(folder) / "gpupool.yaml").write_text(SMALL, "utf-8")
        (Path(folder) / "pod.yaml").write_text(
            "{apiVersion: v1, kind: Pod, spec: {containers: [{name: c}]}}", "utf-8"
        )

    found = dict(zip(map(" ".join, OFFLINE), guarded(EACH, runs), strict=True))

    assert len(found) == len(OFFLINE)
    assert {command: code for command, (code, _) in found.items() if code not in {0, 1, 2}} == {}
    assert {command: events for command, (_, events) in found.items() if events} == {}


def test_the_guard_sees_a_socket(tmp_path: Path) -> None:
    code = EACH.replace(
        "from gpupool.cli.app import main", "import socket; main = lambda _: socket.socket().close()"
    )

    ((_, events),) = guarded(code, [(str(tmp_path), [])])

    assert events[0].startswith("socket.__new__")


def test_python_m_gpupool(tmp_path: Path) -> None:
    assert process("--version", folder=tmp_path).out.startswith("gpupool ")


class TestCodes:
    """Each finding's code has a name, a meaning and a use, and is written once."""

    def test_each_has_a_meaning(self) -> None:
        assert [code for code in Code if not re.fullmatch(r"GP\d{4}", code)] == []
        assert [code for code in Code if not re.fullmatch(r"[A-Z`].{15,}\.", code.meaning)] == []
        assert len({code.meaning for code in Code}) == len(Code)

    def test_each_is_used(self) -> None:
        text = "\n".join(path.read_text("utf-8") for path in MODULES if path.name != "codes.py")

        named = set(re.findall(r"\bCode\.(\w+)", text))
        unused = {code.name for code in Code if code.name not in named and f'"{code}"' not in text}

        assert unused == set()

    def test_each_text_that_looks_like_one_is_one(self) -> None:
        said = {
            (path.name, node.value)
            for path in MODULES
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"GP\d+", node.value)
        }

        assert {code for _, code in said} <= {str(code) for code in Code}


class TestHouse:
    """Rules that no linter knows."""

    def test_no_module_is_named_after_nothing(self) -> None:
        vague = re.compile(r"(utils?|helpers?|common|misc|managers?|handlers?|data|info|config)(\.py)?")

        assert [
            path for path in MODULES if any(vague.fullmatch(part) for part in path.relative_to(ROOT).parts)
        ] == []

    def test_each_module_begins_with_a_sentence(self) -> None:
        first = {
            path.name: (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n", 1)[0]
            for path in MODULES
        }

        assert {name: line for name, line in first.items() if not re.fullmatch(r"\S.{10,}[.:]", line)} == {}

    def test_the_tree_of_errors_is_what_its_page_says(self) -> None:
        # The one error that is of a module of its own, as it carries what that module makes.
        assert issubclass(StalePlanError, errors.OutdatedError)
        doc = errors.__doc__ or ""
        written = {
            match["name"]: int(match["code"])
            for match in re.finditer(r"^(?:│   )?[├└]── (?P<name>\w+) +(?P<code>\d+)  ", doc, re.MULTILINE)
        }
        found = [*_below(errors.GpupoolError)]
        stopped = [each for each in found if issubclass(each, errors.StoppedError)]
        classes = {each.__name__: each.exit_code for each in found if each not in stopped}

        assert written == classes
        assert "StoppedError      a signal ended it: 130 for SIGINT, 143 for SIGTERM" in doc
        assert [errors.StoppedError(number).exit_code for number in (signal.SIGINT, signal.SIGTERM)] == [
            130,
            143,
        ]
        assert "\nGpupoolError\n" in doc


def _below(parent: type[errors.GpupoolError]) -> Iterator[type[errors.GpupoolError]]:
    for child in parent.__subclasses__():
        yield child
        yield from _below(child)


def test_the_long_files_are_there() -> None:
    assert [name for name in shares.LONG if not (ROOT / name).exists()] == []
    assert shares.TOGETHER in shares.LONG
