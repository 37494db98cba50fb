"""Manifests are read as the real kubectl reads them, and refused where the API server's strict reading refuses."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from gpupool.codes import Code
from gpupool.findings import Severity
from gpupool.yamlio.documents import Document, read_documents
from gpupool.yamlio.located import find, plain
from tests.rig.programs import KUBECTL, build
from tests.tiers import volume
from tests.yamlio.written import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tests.rig.server import ApiServer

COUNT = volume(4_000)
SPLIT = volume(500, at_least=100)
MOST_EXCEPTIONS = COUNT // 500
INT64 = range(-(2**63), 2**63)


@pytest.fixture(scope="module")
def kubectl() -> Path:
    return build(KUBECTL).path


def through_kubectl(kubectl: Path, files: Mapping[str, str], folder: Path) -> dict[str, list[object]]:
    """Return the `spec` of each object that kubectl reads in each file, by the object's name.

    To label locally needs no server; a file that can't be read does not stop kubectl.
    """
    for name, text in files.items():
        (folder / f"{name}.yaml").write_bytes(text.encode())
    command = [str(kubectl), "label", "--local", "-f", str(folder), "-o", "json", "read=yes"]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    decoder, text, at = json.JSONDecoder(), done.stdout.decode(), 0
    found: dict[str, list[object]] = {}
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip()) if text[at : at + 1].isspace() else 0
        found.setdefault(value["metadata"]["name"], []).append(as_sent(value.get("spec", "absent")))
    assert found, done.stderr.decode()[:2000]
    return found


def as_sent(value: object) -> object:
    """Make JSON comparable: 1 is not true, and a whole number past 64 bits is a float."""
    if isinstance(value, dict):
        return {key: as_sent(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_sent(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value if not isinstance(value, bool) else ("bool", value)
    return value if isinstance(value, float) or value in INT64 else float(value)


def as_read(document: Document) -> object:
    """Return the `spec` that we read, or None where kubectl could not read the document."""
    errors = {finding.code for finding in document.findings if finding.severity is Severity.ERROR}
    if document.node is None or errors - {Code.MANIFEST_KEY_TWICE}:
        return None
    spec = find(document.node, "spec")
    return as_sent(plain(spec)) if spec is not None else "absent"


def differing(
    files: Mapping[str, str], theirs: Mapping[str, list[object]]
) -> dict[str, tuple[object, object]]:
    """Return the files whose first document kubectl reads otherwise than we do."""
    found = {}
    for name, text in files.items():
        documents = list(read_documents(text.encode(), name))
        ours = as_read(documents[0]) if not is_cut_short(documents) else None
        (their,) = theirs.get(name, [None])[:1]
        if ours != their and not is_hidden(documents[0], ours):
            found[text] = (ours, their)
    return found


def until_the_first_broken(text: str, name: str) -> list[object]:
    """Return the `spec` of each object up to the document at which kubectl stops."""
    found = []
    for document in read_documents(text.encode(), name):
        read = as_read(document)
        if read is None:
            break
        if find(document.node, "kind"):  # for any other document kubectl says so, and goes on
            found.append(read)
    return found


def is_cut_short(documents: Iterable[Document]) -> bool:
    """Return whether kubectl gives up on the whole file: it meets a separator with something behind it."""
    return any("behind `---`" in finding.message for document in documents for finding in document.findings)


def is_hidden(document: Document, ours: object) -> bool:
    """Return whether a key stands twice: a mistake in the value that is lost does not disturb kubectl."""
    return ours is None and any(finding.code == Code.MANIFEST_KEY_TWICE for finding in document.findings)


def is_explained(text: str, theirs: object) -> bool:
    """Return whether a difference is one of those between libyaml and go-yaml that we leave.

    go-yaml takes `,`, `[` and `]` into a tag, and of two keys that overflow to `.inf` it keeps any.
    """
    return bool(re.search(r"!\S*[,\[\]]", text)) or ".inf" in str(theirs)


def test_kubectl_reads_manifests_as_we_do(kubectl: Path, tmp_path: Path) -> None:
    writer = Writer(20261121)
    files = {f"n{index:05}": writer.manifest(f"n{index:05}") for index in range(COUNT)}

    theirs = through_kubectl(kubectl, files, tmp_path)

    differences = differing(files, theirs)
    unexplained = {text: pair for text, pair in differences.items() if not is_explained(text, pair[1])}
    assert unexplained == {}
    assert len(differences) <= MOST_EXCEPTIONS
    assert COUNT // 4 < len(theirs) < COUNT * 3 // 4


def test_kubectl_splits_files_as_we_do(kubectl: Path, tmp_path: Path) -> None:
    writer = Writer(7)
    files = {
        f"m{index:04}": "---\n".join(writer.manifest(f"m{index:04}") for _ in range(3))
        for index in range(SPLIT)
    }

    theirs = through_kubectl(kubectl, files, tmp_path)

    ours = {name: until_the_first_broken(text, name) for name, text in files.items()}
    wrong = {
        text: (ours[name], theirs.get(name, []))
        for name, text in files.items()
        if ours[name] != theirs.get(name, [])[: len(ours[name])] and not is_explained(text, theirs.get(name))
    }
    assert wrong == {}
    assert sum(len(found) for found in ours.values()) > SPLIT / 2


STREAMS = [
    '{J"spec": {"a": 1.0, "b": 1e2, "c": -0, "d": 12345678901234567890, "e": 1.5e300, "f": [true, null, 0.1]}}',
    '{J"spec": {"a": "\\ud83d\\ude00", "b": "\\ud83d", "c": "\\/\\u0041", "d": "\x7f é"}}',
    '{\n\tJ"spec":\t{\n\t\t"a":1,"b":[ ]\n\t}\n}',
    '{J"spec": {"a": 1, "a": 2}}',
    '{J"spec": {"a": 1,}}',
    '{J"spec": {"a": 01}}',
    '{J"spec": {"a": 1e400}}',
    "{J\"spec\": {\"a\": 'x', b: y}} # a comment",
    '{J"spec": {"a": "\\x41"}}',
    '{J"spec": {"a": "x\ny"}}',
    '{J"spec": {"a": "\\q"}}',
    '{J"spec": {"a": [1 2]}}',
    '{J"spec": {"a": "b}}',
    '{J"spec": {a: yes, b: nulls}}',
    '  \n {J"spec": {"a": "http://x", "b":{"c":"d"}}}\n\n',
    '# a comment\n{J"spec": {"a":1, "b": yes}}',
    '{J"spec": {"a": 1}}\n---\n{J"spec": {b: y}}\n---\nYspec: {c: 010}\n',
    '{J"spec": {"a": 1}}{J"spec": {"a": 2}}\n{J"spec": {"a": 3}}',
    '{J"spec": {"a": 1}}{J"spec": {"a": 2}}\n---\n{J"spec": {"a": 3}}',
    '{J"spec": {"a": 1}}\n  {J"spec": {b: 2}}\n',
    '{J"spec": {"a": 1}} {J"spec": {b: 2}}\n',
    '{J"spec": {"a": 1}}\n[]\n{J"spec": {"a": 2}}\n',
    '{J"spec": {a: 1}}\n{J"spec": {"a": 2}}\n',
    "Yspec: {a: 1}\n...\nYspec: {a: 2}\n",
    "%YAML 1.1\n---\nYspec: {a: 1}\n",
    "Yspec: {a: 1}\n---\n%YAML 1.1\n---\nYspec: {a: 2}\n",
    "---\n---\n# nothing\n---\nYspec: {a: 1}\n---   # here\nYspec: {a: 2}\n--- \n",
    'Yspec:\r\n  a: "x\r\n   y"\r\n  b: |\r\n    c\r\n    d\r\n---\r\nYspec: 2\r\n',
    "Yspec: {a: 1}\n---x\nYspec: {a: 2}\n",
    "Yspec: {a: 1}\n----\nYspec: {a: 2}\n",
    "\ufeffYspec: {a: 1}\n---\n\ufeffYspec: {a: 2}\n",
    "Yspec: {a: [1, 2}\n---\nYspec: 1\n",
    "null\n---\n~\n---\nYspec: 1\n",
    "Yspec: {a: b\u2028c, d: e\x85f, g: 'h\u2029i'}\n",
    'Yspec: {a: "\\\'", b: [c:], d: "\\/"}\n',
    "Yspec: {a: [b:, c:], d: \"\\'\\'\"}\n",
    "Yspec: {a: http://x/?y=1}\n",
    "Yspec: {a: &b [1, 2], c: *b, d: {<<: {e: 1}, e: 2}}\n---\nYspec: {a: *b}\n",
    "Yspec:\n  a: &x {y: 1}\n  b: {<<: *x}\n  c: {<<: [*x, {z: 2}]}\n  d: {<<: [], <<: {y: 5}}\n",
    "Yspec: {a: &x [{y: 1}], b: {<<: *x}}\n",
    "Yspec: {a: {<<: 5}}\n",
    "Yspec: {'<<': {a: 1}, \"<<\": 2, !!merge <<: {b: 3}}\n",
    "Yspec: {1: a, 1.5: b, 1e3: c, 1e6: d, 0x10: e, true: f, 2001-01-01: g, -0.0: h, 123456789.0: i, .5: j}\n",
    "Yspec: {~: a}\n",
    "Yspec: {[a]: b}\n",
    "Yspec: {18446744073709551615: b}\n",
    "Yspec: {a: 18446744073709551615, b: 9007199254740993.0, c: 4611686018427387904.0, d: 1e19, e: -9.3e18}\n",
    "Yspec: {a: !!binary aGk=, b: !!binary '*', c: 1}\n",
    "Yspec: {a: !!binary aGk=, b: !own x, c: !!str 1, d: !!float 1, e: !!set {f}, g: !!null '', h: ! y}\n",
    "Yspec: {a: {{ .Values.a }}}\n",
    "Yspec:\n\ta: b\n",
    "Yspec: &a {b: *a}\n",
    "Yspec: *a\n",
]  # fmt: skip
BLOCK_HEAD = "apiVersion: example.org/v1\nkind: Case\nmetadata: {name: NAME}\n"
FLOW_HEAD = '"apiVersion": "example.org/v1", "kind": "Case", "metadata": {"name": "NAME"}, '


def test_kubectl_reads_streams_of_yaml_and_json_as_we_do(kubectl: Path, tmp_path: Path) -> None:
    files = {
        f"s{index:02}": text.replace("Y", BLOCK_HEAD).replace("J", FLOW_HEAD).replace("NAME", f"s{index:02}")
        for index, text in enumerate(stream.replace("%YAML", "%%") for stream in STREAMS)
    }
    files = {name: text.replace("%%", "%YAML") for name, text in files.items()}

    theirs = through_kubectl(kubectl, files, tmp_path)

    ours = {name: until_the_first_broken(text, name) for name, text in files.items()}
    assert ours == {name: theirs.get(name, []) for name in files}


POOL = b"""\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: rig}
spec:
  limits: LIMITS
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: rig}
      requirements: []
"""
LIMITS = [
    "{cpu: 010, memory: 0x10, a: 1_000, b: 1e3, c: 1.0, d: 0b11, e: -0, f: 1Gi}",
    "{1: 1, 1.5: 2, true: 3, 010: 4, 1e3: 5}",
    "{cpu: 1, cpu: 2}",
    "{cpu: 1, 'cpu': 1}",
    "{<<: {cpu: 1}, memory: 2}",
    "{<<: {cpu: 1}, cpu: 2}",
    "{cpu: 2, <<: {cpu: 1}}",
    "{<<: [{cpu: 1}, {cpu: 2}]}",
    "{<<: [{cpu: 1}, {memory: 2}]}",
    '{"cpu": 1.0, "memory": 1e2}',
]


@pytest.mark.parametrize("limits", LIMITS)
def test_the_api_server_stores_what_we_read_and_refuses_a_key_that_stands_twice(
    api_server: ApiServer, limits: str
) -> None:
    raw = POOL.replace(b"LIMITS", limits.encode())
    (document,) = read_documents(raw, "f")

    verdict = api_server.post_dry_run(raw, "NodePool", "karpenter.sh/v1")

    twice = [finding.code for finding in document.findings]
    assert verdict.accepted is (twice == []), verdict.message
    assert set(twice) <= {Code.MANIFEST_KEY_TWICE}
    if verdict.accepted:
        limits_read = find(document.node, "spec", "limits")
        assert limits_read is not None
        assert as_sent(plain(limits_read)) == verdict.stored["spec"]["limits"]
    else:
        assert "already set in map" in verdict.message
