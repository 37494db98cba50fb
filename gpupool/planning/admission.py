"""Changes by admission: values that the server would store other than the blueprint sets them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpupool.planning.compare import find_differences
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.planning.compare import Difference, LeafPath
    from gpupool.planning.plan import Admission
    from gpupool.yamlio.located import Plain


def find_admission_changes(body: Mapping[str, Plain], after: Mapping[str, Plain]) -> list[Difference]:
    """Find the differences between an object as it is sent and as it would be stored.

    Values that are only added to maps are left out: defaults of the API, and fields of other managers.
    """
    leaves = find_differences(_select_applied(body), _select_applied(after))
    return [leaf for leaf in leaves if leaf.semantic and (leaf.op != "add" or _is_in_list(body, leaf.keys))]


def describe_admission(admission: Admission) -> str:
    """Return the message about one change: `spec.weight is changed by admission: 5 → 42`."""
    return (
        f"{admission.path} is changed by admission: {_render(admission.said)} → {_render(admission.stored)}"
    )


def _render(value: Any) -> str:  # noqa: ANN401 - whatever a field holds
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _select_applied(body: Mapping[str, Plain]) -> dict[str, Plain]:
    metadata = plain_map(body.get("metadata"))
    own: dict[str, Plain] = {
        key: dict(plain_map(metadata.get(key))) for key in ("labels", "annotations") if key in metadata
    }
    return {"metadata": own, "spec": _with_default_nodes(body.get("spec"))}


def _with_default_nodes(spec: Plain) -> Plain:
    """Return a spec with the only default that the CRDs set inside a list: a budget's `nodes`."""
    disruption = plain_map(plain_map(spec).get("disruption"))
    budgets = disruption.get("budgets")
    if not isinstance(budgets, list):
        return spec
    filled: list[Plain] = [
        {"nodes": "10%", **budget} if isinstance(budget, dict) else budget for budget in budgets
    ]
    return {**plain_map(spec), "disruption": {**disruption, "budgets": filled}}


def _is_in_list(body: Mapping[str, Plain], keys: LeafPath) -> bool:
    """Return whether a path leads through a list of the body, which sets the complete list."""
    value: Plain = dict(body)
    for key in keys:
        if isinstance(value, list):
            return True
        value = value.get(str(key)) if isinstance(value, dict) else None
    return False
