"""The folder outside the checkout where built things are kept, and the one way to put something there."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def root() -> Path:
    """Return the rig's cache folder, made if missing."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "gpupool" / "rig"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def digest(*parts: bytes | str) -> str:
    """Return a short name for the contents that a built thing depends on."""
    found = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        found.update(len(raw).to_bytes(8, "big") + raw)
    return found.hexdigest()[:16]


def made_once(target: Path, make: Callable[[Path], None]) -> bool:
    """Make the file or folder `target` unless it stands; give whether it was made now.

    `make` gets a path beside `target` to write to. The result is renamed into place, so nobody ever sees
    half of it, and a lock lets one of several runs make it while the others wait.
    """
    if target.exists():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / f".{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.exists():
            return False
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as work:
            draft = Path(work) / target.name
            make(draft)
            draft.rename(target)
    return True
