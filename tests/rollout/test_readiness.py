"""What the status of an object says about it."""

from typing import Any

import pytest

from gpupool.rollout.waiting import Readiness, ready

AWAITED = ("AwaitingReconciliation", "object is awaiting reconciliation")
NO_SUBNETS = ("SubnetsNotFound", "SubnetSelector did not match any Subnets")


def thing(
    conditions: dict[str, tuple[str, ...]] | None, *, generation: int = 1, **metadata: object
) -> dict[str, Any]:
    """Give an object with conditions: status, reason, message and the generation they are about."""
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
        "Karpenter has not looked at it yet since it was changed (Ready=True before)",
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
            " ValidationSucceeded=Unknown: DependenciesNotReady: Awaiting AMI, Subnet;"
            " not looked at yet: InstanceProfileReady"
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


@pytest.mark.parametrize(("body", "reason"), CASES.values(), ids=CASES)
def test_why_an_object_is_not_ready(body: dict[str, Any], reason: str) -> None:
    found = ready(body)

    assert (found.is_ready, found.reason, found.is_hopeless) == (not reason, reason, False)


def test_one_that_is_being_deleted_is_hopeless() -> None:
    body = thing(
        {"Ready": ("True",)},
        deletionTimestamp="2026-11-21T10:00:00Z",
        finalizers=["karpenter.k8s.aws/termination"],
    )

    reason = "it is being deleted since 2026-11-21T10:00:00Z, held by karpenter.k8s.aws/termination"
    assert ready(body) == Readiness(is_ready=False, reason=reason, is_hopeless=True)


def test_what_changes_with_each_try_is_no_news() -> None:
    first, second = (
        ready(
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

    assert ready(body).reason == "ValidationSucceeded=False: Invalid: can't parse: (sensitive): no"
