"""Build of the single file: what pip installs, in a zip file inside a zip file that Python can run."""

import hashlib
import io
import subprocess
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

ROOT = Path(__file__).parents[2]
USAGE = 64
_SHEBANG = b"#!/usr/bin/env python3\n"
_FILE_MODE = 0o644 << 16
_MACHINE_DEPENDENT = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
"""Files that pip writes for itself; they hold paths and digests of the machine that builds."""


def main(arguments: list[str]) -> int:
    """Build the file and print its size and digest; return the exit code."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write("usage: python .ci/single_file FILE\n")
        return USAGE
    target = Path(arguments[0])
    with tempfile.TemporaryDirectory() as work:
        packages = Path(work) / "packages"
        code = install(packages)
        if code:
            return code
        content = build(packages)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    target.chmod(0o755)
    sys.stdout.write(f"{hashlib.sha256(content).hexdigest()}  {target}\n")
    return 0


def install(folder: Path) -> int:
    """Install gpupool from this checkout with its dependencies into a folder; return pip's exit code."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # The packages stand alone: what else this Python has, and who runs it, do not matter to them.
    command += ["--no-compile", "--no-warn-conflicts", "--root-user-action", "ignore"]
    return subprocess.run([*command, "--target", folder, ROOT], check=False).returncode  # noqa: S603 - our own words


def build(packages: Path) -> bytes:
    """Return the file's content; the same packages give the same bytes.

    The packages are one member, as Python reads the whole list of members at each start.
    """
    inner = _zip({name: (packages / name).read_bytes() for name in _names(packages)}, ZIP_DEFLATED)
    digest = hashlib.sha256(inner).hexdigest()[:16]
    outer = {
        "__main__.py": Path(__file__).with_name("start.py").read_bytes(),
        "built": f"{digest} {EXTENSION_SUFFIXES[0]}\n".encode(),
        "packages.zip": inner,
    }
    return _SHEBANG + _zip(outer, ZIP_STORED)


def _names(packages: Path) -> list[str]:
    paths = [path.relative_to(packages) for path in packages.rglob("*") if path.is_file()]
    return sorted(
        path.as_posix()
        for path in paths
        # `bin` holds programs that start with the path of the Python that installed them.
        if path.parts[0] != "bin" and "__pycache__" not in path.parts and path.name not in _MACHINE_DEPENDENT
    )


def _zip(members: dict[str, bytes], compression: int) -> bytes:
    content = io.BytesIO()
    with ZipFile(content, "w") as file:
        for name, data in members.items():
            # Without a time of its own a member is of 1980, whenever it is built.
            member = ZipInfo(name)
            member.external_attr = _FILE_MODE
            file.writestr(member, data, compression)
    return content.getvalue()
