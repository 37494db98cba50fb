"""Loading of profiles by name or path: check them, and merge each over the profile it extends."""

from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path, PurePath

from gpupool.assets import find_shipped_folder
from gpupool.blueprint.load import check, find_conflicting_fields, read_file
from gpupool.blueprint.merge import merge
from gpupool.blueprint.merge_schema import build_merge_kind
from gpupool.blueprint.window_checks import check_pool_windows
from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.profiles.folders import FOLDER, is_allowed
from gpupool.profiles.model import Profile
from gpupool.shapes.compiled import Model
from gpupool.shapes.error_messages import find_close_match
from gpupool.yamlio.located import Located
from gpupool.yamlio.read import read

SHIPPED = "gpupool:profiles/"
_PROFILE = Model("gpupool.profiles.model", "Profile")
MAX_LEVELS = 20
"""The maximum depth of `extends`; with symbolic links, a cycle is not always found by its paths."""


def shipped_names() -> list[str]:
    """Return the names of the shipped profiles."""
    return sorted(
        PurePath(file.name).stem
        for file in find_shipped_folder("profiles").iterdir()
        if file.name.endswith(".yaml")
    )


@dataclass(slots=True)
class Profiles:
    """The profiles that a blueprint uses; each file is read once, and its errors are reported once."""

    beside: tuple[str, ...]
    """The files that refer to the profiles: the blueprint files, or a profile to show."""

    findings: list[Finding] = field(default_factory=list)
    _merged: dict[str, Located | None] = field(default_factory=dict)
    _unmerged: dict[str, Located] = field(default_factory=dict)

    def resolve(self, reference: Located) -> Located | None:
        """Return a profile merged over all profiles that it extends; None where one of them is invalid."""
        return self._resolve(reference, ())

    def find_lineage(self, reference: Located) -> list[Located]:
        """Return a profile and the profiles that it extends, unmerged, the lowest layer first."""
        lineage: list[Located] = []
        name: Located | None = reference
        while name is not None and name.value is not None and self.resolve(name) is not None:
            lineage.insert(0, self._unmerged[_profile_file(str(name.value), name.at.file)])
            name = Profile(lineage[0]).extends
        return lineage

    def _resolve(self, reference: Located, path: tuple[str, ...]) -> Located | None:
        file = _profile_file(str(reference.value), reference.at.file)
        if file in path or len(path) == MAX_LEVELS:
            self.findings.append(_cycle_error(file, path, reference))
            return None
        if file not in self._merged:
            self._merged[file] = self._read(file, reference, path)
        return self._merged[file]

    def _read(self, file: str, reference: Located, path: tuple[str, ...]) -> Located | None:
        errors_before = len(self.findings)
        node = self._read_file(file, reference)
        if node is not None and not file.startswith(SHIPPED):
            # The tests of gpupool check the shipped profiles, which makes every run faster by a tenth.
            check(node, _PROFILE, "Profile", self.findings)
            self.findings += find_conflicting_fields(node, build_merge_kind(Profile))
            self.findings += check_pool_windows(Profile(node).pool, "pool")
        if node is None or len(self.findings) > errors_before:
            return None
        self._unmerged[file] = node
        lower = Profile(node).extends
        if lower is None:
            return node
        base = self._resolve(lower, (*path, file))
        return None if base is None else merge(base, node, build_merge_kind(Profile))

    def _read_file(self, file: str, reference: Located) -> Located | None:
        if not file.startswith(SHIPPED):
            if not is_allowed(file, self.beside):
                self.findings.append(_outside_error(reference))
                return None
            if not _is_file(file):
                fix = "set a path relative to the file that names the profile"
                message = f"profile file `{file}` does not exist"
                self.findings.append(Finding(Code.UNKNOWN_PROFILE, message, reference.at, fix))
                return None
            return self._check_not_empty(read_file(file, self.findings), file)
        text = find_shipped_folder("profiles").joinpath(file.removeprefix(SHIPPED))
        if not text.is_file():
            self.findings.append(_unknown_error(reference))
            return None
        return read(text.read_bytes(), file).node

    def _check_not_empty(self, node: Located | None, file: str) -> Located | None:
        if node is None and not any(finding.at.file == file for finding in self.findings):
            self.findings.append(Finding(Code.NOT_THE_KIND, "the profile is empty", Location(file, 1, 1)))
        return node


def _profile_file(name: str, referring_file: str) -> str:
    if "/" in name or name.endswith((".yaml", ".yml")):
        folder = PurePath(
            "" if referring_file.startswith(SHIPPED) or referring_file == "-" else referring_file
        ).parent
        return normpath(Path(folder, name))
    return f"{SHIPPED}{name}.yaml"


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that is too long or invalid
        return False


def _cycle_error(file: str, path: tuple[str, ...], reference: Located) -> Finding:
    if file in path:
        chain = " extends ".join((*path[path.index(file) :], file))
        message = f"profiles extend each other in a cycle: {chain}"
    else:
        message = f"more than {MAX_LEVELS} profiles extend each other"
    return Finding(Code.PROFILE_CYCLE, message, reference.at, "remove one `extends`")


def _outside_error(reference: Located) -> Finding:
    message = "the profile's path is outside the blueprint's folder, so it is not read"
    fix = f"move the profile there or into `{FOLDER}/`, or allow its folder with `--profiles DIR`"
    return Finding(Code.PROFILE_OUTSIDE, message, reference.at, fix)


def _unknown_error(reference: Located) -> Finding:
    names = shipped_names()
    match = find_close_match(str(reference.value), names)
    fix = (
        f"did you mean `{match}`?"
        if match
        else f"set the path of your own profile, or one of {', '.join(names)}"
    )
    return Finding(Code.UNKNOWN_PROFILE, f"unknown profile `{reference.value}`", reference.at, fix)
