"""The errors and findings that a test run makes, written down for the page of all messages.

`GPUPOOL_RECORD=FOLDER .ci/test -p tests.recording -m "not server" tests/cli tests/rollout ...` writes one file for each
worker; `python -m tests.recording FOLDER` writes `tests/recorded.json` from them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool import findings
from gpupool.errors import GpupoolError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE: Final = Path(__file__).with_name("recorded.json")
_FOLDER: Final = "GPUPOOL_RECORD"
_TEMPORARY: Final = re.compile(r"/[\w./-]*/(?:pytest-\d+|popen-gw\d+)/[\w.\[\]-]+/")
_LONGEST: Final = 600
_NOT_SHOWN: Final = re.compile(r"/root|/tmp|/home|@vm|``|nobody|(.)\1{7}|[^ -~…→]")
"""What no page shows: paths of the machine that ran the tests, and what generated input is full of."""


class Recorded(NamedTuple):
    """A finding's code, or an error's class, and what it said."""

    name: str
    text: str
    fix: str = ""
    severity: str = "error"


def pytest_configure() -> None:
    """Write down each finding and each error of gpupool that is made from now on."""
    if not (folder := os.environ.get(_FOLDER)):
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = Path(folder, f"{os.getpid()}.jsonl").open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 - for the whole run
    make = findings.Finding.__new__

    def keep(name: str, text: str, fix: str = "", severity: str = "error") -> None:
        file.write(json.dumps([name, text[:_LONGEST], fix[:_LONGEST], severity]) + "\n")

    def finding(*args: object, **named: object) -> findings.Finding:
        made: findings.Finding = make(*args, **named)  # type: ignore[arg-type]
        keep(str(made.code), made.message, made.fix, str(made.severity))
        return made

    def error(self: GpupoolError, *args: object) -> None:
        Exception.__init__(self, *args)
        if not isinstance(self, InputError):
            keep(type(self).__name__, str(self))

    findings.Finding.__new__ = staticmethod(finding)  # type: ignore[method-assign,assignment]
    GpupoolError.__init__ = error  # type: ignore[method-assign,assignment]


def recorded() -> list[Recorded]:
    """Return what was written down last."""
    return [Recorded(*each) for each in json.loads(FILE.read_text("utf-8"))]


def _read(folder: Path) -> Iterable[Recorded]:
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            name, text, fix, severity = json.loads(line)
            found = Recorded(name, _TEMPORARY.sub("", text), _TEMPORARY.sub("", fix), severity)
            if not _NOT_SHOWN.search(f"{found.text} {found.fix}"):
                yield found


def main(folder: Path) -> None:
    """Keep the shortest text of each form, of errors and of the findings that the page can't make itself."""
    from tests.messages import form, made

    easy = {code for code, _ in made()}
    kept: dict[tuple[str, str], Recorded] = {}
    for each in sorted(set(_read(folder)), key=lambda one: (one.name, len(one.text), one)):
        if each.name not in easy:
            kept.setdefault((each.name, form(each.text)), each)
    FILE.write_text(json.dumps(sorted(kept.values()), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
