"""Models' validators, kept beside the bytecode of their modules from one run to the next.

Pydantic works a model's validator out anew in each process, and to make the models' classes it has to
be imported first. For a small blueprint that takes longer than all else that a run does, and the
outcome is the same until the code changes. So it is kept the way Python keeps bytecode: in
`__pycache__`, next to the module, and only where nobody but this user and root can write: to unpickle a
file is to run it. What is kept knows no classes: a run without mistakes imports neither the models nor
pydantic. Without it `gpupool render docs/examples/genai-inference.yaml` takes 1.3 times as long.
"""

import os
import pickle
import stat
import sys
import zlib
from functools import cache
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pydantic_core
from pydantic_core import SchemaValidator

from gpupool.shapes.annotations import tag_json_type

if TYPE_CHECKING:
    from pydantic import BaseModel

PACKAGE: Final = Path(__file__).parents[1]
SOURCES: Final = (
    "blueprint", "helm", "karpenter", "karpenter/v1", "karpenter/v1alpha1", "profiles", "shapes",
)  # fmt: skip
"""The folders of all that validators are made of."""

_PYDANTIC: Final = Path(pydantic_core.__file__).parents[1] / "pydantic" / "version.py"
_UNUSED: Final = frozenset({"metadata", "serialization"})


class Model(NamedTuple):
    """A model by its name: to say which one is meant imports nothing."""

    module: str
    name: str

    def load(self) -> "type[BaseModel]":
        """Import the model itself."""
        found: type[BaseModel] = getattr(import_module(self.module), self.name)
        return found


def validate(model: Model, data: object) -> None:
    """Hold data against a model.

    Raises:
        ValidationError: as `model_validate` of the model does.
    """
    load_validator(model).validate_python(data)


@cache
def load_validator(model: Model) -> SchemaValidator:
    """Return a model's validator: the one that was kept, or else a new one, which is then kept."""
    place, written = cache_path(model), build_stamp()
    kept = _read(place, written)
    if kept is not None:
        return kept
    made = _made(model)
    if not sys.dont_write_bytecode and _is_safe_folder(place.parent):
        _keep(place, written, made)
    return made


def cache_path(model: Model) -> Path:
    """Return the file that keeps a model's validator."""
    source = PACKAGE.parent / f"{model.module.replace('.', '/')}.py"
    return Path(cache_from_source(str(source))).with_suffix(f".{model.name}")


def _made(model: Model) -> SchemaValidator:
    loaded = model.load()
    loaded.model_rebuild()
    return SchemaValidator(_without_classes(loaded.__pydantic_core_schema__))


def _without_classes(part: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Return a schema that checks the same and makes no models of it."""
    if isinstance(part, list | tuple):
        return type(part)(_without_classes(item) for item in part)
    if not isinstance(part, dict):
        # Pydantic's own way to tell JSON values apart would have to be imported with all of pydantic.
        return tag_json_type if getattr(part, "__name__", "") == "_get_type_name" else part
    if not isinstance(part.get("type"), str):
        return {name: _without_classes(below) for name, below in part.items()}
    found = {word: _without_classes(below) for word, below in part.items() if word not in _UNUSED}
    if found["type"] != "model":
        return found
    extra = part.get("config", {}).get("extra_fields_behavior")
    named = {"ref": part["ref"]} if "ref" in part else {}
    return {**found["schema"], **named, **({"extra_behavior": extra} if extra else {})}


@cache
def build_stamp() -> bytes:
    """Return what the validators depend on: pydantic, and when the code was written."""
    sources = [
        entry for folder in SOURCES for entry in os.scandir(PACKAGE / folder) if entry.name.endswith(".py")
    ]
    written = [f"{entry.path} {entry.stat().st_mtime_ns} {entry.stat().st_size}" for entry in sources]
    pydantic = str(_PYDANTIC.stat().st_mtime_ns) if _PYDANTIC.exists() else ""
    return "\n".join([sys.version, pydantic_core.__version__, pydantic, *sorted(written)]).encode()


def _read(place: Path, stamp: bytes) -> SchemaValidator | None:
    try:
        with place.open("rb") as file:
            if not _is_safe_folder(place.parent) or not _is_safe(os.fstat(file.fileno())):
                return None
            kept = file.read()
    except OSError:
        return None
    head = _head(stamp, kept[_SIZE:])
    # A file that is not whole, or of other code, is as good as none.
    if kept[:_SIZE] != head:
        return None
    found: SchemaValidator = pickle.loads(kept[_SIZE:])  # noqa: S301 - only this user and root can write it
    return found


def _is_safe_folder(folder: Path) -> bool:
    try:
        return _is_safe(folder.stat())
    except OSError:
        return False


def _is_safe(status: os.stat_result) -> bool:
    """Return whether only this user and root can write a file or folder."""
    is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid in {0, os.geteuid()} and not is_shared


def _keep(place: Path, stamp: bytes, made: SchemaValidator) -> None:
    text = pickle.dumps(made)
    draft = place.with_suffix(f"{place.suffix}.{os.getpid()}")
    try:
        # A lax umask must not let others write it.
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(_head(stamp, text) + text)
        draft.replace(place)
    except OSError:
        # Nobody has to be able to write there.
        draft.unlink(missing_ok=True)


def _head(stamp: bytes, text: bytes) -> bytes:
    return zlib.crc32(stamp).to_bytes(4) + zlib.crc32(text).to_bytes(4)


_SIZE = len(_head(b"", b""))
