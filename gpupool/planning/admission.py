"""What admission makes of an object: where the server would store something else than the blueprint says."""

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
    """Return where an object, as it would be stored, differs from what was sent.

    What is only added to maps is left out: those are the defaults of the API, and what others own.
    """
    found = find_differences(_said(body), _said(after))
    return [each for each in found if each.semantic and (each.op != "add" or _in_list(body, each.keys))]


def describe_admission(found: Admission) -> str:
    """Return what is said of one change: `spec.weight is changed by admission: 5 → 42`."""
    return f"{found.path} is changed by admission: {_shown(found.said)} → {_shown(found.stored)}"


def _shown(value: Any) -> str:  # noqa: ANN401 - whatever a field holds
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _said(body: Mapping[str, Plain]) -> dict[str, Plain]:
    metadata = plain_map(body.get("metadata"))
    own: dict[str, Plain] = {
        key: dict(plain_map(metadata.get(key))) for key in ("labels", "annotations") if key in metadata
    }
    return {"metadata": own, "spec": _with_default_nodes(body.get("spec"))}


def _with_default_nodes(spec: Plain) -> Plain:
    """Return a spec with the one default that the CRDs have inside of a list: a budget's `nodes`."""
    disruption = plain_map(plain_map(spec).get("disruption"))
    budgets = disruption.get("budgets")
    if not isinstance(budgets, list):
        return spec
    filled: list[Plain] = [{"nodes": "10%", **each} if isinstance(each, dict) else each for each in budgets]
    return {**plain_map(spec), "disruption": {**disruption, "budgets": filled}}


def _in_list(body: Mapping[str, Plain], keys: LeafPath) -> bool:
    """Return whether a path leads through a list of the body: that is said as a whole."""
    found: Plain = dict(body)
    for key in keys:
        if isinstance(found, list):
            return True
        found = found.get(str(key)) if isinstance(found, dict) else None
    return False
