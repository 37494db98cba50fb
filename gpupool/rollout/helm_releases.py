"""Comparison of installed Helm releases with the values that a blueprint renders.

gpupool does not run Helm. It reads the Secret in which Helm keeps a release, and only for `diff --helm`, as
the permission to read Secrets is rarely granted.
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
from gpupool.planning.compare import find_differences
from gpupool.planning.masking import is_secret_name
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
    """The differences between an installed and a desired release."""

    release: str
    """`NAMESPACE/NAME`."""

    chart: str
    desired: str
    """The blueprint's version."""

    installed: str | None
    """The installed version; None where there is no release."""

    values: tuple[Difference, ...]
    """Differences between the installed values and those that the blueprint renders."""

    @property
    def differs(self) -> bool:
        """Return whether an upgrade would change anything."""
        return self.installed != self.desired or bool(self.values)


def compare_releases(cluster: Cluster, releases: Sequence[Release]) -> list[ReleaseDiff]:
    """Compare each release with the values that the blueprint renders.

    Raises:
        ClusterError: where the Secrets can't be read, or hold something else.
    """
    return [_compared(release, _installed(cluster, release)) for release in releases]


def _compared(desired: Release, installed: Mapping[str, Plain] | None) -> ReleaseDiff:
    title, values = f"{desired.namespace}/{desired.name}", plain(desired.values)
    if installed is None:
        return ReleaseDiff(title, desired.chart, desired.version, None, ())
    metadata = plain_map(plain_map(installed.get("chart")).get("metadata"))
    config = dict(plain_map(installed.get("config")))
    changed = tuple(_masked(change) for change in find_differences(config, values) if change.semantic)
    return ReleaseDiff(title, desired.chart, desired.version, plain_text(metadata.get("version")), changed)


def _masked(change: Difference) -> Difference:
    if any(is_secret_name(str(key)) for key in change.keys):
        return change._replace(
            before=None if change.before is None else _HIDDEN, after=None if change.after is None else _HIDDEN
        )
    return change


def _installed(cluster: Cluster, release: Release) -> Mapping[str, Plain] | None:
    """Return the newest release with the status deployed; None where there is none."""
    path = f"/api/v1/namespaces/{release.namespace}/secrets"
    request = Request("GET", path, {"labelSelector": f"owner=helm,name={release.name},status=deployed"})
    answer = cluster.ask(request)
    if not answer.ok:
        raise_rejection(request, answer, f"read the Secrets of Helm in {release.namespace}")
    secrets = [plain_map(item) for item in plain_list(answer.body.get("items"))]
    if not secrets:
        return None
    newest = max(secrets, key=_revision)
    return _unpacked(plain_text(plain_map(newest.get("data")).get("release")), release)


def _revision(secret: Mapping[str, Plain]) -> int:
    labels = labels_of(secret)
    version = plain_text(labels.get("version"))
    return int(version) if version.isdigit() else 0


def _unpacked(data: str, release: Release) -> Mapping[str, Plain]:
    """Decode a release as Helm stores it: gzipped JSON in base64, inside the Secret's own base64."""
    try:
        packed = base64.b64decode(base64.b64decode(data, validate=True), validate=True)
        raw = zlib.decompressobj(wbits=31).decompress(packed, _LARGEST)
        read = json.loads(raw)
    except (ValueError, binascii.Error, zlib.error) as problem:
        message = f"can't read the Helm release {release.namespace}/{release.name}: {problem}"
        raise ClusterError(message) from problem
    return plain_map(read)
