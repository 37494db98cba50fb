"""Diagnosis of a cluster: whether `plan` and `apply` would work."""

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
    """The options of a diagnosis."""

    options: ClusterOptions
    desired: DesiredState | None
    """The blueprint; None without one, so that inventory and lock are not checked."""

    prove: bool
    """Whether to prove by attempted writes that the user can't write."""

    @property
    def pins(self) -> Pins:
        """Return the blueprint's cluster."""
        return self.desired.pins if self.desired else Pins()


def diagnose(request: DoctorRequest, deadline: Deadline) -> Diagnosis:
    """Run all checks; writes are attempted only to prove that they are denied.

    Raises:
        GuardError: where it is not the blueprint's cluster.
        ClusterError: where the server stops answering.
        StoppedError: after a signal.
    """
    blueprint = request.desired.blueprint if request.desired else ""
    try:
        reached = connect(request.options, request.pins, deadline)
    except ClusterError as problem:
        fix = "name a kubeconfig with --kubeconfig and one of its contexts with --context"
        return Diagnosis((Check("kubeconfig", CheckState.FAILED, str(problem), fix),), blueprint=blueprint)
    # A diagnosis reports an outage instead of waiting for its end.
    reached = reached._replace(cluster=reached.cluster.with_patience(_PATIENCE_SECONDS))
    diagnosis = Diagnosis((_kubeconfig(reached),), reached.context, reached.server, blueprint=blueprint)
    try:
        answer = reached.cluster.ask(Request("GET", KUBE_SYSTEM))
    except ClusterError as problem:
        fix = "is the address right, and is there a way to it from here (VPN, proxy, firewall)?"
        return _with(diagnosis, Check("cluster", CheckState.FAILED, str(problem), fix))
    if answer.status == _UNAUTHORIZED:
        text = f"the API server does not take the credentials: {message(answer)}"
        return _with(
            diagnosis, Check("cluster", CheckState.FAILED, text, "renew them, as with `aws sso login`")
        )
    if not answer.ok:
        text = f"which cluster this is can't be read from the namespace kube-system: {message(answer)}"
        unknown = Check("cluster", CheckState.FAILED, text, "grant what `gpupool rbac plan` prints")
        return _check_all(request, reached, _with(diagnosis, unknown))
    uid = plain_text(plain_map(answer.body.get("metadata")).get("uid"))
    reached = identify(reached, request.pins, uid)
    return _check_all(request, reached, _with(diagnosis._replace(uid=uid), _identity(request, reached)))


def _with(diagnosis: Diagnosis, *checks: Check) -> Diagnosis:
    return diagnosis._replace(checks=(*diagnosis.checks, *checks))


def _check_all(request: DoctorRequest, reached: ReachedCluster, diagnosis: Diagnosis) -> Diagnosis:
    """Run the checks of a server that answers."""
    cluster, desired = reached.cluster, request.desired
    crds = check_crds(cluster)
    place = roles.RoleScope(desired.blueprint, desired.namespace) if desired else None
    allowed = read_permissions(reached, place)
    checks = [_server(cluster), crds.check]
    if desired is not None:
        checks.append(check_karpenter(desired.karpenter, crds.minors))
    checks += [check_plan_rights(allowed), check_apply_rights(allowed)]
    if desired is not None:
        checks += _check_stored(request, desired, reached, allowed)
    checks.append(check_webhooks(cluster))
    if request.prove:
        checks.append(prove_plan_only(cluster))
    return _with(diagnosis._replace(karpenter=crds.minors), *checks)


def _kubeconfig(reached: ReachedCluster) -> Check:
    user = f", as {reached.options.user}" if reached.options.user else ""
    return Check("kubeconfig", CheckState.OK, f"context {reached.context}, {reached.server}{user}")


def _identity(request: DoctorRequest, reached: ReachedCluster) -> Check:
    if request.desired is None:
        return Check("cluster", CheckState.OK, f"uid {reached.uid}; there is no blueprint that names it")
    if request.pins.uid:
        return Check("cluster", CheckState.OK, f"uid {reached.uid}, as the blueprint says")
    fix = f"write `cluster: {{uid: {reached.uid}}}` into the blueprint"
    if reached.is_pinned:
        return Check(
            "cluster", CheckState.WARNING, f"uid {reached.uid}, which the blueprint does not say", fix
        )
    text = f"uid {reached.uid}; neither the blueprint nor --context names it: apply refuses off a terminal"
    return Check("cluster", CheckState.WARNING, text, fix)


def _server(cluster: Cluster) -> Check:
    name = "API server"
    answer = cluster.ask(Request("GET", _VERSION))
    version, minor = plain_text(answer.body.get("gitVersion")), plain_text(answer.body.get("minor"))
    # EKS writes `30+`.
    number = re.match(r"\d+", minor, re.ASCII)
    if not answer.ok or number is None:
        return Check(name, CheckState.UNKNOWN, f"it does not tell its version: {message(answer)}")
    if int(number[0]) < _POLICIES_SINCE:
        text = f"{version}: too old for the admission policy that `gpupool rbac plan` prints"
        return Check(name, CheckState.WARNING, text, f"upgrade to 1.{_POLICIES_SINCE} or newer")
    return Check(name, CheckState.OK, version)


def _check_stored(
    request: DoctorRequest, desired: DesiredState, reached: ReachedCluster, allowed: Permissions
) -> Iterator[Check]:
    place = store.InventoryRef(desired.namespace, desired.inventory)
    if allowed.allow("get", "configmaps"):
        yield check_inventory(reached.cluster, place)
    else:
        yield Check(
            "inventory", CheckState.UNKNOWN, f"may not get configmaps/{place.name} in {place.namespace}"
        )
    if allowed.allow("get", "leases"):
        yield check_lock(reached.cluster, place, unlock_line(request.options, desired.files))
    else:
        yield Check("lock", CheckState.UNKNOWN, f"may not get leases/{place.name} in {place.namespace}")
