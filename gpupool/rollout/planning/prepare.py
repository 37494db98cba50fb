"""Preparation of a plan from a blueprint and a live cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.resources import KINDS, NODE_OVERLAY, NODE_POOL
from gpupool.objects import digest, is_pool
from gpupool.planning.agreement import EXPIRES_AFTER, format_time
from gpupool.planning.compare import strip_server_fields
from gpupool.planning.fingerprint import calculate_fingerprint
from gpupool.planning.guards import GuardInputs, check_guards, count_changes
from gpupool.planning.plan import (
    FORMAT_VERSION,
    Change,
    Consent,
    InventoryState,
    Plan,
    PlanSource,
    PlanTarget,
    Precondition,
)
from gpupool.planning.tools import find_tool_marks
from gpupool.rollout.inventory import store
from gpupool.rollout.live_state import describe_termination, find_removed, generation_of, observe, uid_of
from gpupool.rollout.planning.assess import AssessedObject, DryRunContext, assess
from gpupool.rollout.planning.desired_objects import build_desired_objects
from gpupool.rollout.planning.digest_key import build_masker
from gpupool.rollout.planning.plan_warnings import find_dangling_pools, find_lost, find_orphans, find_warnings
from gpupool.rollout.planning.usage import count_all_claims, count_claims
from gpupool.rollout.redaction import collect_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.objects import Ref
    from gpupool.planning.masking import Masker
    from gpupool.planning.pruning import Fate
    from gpupool.rollout.connection import ReachedCluster
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.live_state import LiveState
    from gpupool.rollout.planning.desired_objects import DesiredObject
    from gpupool.rollout.planning.usage import Usage
    from gpupool.yamlio.located import Plain


class PreparedPlan(NamedTuple):
    """A plan with the desired objects and the live state that it was made from."""

    plan: Plan
    """The plan without its id, which is set when it is saved or applied."""

    assessed: tuple[AssessedObject, ...]
    """The desired objects with their changes, in the order in which they are written."""

    observed: LiveState
    masker: Masker

    @property
    def deletions(self) -> tuple[Change, ...]:
        """Return the deletions, in their order."""
        return tuple(change for change in self.plan.changes if change.actions == ("delete",))


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Contents of a plan beside blueprint and cluster."""

    consent: Consent
    gpupool: str
    """gpupool's version."""

    crds: Mapping[str, str] = field(default_factory=dict)
    """Digests of the CRDs, for a plan that is saved."""

    commit: str = ""
    """The git commit of the blueprint, for a plan that is saved."""


def prepare(reached: ReachedCluster, desired: DesiredState, options: PlanOptions) -> PreparedPlan:
    """Return the plan of a blueprint for a cluster.

    Raises:
        ClusterError: where a request fails.
    """
    place = store.InventoryRef(desired.namespace, desired.inventory)
    observed = observe(reached.cluster, place, reached.options.concurrency)
    desired_objects = build_desired_objects(desired, place)
    bodies = (*(item.body for item in desired_objects), *observed.live.values())
    masker, key = build_masker(reached, desired.sensitive, observed.inventory, bodies)
    context = DryRunContext(
        reached.cluster, observed, masker, options.consent, collect_secrets(masker, bodies)
    )
    workers = reached.options.concurrency
    assessed = tuple(map_parallel(workers, lambda item: assess(context, item), desired_objects))
    removed = find_removed(observed, {item.desired.ref: item.desired.body for item in assessed})
    deletions = _deletions(reached, removed, context)
    changes = (*(item.change for item in assessed), *deletions)
    now = datetime.now(UTC)
    plan = Plan(
        format_version=FORMAT_VERSION,
        gpupool=options.gpupool,
        id="",
        created_at=format_time(now),
        expires_at=format_time(now + EXPIRES_AFTER),
        target=PlanTarget(reached.uid, reached.server, reached.context, dict(options.crds)),
        source=_source(desired, desired_objects, masker, options.commit),
        inventory=InventoryState(*place, observed.inventory.uid, observed.inventory.serial, key),
        consent=options.consent,
        changes=changes,
        orphans=tuple(find_orphans(observed, assessed)),
        lost=tuple(find_lost(observed)),
        warnings=tuple(find_warnings(observed, assessed, removed, deletions)),
        guards=check_guards(collect_facts(options.consent, observed, assessed, deletions)),
        charts=tuple(release.header()[1] for release in desired.releases),
        summary=count_changes(changes),
    )
    return PreparedPlan(plan, assessed, observed, masker)


def _deletions(reached: ReachedCluster, removed: Sequence[Fate], context: DryRunContext) -> list[Change]:
    deleted = [fate.ref for fate in removed if fate.is_deleted]
    if not deleted:
        return []
    has_nodes = any(ref.kind != NODE_OVERLAY.name for ref in deleted)
    usage = count_all_claims(reached.cluster) if has_nodes else count_claims([])
    order = [*KINDS]
    deleted.sort(key=lambda ref: (-order.index(ref.kind), ref.name))
    return [_deletion(context, ref, usage) for ref in deleted]


def _deletion(context: DryRunContext, ref: Ref, usage: Usage) -> Change:
    live, address = context.observed.live[ref], str(ref)
    body = strip_server_fields(dict(live))
    return Change(
        address=address,
        actions=("delete",),
        place=None,
        reason="; ".join(filter(None, ("no longer in the blueprint", describe_termination(live)))),
        before=context.masker.mask(address, body),
        after=None,
        fields=(),
        body=None,
        pre=Precondition(
            uid_of(live), generation_of(live), calculate_fingerprint(context.masker.seal(address, body), ())
        ),
        verified="server",
        managed_by=tuple(sign.tool for sign in find_tool_marks(live)),
        node_claims=usage.of(ref),
    )


def collect_facts(
    consent: Consent, observed: LiveState, assessed: Sequence[AssessedObject], deletions: Sequence[Change]
) -> GuardInputs:
    """Return the facts for the guards."""
    listed = observed.inventory.entries
    return GuardInputs(
        consent=consent,
        deletions=deletions,
        pools_desired=sum(item.desired.kind == NODE_POOL for item in assessed),
        pools_listed=sum(is_pool(ref) for ref in listed),
        dangling=dict(find_dangling_pools(observed, assessed, {change.ref for change in deletions})),
        admissions=[item.change.address for item in assessed if item.change.admissions],
        is_complete=observed.served >= set(KINDS),
    )


def _source(
    desired: DesiredState, desired_objects: Sequence[DesiredObject], masker: Masker, commit: str
) -> PlanSource:
    rendered: list[Plain] = [masker.seal(str(manifest.ref), manifest.data) for manifest in desired.manifests]
    files = dict(desired.files)
    if any(masker.has_sensitive(dict(item.body)) for item in desired_objects):
        files = {
            name: masker.calculate_file_digest(name, plain_digest) for name, plain_digest in files.items()
        }
    features = tuple(dict.fromkeys(desired.features))
    return PlanSource(desired.blueprint, files, digest(rendered), commit, desired.sensitive, features)
