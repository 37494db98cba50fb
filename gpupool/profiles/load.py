"""Find a profile by name or path, check it, and lay it over the one it extends."""

from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path, PurePath

from gpupool.assets import find_shipped_folder
from gpupool.blueprint import merge_schema
from gpupool.blueprint.load import check, read_file, word_conflicts
from gpupool.blueprint.merge import merge
from gpupool.blueprint.window_checks import windows
from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.profiles.folders import FOLDER, is_allowed
from gpupool.shapes.compiled import Model
from gpupool.shapes.error_messages import find_close_match
from gpupool.yamlio.located import Located, find
from gpupool.yamlio.read import read

SHIPPED = "gpupool:profiles/"
_PROFILE = Model("gpupool.profiles.model", "Profile")
MOST_LEVELS = 20
"""How many profiles may extend each other; people need three, and a circle of links has no end."""


def shipped_names() -> list[str]:
    """Return the names of the shipped profiles."""
    return sorted(
        PurePath(file.name).stem
        for file in find_shipped_folder("profiles").iterdir()
        if file.name.endswith(".yaml")
    )


@dataclass(slots=True)
class Profiles:
    """The profiles that one run uses; each file is read once, and its mistakes are said once."""

    beside: tuple[str, ...]
    """The files that name them: the blueprint's, or a profile that was named by itself."""

    findings: list[Finding] = field(default_factory=list)
    _found: dict[str, Located | None] = field(default_factory=dict)
    _alone: dict[str, Located] = field(default_factory=dict)

    def named(self, word: Located) -> Located | None:
        """Return the profile that `word` names, laid over all it extends; None where it is no good."""
        return self._resolve(word, ())

    def lineage(self, word: Located) -> list[Located]:
        """Return the profile that `word` names and those it extends, each by itself, the lowest first."""
        found: list[Located] = []
        name: Located | None = word
        while name is not None and name.value is not None and self.named(name) is not None:
            found.insert(0, self._alone[_file(str(name.value), name.at.file)])
            name = find(found[0], "extends")
        return found

    def _resolve(self, word: Located, path: tuple[str, ...]) -> Located | None:
        file = _file(str(word.value), word.at.file)
        if file in path or len(path) == MOST_LEVELS:
            self.findings.append(_endless(file, path, word))
            return None
        if file not in self._found:
            self._found[file] = self._read(file, word, path)
        return self._found[file]

    def _read(self, file: str, word: Located, path: tuple[str, ...]) -> Located | None:
        before = len(self.findings)
        node = self._text(file, word)
        if node is not None and not file.startswith(SHIPPED):
            # The shipped ones are checked by gpupool's tests, which saves every run a tenth of its time.
            check(node, _PROFILE, "Profile", self.findings)
            self.findings += word_conflicts(node, merge_schema.PROFILE)
            self.findings += windows(find(node, "pool"), "pool")
        if node is None or len(self.findings) > before:
            return None
        self._alone[file] = node
        lower = find(node, "extends")
        if lower is None or lower.value is None:
            return node
        base = self._resolve(lower, (*path, file))
        return None if base is None else merge(base, node, merge_schema.PROFILE)

    def _text(self, file: str, word: Located) -> Located | None:
        if not file.startswith(SHIPPED):
            if not is_allowed(file, self.beside):
                self.findings.append(_outside(word))
                return None
            if not _is_file(file):
                fix = "set a path relative to the file that names the profile"
                message = f"profile file `{file}` does not exist"
                self.findings.append(Finding(Code.UNKNOWN_PROFILE, message, word.at, fix))
                return None
            return self._not_empty(read_file(file, self.findings), file)
        text = find_shipped_folder("profiles").joinpath(file.removeprefix(SHIPPED))
        if not text.is_file():
            self.findings.append(_unknown(word))
            return None
        return read(text.read_bytes(), file).node

    def _not_empty(self, node: Located | None, file: str) -> Located | None:
        if node is None and not any(finding.at.file == file for finding in self.findings):
            self.findings.append(Finding(Code.NOT_THE_KIND, "the profile is empty", Location(file, 1, 1)))
        return node


def _file(name: str, said_in: str) -> str:
    if "/" in name or name.endswith((".yaml", ".yml")):
        folder = PurePath("" if said_in.startswith(SHIPPED) or said_in == "-" else said_in).parent
        return normpath(Path(folder, name))
    return f"{SHIPPED}{name}.yaml"


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that is too long, or that no file can have
        return False


def _endless(file: str, path: tuple[str, ...], word: Located) -> Finding:
    if file in path:
        chain = " extends ".join((*path[path.index(file) :], file))
        message = f"profiles extend each other in a cycle: {chain}"
    else:
        message = f"more than {MOST_LEVELS} profiles extend each other"
    return Finding(Code.PROFILE_CYCLE, message, word.at, "remove one `extends`")


def _outside(word: Located) -> Finding:
    message = "the profile's path is outside the blueprint's folder, so it is not read"
    fix = f"move the profile there or into `{FOLDER}/`, or allow its folder with `--profiles DIR`"
    return Finding(Code.PROFILE_OUTSIDE, message, word.at, fix)


def _unknown(word: Located) -> Finding:
    names = shipped_names()
    near = find_close_match(str(word.value), names)
    fix = (
        f"did you mean `{near}`?"
        if near
        else f"set the path of your own profile, or one of {', '.join(names)}"
    )
    return Finding(Code.UNKNOWN_PROFILE, f"unknown profile `{word.value}`", word.at, fix)
