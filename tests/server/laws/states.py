"""Objects as others leave them on a server, and bodies that somebody may apply to them; by a seed."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from gpupool.cluster.client import APPLY
from gpupool.planning import ownership
from gpupool.rollout.desired_state import load_desired_state
from gpupool.rollout.inventory.store import InventoryRef
from gpupool.rollout.planning.desired_objects import build_desired_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

    from gpupool.rollout.planning.desired_objects import DesiredObject
    from tests.rig.client import Answer

Body: TypeAlias = dict[str, Any]
GITOPS, PEOPLE, KARPENTER = "argocd-controller", "kubectl-edit", "karpenter"
SPELLINGS = {"1h": "60m", "30s": "0.5m", "5m": "300s", "64": "64000m", "1000": "1k", "100": "1e2", "20Gi": "20480Mi"}  # fmt: skip
"""Amounts and times, and equivalent."""


def wishes_of(files: Sequence[str]) -> tuple[DesiredObject, ...]:
    """Return what gpupool would apply for a blueprint."""
    wanted = load_desired_state(files)
    return build_desired_objects(wanted, InventoryRef(wanted.namespace, wanted.inventory))


class Server(Protocol):
    """The real server, or the one in memory."""

    def request(self, method: str, path: str, body: bytes = b"", content_type: str = "") -> Answer:
        """Ask anything."""


class Story:
    """What happens to one object, step by step."""

    def __init__(self, server: Server, wish: DesiredObject, random: Random) -> None:
        """Apply it, as gpupool does."""
        self.server, self.random = server, random
        self.path = wish.kind.path_of(wish.name)
        self.group = wish.kind.group
        self.base: Body = deepcopy(dict(wish.body))
        self.last = self.base
        """What gpupool applied last, as far as the server took it."""

        self.names: list[str] = []
        """The steps so far."""

        assert self.applied(self.base).status in {200, 201}

    def applied(
        self, body: Body, manager: str = ownership.MANAGER, *, force: bool = True, dry_run: bool = False
    ) -> Answer:
        """Apply a body, server side."""
        query = f"?fieldManager={manager}&fieldValidation=Strict&force={str(force).lower()}"
        query += "&dryRun=All" * dry_run
        return self.server.request("PATCH", f"{self.path}{query}", json.dumps(body).encode(), APPLY)

    @property
    def live(self) -> Body:
        """Read the object."""
        answer = self.server.request("GET", self.path)
        assert answer.status == 200, answer.body
        return answer.body

    def go_on(self) -> None:
        """Let something happen to it; what the server refuses has not happened."""
        step = self.random.choice(STEPS)
        self.names.append(f"{step.__name__} {step(self).status}")

    def end(self) -> None:
        """Delete it, whatever holds it."""
        self.server.request("PATCH", self.path, b'{"metadata": {"finalizers": null}}', "application/merge-patch+json")  # fmt: skip
        assert self.server.request("DELETE", self.path).status == 200

    def bodies(self, live: Body) -> Iterator[Body]:
        """Yield bodies that gpupool may be about to apply."""
        known = [self.base, self.last, restored(live)]
        yield from known
        for body in known:
            yield mutated(self.random, body)

    def put(self, body: Body, manager: str) -> Answer:
        """Write the whole object."""
        return self.server.request("PUT", f"{self.path}?fieldManager={manager}", json.dumps(body).encode())

    def merged(self, patch: Body, manager: str, below: str = "") -> Answer:
        """Merge something into the object."""
        path = f"{self.path}{below}?fieldManager={manager}"
        return self.server.request("PATCH", path, json.dumps(patch).encode(), "application/merge-patch+json")


def restored(live: Body) -> Body:
    """Return what gpupool must have applied, by its managed fields and the values that are there."""
    own = ownership.find_applied_entry(live)
    found = dict(_owned({} if own is None else own.fields, live))
    found |= {"apiVersion": live["apiVersion"], "kind": live["kind"]}
    found["metadata"] = {**found.get("metadata", {}), "name": live["metadata"]["name"]}
    return deepcopy(found)


def _owned(fields: Any, live: Any) -> Any:  # noqa: ANN401 - any part of an object
    names = [name.removeprefix("f:") for name in fields if name.startswith("f:")]
    if not names or not isinstance(live, dict):
        return live if fields or not isinstance(live, dict) else {}
    return {name: _value(fields[f"f:{name}"], live[name]) for name in names if name in live}


def _value(fields: Any, live: Any) -> Any:  # noqa: ANN401 - any part of an object
    return _owned(fields, live) if set(fields) - {"."} else live


def mutated(random: Random, body: Body) -> Body:
    """Return a body that differs in one to three places of its spec, labels or annotations."""
    found = deepcopy(body)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        metadata = found.setdefault("metadata", {})
        parts = [found.get("spec"), metadata.get("labels"), metadata.get("annotations")]
        roots = [part for part in (*parts[:1] * 4, *parts) if isinstance(part, dict)]
        if roots:
            _mutate(random, random.choice(roots))
    return found


def _mutate(random: Random, root: Any) -> None:  # noqa: ANN401 - any part of an object
    holders = [each for each in _holders(root) if each]
    holder = random.choice(holders or [root])
    if isinstance(holder, list):
        random.choice((holder.reverse, holder.pop, lambda: holder.append(deepcopy(holder[0]))))()
        return
    key = random.choice([*holder, "example.com/more"])
    if key not in holder or random.random() < 0.25:
        if holder.pop(key, None) is None:
            holder[key] = random.choice(("1", "x", {}, [], {"a": "b"}, None))
        return
    holder[key] = _other(random, holder[key])


def _holders(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any part of an object
    """Yield every map and list of a tree."""
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _holders(item)


def _other(random: Random, value: Any) -> Any:  # noqa: ANN401 - any part of an object
    """Return another value, or equivalent."""
    if isinstance(value, bool):
        return random.choice((not value, int(value), None))
    if isinstance(value, int | float):
        return random.choice((value + 1, float(value), str(value), None))
    if isinstance(value, str):
        return random.choice((SPELLINGS.get(value, f"{value}x"), f"{value}x", "", None))
    if isinstance(value, list):
        return random.choice(([], value[::-1], value[1:], [*value, *value[:1]]))
    return random.choice(({}, {**(value or {}), "example.com/more": "x"}, None))


def apply_again(story: Story) -> Answer:
    return story.applied(story.last)


def apply_base(story: Story) -> Answer:
    answer = story.applied(story.base)
    story.last = story.base
    return answer


def apply_other(story: Story) -> Answer:
    body = mutated(story.random, story.last)
    answer = story.applied(body)
    story.last = body if answer.status == 200 else story.last
    return answer


def co_own(story: Story) -> Answer:
    """Another master says a part of the same."""
    body = {key: story.base[key] for key in ("apiVersion", "kind")}
    body["metadata"] = {"name": story.base["metadata"]["name"]}
    if story.random.random() < 0.5:
        body["metadata"]["labels"] = dict(story.base["metadata"]["labels"])
    keys = [key for key in story.base["spec"] if story.random.random() < 0.5]
    body["spec"] = {key: story.base["spec"][key] for key in keys}
    return story.applied(body, GITOPS)


def other_master(story: Story) -> Answer:
    return story.applied(mutated(story.random, restored(story.live)), GITOPS)


def edit(story: Story) -> Answer:
    return story.put(mutated(story.random, story.live), PEOPLE)


def edit_and_back(story: Story) -> Answer:
    before = story.live
    after = story.put(mutated(story.random, before), PEOPLE)
    if after.status != 200:
        return after
    before["metadata"]["resourceVersion"] = after.body["metadata"]["resourceVersion"]
    before["metadata"]["managedFields"] = after.body["metadata"].get("managedFields")
    return story.put(before, PEOPLE)


def edit_by_hand(story: Story) -> Answer:
    """Somebody edits as `gpupool`, which is another entry than what was applied."""
    return story.put(mutated(story.random, story.live), ownership.MANAGER)


def status(story: Story) -> Answer:
    moment = f"2026-11-21T08:00:{story.random.randrange(60):02}Z"
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "Ready",
        "message": "",
        "lastTransitionTime": moment,
    }
    return story.merged({"status": {"conditions": [ready]}}, KARPENTER, "/status")


def status_applied(story: Story) -> Answer:
    """Somebody applies the status under our name."""
    body = {key: story.base[key] for key in ("apiVersion", "kind")}
    ready = {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-11-21T08:00:00Z"}  # fmt: skip
    body |= {"metadata": {"name": story.base["metadata"]["name"]}, "status": {"conditions": [ready]}}
    query = f"/status?fieldManager={ownership.MANAGER}&force=true"
    return story.server.request("PATCH", f"{story.path}{query}", json.dumps(body).encode(), APPLY)


def karpenters_hash(story: Story) -> Answer:
    number = str(story.random.randrange(9))
    patch = {"metadata": {"annotations": {f"{story.group}/hash": number}, "finalizers": [f"{story.group}/x"]}}
    return story.merged(patch, KARPENTER)


def forget_owners(story: Story) -> Answer:
    return story.merged({"metadata": {"managedFields": [{}]}}, PEOPLE)


def change_owners(story: Story) -> Answer:
    """Edit our own entry among the managed fields."""
    live = story.live
    for entry in live["metadata"].get("managedFields", ()):
        if entry["manager"] == ownership.MANAGER and entry["operation"] == "Apply":
            story.random.choice((_older, _smaller, _larger, _renamed, _of_another_version, _edited))(
                story.random, entry
            )
    return story.put(live, PEOPLE)


def _older(_: Random, entry: Body) -> None:
    entry["time"] = "2024-01-01T00:00:00Z"


def _smaller(random: Random, entry: Body) -> None:
    holder = random.choice([each for each in _holders(entry["fieldsV1"]) if each])
    del holder[random.choice([*holder])]


def _larger(random: Random, entry: Body) -> None:
    holder = random.choice([*_holders(entry["fieldsV1"])])
    holder[random.choice((".", "f:weight", "f:labels", "f:example.com/more"))] = {}


def _renamed(_: Random, entry: Body) -> None:
    entry["manager"] = "gpupool-cli"


def _of_another_version(_: Random, entry: Body) -> None:
    entry["apiVersion"] = "karpenter.sh/v1beta1"


def _edited(_: Random, entry: Body) -> None:
    entry["operation"] = "Update"


STEPS: tuple[Callable[[Story], Answer], ...] = (
    apply_again, apply_base, apply_other, co_own, other_master, edit, edit_and_back, edit_by_hand, status,
    status_applied, karpenters_hash, forget_owners, change_owners,
)  # fmt: skip
