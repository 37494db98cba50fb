"""Files that nobody should have given to `gpupool validate`: each is answered in time, in words, at a place."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.run import process

GOOD = (
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: good}\n"
    "spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a},"
    " requirements: []}}}\n"
)
MEGABYTES = 400
MEBIBYTE = 1024 * 1024


def bomb(levels: int = 12) -> bytes:
    """Nine references to nine references and so on: 9¹² values when written out."""
    lines = ["apiVersion: karpenter.sh/v1", "kind: NodePool", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        references = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{references}]")
    return "\n".join(lines).encode()


ATTACKS: dict[str, bytes] = {
    "a YAML bomb": bomb(),
    "merge keys of merge keys": b"kind: NodePool\n"
    + b"".join(b"m%d: &m%d {<<: [*m%d, *m%d], k%d: 1}\n" % (n, n, n - 1, n - 1, n) if n else b"m0: &m0 {a: 1}\n" for n in range(60)),
    "a huge file": b"a" * (5 * MEBIBYTE),
    "nested lists": b"[" * 100_000,
    "nested maps": b"".join(b" " * n + b"a:\n" for n in range(2_000)),
    "nested JSON": b'{"kind": "NodePool", "a": ' + b"[" * 100_000,
    "binary": bytes(range(256)) * 4_000,
    "UTF-16": GOOD.encode("utf-16"),
    "a NUL": GOOD.encode().replace(b"good", b"go\0od"),
    "many small objects": b"---\nkind: a\n" * 100_000,
    "one long line": b"kind: NodePool\napiVersion: karpenter.sh/v1\nmetadata: {name: " + b"x" * (3 * MEBIBYTE) + b"}\n",
    "one key again and again": b"kind: NodePool\n" + b"a: 1\n" * 100_000,
    "a number of a million digits": GOOD.encode().replace(b"[]", b"[{minValues: " + b"9" * 1_000_000 + b"}]"),
    "many unknown fields": GOOD.encode() + b"".join(b"x%d: 1\n" % n for n in range(50_000)),
    "an alias in its own anchor": b"kind: NodePool\na: &a [*a]\n",
    "an anchor that is nowhere": b"kind: NodePool\na: *a\n",
    "many anchors": b"kind: NodePool\n" + b"".join(b"x%d: &a%d y\n" % (n, n) for n in range(50_000)),
    "an open quote": b'kind: "NodePool\n' + b"x\n" * 100_000,
    "flow of colons": b"kind: NodePool\na: [" + b"?:" * 200_000,
    "tags": b"kind: NodePool\na: " + b"!!x " * 50_000,
    "placeholders": b"kind: NodePool\n" + b"a: {{ .Values.x }}\n" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_answered_with_little_memory(name: str, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(ATTACKS[name])
    (tmp_path / "good.yaml").write_text(GOOD, "utf-8")

    said = process("validate", "bad.yaml", "good.yaml", folder=tmp_path, megabytes=MEGABYTES)

    assert said.code == 1
    assert said.err == ""
    assert "bad.yaml:" in said.out
    assert " error GP1" in said.out
    assert "(NodePool " in said.out
    assert max(len(line) for line in said.out.splitlines()) < 2_000


def test_documents_with_nothing_in_them_are_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("---\n" * 200_000 + GOOD, "utf-8")

    said = process("validate", "good.yaml", folder=tmp_path, megabytes=MEGABYTES)

    assert (said.code, said.out) == (0, "Checked 1 object in 1 file (NodePool 1): no problems found.\n")


def broken_link(path: Path) -> None:
    path.symlink_to("nowhere.yaml")


def link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listener(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def locked(path: Path) -> None:
    path.write_text(GOOD, "utf-8")
    path.chmod(0)


UNREADABLE: list[Callable[[Path], None]] = [broken_link, link_to_itself, fifo, listener, locked]


@pytest.mark.parametrize("make", UNREADABLE, ids=lambda make: make.__name__)
def test_a_folder_with_what_can_not_be_read(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "good.yaml").write_text(GOOD, "utf-8")
    (folder / "notes.txt").write_text("hello", "utf-8")
    monkeypatch.chdir(tmp_path)  # the name of a socket has to be short
    make(Path("manifests/bad.yaml"))

    said = process("validate", "manifests", folder=tmp_path, megabytes=MEGABYTES, powerless=True)

    assert said.code == 1
    assert "manifests/bad.yaml: error GP1001 [structural] can't read the file: " in said.out
    assert "Checked 1 object in 1 file (NodePool 1): 1 error.\n" in said.out
    assert "Skipped manifests/notes.txt: not .yaml, .yml or .json\n" in said.out
