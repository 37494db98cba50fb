"""Whether plan and apply would work here: the cluster, its CRDs, the user's rights, what is kept there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import Request
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import KUBE_SYSTEM
from gpupool.errors import ClusterError
from gpupool.rendering import roles
from gpupool.rollout.connection import Pins, connect, identify
from gpupool.rollout.doctor.check import Check, CheckState, Diagnosis
from gpupool.rollout.doctor.cluster_checks import (
    check_crds,
    check_inventory,
    check_karpenter,
    check_lock,
    check_webhooks,
)
from gpupool.rollout.doctor.permissions import (
    check_apply_rights,
    check_plan_rights,
    prove_plan_only,
    read_permissions,
)
from gpupool.rollout.inventory import store
from gpupool.rollout.lock.lock import unlock_line
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.cluster.client import Cluster
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.connection import ClusterOptions, ReachedCluster
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.doctor.permissions import Permissions

_VERSION: Final = "/version"
_UNAUTHORIZED: Final = 401
_POLICIES_SINCE: Final = 30
"""The Kubernetes minor in which admission policies became v1: what `gpupool rbac plan` prints needs it."""

_PATIENCE_SECONDS: Final = 5.0


class DoctorRequest(NamedTuple):
    """What is looked at."""

    way: ClusterOptions
    wanted: DesiredState | None
    """The blueprint; None where there is none, so that its inventory and lock are not looked at."""

    prove: bool
    """Whether to try to write, which has to be denied."""

    @property
    def pins(self) -> Pins:
        """Return the cluster that is meant."""
        return self.wanted.pins if self.wanted else Pins()


def diagnose(patient: DoctorRequest, deadline: Deadline) -> Diagnosis:
    """Look at everything; nothing is written unless it is to be proved that nothing can be.

    Raises:
        GuardError: where it is another cluster than the blueprint's.
        ClusterError: where the server stops to answer.
        StoppedError: where a signal came.
    """
    blueprint = patient.wanted.blueprint if patient.wanted else ""
    try:
        reached = connect(patient.way, patient.pins, deadline)
    except ClusterError as problem:
        fix = "name a kubeconfig with --kubeconfig and one of its contexts with --context"
        return Diagnosis((Check("kubeconfig", CheckState.FAILED, str(problem), fix),), blueprint=blueprint)
    # Who looks for what is wrong wants to hear of it, not to wait until it is gone.
    reached = reached._replace(cluster=reached.cluster.with_patience(_PATIENCE_SECONDS))
    found = Diagnosis((_kubeconfig(reached),), reached.context, reached.server, blueprint=blueprint)
    try:
        answer = reached.cluster.ask(Request("GET", KUBE_SYSTEM))
    except ClusterError as problem:
        fix = "is the address right, and is there a way to it from here (VPN, proxy, firewall)?"
        return _with(found, Check("cluster", CheckState.FAILED, str(problem), fix))
    if answer.status == _UNAUTHORIZED:
        words = f"the API server does not take the credentials: {message(answer)}"
        return _with(found, Check("cluster", CheckState.FAILED, words, "renew them, as with `aws sso login`"))
    if not answer.ok:
        words = f"which cluster this is can't be read from the namespace kube-system: {message(answer)}"
        unknown = Check("cluster", CheckState.FAILED, words, "grant what `gpupool rbac plan` prints")
        return _looked_into(patient, reached, _with(found, unknown))
    uid = plain_text(plain_map(answer.body.get("metadata")).get("uid"))
    reached = identify(reached, patient.pins, uid)
    return _looked_into(patient, reached, _with(found._replace(uid=uid), _identity(patient, reached)))


def _with(found: Diagnosis, *checks: Check) -> Diagnosis:
    return found._replace(checks=(*found.checks, *checks))


def _looked_into(patient: DoctorRequest, reached: ReachedCluster, found: Diagnosis) -> Diagnosis:
    """Go on with a server that answers."""
    cluster, wanted = reached.cluster, patient.wanted
    crds = check_crds(cluster)
    place = roles.RoleScope(wanted.blueprint, wanted.namespace) if wanted else None
    allowed = read_permissions(reached, place)
    checks = [_server(cluster), crds.check]
    if wanted is not None:
        checks.append(check_karpenter(wanted.karpenter, crds.minors))
    checks += [check_plan_rights(allowed), check_apply_rights(allowed)]
    if wanted is not None:
        checks += _kept(patient, wanted, reached, allowed)
    checks.append(check_webhooks(cluster))
    if patient.prove:
        checks.append(prove_plan_only(cluster))
    return _with(found._replace(karpenter=crds.minors), *checks)


def _kubeconfig(reached: ReachedCluster) -> Check:
    user = f", as {reached.way.user}" if reached.way.user else ""
    return Check("kubeconfig", CheckState.OK, f"context {reached.context}, {reached.server}{user}")


def _identity(patient: DoctorRequest, reached: ReachedCluster) -> Check:
    if patient.wanted is None:
        return Check("cluster", CheckState.OK, f"uid {reached.uid}; there is no blueprint that names it")
    if patient.pins.uid:
        return Check("cluster", CheckState.OK, f"uid {reached.uid}, as the blueprint says")
    fix = f"write `cluster: {{uid: {reached.uid}}}` into the blueprint"
    if reached.pinned:
        return Check(
            "cluster", CheckState.WARNING, f"uid {reached.uid}, which the blueprint does not say", fix
        )
    words = f"uid {reached.uid}; neither the blueprint nor --context names it: apply refuses off a terminal"
    return Check("cluster", CheckState.WARNING, words, fix)


def _server(cluster: Cluster) -> Check:
    name = "API server"
    answer = cluster.ask(Request("GET", _VERSION))
    version, minor = plain_text(answer.body.get("gitVersion")), plain_text(answer.body.get("minor"))
    # EKS writes `30+`.
    number = re.match(r"\d+", minor, re.ASCII)
    if not answer.ok or number is None:
        return Check(name, CheckState.UNKNOWN, f"it does not tell its version: {message(answer)}")
    if int(number[0]) < _POLICIES_SINCE:
        words = f"{version}: too old for the admission policy that `gpupool rbac plan` prints"
        return Check(name, CheckState.WARNING, words, f"upgrade to 1.{_POLICIES_SINCE} or newer")
    return Check(name, CheckState.OK, version)


def _kept(
    patient: DoctorRequest, wanted: DesiredState, reached: ReachedCluster, allowed: Permissions
) -> Iterator[Check]:
    place = store.InventoryRef(wanted.namespace, wanted.inventory)
    if allowed.allow("get", "configmaps"):
        yield check_inventory(reached.cluster, place)
    else:
        yield Check(
            "inventory", CheckState.UNKNOWN, f"may not get configmaps/{place.name} in {place.namespace}"
        )
    if allowed.allow("get", "leases"):
        yield check_lock(reached.cluster, place, unlock_line(patient.way, wanted.files))
    else:
        yield Check("lock", CheckState.UNKNOWN, f"may not get leases/{place.name} in {place.namespace}")
