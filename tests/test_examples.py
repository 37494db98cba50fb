"""Each example under docs/examples renders to the files and the findings that tests/examples holds.

`pytest tests/test_examples.py --update-golden` writes them; read the difference before it is committed.
"""

import difflib
import shutil
from pathlib import Path

import pytest

from gpupool.api import render_files
from gpupool.cli.app import main
from gpupool.codes import Code
from gpupool.findings import Severity
from gpupool.yamlio.located import find, items, text_at

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
EXPECTED = Path(__file__).parent / "examples"
FILES, FINDINGS = "expected", "expected.txt"

SINGLE = {path.stem: (path.name,) for path in sorted(EXAMPLES.glob("*.yaml"))}
LAYERED = {
    "ml-platform-base": ("ml-platform/base.yaml",),
    "ml-platform-dev": ("ml-platform/base.yaml", "ml-platform/dev.yaml"),
    "ml-platform-prod": ("ml-platform/base.yaml", "ml-platform/prod.yaml"),
    "ml-platform-eu": ("ml-platform/base.yaml", "ml-platform/prod.yaml", "ml-platform/eu.yaml"),
}
SOURCES = {
    f"source-{path.stem}": (f"sources/{path.name}",) for path in sorted((EXAMPLES / "sources").iterdir())
}
RECOMMENDED = SINGLE | LAYERED
ALL = RECOMMENDED | SOURCES
WARNED = {"ml-platform-dev": {Code.LATEST_IMAGE}}
"""What a recommended example is warned of on purpose."""


@pytest.mark.parametrize("name", ALL)
def test_an_example_renders_what_is_expected_of_it(
    name: str,
    update_golden: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(EXAMPLES)
    code = main(["render", "-v", *(part for file in ALL[name] for part in ("-f", file)), "-d", str(tmp_path)])
    said = capsys.readouterr()
    written = len([path for path in tmp_path.rglob("*") if path.is_file()])
    findings, counted, _ = said.err.partition(f"wrote {written}, removed 0, unchanged 0\n")
    assert (code, said.out, bool(counted)) == (0, "", True), said.err
    if update_golden:
        _write(EXPECTED / name, tmp_path, findings)

    assert findings == _text(EXPECTED / name / FINDINGS)
    assert not (changes := _changes(EXPECTED / name / FILES, tmp_path)), changes


def test_every_file_is_part_of_an_example_and_nothing_else_is_expected() -> None:
    written = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*") if path.is_file()}

    assert written == {file for files in ALL.values() for file in files}
    assert {path.name for path in EXPECTED.iterdir()} == set(ALL)


@pytest.mark.parametrize("name", RECOMMENDED)
def test_a_recommended_example_is_warned_of_nothing_but_what_it_means(name: str) -> None:
    rendered = render_files([str(EXAMPLES / file) for file in RECOMMENDED[name]])

    warned = {finding.code for finding in rendered.findings if finding.severity is not Severity.INFO}
    assert warned == WARNED.get(name, set())


@pytest.mark.parametrize("name", sorted(set(RECOMMENDED) - set(WARNED)))
def test_a_recommended_example_pins_its_images(name: str) -> None:
    manifests = render_files([str(EXAMPLES / file) for file in RECOMMENDED[name]]).manifests
    classes = [manifest.body for manifest in manifests if manifest.ref.kind == "EC2NodeClass"]
    images = [
        text_at(term, "alias") for body in classes for term in items(find(body, "spec", "amiSelectorTerms"))
    ]

    assert images
    for image in images:
        assert "@v" in image


@pytest.mark.parametrize("name", RECOMMENDED)
def test_each_pool_of_a_recommended_example_says_limits_lifetime_and_disruption(name: str) -> None:
    manifests = render_files([str(EXAMPLES / file) for file in RECOMMENDED[name]]).manifests
    pools = [manifest.data for manifest in manifests if manifest.ref.kind == "NodePool"]

    assert pools
    for pool in pools:
        assert isinstance(pool, dict)
        spec = pool["spec"]
        assert isinstance(spec, dict)
        assert {"limits", "disruption", "template"} <= set(spec)
        assert "terminationGracePeriod" in str(spec["template"])
        assert "expireAfter" in str(spec["template"])


@pytest.mark.parametrize("name", LAYERED)
def test_a_layer_names_the_command_that_lays_it(name: str) -> None:
    files = [file.rpartition("/")[2] for file in LAYERED[name]]
    command = "gpupool render " + " ".join(f"-f {file}" for file in files)
    head = (EXAMPLES / LAYERED[name][-1]).read_text(encoding="utf-8").partition("\napiVersion")[0]

    assert command in head


def test_the_comparison_shows_what_differs(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, texts in ((old, {"a": "1\n", "b": "2\n"}), (new, {"a": "1\n", "b": "3\n", "c": ""})):
        folder.mkdir()
        for file, text in texts.items():
            (folder / file).write_text(text)

    assert _changes(old, new) == "--- b\n+++ b\n@@ -1 +1 @@\n-2\n+3\nonly on one side: c\n"
    assert not _changes(old, old)


def _write(folder: Path, rendered: Path, findings: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(rendered, folder / FILES)
    if findings:
        (folder / FINDINGS).write_text(findings, encoding="utf-8", newline="\n")


def _changes(old: Path, new: Path) -> str:
    """Return a unified diff of two folders, and the files that only one of them has."""
    names = {
        path.relative_to(folder).as_posix()
        for folder in (old, new)
        for path in folder.rglob("*")
        if path.is_file()
    }
    shown = ""
    for name in sorted(names):
        if (old / name).is_file() and (new / name).is_file():
            before, after = (_text(folder / name).splitlines(keepends=True) for folder in (old, new))
            shown += "".join(difflib.unified_diff(before, after, name, name))
        else:
            shown += f"only on one side: {name}\n"
    return shown


def _text(path: Path) -> str:
    return path.read_bytes().decode() if path.is_file() else ""
