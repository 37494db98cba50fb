"""What the server answers where it does not do what it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpupool.cluster.client import Response
from tests.memory.fieldsets import show
from tests.memory.managers import UPDATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.memory.managers import FieldConflictsError, Manager, Owned
    from tests.memory.schemas import Body, Resource

_CODES = {
    "BadRequest": 400,
    "NotFound": 404,
    "AlreadyExists": 409,
    "Conflict": 409,
    "Expired": 410,
    "Invalid": 422,
    "InternalError": 500,
}
_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class RefusedError(Exception):
    """A request that the server refuses."""

    def __init__(self, reason: str, message: str, causes: Sequence[Body] = (), name: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.causes = causes
        self.name = name

    @property
    def answer(self) -> Response:
        """Return it as the server sends it."""
        code = _CODES.get(self.reason, 500)
        details: dict[str, Any] = {"name": self.name} if self.name else {}
        details |= {"causes": [*self.causes]} if self.causes else {}
        body: Body = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": str(self),
            "code": code,
            **({"reason": self.reason} if self.reason else {}),
            **({"details": details} if details else {}),
        }
        return Response(code, body)


def no_such_path() -> Response:
    """Return the answer for a path that nothing is served at: it is no JSON."""
    return Response(404, {"message": "404 page not found"})


def bad_request(message: str) -> RefusedError:
    """Build the refusal for a body that can't be read."""
    return RefusedError("BadRequest", message)


def expired() -> RefusedError:
    """Build the refusal for the next page of a list that was begun too long ago."""
    return RefusedError("Expired", "The provided continue parameter is too old to display a consistent list")


def not_found(resource: Resource, name: str) -> RefusedError:
    """Build the refusal for an object that does not exist."""
    return RefusedError("NotFound", f'{_qualified(resource)} "{name}" not found', name=name)


def already_exists(resource: Resource, name: str) -> RefusedError:
    """Build the refusal for an object that exists already."""
    return RefusedError("AlreadyExists", f'{_qualified(resource)} "{name}" already exists', name=name)


def modified(resource: Resource, name: str) -> RefusedError:
    """Build the refusal for a write that names another version than the live one."""
    return conflict(resource, name, _MODIFIED)


def conflict(resource: Resource, name: str, why: str) -> RefusedError:
    """Build the refusal for a precondition that does not hold."""
    message = f'Operation cannot be fulfilled on {_qualified(resource)} "{name}": {why}'
    return RefusedError("Conflict", message, name=name)


def invalid(resource: Resource, name: str, found: Sequence[tuple[str, str]]) -> RefusedError:
    """Build the refusal for an object that its schema rejects, with field and message of each violation."""
    causes = [{"reason": "FieldValueInvalid", "message": message, "field": field} for field, message in found]
    messages = ", ".join(f"{field}: {message}" for field, message in found)
    return RefusedError(
        "Invalid", f'{resource.kind}.{resource.group} "{name}" is invalid: {messages}', causes, name
    )


def untyped(resource: Resource, name: str, problem: str) -> RefusedError:
    """Build the refusal for an applied object that can't be read by its schema."""
    kind = f"/{name}; {resource.api_version}, Kind={resource.kind}"
    return RefusedError("", f"failed to create typed patch object ({kind}): {problem}")


def contested(problem: FieldConflictsError) -> RefusedError:
    """Build the refusal for fields that others own."""
    found = [
        (show(path), _owner(manager, owned))
        for manager, (fields, owned) in problem.conflicts.items()
        for path in sorted(fields)
    ]
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {owner}", "field": field}
        for field, owner in found
    ]
    if len(found) == 1:
        ((field, owner),) = found
        text = f"Apply failed with 1 conflict: conflict with {owner}: {field}"
    else:
        by_owner = {owner: [field for field, each in found if each == owner] for _, owner in found}
        lines = [
            "\n".join([f"conflicts with {owner}:", *(f"- {field}" for field in fields)])
            for owner, fields in sorted(by_owner.items())
        ]
        text = f"Apply failed with {len(found)} conflicts: " + "\n".join(lines)
    return RefusedError("Conflict", text, causes)


def _owner(manager: Manager, owned: Owned) -> str:
    text = f'"{manager.name}"'
    if manager.subresource:
        text += f' with subresource "{manager.subresource}"'
    if manager.operation == UPDATE:
        text += f" using {owned.api_version}"
    return text


def _qualified(resource: Resource) -> str:
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural
