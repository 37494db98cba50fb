"""Cached validators of the models, stored beside the bytecode of their modules.

Pydantic compiles a model's validator again in each process, and pydantic has to be imported first to create
the model classes. For a small blueprint that takes longer than the rest of a run, and the result is the same
until the code changes. So validators are cached as Python caches bytecode: in `__pycache__`, next to the
module, and only where no other user except root can write, because unpickling a file executes it. A cached
validator does not refer to the classes: a run without errors imports neither the models nor pydantic.
Without the cache `gpupool render docs/examples/genai-inference.yaml` takes 1.3 times as long.
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
from gpupool.shapes.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

PACKAGE: Final = Path(__file__).parents[1]
SOURCES: Final = (
    "blueprint", "helm", "karpenter", "karpenter/v1", "karpenter/v1alpha1", "profiles", "shapes",
)  # fmt: skip
"""The folders with the code that validators depend on."""

_PYDANTIC: Final = Path(pydantic_core.__file__).parents[1] / "pydantic" / "version.py"
_UNUSED_KEYS: Final = frozenset({"metadata", "serialization"})
_HEADER_SIZE: Final = 8
"""Two CRC-32 checksums."""


class Model(NamedTuple):
    """A reference to a model by module and name, which does not import it."""

    module: str
    name: str

    def load(self) -> "type[BaseModel]":
        """Import the model, or build that of a table of fields."""
        found: Any = getattr(import_module(self.module), self.name)
        if issubclass(found, Fields):
            from gpupool.shapes.field_models import build_model

            found = build_model(found)
        model: type[BaseModel] = found
        return model


def validate(model: Model, data: object) -> None:
    """Validate data against a model.

    Raises:
        ValidationError: as `model_validate` of the model does.
    """
    load_validator(model).validate_python(data)


@cache
def load_validator(model: Model) -> SchemaValidator:
    """Load a model's validator from the cache; otherwise compile it and write it to the cache."""
    validator: SchemaValidator = load_cached(cache_path(model), lambda: _compile(model))
    return validator


def load_cached(path: Path, build: "Callable[[], Any]") -> Any:  # noqa: ANN401 - whatever `build` returns
    """Load what an earlier process built from the models, from a file that only this user can write."""
    stamp = build_stamp()
    cached = _read(path, stamp)
    if cached is not None:
        return cached
    built = build()
    if not sys.dont_write_bytecode and _is_safe_folder(path.parent):
        _write(path, stamp, built)
    return built


def cache_path(model: Model) -> Path:
    """Return the path of a model's cached validator."""
    source = PACKAGE.parent / f"{model.module.replace('.', '/')}.py"
    return Path(cache_from_source(str(source))).with_suffix(f".{model.name}")


def _compile(model: Model) -> SchemaValidator:
    model_class = model.load()
    model_class.model_rebuild()
    return SchemaValidator(_remove_classes(model_class.__pydantic_core_schema__))


def _remove_classes(part: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Return a schema with the same checks that does not create models."""
    if isinstance(part, list | tuple):
        return type(part)(_remove_classes(item) for item in part)
    if not isinstance(part, dict):
        # Pydantic's own discriminator of JSON values would import all of pydantic.
        return tag_json_type if getattr(part, "__name__", "") == "_get_type_name" else part
    if not isinstance(part.get("type"), str):
        return {name: _remove_classes(value) for name, value in part.items()}
    schema = {name: _remove_classes(value) for name, value in part.items() if name not in _UNUSED_KEYS}
    if schema["type"] != "model":
        return schema
    extra = part.get("config", {}).get("extra_fields_behavior")
    reference = {"ref": part["ref"]} if "ref" in part else {}
    return {**schema["schema"], **reference, **({"extra_behavior": extra} if extra else {})}


@cache
def build_stamp() -> bytes:
    """Return a text that changes whenever a cached validator is stale: versions and the dates of the code."""
    sources = [
        entry for folder in SOURCES for entry in os.scandir(PACKAGE / folder) if entry.name.endswith(".py")
    ]
    dates = [f"{entry.path} {entry.stat().st_mtime_ns} {entry.stat().st_size}" for entry in sources]
    pydantic = str(_PYDANTIC.stat().st_mtime_ns) if _PYDANTIC.exists() else ""
    return "\n".join([sys.version, pydantic_core.__version__, pydantic, *sorted(dates)]).encode()


def _read(path: Path, stamp: bytes) -> object:
    try:
        with path.open("rb") as file:
            if not _is_safe_folder(path.parent) or not _is_safe(os.fstat(file.fileno())):
                return None
            content = file.read()
    except OSError:
        return None
    header = _build_header(stamp, content[_HEADER_SIZE:])
    # The file is damaged, or belongs to other code.
    if content[:_HEADER_SIZE] != header:
        return None
    return pickle.loads(content[_HEADER_SIZE:])  # noqa: S301 - only this user and root can write it


def _is_safe_folder(folder: Path) -> bool:
    try:
        return _is_safe(folder.stat())
    except OSError:
        return False


def _is_safe(status: os.stat_result) -> bool:
    """Return whether only this user and root can write a file or folder."""
    is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid in {0, os.geteuid()} and not is_shared


def _write(path: Path, stamp: bytes, built: object) -> None:
    text = pickle.dumps(built)
    draft = path.with_suffix(f"{path.suffix}.{os.getpid()}")
    try:
        # With a lax umask, others could write the file.
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(_build_header(stamp, text) + text)
        draft.replace(path)
    except OSError:
        # The cache is optional: the folder may not be writable.
        draft.unlink(missing_ok=True)


def _build_header(stamp: bytes, text: bytes) -> bytes:
    return zlib.crc32(stamp).to_bytes(4) + zlib.crc32(text).to_bytes(4)
