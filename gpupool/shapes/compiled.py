"""Models' validators, kept beside the bytecode of their modules from one run to the next.

Pydantic works a model's validator out anew in each process. For a blueprint that takes longer than all
else that a run does, and the outcome is the same until the code changes. So it is kept the way Python
keeps bytecode: in `__pycache__`, next to the module, as trusted as that, and only where that can be
written.
"""

import os
import pickle
import sys
import zlib
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic import VERSION, BaseModel
from pydantic_core import __version__ as core_version


class Validator(Protocol):
    """What pydantic makes of a model."""

    def validate_python(self, data: Any, /) -> Any:  # noqa: ANN401 - as pydantic declares it
        """Read data as the model."""


PACKAGE: Final = Path(__file__).parents[1]
SOURCES: Final = (
    "blueprint",
    "helm",
    "karpenter",
    "karpenter/v1",
    "karpenter/v1alpha1",
    "profiles",
    "shapes",
)
"""The folders of all that validators are made of."""


def validate(model: type[BaseModel], data: object) -> object:
    """Read data as a model.

    Raises:
        ValidationError: as `model.model_validate` does.
    """
    return validator(model).validate_python(data)


@cache
def validator(model: type[BaseModel]) -> Validator:
    """Give a model's validator: the one that was kept, or else a new one, which is then kept."""
    place = kept_at(model)
    if place is None:
        return _made(model)
    stamp = _stamp()
    kept = _read(place, stamp)
    if kept is not None:
        return kept
    made = _made(model)
    if not sys.dont_write_bytecode:
        _keep(place, stamp, made)
    return made


def kept_at(model: type[BaseModel]) -> Path | None:
    """Give the file that keeps a model's validator; None where its module has no bytecode either."""
    spec = sys.modules[model.__module__].__spec__
    return Path(spec.cached).with_suffix(f".{model.__name__}") if spec and spec.cached else None


def _made(model: type[BaseModel]) -> Validator:
    model.model_rebuild()
    return model.__pydantic_validator__


def _stamp() -> bytes:
    """Give what the validators depend on: pydantic, and when the code was written."""
    written = [
        f"{folder}/{entry.name} {entry.stat().st_mtime_ns} {entry.stat().st_size}"
        for folder in SOURCES
        for entry in os.scandir(PACKAGE / folder)
        if entry.name.endswith(".py")
    ]
    return "\n".join([VERSION, core_version, sys.version, *sorted(written)]).encode()


def _read(place: Path, stamp: bytes) -> Validator | None:
    try:
        kept = place.read_bytes()
    except OSError:
        return None
    head = _head(stamp, kept[_SIZE:])
    # A file that is not whole, or of other code, is as good as none.
    if kept[:_SIZE] != head:
        return None
    found: Validator = pickle.loads(kept[_SIZE:])  # noqa: S301 - as trusted as bytecode
    return found


def _keep(place: Path, stamp: bytes, made: Validator) -> None:
    text = pickle.dumps(made)
    draft = place.with_suffix(f"{place.suffix}.{os.getpid()}")
    try:
        draft.write_bytes(_head(stamp, text) + text)
        draft.replace(place)
    except OSError:
        # Nobody has to be able to write there.
        draft.unlink(missing_ok=True)


def _head(stamp: bytes, text: bytes) -> bytes:
    return zlib.crc32(stamp).to_bytes(4) + zlib.crc32(text).to_bytes(4)


_SIZE = len(_head(b"", b""))
