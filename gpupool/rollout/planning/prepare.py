"""From a blueprint and a cluster to a plan: what is, what shall be, and all that speaks against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.resources import KINDS, NODE_OVERLAY, NODE_POOL
from gpupool.objects import digest, is_pool
from gpupool.planning.agreement import EXPIRES_AFTER, written_time
from gpupool.planning.compare import stripped
from gpupool.planning.fingerprint import fingerprint
from gpupool.planning.guards import Facts, guards, summary
from gpupool.planning.plan import (
    FORMAT_VERSION,
    Before,
    Change,
    Consent,
    InventoryState,
    Plan,
    PlanSource,
    PlanTarget,
)
from gpupool.planning.tools import signs
from gpupool.rollout.inventory import store
from gpupool.rollout.live_state import describe_termination, find_removed, generation_of, observe, uid_of
from gpupool.rollout.planning.assess import Assessed, DryRunContext, assess
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


class Prepared(NamedTuple):
    """A plan, and what only this process knows of it."""

    plan: Plan
    """Without its id: who saves it, or acts on it, seals it."""

    assessed: tuple[Assessed, ...]
    """What is to be there, in the order in which it is written."""

    observed: LiveState
    masker: Masker

    @property
    def deletions(self) -> tuple[Change, ...]:
        """Return the deletions, in the order in which they are made."""
        return tuple(each for each in self.plan.changes if each.actions == ("delete",))


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What goes into a plan beside the blueprint and the cluster."""

    consent: Consent
    gpupool: str
    """The version that makes it."""

    crds: Mapping[str, str] = field(default_factory=dict)
    """Digests of the CRDs, for a plan that is saved."""

    commit: str = ""
    """The git commit of the blueprint, for a plan that is saved."""


def prepare(reached: ReachedCluster, wanted: DesiredState, options: PlanOptions) -> Prepared:
    """Make the plan.

    Raises:
        ClusterError: where the server can't be asked.
    """
    place = store.InventoryRef(wanted.namespace, wanted.inventory)
    observed = observe(reached.cluster, place, reached.way.concurrency)
    wished = build_desired_objects(wanted, place)
    everything = (*(each.body for each in wished), *observed.live.values())
    masker, key = build_masker(reached, wanted.sensitive, observed.inventory, everything)
    asking = DryRunContext(
        reached.cluster, observed, masker, options.consent, collect_secrets(masker, everything)
    )
    workers = reached.way.concurrency
    assessed = tuple(map_parallel(workers, lambda wish: assess(asking, wish), wished))
    unwanted = find_removed(observed, {each.wish.ref: each.wish.body for each in assessed})
    deletions = _deletions(reached, unwanted, asking)
    changes = (*(each.change for each in assessed), *deletions)
    now = datetime.now(UTC)
    plan = Plan(
        format_version=FORMAT_VERSION,
        gpupool=options.gpupool,
        id="",
        created_at=written_time(now),
        expires_at=written_time(now + EXPIRES_AFTER),
        target=PlanTarget(reached.uid, reached.server, reached.context, dict(options.crds)),
        source=_source(wanted, wished, masker, options.commit),
        inventory=InventoryState(*place, observed.inventory.uid, observed.inventory.serial, key),
        consent=options.consent,
        changes=changes,
        orphans=tuple(find_orphans(observed, assessed)),
        lost=tuple(find_lost(observed)),
        warnings=tuple(find_warnings(observed, assessed, unwanted, deletions)),
        guards=guards(collect_facts(options.consent, observed, assessed, deletions)),
        charts=tuple(each.header()[1] for each in wanted.releases),
        summary=summary(changes),
    )
    return Prepared(plan, assessed, observed, masker)


def _deletions(reached: ReachedCluster, unwanted: Sequence[Fate], asking: DryRunContext) -> list[Change]:
    deleted = [fate.ref for fate in unwanted if fate.deleted]
    if not deleted:
        return []
    has_nodes = any(ref.kind != NODE_OVERLAY.name for ref in deleted)
    usage = count_all_claims(reached.cluster) if has_nodes else count_claims([])
    order = [*KINDS]
    deleted.sort(key=lambda ref: (-order.index(ref.kind), ref.name))
    return [_deletion(asking, ref, usage) for ref in deleted]


def _deletion(asking: DryRunContext, ref: Ref, usage: Usage) -> Change:
    live, address = asking.observed.live[ref], str(ref)
    body = stripped(dict(live))
    return Change(
        address=address,
        actions=("delete",),
        place=None,
        reason="; ".join(filter(None, ("no longer in the blueprint", describe_termination(live)))),
        before=asking.masker.shown(address, body),
        after=None,
        fields=(),
        body=None,
        pre=Before(uid_of(live), generation_of(live), fingerprint(asking.masker.sealed(address, body), ())),
        verified="server",
        managed_by=tuple(each.tool for each in signs(live)),
        node_claims=usage.of(ref),
    )


def collect_facts(
    consent: Consent, observed: LiveState, assessed: Sequence[Assessed], deletions: Sequence[Change]
) -> Facts:
    """Return what the guards look at."""
    known = observed.inventory.known
    return Facts(
        consent=consent,
        deletions=deletions,
        pools_wanted=sum(each.wish.kind == NODE_POOL for each in assessed),
        pools_listed=sum(is_pool(ref) for ref in known),
        dangling=dict(find_dangling_pools(observed, assessed, {each.ref for each in deletions})),
        admissions=[each.change.address for each in assessed if each.change.admissions],
        was_complete=observed.served >= set(KINDS),
    )


def _source(wanted: DesiredState, wished: Sequence[DesiredObject], masker: Masker, commit: str) -> PlanSource:
    rendered: list[Plain] = [masker.sealed(str(manifest.ref), manifest.data) for manifest in wanted.manifests]
    files = dict(wanted.files)
    if any(masker.has_sensitive(dict(each.body)) for each in wished):
        files = {name: masker.file_digest(name, each) for name, each in files.items()}
    return PlanSource(wanted.blueprint, files, digest(rendered), commit, wanted.sensitive)
