"""Git commit of a blueprint, from the repository of the working folder or from CI variables.

The author of a pull request controls the folders of a checkout, and git runs programs that a repository's
configuration names. So git does not search for a repository: it gets the `.git` above the working folder,
which no commit can contain, and runs only commands without filters, hooks, file system monitor and network.
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
"""Variables of GitHub, GitLab, Bitbucket, Buildkite, Azure, CircleCI, Drone and Jenkins."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_SHA1_LENGTH: Final = 40
_SECONDS: Final = 5.0
_ALONE: Final = {
    # No transport: a repository's setting for a single protocol would override `protocol.allow`.
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
"""The commands that are run read none of these; they are set as a second line of defence."""


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
    """Return the commit of the first file, with `-dirty` where a file differs from that commit.

    Empty where neither the working folder's repository nor a CI variable has it.
    """
    variables = os.environ if environment is None else environment
    names = list(files)
    repository = _repository(variables) if names else None
    if repository is None:
        return _ci_commit(variables) if names else ""
    head = _git(repository, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
    if not _COMMIT.fullmatch(head) or _inside(repository, names[0]) is None:
        return ""
    return head if _are_in(repository, head, names) else f"{head}-dirty"


def _ci_commit(variables: Mapping[str, str]) -> str:
    commits = (variables.get(name, "") for name in _VARIABLES)
    return next((commit for commit in commits if _COMMIT.fullmatch(commit)), "")


def _repository(variables: Mapping[str, str]) -> _Repository | None:
    # A relative folder on the path would be inside the checkout.
    folders = [entry for entry in variables.get("PATH", "").split(os.pathsep) if Path(entry).is_absolute()]
    program = shutil.which("git", path=os.pathsep.join(folders)) if folders else None
    folder = Path.cwd()
    candidates = (parent / ".git" for parent in (folder, *folder.parents))
    git = next(filter(os.path.lexists, candidates), None)
    # As in git itself: a repository of another user is not trusted.
    if program is None or git is None or git.lstat().st_uid != os.geteuid():
        return None
    return _Repository(git, program)


def _inside(repository: _Repository, name: str) -> str | None:
    """Return a file's path within the repository, as git writes it."""
    path, root = Path(name).resolve(), repository.root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def _are_in(repository: _Repository, head: str, names: Sequence[str]) -> bool:
    """Return whether a commit has each file as it is on disk, up to line endings."""
    paths = {name: _inside(repository, name) for name in names}
    if None in paths.values():
        return False
    committed = {
        path: entry.split()[2]
        for entry, _, path in (
            line.partition("\t")
            for line in _git(
                repository, "ls-tree", "--full-tree", "-z", head, "--", *map(str, paths.values())
            ).split("\0")
            if line
        )
    }
    return all(
        path in committed and committed[path] in _digests(name, committed[path])
        for name, path in paths.items()
    )


def _digests(name: str, like: str) -> set[str]:
    """Return the digests that git may have of a file, by the same algorithm as `like`."""
    try:
        content = Path(name).read_bytes()
    except OSError:
        return set()
    kind = hashlib.sha1 if len(like) == _SHA1_LENGTH else hashlib.sha256
    forms = (content, content.replace(b"\r\n", b"\n"))
    return {kind(b"blob %d\0%b" % (len(form), form)).hexdigest() for form in forms}


def _git(repository: _Repository, *arguments: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    settings = [part for key, value in _QUIET for part in ("-c", f"{key}={value}")]
    command = [repository.program, f"--git-dir={repository.git}", *settings, *arguments]
    try:
        completed = subprocess.run(  # noqa: S603 - an absolute path, and constant arguments
            command,
            capture_output=True,
            cwd=repository.root,
            env=environment | _ALONE,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return os.fsdecode(completed.stdout) if completed.returncode == 0 else ""
