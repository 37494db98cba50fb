"""A small client for one API server that keeps its connection, so that thousands of questions stay cheap."""

import json
import re
import ssl
from dataclasses import dataclass
from http.client import RemoteDisconnected
from typing import Any, Self
from urllib.parse import quote

import yaml

from tests.rig.access import Access
from tests.rig.errors import RigError

FIELD_MANAGER = "gpupool-tests"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sent back."""

    status: int
    body: dict[str, Any]
    """Its JSON; a plain text answer stands under `message`."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing the server holds against an object."""

    field: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the server would take an object, and why not."""

    accepted: bool
    status: int
    message: str
    """Empty for an object that was accepted."""

    causes: tuple[Cause, ...]
    """One for each violation; a strict decoding error has none and says it all in `message`."""

    warnings: tuple[str, ...]
    stored: dict[str, Any]
    """The object as the server would store it, defaults included; empty for one that was refused."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Where the objects of one kind are kept."""

    collection: str
    plural: str
    namespaced: bool

    def path(self, namespace: str, name: str = "") -> str:
        """Return the path of the collection, or of the object of that name."""
        within = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced else ""
        item = f"/{quote(name, safe='')}" if name else ""
        return f"{self.collection}{within}/{self.plural}{item}"


class Client:
    """Questions to one server as one user, one at a time (it is not for several threads)."""

    def __init__(self, access: Access) -> None:
        self._connection = access.connection()
        self._headers = {"Authorization": f"Bearer {access.token}"}
        self._resources: dict[tuple[str, str], Resource] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        content_type: str = "application/json",
        accept: str = "",
    ) -> Answer:
        """Ask anything; the answer to an error status is given, not raised."""
        headers = self._headers | {"Content-Type": content_type, "Accept": accept or "application/json"}
        try:
            return self._exchange(method, path, body, headers)
        except (RemoteDisconnected, ssl.SSLEOFError):
            # The server may end an idle connection; `http.client` opens the next by itself.
            return self._exchange(method, path, body, headers)

    def dry_run(self, yaml_text: bytes) -> Verdict:
        """Ask whether a server-side apply of this one object would be accepted, fields checked strictly."""
        return self._apply(yaml_text, "dryRun=All&")

    def apply(self, yaml_text: bytes) -> Verdict:
        """Apply one object for good, server side, fields checked strictly."""
        return self._apply(yaml_text, "")

    def post_dry_run(
        self, raw: bytes, kind: str, api_version: str = "", namespace: str = "default"
    ) -> Verdict:
        """Ask whether creating this one object (JSON or YAML, sent as it is) would be accepted.

        `kind` says where to send it, so `raw` may be anything at all; `api_version` is needed only where
        two groups have a kind of that name.
        """
        path = self.resource(kind, api_version).path(namespace)
        query = f"?dryRun=All&fieldManager={FIELD_MANAGER}&fieldValidation=Strict"
        return _verdict(self.request("POST", path + query, raw, "application/yaml"))

    def resource(self, kind: str, api_version: str = "") -> Resource:
        """Find where objects of a kind are kept.

        Raises:
            RigError: The server has no such kind.
        """
        if (api_version, kind) not in self._resources:
            self._discover()
        try:
            return self._resources[api_version, kind]
        except KeyError:
            message = f"the server has no kind {kind} {api_version}".strip()
            raise RigError(message) from None

    def _apply(self, yaml_text: bytes, query: str) -> Verdict:
        found = yaml.load(yaml_text, Loader=yaml.CSafeLoader)
        metadata = found["metadata"]
        place = self.resource(found["kind"], found["apiVersion"])
        path = place.path(metadata.get("namespace", "default"), str(metadata["name"]))
        options = f"{query}fieldManager={FIELD_MANAGER}&fieldValidation=Strict"
        return _verdict(self.request("PATCH", f"{path}?{options}", yaml_text, "application/apply-patch+yaml"))

    def _exchange(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        try:
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            raw = answer.read()
        except BaseException:
            # A half-done exchange would answer the next question.
            self._connection.close()
            raise
        warnings = tuple(map(_warning, answer.headers.get_all("Warning", [])))
        return Answer(answer.status, _json(raw), warnings)

    def _discover(self) -> None:
        for root in ("/api", "/apis"):
            for group in self.request("GET", root, accept=DISCOVERY).body["items"]:
                for version in group["versions"]:
                    self._remember(group["metadata"].get("name", ""), version)

    def _remember(self, group: str, version: dict[str, Any]) -> None:
        name = version["version"]
        api_version = f"{group}/{name}" if group else name
        collection = f"/apis/{api_version}" if group else f"/api/{name}"
        for found in version["resources"]:
            place = Resource(collection, found["resource"], found["scope"] == "Namespaced")
            kind = found["responseKind"]["kind"]
            self._resources[api_version, kind] = place
            self._resources.setdefault(("", kind), place)


def _verdict(answer: Answer) -> Verdict:
    if answer.status < 300:
        return Verdict(True, answer.status, "", (), answer.warnings, answer.body)
    causes = (answer.body.get("details") or {}).get("causes") or ()
    return Verdict(
        accepted=False,
        status=answer.status,
        message=answer.body.get("message", ""),
        causes=tuple(
            Cause(*(each.get(key, "") for key in ("field", "reason", "message"))) for each in causes
        ),
        warnings=answer.warnings,
        stored={},
    )


def _json(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"message": raw.decode(errors="replace")}


def _warning(header: str) -> str:
    quoted = re.search(r'"((?:[^"\\]|\\.)*)"', header)
    return re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else header
