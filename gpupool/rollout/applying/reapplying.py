"""Writes of live objects that keep the fields which gpupool applied, with retries after conflicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.cluster.rejections import field_conflicts
from gpupool.errors import ClusterError
from gpupool.planning.ownership import extract_owned, find_applied_entry
from gpupool.rollout.live_state import name_of, read, uid_of, version_of
from gpupool.rollout.planning.assess import build_apply_request
from gpupool.rollout.planning.desired_objects import DesiredObject
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpupool.cluster.client import Cluster, Request, Response
    from gpupool.cluster.resources import ResourceKind
    from gpupool.objects import Ref
    from gpupool.yamlio.located import Plain

MOST_TRIES: Final = 10
"""How often a write is tried after conflicts."""

KEEPS_CHANGING: Final = "it keeps changing"
UNSURE: Final = "interrupted before the API server answered: it may have been applied"
CONFLICT: Final = 409


def applied_fields(live: Mapping[str, Plain]) -> Mapping[str, Plain]:
    """Return the fields that gpupool applied to an object, with their live values."""
    entry = find_applied_entry(live)
    return {} if entry is None else plain_map(extract_owned(dict(live), entry.fields))


def reapply_request(kind: ResourceKind, live: Mapping[str, Plain], fields: Mapping[str, Plain]) -> Request:
    """Return a server-side apply of an object's own fields; it fails where the object was written since."""
    body: dict[str, Plain] = {
        **fields,
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {**plain_map(fields.get("metadata")), "name": name_of(live)},
    }
    desired = DesiredObject(kind, name_of(live), body)
    return build_apply_request(desired, force=True, dry_run=False, uid=uid_of(live), version=version_of(live))


def send_until_current(
    cluster: Cluster,
    ref: Ref,
    live: Mapping[str, Plain] | None,
    request_for: Callable[[Mapping[str, Plain] | None], Request | None],
) -> Response | None:
    """Send a write of a live object, and again for the changed object after a conflict with another client.

    `request_for` builds the write for the live object, which is None where it does not exist. Where it
    returns None, no further request is sent, and None is returned.

    Raises:
        ClusterError: where every try ends with a conflict.
    """
    for _ in range(MOST_TRIES):
        if (request := request_for(live)) is None:
            return None
        answer = cluster.ask(request)
        if answer.status != CONFLICT or field_conflicts(answer):
            return answer
        # Another client wrote it between the reading and the writing, most likely its status alone.
        live = read(cluster, ref)
    raise ClusterError(KEEPS_CHANGING)
