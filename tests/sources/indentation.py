"""Put the lines of a NodePool that lost its indentation back where they can stand.

The rule: each line goes into the innermost map that is open, that may hold its key and that does not
hold it yet. `NODE_POOL` says which map may hold which keys.
"""

from typing import Any, TypeAlias

import yaml

Shape: TypeAlias = dict[str, Any]

ANY = "*"
"""Any key with a plain value, as in `labels`."""

NODE_POOL: Shape = {
    "apiVersion": {},
    "kind": {},
    "metadata": {"name": {}},
    "spec": {
        "template": {
            "metadata": {"labels": {ANY: {}}},
            "spec": {
                "requirements": {"key": {}, "operator": {}, "values": {}},
                "nodeClassRef": {"group": {}, "kind": {}, "name": {}},
                "taints": {"key": {}, "value": {}, "effect": {}},
            },
        },
        "limits": {ANY: {}},
        "disruption": {"consolidationPolicy": {}, "consolidateAfter": {}},
        "weight": {},
    },
}
LISTS = ("requirements", "taints", "values")


def rebuilt(lines: str) -> dict[str, Any]:
    """Return the object that the lines say."""
    root: dict[str, Any] = {}
    open_maps: list[tuple[dict[str, Any], Shape]] = [(root, NODE_POOL)]
    open_lists: list[tuple[list[Any], Shape]] = []
    for line in lines.splitlines():
        text = line.removeprefix("- ")
        key, colon, rest = text.partition(":")
        if not colon:
            open_lists[-1][0].append(yaml.safe_load(text))
            continue
        if text != line:
            _new_item(open_maps, open_lists)
        _place(key, rest.strip(), open_maps, open_lists)
    return root


def _new_item(
    open_maps: list[tuple[dict[str, Any], Shape]], open_lists: list[tuple[list[Any], Shape]]
) -> None:
    """Begin a new map in the innermost list of maps."""
    while not open_lists[-1][1]:
        open_lists.pop()
    target, shape = open_lists[-1]
    target.append({})
    open_maps.append((target[-1], shape))


def _place(
    key: str,
    value: str,
    open_maps: list[tuple[dict[str, Any], Shape]],
    open_lists: list[tuple[list[Any], Shape]],
) -> None:
    while not _may_hold(open_maps[-1], key, value):
        open_maps.pop()
    target, shape = open_maps[-1]
    if value:
        target[key] = yaml.safe_load(value)
    elif key in LISTS:
        target[key] = []
        open_lists.append((target[key], shape[key]))
    else:
        target[key] = {}
        open_maps.append((target[key], shape[key]))


def _may_hold(place: tuple[dict[str, Any], Shape], key: str, value: str) -> bool:
    target, shape = place
    return key not in target and (key in shape or (ANY in shape and bool(value)))
