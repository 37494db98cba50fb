"""One story told to two servers, and what came of each step on both."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from gpupool.cluster.client import APPLY, Request, Response
from gpupool.yamlio.located import plain_map
from tests.memory.server import MemoryServer
from tests.memory.stories import COLLECTIONS, CURRENT, OBJECTS, STALE, Step, edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.memory.schemas import Body
    from tests.rig.server import ApiServer

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@dataclass
class Side:
    """One of the two servers, with the uids and versions that it gave its objects, in order."""

    ask: Callable[[Request], Response]
    seen: dict[tuple[str, str], list[Body]] = field(default_factory=dict)
    """The metadata of each object at each time when it was another."""

    bodies: dict[tuple[str, str], Body] = field(default_factory=dict)
    """Each object as it was last seen."""

    numbers: dict[str, int] = field(default_factory=dict)
    """What stands for uids and versions, which differ on the two servers, where they are compared."""

    def send(self, step: Step) -> Any:  # noqa: ANN401 - what is compared
        """Send a step's request, and return what is compared of the answer."""
        body = step.body
        if step.edits is not None:
            live = self.ask(Request("GET", step.path))
            if not live.ok:
                return self.view(live)
            body = json.loads(json.dumps(live.body))
            body["metadata"].pop("managedFields", None)
            edit(Random(step.edits), body)  # noqa: S311 - no secret
        answer = self.ask(
            Request(step.method, step.path, step.query, self._known(step, body), step.content_type)
        )
        if answer.ok and "dryRun" not in step.query:
            self._note(step, plain_map(answer.body.get("metadata")))
        view = self.view(answer)
        if answer.ok and "dryRun" not in step.query:
            self.bodies[step.kind, step.object] = view[1] if isinstance(view[1], dict) else {}
        return view

    def _known(self, step: Step, body: Body | None) -> Body | None:
        """Return a body with the uid and version that a step names."""
        metadata = {}
        history = self.seen.get((step.kind, step.object), [])
        for key, which in (("uid", step.known.uid), ("resourceVersion", step.known.version)):
            values = list(dict.fromkeys(each[key] for each in history))
            if which == CURRENT and values:
                metadata[key] = values[-1]
            elif which == STALE and values[1:]:
                metadata[key] = values[-2]
            elif which:
                metadata[key] = "5b0e4a55-1111-4000-8000-000000000001" if key == "uid" else "1"
        if step.method == "DELETE":
            return (
                {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": metadata} if metadata else None
            )
        if body is None:
            return None
        rest = body.get("metadata", {})
        if step.edits is not None:
            rest = {key: value for key, value in rest.items() if key not in {"uid", "resourceVersion"}}
        return {**body, "metadata": {**rest, **metadata}}

    def last(self, step: Step) -> Body:
        """Return the object of a step as it was last seen; empty where it never was."""
        return self.bodies.get((step.kind, step.object), {})

    def _note(self, step: Step, metadata: Mapping[str, Any]) -> None:
        """Remember how the object is now."""
        history = self.seen.setdefault((step.kind, step.object), [])
        if "uid" in metadata and history[-1:] != [metadata]:
            history.append(dict(metadata))

    def view(self, answer: Response) -> Any:  # noqa: ANN401 - what is compared
        """Return what is compared of an answer: all that gpupool reads."""
        body: Any = answer.body
        if body.get("kind") == "Status" or answer.status >= 300:
            causes = (body.get("details") or {}).get("causes") or ()
            conflicts = sorted(
                (each["field"], _TIME.sub("TIME", each["message"]))
                for each in causes
                if each["reason"] == "FieldManagerConflict"
            )
            return answer.status, body.get("reason"), conflicts
        return answer.status, self.object_view(body)

    def object_view(self, body: Body) -> Body:
        """Return an object without what has to differ on two servers."""
        metadata = {key: value for key, value in body["metadata"].items() if key != "selfLink"}
        entries = metadata.pop("managedFields", [])
        for key in ("uid", "resourceVersion"):
            if key in metadata:
                metadata[key] = self.numbers.setdefault(metadata[key], len(self.numbers))
        for key in ("creationTimestamp", "deletionTimestamp"):
            if key in metadata:
                metadata[key] = "TIME"
        owners = [{**each, "time": "time" in each} for each in entries]
        return {**body, "metadata": metadata, "owners": sorted(owners, key=_manager)}

    def everything(self) -> list[Body]:
        """Return all that is there in the end."""
        found = []
        for kind, path in COLLECTIONS.items():
            body: Any = self.ask(Request("GET", path)).body
            wanted = {name for each, name in OBJECTS if each == kind}
            found += [self.object_view(each) for each in body["items"] if each["metadata"]["name"] in wanted]
        return found


def _manager(entry: Body) -> list[str]:
    return [entry.get(key, "") for key in ("manager", "operation", "subresource")]


def ask(server: ApiServer, request: Request) -> Response:
    """Ask the real server."""
    query = f"?{urlencode(request.query)}" if request.query else ""
    raw = b"" if request.body is None else json.dumps(request.body).encode()
    found = server.request(request.method, request.path + query, raw, request.content_type)
    return Response(found.status, found.body, found.warnings)


def compare(real: Callable[[Request], Response], story: Sequence[Step]) -> Counter[str]:
    """Send a story to both servers; return how often each kind of outcome came up."""
    memory = Side(MemoryServer(lambda: datetime.now(UTC)).ask)
    truth = Side(real)
    outcomes: Counter[str] = Counter()
    for number, step in enumerate(story):
        before = truth.last(step)
        expected, found = truth.send(step), memory.send(step)
        assert found == expected, (number, step, story[:number])
        outcomes.update(kinds_of_outcome(step, before, expected))
    assert memory.everything() == truth.everything(), story
    return outcomes


def kinds_of_outcome(step: Step, before: Body, view: tuple[Any, ...]) -> Iterator[str]:
    """Return what came of a step, by how the object was before as far as that is known."""
    status, after = view[0], view[1] if isinstance(view[1], dict) else {}
    yield f"{step.name} {status}"
    if status == 409:
        yield "contested" if view[2] else "precondition or name"
    if not after or step.method == "GET":
        return
    yield "in a dry run" if "dryRun" in step.query else "for good"
    if "deletionTimestamp" in after["metadata"]:
        yield "being deleted"
    if before and before["metadata"]["resourceVersion"] == after["metadata"].get("resourceVersion"):
        yield "nothing changes" if before == after else "a change that is not stored"
    if step.content_type == APPLY and before and {*leaves(before)} - {*leaves(after)}:
        yield "a field is removed by an apply"
    if step.query.get("force") == "true" and losers(before, after) - {step.query["fieldManager"]}:
        yield "a field is taken by force"


def leaves(value: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 - any part of an object
    """Return the path of every key of an object's maps, owners aside."""
    yield path
    for key, item in value.items() if isinstance(value, dict) else ():
        if key not in {"owners", "metadata"}:
            yield from leaves(item, f"{path}/{key}")


def losers(before: Body, after: Body) -> set[str]:
    """Return the managers that own less than before."""
    owned = [
        {json.dumps(_manager(each)): {*leaves(each["fieldsV1"])} for each in body.get("owners", ())}
        for body in (before, after)
    ]
    return {json.loads(each)[0] for each, fields in owned[0].items() if fields - owned[1].get(each, set())}
