"""The server: its objects, and what it makes of each request."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

from gpupool.cluster.client import APPLY, MERGE, Response
from tests.memory import admission, managers, statuses
from tests.memory.managers import FieldConflictsError, Writer
from tests.memory.schemas import CRD, NAMESPACE, resources
from tests.memory.statuses import RefusedError
from tests.memory.values import copy, is_same, problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gpupool.cluster.client import Request
    from tests.memory.schemas import Body, Resource

KNOWN_QUERY: Final = frozenset(
    {
        "fieldManager",
        "fieldValidation",
        "force",
        "dryRun",
        "limit",
        "continue",
        "labelSelector",
        "fieldSelector",
    }
)
_EQUALS: Final = re.compile(r"(?P<key>[\w./-]+)=(?P<values>[\w.-]+)")
_IN: Final = re.compile(r"(?P<key>[\w./-]+) in \((?P<values>[\w.-]+(,[\w.-]+)*)\)")
NAMESPACES: Final = ("default", "kube-system")


class NotFakedError(AssertionError):
    """A request that this server has no answer for; extend it, and compare it with the real one."""


class Place(NamedTuple):
    """Where a request goes."""

    resource: Resource
    namespace: str
    name: str = ""
    """Empty for all of a kind."""

    subresource: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Return the key of the object."""
        return self.resource.plural, self.namespace, self.name


class Clock:
    """A clock that goes on by a second with each look, so that no two writes are of one moment."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 21, 8, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        self._now += timedelta(seconds=1)
        return self._now


Hook = "Callable[[Request], Answer | None]"


class MemoryServer:
    """One API server with Karpenter's CRDs; a connection for `gpupool.cluster.retrying`."""

    server = "https://memory.invalid"
    context = "memory"

    is_insecure = False

    def __init__(
        self,
        clock: Callable[[], datetime] | None = None,
        missing: Iterable[str] = (),
        *,
        missing_crds: bool = False,
    ) -> None:
        """Start with the namespaces that every cluster has, and Karpenter's kinds but for those in `missing`.

        With `missing_crds` their CRDs can't be read; they are large, and most tests do not look at them.
        """
        left_out = {*missing}
        self._clock = clock or Clock()
        self._lock = threading.RLock()
        self._served = [each for each in resources() if each.kind not in left_out]
        self._objects: dict[tuple[str, str, str], Body] = {}
        self._pages: dict[str, list[Body]] = {}
        self._version = 100
        self._born = 0
        self.hooks: list[Callable[[Request], Response | None]] = []
        """Asked before each request in turn: an answer takes the place of the server's own."""

        self.requests: list[Request] = []
        """Every request that came, in order."""

        for name in NAMESPACES:
            self._add(Place(NAMESPACE, "", name), {"apiVersion": "v1", "kind": "Namespace"})
        for each in self._served:
            if each.crd is not None and not missing_crds:
                place = Place(CRD, "", f"{each.plural}.{each.group}")
                self._add(place, {"apiVersion": CRD.api_version, "kind": CRD.kind, **each.crd})

    def _add(self, place: Place, body: Body) -> None:
        metadata = {**body.get("metadata", {}), "name": place.name, **self._birth()}
        self._objects[place.key] = {**body, "metadata": {**metadata, "resourceVersion": self._next()}}

    # What a test looks at.

    @property
    def version(self) -> int:
        """Return the resourceVersion of the last write."""
        return self._version

    def objects(self, plural: str) -> dict[str, Body]:
        """Return copies of all objects of a kind, by name."""
        with self._lock:
            return {name: copy(body) for (each, _, name), body in self._objects.items() if each == plural}

    @property
    def state(self) -> tuple[dict[tuple[str, str, str], Body], int, int]:
        """Return all that is stored; no stored body is ever changed, so that it can be shared."""
        return dict(self._objects), self._version, self._born

    def restore(self, state: tuple[dict[tuple[str, str, str], Body], int, int]) -> None:
        """Have a state of this server or another one again."""
        objects, self._version, self._born = state
        self._objects = dict(objects)

    def expire_pages(self) -> None:
        """Forget every list that was begun, as a server does after some minutes."""
        self._pages.clear()

    # Requests.

    def ask(self, request: Request, seconds: float = 0.0) -> Response:  # noqa: ARG002 - a connection has it
        """Answer a request.

        Raises:
            NotFakedError: where nothing is known of what a real server would answer.
        """
        for hook in self.hooks:
            answer = hook(request)
            if answer is not None:
                return answer
        with self._lock:
            self.requests.append(request)
            return self._answer(request)

    def _answer(self, request: Request) -> Response:
        unknown = {*request.query} - KNOWN_QUERY
        if unknown:
            message = f"{request.method} {request.path}: the query {', '.join(unknown)} is not faked"
            raise NotFakedError(message)
        place = self._place(request.path)
        if place is None:
            return statuses.no_such_path()
        try:
            return self._dispatch(request, place)
        except RefusedError as refusal:
            return refusal.answer

    def _dispatch(self, request: Request, place: Place) -> Response:
        match request.method, bool(place.name):
            case "GET", True:
                return Response(200, copy(self._live(place)))
            case "GET", False:
                return self._list(place, request)
            case "POST", False:
                body = _body(request)
                return self._create(place._replace(name=body["metadata"]["name"]), request)
            case "PUT", True:
                return self._replace(place, request)
            case "PATCH", True:
                return (
                    self._apply(place, request)
                    if request.content_type == APPLY
                    else self._merge(place, request)
                )
            case "DELETE", True:
                return self._delete(place, request)
            case _:
                message = f"{request.method} {request.path} is not faked"
                raise NotFakedError(message)

    def _place(self, path: str) -> Place | None:
        for resource in self._served:
            if not path.startswith(f"{resource.root}/"):
                continue
            steps = [unquote(step) for step in path.removeprefix(f"{resource.root}/").split("/")]
            namespace = ""
            if resource.is_namespaced:
                namespace, steps = (*steps, "", "")[1], steps[2:]
            if steps[:1] == [resource.plural] and steps[2:] in ([], ["status"]):
                return Place(resource, namespace, *steps[1:])
        return None

    def _live(self, place: Place) -> Body:
        live = self._objects.get(place.key)
        if live is None:
            raise statuses.not_found(place.resource, place.name)
        return live

    def _list(self, place: Place, request: Request) -> Response:
        token = request.query.get("continue", "")
        if token:
            if token not in self._pages:
                raise statuses.expired()
            left = self._pages[token]
        else:
            keys = sorted(key for key in self._objects if key[:2] == place.key[:2])
            if keys and "fieldSelector" in request.query:
                message = f"the field selector {request.query['fieldSelector']} is not faked"
                raise NotFakedError(message)
            fits = _selector(request.query.get("labelSelector", ""))
            left = [copy(self._objects[key]) for key in keys if fits(self._objects[key])]
        limit = int(request.query.get("limit", "0")) or len(left)
        metadata: Body = {"resourceVersion": str(self._version)}
        if left[limit:]:
            following = f"page-{len(self._pages) + 1}"
            self._pages[following] = left[limit:]
            metadata |= {"continue": following, "remainingItemCount": len(left[limit:])}
        items = left[:limit]
        if not place.resource.is_custom:
            items = [
                {key: value for key, value in each.items() if key not in {"apiVersion", "kind"}}
                for each in items
            ]
        kind = f"{place.resource.kind}List"
        body: Body = {
            "apiVersion": place.resource.api_version,
            "kind": kind,
            "metadata": metadata,
            "items": items,
        }
        return Response(200, body)

    # Writes.

    def _create(self, place: Place, request: Request) -> Response:
        if place.resource.is_namespaced and (NAMESPACE.plural, "", place.namespace) not in self._objects:
            raise statuses.not_found(NAMESPACE, place.namespace)
        body = admission.received(place.resource, _body(request), is_strict=_is_strict(request))
        writer = self._writer(place, request)
        body["metadata"].pop("managedFields", None)
        owners = managers.after_update({}, _bare(place.resource), body, place.resource.type, writer)
        return self._store_new(place, request, body, owners)

    def _store_new(self, place: Place, request: Request, body: Body, owners: managers.Owners) -> Response:
        new = {**body, "metadata": {**body.get("metadata", {}), **self._birth()}}
        if place.namespace:
            new["metadata"]["namespace"] = place.namespace
        if place.resource.is_custom:
            new.pop("status", None)
            new["metadata"]["generation"] = 1
        new["metadata"]["managedFields"] = managers.write(owners)
        admission.ensure_valid(place.resource, new, "spec")
        if place.key in self._objects:
            raise statuses.already_exists(place.resource, place.name)
        if request.query.get("dryRun") != "All":
            new["metadata"]["resourceVersion"] = self._next()
            self._objects[place.key] = new
        return Response(201, copy(new))

    def _replace(self, place: Place, request: Request) -> Response:
        body = admission.received(place.resource, _body(request), is_strict=_is_strict(request))
        metadata = body["metadata"]
        live = self._objects.get(place.key)
        if live is None:
            if not place.resource.is_created_by_put:
                raise statuses.not_found(place.resource, place.name)
            if "uid" in metadata:
                raise statuses.conflict(
                    place.resource, place.name, "Precondition failed: UID in precondition"
                )
            return self._create(place, request)
        if metadata.get("uid", live["metadata"]["uid"]) != live["metadata"]["uid"]:
            raise statuses.conflict(place.resource, place.name, "Precondition failed: UID in precondition")
        if "resourceVersion" not in metadata and not place.resource.can_replace_unseen:
            why = "Invalid value: 0: must be specified for an update"
            raise statuses.invalid(place.resource, place.name, [("metadata.resourceVersion", why)])
        return self._update(place, request, live, body)

    def _merge(self, place: Place, request: Request) -> Response:
        if request.content_type != MERGE:
            message = f"{request.content_type} is not faked"
            raise NotFakedError(message)
        live = self._live(place)
        patched = _merged(copy(live), _body(request))
        body = admission.received(place.resource, patched, is_strict=_is_strict(request))
        return self._update(place, request, live, body)

    def _update(self, place: Place, request: Request, live: Body, body: Body) -> Response:
        """Store what a PUT or merge patch makes of an object, and note who changed what."""
        entries = body["metadata"].pop("managedFields", None)
        if place.subresource or entries is None or (place.resource.is_custom and not entries):
            entries = live["metadata"].get("managedFields", [])
        owners = managers.read((each for each in entries if each), place.resource.type)
        if owners:
            owners = managers.after_update(
                owners, live, body, place.resource.type, self._writer(place, request)
            )
        return self._store(place, request, live, body, owners)

    def _apply(self, place: Place, request: Request) -> Response:
        config, resource = _body(request), place.resource
        if "fieldManager" not in request.query:
            raise NotFakedError(request.path)
        if "managedFields" in config["metadata"]:
            message = "metadata.managedFields must be nil"
            raise statuses.bad_request(message)
        for problem in problems(config, resource.type):
            raise statuses.untyped(resource, place.name, problem)
        live = self._objects.get(place.key)
        owners = managers.read(live["metadata"].get("managedFields", []), resource.type) if live else {}
        bare = _bare(resource)
        bodies = managers.Bodies(bare, _without_managed_fields(live) if live else bare, config)
        force = request.query.get("force") == "true"
        writer = self._writer(place, request)
        try:
            applied = managers.after_apply(owners, bodies, resource.type, writer, force=force)
        except FieldConflictsError as problem:
            raise statuses.contested(problem) from None
        body = admission.defaulted(resource, applied.body, keeps_nulls=True)
        if live is not None:
            return self._store(place, request, live, body, applied.owners)
        if place.subresource:
            raise statuses.not_found(resource, place.name)
        if "uid" in config["metadata"]:
            raise statuses.conflict(resource, place.name, "uid mismatch: no existing object was found")
        return self._store_new(place, request, body, applied.owners)

    def _store(
        self, place: Place, request: Request, live: Body, body: Body, owners: managers.Owners
    ) -> Response:
        """Store another body of an object, unless it is the same."""
        resource, was = place.resource, live["metadata"]
        metadata = body["metadata"]
        if metadata.get("resourceVersion", was["resourceVersion"]) != was["resourceVersion"]:
            raise statuses.modified(resource, place.name)
        if metadata.get("uid", was["uid"]) != was["uid"]:
            raise statuses.invalid(
                resource, place.name, [("metadata.uid", "Invalid value: field is immutable")]
            )
        new = _kept(place, live, body)
        new["metadata"] |= {"managedFields": managers.write(owners)} if owners else {}
        admission.ensure_no_new_finalizers(resource, live, new)
        admission.ensure_valid(resource, new, place.subresource or "spec")
        if _is_unchanged(live, new):
            return Response(200, copy(live))
        if request.query.get("dryRun") == "All":
            return Response(200, copy(new))
        if "deletionTimestamp" in was and "finalizers" not in new["metadata"]:
            del self._objects[place.key]
            self._next()
            return Response(200, copy(new))
        new["metadata"]["resourceVersion"] = self._next()
        self._objects[place.key] = new
        return Response(200, copy(new))

    def _delete(self, place: Place, request: Request) -> Response:
        live = self._live(place)
        metadata = live["metadata"]
        options = request.body if isinstance(request.body, dict) else {}
        conditions = options.get("preconditions") or {}
        for key, wanted in conditions.items() if isinstance(conditions, dict) else ():
            if metadata[key] != wanted:
                why = f"the {key} in the precondition ({wanted}) does not match that in record ({metadata[key]})"
                raise statuses.conflict(place.resource, place.name, why)
        if "dryRun" in request.query:
            message = "a deletion in a dry run is not faked"
            raise NotFakedError(message)
        if not metadata.get("finalizers"):
            del self._objects[place.key]
            self._next()
            return Response(200, {"kind": "Status", "apiVersion": "v1", "status": "Success"})
        if "deletionTimestamp" not in metadata:
            held = {
                "deletionTimestamp": self._moment(),
                "deletionGracePeriodSeconds": 0,
                "resourceVersion": self._next(),
            }
            if "generation" in metadata:
                held["generation"] = metadata["generation"] + 1
            live = {**live, "metadata": {**metadata, **held}}
            self._objects[place.key] = live
        return Response(200, copy(live))

    def _writer(self, place: Place, request: Request) -> Writer:
        reset: tuple[tuple[str, ...], ...] = ()
        if place.subresource:
            reset = (("f:metadata",), ("f:spec",))
        elif place.resource.is_custom:
            reset = (("f:status",),)
        manager = request.query.get("fieldManager", "unknown")
        return Writer(manager, place.resource.api_version, place.subresource, self._moment(), reset)

    def _birth(self) -> Body:
        self._born += 1
        return {"uid": f"{self._born:08x}-0000-4000-8000-000000000000", "creationTimestamp": self._moment()}

    def _moment(self) -> str:
        return self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")

    def _next(self) -> str:
        self._version += 1
        return str(self._version)


def _selector(said: str) -> Callable[[Body], bool]:
    """Return what tells whether an object's labels fit; only `KEY=VALUE` and `KEY in (VALUE,VALUE)` are faked."""
    if not said:
        return lambda _body: True
    found = _IN.fullmatch(said) or _EQUALS.fullmatch(said)
    if found is None:
        message = f"the selector {said} is not faked"
        raise NotFakedError(message)
    key, values = found["key"], found["values"].split(",")
    return lambda body: body["metadata"].get("labels", {}).get(key) in values


def _body(request: Request) -> Body:
    assert isinstance(request.body, dict), request
    body: Any = copy(request.body)
    body.setdefault("metadata", {})
    return dict(body)


def _is_strict(request: Request) -> bool:
    return request.query.get("fieldValidation") == "Strict"


def _bare(resource: Resource) -> Body:
    """Return what an object is before it is written; a built-in kind's spec is a struct, which is always there."""
    bare = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {}}
    return bare if resource.is_custom else admission.defaulted(resource, bare)


def _without_managed_fields(body: Body) -> Body:
    metadata = {key: value for key, value in body["metadata"].items() if key != "managedFields"}
    return {**body, "metadata": metadata}


def _merged(value: Any, patch: Any) -> Any:  # noqa: ANN401 - any part of an object
    """Merge a patch into a value (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    found = dict(value) if isinstance(value, dict) else {}
    for key, item in patch.items():
        if item is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), item)
    return found


def _kept(place: Place, live: Body, body: Body) -> Body:
    """Return what is to be stored of a body: what the request may not change is as it was."""
    was = _without_managed_fields(live)["metadata"]
    if place.subresource:
        rest = {key: copy(value) for key, value in live.items() if key != "status"}
        return {**rest, "metadata": copy(was), **({"status": body["status"]} if "status" in body else {})}
    fixed = (
        "namespace",
        "uid",
        "creationTimestamp",
        "resourceVersion",
        "generation",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    )
    metadata = {**body["metadata"], **{key: was[key] for key in fixed if key in was}}
    new = {**body, "metadata": metadata}
    if place.resource.is_custom:
        new.pop("status", None)
        new |= {"status": copy(live["status"])} if "status" in live else {}
        parts = [{key: value for key, value in each.items() if key != "metadata"} for each in (live, new)]
        metadata["generation"] = was["generation"] + (not is_same(*parts))
    return new


def _is_unchanged(live: Body, new: Body) -> bool:
    """Return whether nothing but times of managed fields differs: then nothing is written."""
    return is_same(_timeless(live), _timeless(new))


def _timeless(body: Body) -> Body:
    entries = body["metadata"].get("managedFields", [])
    timeless = [{key: value for key, value in each.items() if key != "time"} for each in entries]
    return {**body, "metadata": {**body["metadata"], "managedFields": timeless}}
