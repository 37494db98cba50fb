"""What the status of an object says about it."""

from typing import Any

import pytest

from gpupool.rollout.watch.waiting import Readiness, read_readiness

AWAITED = ("AwaitingReconciliation", "object is awaiting reconciliation")
NO_SUBNETS = ("SubnetsNotFound", "SubnetSelector did not match any Subnets")


def thing(
    conditions: dict[str, tuple[str, ...]] | None, *, generation: int = 1, **metadata: object
) -> dict[str, Any]:
    """Return an object with conditions: status, reason, message and the generation they are about."""
    body: dict[str, Any] = {"metadata": {"name": "x", "generation": generation, **metadata}}
    if conditions is not None:
        body["status"] = {"conditions": [_condition(*each) for each in conditions.items()]}
    return body


def _condition(kind: str, said: tuple[str, ...]) -> dict[str, Any]:
    status, reason, message, seen = (*said, *("True", kind, "", "1")[len(said) :])
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": int(seen),
    }


CASES = {
    "Ready": (thing({"ValidationSucceeded": ("True",), "Ready": ("True",)}), ""),
    "Ready, whatever its nodes do": (
        thing({"Ready": ("True",), "NodeRegistrationHealthy": ("False", "Unhealthy", "no node registers")}),
        "",
    ),
    "just created": (thing(None), "no status yet: is Karpenter running?"),
    "a status without conditions": (
        {"metadata": {"name": "x"}, "status": {"nodes": 0}},
        "no status yet: is Karpenter running?",
    ),
    "changed since": (
        thing({"Ready": ("True",)}, generation=2),
        "not reconciled by Karpenter since the last change (Ready=True before)",
    ),
    "one root": (
        thing(
            {
                "SubnetsReady": ("False", *NO_SUBNETS),
                "Ready": ("False", "UnhealthyDependents", "SubnetsReady=False"),
            }
        ),
        "SubnetsReady=False: SubnetsNotFound: SubnetSelector did not match any Subnets",
    ),
    "the root before what follows from it, and what nobody looked at last": (
        thing(
            {
                "InstanceProfileReady": ("Unknown", *AWAITED),
                "ValidationSucceeded": ("Unknown", "DependenciesNotReady", "Awaiting AMI, Subnet"),
                "AMIsReady": ("False", "AMINotFound", "AMISelector did not match any AMIs"),
                "SubnetsReady": ("False", *NO_SUBNETS),
                "SecurityGroupsReady": ("True",),
                "Ready": ("False", "UnhealthyDependents", "..."),
            }
        ),
        (
            "SubnetsReady=False: SubnetsNotFound: SubnetSelector did not match any Subnets;"
            " AMIsReady=False: AMINotFound: AMISelector did not match any AMIs;"
            " no result for InstanceProfileReady: Karpenter failed, and the error is only in its log"
        ),
    ),
    "a class that is not Ready": (
        thing(
            {
                "ValidationSucceeded": ("True",),
                "NodeClassReady": ("False", "UnhealthyDependents", "SubnetsReady=False"),
                "Ready": ("False", "UnhealthyDependents", "NodeClassReady=False"),
            }
        ),
        "NodeClassReady=False: UnhealthyDependents: SubnetsReady=False",
    ),
    "a condition of a later Karpenter": (
        thing({"MoonPhase": ("False", "Waning", "try again\n  tomorrow"), "Ready": ("False", "x", "y")}),
        "MoonPhase=False: Waning: try again tomorrow",
    ),
    "nothing but Ready": (thing({"Ready": ("False", "Broken", "it is")}), "Ready=False: Broken: it is"),
    "a reason that says nothing": (thing({"Ready": ("Unknown", "Ready", "")}), "Ready=Unknown"),
    "no Ready yet": (thing({"ValidationSucceeded": ("True",)}), "it has no condition Ready yet"),
}


AWAITED_CLASS = ("Unknown", *AWAITED)
DEPENDENT = (
    "Unknown",
    "DependenciesNotReady",
    "Awaiting AMI, Instance Profile, Security Group, and Subnet resolution",
)
FINE = {
    each: ("True", each, "", "2")
    for each in ("CapacityReservationsReady", "PlacementGroupReady", "SubnetsReady", "SecurityGroupsReady")
}
SPEC = {"role": "no-such-role", "amiSelectorTerms": [{"alias": "al2023@v20991231"}]}
LOGGED = "Karpenter failed, and the error is only in its log"


def node_class(spec: dict[str, Any] | None = None, **said: tuple[str, ...]) -> dict[str, Any]:
    """Return a class of a second generation of which Karpenter 1.14 found nothing wrong but for what is said."""
    conditions = {
        **FINE,
        **{each: ("True", each, "", "2") for each in ("AMIsReady", "InstanceProfileReady")},
        **said,
    }
    newer = {each: (*words, *("", "")[: 3 - len(words)], "2")[:4] for each, words in conditions.items()}
    unready = ("Unknown", "ReconcilingDependents", "AMIsReady=True", "2")
    return {**thing({**newer, "Ready": unready}, generation=2), "spec": SPEC if spec is None else spec}


CLASSES = {
    "a new one with an AMI date that was never published": (
        node_class(AMIsReady=AWAITED_CLASS, ValidationSucceeded=DEPENDENT),
        f"no result for AMIsReady (spec.amiSelectorTerms: al2023@v20991231): {LOGGED}",
    ),
    "a new one with a role that does not exist": (
        node_class(InstanceProfileReady=AWAITED_CLASS, ValidationSucceeded=DEPENDENT),
        f"no result for InstanceProfileReady (spec.role: no-such-role): {LOGGED}",
    ),
    "one that was changed, with what was so before": (
        node_class(
            AMIsReady=("True", "AMIsReady", "", "1"),
            ValidationSucceeded=("True", "ValidationSucceeded", "", "2"),
        ),
        f"no result for AMIsReady (spec.amiSelectorTerms: al2023@v20991231): {LOGGED}",
    ),
    "two at once": (
        node_class(
            AMIsReady=AWAITED_CLASS, InstanceProfileReady=AWAITED_CLASS, ValidationSucceeded=DEPENDENT
        ),
        (
            "no result for AMIsReady (spec.amiSelectorTerms: al2023@v20991231) and InstanceProfileReady"
            f" (spec.role: no-such-role): {LOGGED}"
        ),
    ),
    "tags are not quoted": (
        node_class({"amiSelectorTerms": [{"tags": {"token": "s3cret-7f3a"}}]}, AMIsReady=AWAITED_CLASS),
        f"no result for AMIsReady (spec.amiSelectorTerms): {LOGGED}",
    ),
    "an own instance profile": (
        node_class({"instanceProfile": "nodes"}, InstanceProfileReady=AWAITED_CLASS),
        f"no result for InstanceProfileReady (spec.instanceProfile: nodes): {LOGGED}",
    ),
    "what only waits for the one at fault": (
        node_class(
            SubnetsReady=("False", *NO_SUBNETS, "2"), ValidationSucceeded=("False", *DEPENDENT[1:], "2")
        ),
        "SubnetsReady=False: SubnetsNotFound: SubnetSelector did not match any Subnets",
    ),
    "no right to launch": (
        node_class(
            ValidationSucceeded=(
                "False",
                "RunInstancesAuthCheckFailed",
                "Controller isn't authorized to call",
                "2",
            )
        ),
        "ValidationSucceeded=False: RunInstancesAuthCheckFailed: Controller isn't authorized to call",
    ),
    "nobody looked at it yet": (
        thing({"AMIsReady": AWAITED_CLASS, "SubnetsReady": AWAITED_CLASS, "Ready": AWAITED_CLASS}),
        "not reconciled yet: SubnetsReady, AMIsReady",
    ),
    "a pool half of which was looked at again": (
        thing(
            {
                "ValidationSucceeded": ("True", "ValidationSucceeded", "", "2"),
                "NodeClassReady": ("True", "NodeClassReady", "", "1"),
                "Ready": ("Unknown", "ReconcilingDependents", "NodeClassReady=True", "2"),
            },
            generation=2,
        ),
        "not reconciled yet: NodeClassReady",
    ),
}
"""As Karpenter 1.14.1 writes them; `tests/server/test_end_to_end.py` has it write some of them."""


@pytest.mark.parametrize(("body", "reason"), CLASSES.values(), ids=CLASSES)
def test_the_condition_at_fault_is_named(body: dict[str, Any], reason: str) -> None:
    found = read_readiness(body)

    assert (found.is_ready, found.reason) == (False, reason)


def test_that_karpenter_failed_is_news() -> None:
    both = {"AMIsReady": AWAITED_CLASS, "Ready": AWAITED_CLASS}
    before, after = (
        read_readiness(thing({**both, "SubnetsReady": AWAITED_CLASS})),
        read_readiness(thing({**both, "SubnetsReady": ("True",)})),
    )

    assert before.reason == "not reconciled yet: SubnetsReady, AMIsReady"
    assert after.reason == f"no result for AMIsReady: {LOGGED}"
    assert before.state != after.state


@pytest.mark.parametrize(("body", "reason"), CASES.values(), ids=CASES)
def test_why_an_object_is_not_ready(body: dict[str, Any], reason: str) -> None:
    found = read_readiness(body)

    assert (found.is_ready, found.reason, found.is_hopeless) == (not reason, reason, False)


def test_one_that_is_being_deleted_is_hopeless() -> None:
    body = thing(
        {"Ready": ("True",)},
        deletionTimestamp="2026-11-21T10:00:00Z",
        finalizers=["karpenter.k8s.aws/termination"],
    )

    reason = "it is being deleted since 2026-11-21T10:00:00Z, held by karpenter.k8s.aws/termination"
    assert read_readiness(body) == Readiness(is_ready=False, reason=reason, is_hopeless=True)


def test_what_changes_with_each_try_is_no_news() -> None:
    first, second = (
        read_readiness(
            thing({"AMIsReady": ("False", "AMINotFound", f"RequestID: {each}"), "Ready": ("False", "x", "y")})
        )
        for each in ("1f", "2e")
    )

    assert first.reason != second.reason
    assert first.state == second.state


def test_a_condition_quotes_no_secret() -> None:
    """Karpenter, and whatever else writes a status, may quote what it could not use."""
    body = thing({"ValidationSucceeded": ("False", "Invalid", "can't parse: LICENSE=Xk29-ffp1-0z7q: no")})
    body["spec"] = {"userData": "#!/bin/bash\nexport LICENSE=Xk29-ffp1-0z7q-TTr4\n"}
    body["metadata"]["labels"] = {"auth": "no more than six"}

    assert read_readiness(body).reason == "ValidationSucceeded=False: Invalid: can't parse: (sensitive): no"
