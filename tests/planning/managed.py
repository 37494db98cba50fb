"""Objects with managed fields, as the API server keeps them."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]


def owned(*paths: str) -> Body:
    """Return managed fields for paths as in `spec.template.metadata.labels`; `~` stands for a dot in a key."""
    fields: Body = {}
    for path in paths:
        at = fields
        for key in path.split("."):
            at = at.setdefault(f"f:{key.replace('~', '.')}", {})
    return fields


def entry(fields: Body, manager: str = "gpupool", operation: str = "Apply", **more: str) -> Body:
    """Return an entry of the managed fields."""
    said = {"apiVersion": "karpenter.sh/v1", "time": "2026-11-21T08:00:00Z", "fieldsType": "FieldsV1"}
    return {"manager": manager, "operation": operation, "fieldsV1": fields, **said, **more}


def pool(spec: Body, *entries: Body, **metadata: Any) -> Body:  # noqa: ANN401 - whatever JSON holds
    """Return a live NodePool."""
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "chat", "uid": "u-1", "managedFields": [*entries], **metadata},
        "spec": spec,
    }


def wanted(spec: Body, **metadata: Any) -> Body:  # noqa: ANN401 - whatever JSON holds
    """Return a NodePool that is about to be applied."""
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "chat", **metadata},
        "spec": spec,
    }
