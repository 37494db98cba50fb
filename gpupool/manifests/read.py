"""Files and folders to Karpenter's objects: read as kubectl reads them, and sorted by kind."""

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
"""Values of one file that are kept until they are checked: other objects are let go one by one."""

MAX_FINDINGS = 1_000
"""What is said about one file before the rest of it is left unread."""

_OWN = re.compile(rf"^apiVersion:\s*[\"']?{re.escape(kinds.OWN_GROUP)}/", re.MULTILINE)
_KIND = re.compile(r"^kind:\s*[\"']?(\w+)", re.MULTILINE)


def read_manifests(
    paths: Sequence[str],
    stdin: Callable[[], bytes],
    wanted: Callable[[Identity, Located], bool] | None = None,
) -> Manifests:
    """Read what stands in files and folders; `-` is what `stdin` gives.

    Karpenter's objects are kept, or those that are `wanted`. Bad input becomes findings, never an error.
    """
    sorter = _Sorter(wanted)
    for found in find_files(paths):
        if isinstance(found, ManifestFile):
            sorter.read(found, stdin)
        elif isinstance(found, SkippedFile):
            sorter.skipped.append(found)
        else:
            sorter.findings.append(found)
    return sorter.result()


class _Sorter:
    """Takes file after file and sorts what stands in them."""

    def __init__(self, wanted: Callable[[Identity, Located], bool] | None) -> None:
        self._wanted = wanted
        self.findings: list[Finding] = []
        self.skipped: list[SkippedFile] = []
        self._objects: list[KarpenterObject] = []
        self._own: list[OwnFile] = []
        self._files: list[str] = []
        self._documents = 0
        self._may_be_template = True
        self._kinds: Counter[str] = Counter()

    def result(self) -> Manifests:
        """Return all that was found so far."""
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
        before, held = len(self.findings), 0
        is_foreign = b"kind" not in content and content.isascii() and b"\0" not in content
        for document in read_documents(content, source.name):
            self._documents += 1
            objects = len(self._objects)
            self._document(document, source, is_foreign=is_foreign)
            held += document.values if len(self._objects) > objects else 0
            if held > MAX_HELD:
                message = f"more than {MAX_HELD:,} values in the objects to check; the rest is not read"
                finding = Finding(Code.MANIFEST_SYNTAX, message, document.at, "split the file")
                self.findings.append(finding)
                return
            if len(self.findings) - before > MAX_FINDINGS:
                message = f"more than {MAX_FINDINGS:,} errors in the file; the rest is not read"
                self.findings.append(Finding(Code.MANIFEST_SYNTAX, message, document.at, "fix these first"))
                return

    def _document(self, document: Document, source: ManifestFile, *, is_foreign: bool) -> None:
        if "{{" in document.text and source.is_chart_template:
            self.skipped.append(SkippedFile(document.at, SkipReason.HELM_TEMPLATE))
        elif _OWN.search(document.text):
            self._own_file(document, source)
        elif document.node is None and not source.is_named and is_foreign:
            self.skipped.append(SkippedFile(document.at, SkipReason.UNREADABLE))
        else:
            self._manifest(document, source)

    def _manifest(self, document: Document, source: ManifestFile) -> None:
        unrendered = _unrendered(document)
        if document.node is None or unrendered:
            self.findings += unrendered or document.findings
            return
        found = read_identity(document.node)
        if found is None and not source.is_named:
            self.skipped.append(SkippedFile(document.at, SkipReason.NO_OBJECT))
            return
        # JSON comes without its text; nearly no text has a placeholder, and to look at all values takes time.
        self._may_be_template = not document.text or placeholders.has_opening(document.text)
        before = len(self._objects)
        self._objects_in(document.node, found, source)
        is_passed_over = len(self._objects) == before
        self.findings += (
            finding for finding in document.findings
            if not (is_passed_over and finding.code == Code.MANIFEST_KEY_TWICE)
        )  # fmt: skip

    def _objects_in(self, node: Located, found: Identity | None, source: ManifestFile) -> None:
        """Take an object, or those in a list, in their order."""
        waiting = [(node, found)]
        while waiting:
            node, found = waiting.pop()
            items = kinds.list_items(found, node) if found else None
            if items is not None and found:
                waiting += [(item, kinds.read_item_identity(found, item)) for item in reversed(items)]
            elif found:
                self._object(node, found, source)
            else:
                fix = "add `apiVersion` and `kind`, or leave the file out"
                self.findings.append(Finding(Code.NO_OBJECT, kinds.describe_missing(node), node.at, fix))

    def _object(self, node: Located, found: Identity, source: ManifestFile) -> None:
        self._kinds[found.kind] += 1
        if self._wanted(found, node) if self._wanted else kinds.is_current(found):
            self._objects.append(KarpenterObject(found.kind, found.name, node, node.at))
            if self._may_be_template:
                self.findings += placeholders.find_in_object(node, found.label)
        elif self._wanted:
            return
        elif found.group == kinds.OWN_GROUP:
            self._own.append(OwnFile(found.kind, found.name, source.path))
        else:
            refused = [*find_old_fields(found, node)] or [*kinds.find_unknown_version(found, node)]
            self.findings += refused

    def _own_file(self, document: Document, source: ManifestFile) -> None:
        """Leave a file of gpupool's to its own reader, with all that is wrong in it."""
        kind = _KIND.search(document.text)
        name = text_at(document.node, "metadata", "name")
        if document.node is not None and kind and kind[1] == "Blueprint" and not name:
            self.skipped.append(SkippedFile(document.at, SkipReason.OVERLAY))
            return
        self._own.append(OwnFile(kind[1] if kind else "", name, source.path))


def _unrendered(document: Document) -> list[Finding]:
    """Return the placeholders that spoil a document, instead of the mistakes that they make."""
    errors = [finding for finding in document.findings if finding.severity is Severity.ERROR]
    begin = document.at._replace(line=document.first_line)
    return placeholders.find_in_broken_text(document.text, begin, errors) if errors else []
