"""Users and groups that are granted what gpupool prints, and that ask the API server as themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from gpupool.rendering.roles import Place, Purpose, Subject, roles_text
from tests.rig.access import Access
from tests.rig.client import Client
from tests.rig.server import ApiServer


class Impersonated(Client):
    """Asks as somebody else; the admin whose access it is may do that."""

    def __init__(self, access: Access, subject: Subject) -> None:
        super().__init__(access)
        names = {
            "User": (subject.name, ""),
            "Group": (f"somebody in {subject.name}", subject.name),
            "ServiceAccount": (f"system:serviceaccount:{subject.namespace}:{subject.name}", ""),
        }
        user, group = names[subject.kind]
        self._headers = {**self._headers, "Impersonate-User": user}
        if group:
            self._headers["Impersonate-Group"] = group


@contextmanager
def granted(
    server: ApiServer, purpose: Purpose, place: Place, subject: Subject, *, with_policy: bool = True
) -> Iterator[Impersonated]:
    """Grant what is printed to a subject while the block runs, and let it ask."""
    printed = yaml.safe_load_all(roles_text(purpose, place, subject))
    objects = [each for each in printed if with_policy or "AdmissionPolicy" not in each["kind"]]
    try:
        for each in objects:
            verdict = server.apply(yaml.safe_dump(each).encode())
            assert verdict.accepted, verdict.message
        with Impersonated(server.access, subject) as client:
            yield client
    finally:
        for each in reversed(objects):
            server.request("DELETE", path_of(server, each))


def path_of(server: ApiServer, found: dict[str, Any]) -> str:
    """Give where the server keeps an object."""
    metadata = found["metadata"]
    place = server.resource(found["kind"], found["apiVersion"])
    return place.path(metadata.get("namespace", ""), metadata["name"])
