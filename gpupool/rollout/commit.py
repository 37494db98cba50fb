"""Which commit a blueprint is of: what the working folder's own repository has, else what CI says.

Whoever writes a pull request chooses what lies in the folders of a checkout, and git runs programs that the
configuration of a repository names. So git never looks for a repository: it is given the `.git` above the
working folder, which no commit can bring along, and it is asked only for what needs no filter, no hook, no
file system monitor and no network.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_VARIABLES: Final = (
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "BITBUCKET_COMMIT",
    "BUILDKITE_COMMIT",
    "BUILD_SOURCEVERSION",
    "CIRCLE_SHA1",
    "DRONE_COMMIT_SHA",
    "GIT_COMMIT",
)
"""What GitHub, GitLab, Bitbucket, Buildkite, Azure, CircleCI, Drone and Jenkins checked out."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_SHA1_LENGTH: Final = 40
_SECONDS: Final = 5.0
_ALONE: Final = {
    # No transport: `protocol.allow` would count less than what a repository says of a single one.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
_QUIET: Final = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("safe.bareRepository", "explicit"),
)
"""The commands that are run look at none of these; should one ever, it still runs nothing."""


class _Repository(NamedTuple):
    """The repository of the working folder."""

    git: Path
    """Its `.git`, a folder or a file that names one."""

    program: str
    """The absolute path of git."""

    @property
    def root(self) -> Path:
        """Return the folder that its files are in."""
        return self.git.parent


def find_commit(files: Iterable[str], environment: Mapping[str, str] | None = None) -> str:
    """Return the commit that the first file is of, `-dirty` behind it where a file is not as it is there.

    Nothing where neither the working folder's repository nor a variable of CI says it.
    """
    variables = os.environ if environment is None else environment
    names = list(files)
    repository = _repository(variables) if names else None
    if repository is None:
        return _said_by_ci(variables) if names else ""
    head = _git(repository, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
    if not _COMMIT.fullmatch(head) or _inside(repository, names[0]) is None:
        return ""
    return head if _are_in(repository, head, names) else f"{head}-dirty"


def _said_by_ci(variables: Mapping[str, str]) -> str:
    said = (variables.get(name, "") for name in _VARIABLES)
    return next((each for each in said if _COMMIT.fullmatch(each)), "")


def _repository(variables: Mapping[str, str]) -> _Repository | None:
    # A relative folder on the path would be one of the checkout's.
    folders = [each for each in variables.get("PATH", "").split(os.pathsep) if Path(each).is_absolute()]
    program = shutil.which("git", path=os.pathsep.join(folders)) if folders else None
    here = Path.cwd()
    git = next((each / ".git" for each in (here, *here.parents) if os.path.lexists(each / ".git")), None)
    # As git itself does: what another user laid above the working folder is not believed.
    if program is None or git is None or git.lstat().st_uid != os.geteuid():
        return None
    return _Repository(git, program)


def _inside(repository: _Repository, name: str) -> str | None:
    """Return a file's path within the repository, as git writes it."""
    path, root = Path(name).resolve(), repository.root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def _are_in(repository: _Repository, head: str, names: Sequence[str]) -> bool:
    """Return whether each file is in a commit as it is on the disk, but for how its lines end."""
    places = {name: _inside(repository, name) for name in names}
    if None in places.values():
        return False
    known = {
        place: entry.split()[2]
        for entry, _, place in (
            line.partition("\t")
            for line in _git(
                repository, "ls-tree", "--full-tree", "-z", head, "--", *map(str, places.values())
            ).split("\0")
            if line
        )
    }
    return all(
        place in known and known[place] in _digests(name, known[place]) for name, place in places.items()
    )


def _digests(name: str, like: str) -> set[str]:
    """Return the digests that git may have of a file, in the kind of digest that `like` is."""
    try:
        content = Path(name).read_bytes()
    except OSError:
        return set()
    kind = hashlib.sha1 if len(like) == _SHA1_LENGTH else hashlib.sha256
    forms = (content, content.replace(b"\r\n", b"\n"))
    return {kind(b"blob %d\0%b" % (len(each), each)).hexdigest() for each in forms}


def _git(repository: _Repository, *words: str) -> str:
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    settings = [part for key, value in _QUIET for part in ("-c", f"{key}={value}")]
    command = [repository.program, f"--git-dir={repository.git}", *settings, *words]
    try:
        found = subprocess.run(  # noqa: S603 - an absolute path, and words of our own
            command, capture_output=True, cwd=repository.root, env=own | _ALONE, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return os.fsdecode(found.stdout) if found.returncode == 0 else ""
