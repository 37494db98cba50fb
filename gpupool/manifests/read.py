"""Reader of Karpenter objects in files and folders, as kubectl reads them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from gpupool.codes import Code
from gpupool.findings import Finding, Severity, in_file_order
from gpupool.manifests import kinds, placeholders
from gpupool.manifests.kinds import Identity, read_identity
from gpupool.manifests.old_versions import find_old_fields
from gpupool.manifests.result import KarpenterObject, Manifests, OwnFile
from gpupool.manifests.sources import ManifestFile, SkippedFile, SkipReason, find_files, read_bytes
from gpupool.yamlio.documents import Document, read_documents
from gpupool.yamlio.located import text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpupool.yamlio.located import Located

MAX_HELD = 300_000
"""The maximum number of values of one file in memory; other objects are released one by one."""

MAX_FINDINGS = 1_000
"""The maximum number of findings about one file, after which the rest of it is not read."""

_OWN = re.compile(rf"^apiVersion:\s*[\"']?{re.escape(kinds.OWN_GROUP)}/", re.MULTILINE)
_KIND = re.compile(r"^kind:\s*[\"']?(\w+)", re.MULTILINE)


def read_manifests(
    paths: Sequence[str],
    stdin: Callable[[], bytes],
    is_wanted: Callable[[Identity, Located], bool] | None = None,
) -> Manifests:
    """Read the objects in files and folders; `-` reads `stdin`.

    Karpenter's objects are kept, or those that match `is_wanted`. Bad input becomes findings, never an
    error.
    """
    sorter = _Sorter(is_wanted)
    for source in find_files(paths):
        if isinstance(source, ManifestFile):
            sorter.read(source, stdin)
        elif isinstance(source, SkippedFile):
            sorter.skipped.append(source)
        else:
            sorter.findings.append(source)
    return sorter.result()


class _Sorter:
    """Reads files one by one and sorts their documents."""

    def __init__(self, is_wanted: Callable[[Identity, Located], bool] | None) -> None:
        self._is_wanted = is_wanted
        self.findings: list[Finding] = []
        self.skipped: list[SkippedFile] = []
        self._objects: list[KarpenterObject] = []
        self._own: list[OwnFile] = []
        self._files: list[str] = []
        self._documents = 0
        self._may_be_template = True
        self._kinds: Counter[str] = Counter()

    def result(self) -> Manifests:
        """Return everything that was read so far."""
        return Manifests(
            objects=tuple(self._objects),
            own_files=tuple(self._own),
            findings=in_file_order(self.findings, [*self._files]),
            files=tuple(self._files),
            documents=self._documents,
            kinds=dict(sorted(self._kinds.items())),
            skipped=tuple(self.skipped),
        )

    def read(self, source: ManifestFile, stdin: Callable[[], bytes]) -> None:
        """Read one file."""
        content = read_bytes(source.path, stdin)
        if isinstance(content, Finding):
            self.findings.append(content)
            return
        self._files.append(source.name)
        earlier, values = len(self.findings), 0
        is_foreign = b"kind" not in content and content.isascii() and b"\0" not in content
        for document in read_documents(content, source.name):
            self._documents += 1
            objects = len(self._objects)
            self._read_document(document, source, is_foreign=is_foreign)
            values += document.values if len(self._objects) > objects else 0
            if values > MAX_HELD:
                message = f"more than {MAX_HELD:,} values in the objects to check; the rest is not read"
                finding = Finding(Code.MANIFEST_SYNTAX, message, document.at, "split the file")
                self.findings.append(finding)
                return
            if len(self.findings) - earlier > MAX_FINDINGS:
                message = f"more than {MAX_FINDINGS:,} errors in the file; the rest is not read"
                self.findings.append(Finding(Code.MANIFEST_SYNTAX, message, document.at, "fix these first"))
                return

    def _read_document(self, document: Document, source: ManifestFile, *, is_foreign: bool) -> None:
        if "{{" in document.text and source.is_chart_template:
            self.skipped.append(SkippedFile(document.at, SkipReason.HELM_TEMPLATE))
        elif _OWN.search(document.text):
            self._add_own_file(document, source)
        elif document.node is None and not source.is_named and is_foreign:
            self.skipped.append(SkippedFile(document.at, SkipReason.UNREADABLE))
        else:
            self._read_manifest(document, source)

    def _read_manifest(self, document: Document, source: ManifestFile) -> None:
        unrendered = _find_unrendered(document)
        if document.node is None or unrendered:
            self.findings += unrendered or document.findings
            return
        identity = read_identity(document.node)
        if identity is None and not source.is_named:
            self.skipped.append(SkippedFile(document.at, SkipReason.NO_OBJECT))
            return
        # JSON comes without its text. A placeholder is rare, and a search of all values takes time.
        self._may_be_template = not document.text or placeholders.has_opening(document.text)
        earlier = len(self._objects)
        self._read_objects(document.node, identity, source)
        is_skipped = len(self._objects) == earlier
        self.findings += (
            finding for finding in document.findings
            if not (is_skipped and finding.code == Code.MANIFEST_KEY_TWICE)
        )  # fmt: skip

    def _read_objects(self, node: Located, identity: Identity | None, source: ManifestFile) -> None:
        """Add an object, or the objects in a list, in their order."""
        pending = [(node, identity)]
        while pending:
            node, identity = pending.pop()
            items = kinds.list_items(identity, node) if identity else None
            if items is not None and identity:
                pending += [(item, kinds.read_item_identity(identity, item)) for item in reversed(items)]
            elif identity:
                self._add_object(node, identity, source)
            else:
                fix = "add `apiVersion` and `kind`, or leave the file out"
                self.findings.append(Finding(Code.NO_OBJECT, kinds.describe_missing(node), node.at, fix))

    def _add_object(self, node: Located, identity: Identity, source: ManifestFile) -> None:
        self._kinds[identity.kind] += 1
        if self._is_wanted(identity, node) if self._is_wanted else kinds.is_current(identity):
            self._objects.append(KarpenterObject(identity.kind, identity.name, node, node.at))
            if self._may_be_template:
                self.findings += placeholders.find_in_object(node, identity.label)
        elif self._is_wanted:
            return
        elif identity.group == kinds.OWN_GROUP:
            self._own.append(OwnFile(identity.kind, identity.name, source.path))
        else:
            version_findings = [*find_old_fields(identity, node)] or [
                *kinds.find_unknown_version(identity, node)
            ]
            self.findings += version_findings

    def _add_own_file(self, document: Document, source: ManifestFile) -> None:
        """Record a file of gpupool's for its own reader, which reports its errors."""
        kind = _KIND.search(document.text)
        name = text_at(document.node, "metadata", "name")
        if document.node is not None and kind and kind[1] == "Blueprint" and not name:
            self.skipped.append(SkippedFile(document.at, SkipReason.OVERLAY))
            return
        self._own.append(OwnFile(kind[1] if kind else "", name, source.path))


def _find_unrendered(document: Document) -> list[Finding]:
    """Return the placeholders that break a document, in place of the errors that they cause."""
    errors = [finding for finding in document.findings if finding.severity is Severity.ERROR]
    begin = document.at._replace(line=document.first_line)
    return placeholders.find_in_broken_text(document.text, begin, errors) if errors else []
