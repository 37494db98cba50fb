"""Helm releases beside the values that the blueprint renders: what an upgrade of a chart would change.

gpupool runs no Helm. It reads the Secret in which Helm keeps a release: nothing but `diff --helm`
looks there: many give nobody the right to read Secrets.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import Request
from gpupool.cluster.rejections import raise_rejection
from gpupool.errors import ClusterError
from gpupool.objects import labels_of
from gpupool.planning.compare import differences
from gpupool.planning.masking import looks_secret
from gpupool.yamlio.located import plain, plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.cluster.client import Cluster
    from gpupool.planning.compare import Difference
    from gpupool.rendering.values import Release
    from gpupool.yamlio.located import Plain

_LARGEST: Final = 32 << 20
_HIDDEN: Final = "(sensitive)"


class ReleaseDiff(NamedTuple):
    """One chart: what is installed, and what would be."""

    release: str
    """`NAMESPACE/NAME`."""

    chart: str
    wanted: str
    """The version that the blueprint asks for."""

    installed: str | None
    """The version that is there; None where there is no release."""

    values: tuple[Difference, ...]
    """What differs between the values that were given to Helm and those that the blueprint renders."""

    @property
    def differs(self) -> bool:
        """Return whether an upgrade would change anything."""
        return self.installed != self.wanted or bool(self.values)


def compare_releases(cluster: Cluster, releases: Sequence[Release]) -> list[ReleaseDiff]:
    """Compare each release with the values that the blueprint renders.

    Raises:
        ClusterError: where the Secrets can't be read, or hold something else.
    """
    return [_compared(each, _installed(cluster, each)) for each in releases]


def _compared(wanted: Release, installed: Mapping[str, Plain] | None) -> ReleaseDiff:
    title, values = f"{wanted.namespace}/{wanted.name}", plain(wanted.values)
    if installed is None:
        return ReleaseDiff(title, wanted.chart, wanted.version, None, ())
    metadata = plain_map(plain_map(installed.get("chart")).get("metadata"))
    config = dict(plain_map(installed.get("config")))
    found = tuple(_masked(each) for each in differences(config, values) if each.semantic)
    return ReleaseDiff(title, wanted.chart, wanted.version, plain_text(metadata.get("version")), found)


def _masked(found: Difference) -> Difference:
    if any(looks_secret(str(key)) for key in found.keys):
        return found._replace(
            before=None if found.before is None else _HIDDEN, after=None if found.after is None else _HIDDEN
        )
    return found


def _installed(cluster: Cluster, release: Release) -> Mapping[str, Plain] | None:
    """Return the newest release that Helm keeps as deployed; None where there is none."""
    path = f"/api/v1/namespaces/{release.namespace}/secrets"
    request = Request("GET", path, {"labelSelector": f"owner=helm,name={release.name},status=deployed"})
    answer = cluster.ask(request)
    if not answer.ok:
        raise_rejection(request, answer, f"read the Secrets of Helm in {release.namespace}")
    found = [plain_map(each) for each in plain_list(answer.body.get("items"))]
    if not found:
        return None
    newest = max(found, key=_revision)
    return _unpacked(plain_text(plain_map(newest.get("data")).get("release")), release)


def _revision(secret: Mapping[str, Plain]) -> int:
    labels = labels_of(secret)
    said = plain_text(labels.get("version"))
    return int(said) if said.isdigit() else 0


def _unpacked(data: str, release: Release) -> Mapping[str, Plain]:
    """Read what Helm packed: JSON, gzipped, in base64 of its own within that of the Secret."""
    try:
        packed = base64.b64decode(base64.b64decode(data, validate=True), validate=True)
        raw = zlib.decompressobj(wbits=31).decompress(packed, _LARGEST)
        read = json.loads(raw)
    except (ValueError, binascii.Error, zlib.error) as problem:
        message = f"what Helm keeps of {release.namespace}/{release.name} can't be read: {problem}"
        raise ClusterError(message) from problem
    return plain_map(read)
