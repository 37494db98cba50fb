"""Plan files as somebody forges them who can seal them anew: mutations of real ones, blind ones and clever ones."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from gpupool.planning import agreement, file
from gpupool.planning.compare import find_differences
from gpupool.planning.fingerprint import calculate_fingerprint, collect_planned_paths
from gpupool.planning.guards import count_changes
from gpupool.planning.plan import FieldChange
from tests.planning.test_file import sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from gpupool.planning.plan import Change, Plan

Path: TypeAlias = tuple[str | int, ...]
Json: TypeAlias = "dict[str, Any] | list[Any]"

VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 7, 2**70, 1.5, "", "x", "/", "NodePool/chat", "Secret/chat", "NodePool/../../x",
    "2999-01-01T00:00:00Z", "2026-11-22T08:00:00+99:99", "../../secrets", "\u0000", "(sensitive, sha256:1a2b3c4d)", "take",
    "create", "no-op", "delete", [], {}, [[]], [None], {"": ""}, {"$sensitive": "x"}, {"$sensitive": "sha256:" + "0" * 64},
    {"a": {"b": {"c": [{}]}}}, [{"key": "x", "operator": "In", "values": []}],
)  # fmt: skip


def deep(levels: int) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return maps and lists inside each other."""
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def every(value: Any, path: Path = ()) -> Iterator[Path]:  # noqa: ANN401 - whatever JSON holds
    """Yield the path of every value inside."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from every(item, (*path, key))


def parent(document: Any, path: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the map or list that holds the last key of a path."""
    for key in path[:-1]:
        document = document[key]
    return document


def blind(random: Random, plan: Plan) -> str:
    """Return a plan's text with something changed anywhere, or in what is sent, sealed anew."""
    document = json.loads(file.render_plan(plan))
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        found = [*every(document)]
        if random.random() < 0.5:
            words = ("body", "before", "after", "fields", "pre", "actions", "address", "consent")
            inner = [path for path in found if any(word in path for word in words)]
            found = inner or found
        path = random.choice(found)
        random.choice(MUTATIONS)(random, document, path)
    return sealed(document)


def _replace(random: Random, document: Json, path: Path) -> None:
    value = deep(random.choice((3, 60, 150))) if random.random() < 0.05 else deepcopy(random.choice(VALUES))
    parent(document, path)[path[-1]] = value


def _delete(_random: Random, document: Json, path: Path) -> None:
    del parent(document, path)[path[-1]]


def _insert(random: Random, document: Json, path: Path) -> None:
    holder, value = parent(document, path), deepcopy(random.choice(VALUES))
    if isinstance(holder, list):
        holder.insert(random.randrange(len(holder) + 1), value)
    else:
        holder[
            random.choice(("extra", "finalizers", "ownerReferences", "status", "namespace", "uid", ""))
        ] = value


def _copy(random: Random, document: Json, path: Path) -> None:
    """Let a value stand in another place of the same name, as from one change to another."""
    same = [each for each in every(document) if each[-1] == path[-1]]
    other = random.choice(same)
    parent(document, path)[path[-1]] = deepcopy(parent(document, other)[other[-1]])


def _twice(random: Random, document: Json, path: Path) -> None:
    holder = parent(document, path)
    if isinstance(holder, list):
        holder.insert(random.randrange(len(holder) + 1), deepcopy(holder[random.randrange(len(holder))]))
        random.shuffle(holder)


def _text(random: Random, document: Json, path: Path) -> None:
    holder = parent(document, path)
    if isinstance(value := holder[path[-1]], str):
        at = random.randrange(len(value) + 1)
        holder[path[-1]] = value[:at] + random.choice(("/../x", "x", "A", " ", "\n", "/")) + value[at:]
    elif isinstance(value, int):
        holder[path[-1]] = value + random.choice((-1, 1, 1000))


MUTATIONS: Final[tuple[Callable[[Random, Json, Path], None], ...]] = (
    _replace, _replace, _delete, _insert, _copy, _twice, _text, _text,
)  # fmt: skip


def clever(random: Random, plan: Plan) -> Plan:
    """Return a plan with one change of which everything that can be worked out was worked out anew."""
    index = random.randrange(len(plan.changes))
    changes = [*plan.changes]
    changes[index] = random.choice(TRICKS)(random, changes[index])
    consent = plan.consent
    if random.random() < 0.2:
        consent = replace(consent, prune=True, max_deletes=99, allow_empty=True, on_conflict="take")
    found = replace(plan, changes=tuple(changes), consent=consent, summary=count_changes(changes))
    listed = sum(each.actions == ("delete",) for each in changes)
    guards = tuple(agreement.build_expected_guards(found.changes, consent, listed))
    return file.seal(replace(found, guards=guards))


def _shown(change: Change, before: Any, after: Any) -> Change:  # noqa: ANN401 - bodies
    """Return a change that shows what there is between two bodies."""
    if not isinstance(before, dict):
        return replace(change, after=after)
    found = find_differences(before, after)
    paths = collect_planned_paths(each.keys for each in found)
    fields = tuple(
        FieldChange(each.path, each.op, each.before, each.after, each.semantic, "gpupool", "intent")
        for each in found
    )
    pre = replace(change.pre, fingerprint=calculate_fingerprint(before, paths), paths=paths)
    return replace(change, before=before, after=after, fields=fields, pre=pre)


def _edit(random: Random, value: Any) -> Any:  # noqa: ANN401 - a body
    """Return a body with one value of its spec gone or another one."""
    value = deepcopy(value)
    found = [path for path in every(value) if path[0] == "spec" and len(path) > 1]
    if found:
        path = random.choice(found)
        random.choice((_delete, _replace, _text, _twice))(random, value, path)
    return value


def send_other(random: Random, change: Change) -> Change:
    """Send something else than what is shown."""
    return replace(change, body=_edit(random, change.body))


def show_other(random: Random, change: Change) -> Change:
    """Show something else than what is sent."""
    return _shown(change, change.before, _edit(random, change.after))


def show_another_past(random: Random, change: Change) -> Change:
    """Show an object that is not as it is."""
    return _shown(change, _edit(random, change.before), change.after)


def do_other(random: Random, change: Change) -> Change:
    """Do something else, and show it."""
    state = random.getstate()
    body = _edit(random, change.body)
    random.setstate(state)
    after = _edit(random, change.body)
    return replace(_shown(change, change.before, after), body=body)


def write_unasked(random: Random, change: Change) -> Change:
    """Call a change by another name."""
    actions: Any = random.choice([("create",), ("update",), ("adopt", "update"), ("no-op",), ("delete",)])
    return replace(change, actions=actions)


def hide(_random: Random, change: Change) -> Change:
    """Write something, and show that nothing changes."""
    return replace(
        change,
        actions=("no-op",),
        fields=(),
        before=None,
        after=None,
        pre=replace(change.pre, fingerprint="", paths=()),
    )


TRICKS: Final[tuple[Callable[[Random, Change], Change], ...]] = (
    send_other, send_other, show_other, show_another_past, do_other, write_unasked, hide,
)  # fmt: skip
