"""A report with one finding of each sort, and generated ones."""

import os

from hypothesis import strategies as st

from gpupool.checking.report import CheckedObject, Report, Skipped
from gpupool.codes import Code
from gpupool.findings import Finding, Location, Severity

UNKNOWN = Finding(
    "GP1010",
    "unknown field `limit`",
    Location("pools/chat.yaml", 14, 3),
    "did you mean `limits`?",
    Severity.ERROR,
    "spec.limit",
    "NodePool/chat",
)
NULL = Finding(
    "GP1014",
    "`weight` is null",
    Location("pools/chat.yaml", 15, 11),
    "",
    Severity.WARNING,
    "spec.weight",
    "NodePool/chat",
)
WHOLE = Finding("GP1001", "can't read it: Permission denied", Location("secret.yaml"))
NOTE = Finding(
    "GP0050", "pool `chat` may hold 50", Location("gpupool.yaml", 9, 1), "", Severity.INFO, "pools.chat"
)

REPORT = Report(
    findings=(UNKNOWN, NULL, NOTE, WHOLE),
    files=("pools/chat.yaml", "gpupool.yaml"),
    checked=(
        CheckedObject("NodePool", "chat", Location("pools/chat.yaml", 1, 1)),
        CheckedObject("NodePool", "idle", Location("pools/chat.yaml", 20, 1)),
        CheckedObject("Blueprint", "demo", Location("gpupool.yaml")),
    ),
    documents=4,
    other_kinds={"Deployment": 2, "Service": 1},
    skipped=(Skipped(Location("README.md"), "no .yaml, .yml or .json"),),
)

NAMES = st.binary(min_size=1, max_size=20).filter(lambda name: b"\0" not in name).map(os.fsdecode)
"""Names that files can have, whatever their bytes."""

PLACES = st.builds(Location, NAMES, st.integers(0, 9), st.integers(0, 9))


def several(finding: Finding, places: list[tuple[int, int]]) -> Finding:
    """Return the finding at more places of its file."""
    others = (finding._replace(at=finding.at._replace(line=line, column=column)) for line, column in places)
    return finding._replace(also=tuple(others))


ALONE = st.builds(
    Finding,
    st.sampled_from([*Code, "GP9999"]).map(str),
    st.text(),
    PLACES,
    st.text(),
    st.sampled_from(Severity),
    st.text(),
    st.text(),
    st.just(()),
)
FINDINGS = st.builds(several, ALONE, st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=2))
CHECKED = st.builds(CheckedObject, st.sampled_from(["NodePool", "EC2NodeClass"]), st.text(), PLACES)
REPORTS = st.builds(
    Report,
    st.lists(FINDINGS, max_size=4).map(tuple),
    st.lists(NAMES, max_size=3).map(tuple),
    st.lists(CHECKED, max_size=3).map(tuple),
    st.integers(0, 9),
    st.dictionaries(st.text(), st.integers(1, 9), max_size=2),
    st.lists(st.builds(Skipped, PLACES, st.text()), max_size=2).map(tuple),
    st.booleans(),
)
