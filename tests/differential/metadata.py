"""What the API server looks at in every object beside its spec: metadata, and status where it is written."""

from collections.abc import Iterator

from tests.differential import texts
from tests.differential.schemas import places
from tests.differential.trees import ABSENT, Path

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y"}
ENTRY = {"manager": "x", "operation": "Update", "apiVersion": "karpenter.sh/v1", "time": "2026-08-20T12:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}  # fmt: skip
FIELDS = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels",
    "annotations", "ownerReferences", "finalizers", "managedFields", "clusterName", "bogus", "Name", "",
)  # fmt: skip
ANY: tuple[object, ...] = (None, "", "x", "X", "a b", 1, 1.0, 1.5, -1, 2**63, True, {}, [], [None], [1], ["a"], ["a", 1], [{}], [[]], {"a": "b"}, {"a": 1}, {"a": None}, {"a": []}, ABSENT)  # fmt: skip
NAMES = (
    "a.b", "a-b", "A", "a_b", "a.", ".a", "a..b", "-a", "a-", "a-.b", "1", "a" * 253, "a" * 254, ("a" * 63 + ".") * 3 + "a" * 61, "a" * 64 + ".b", "é", "a/b", "..", "a b", "a\n", "\u0661", "x-", "x.", "x" * 250,
)  # fmt: skip
FINALIZERS = (["a"], ["a/b"], ["a", "a"], ["a b"], ["a b/c"], ["A/b"], ["a/b/c"], [""], [None], ["orphan"], ["foregroundDeletion"], ["orphan", "foregroundDeletion"], ["é"], ["x" * 63], ["x" * 64], ["a.b/" + "x" * 64])  # fmt: skip
OWNERS: tuple[object, ...] = (
    [OWNER], [OWNER, OWNER], [OWNER | {"apiVersion": ""}], [OWNER | {"apiVersion": "a/b/c"}], [OWNER | {"apiVersion": "a/b"}], [OWNER | {"apiVersion": "/"}], [OWNER | {"apiVersion": "/v1"}],
    [OWNER | {"apiVersion": "a/"}], [OWNER | {"kind": ""}], [OWNER | {"name": ""}], [OWNER | {"uid": ""}], [OWNER | {"uid": None}], [OWNER | {"kind": "Event"}], [OWNER | {"apiVersion": "events.k8s.io/v1", "kind": "Event"}],
    [OWNER | {"apiVersion": "events.k8s.io/v1beta1", "kind": "Event"}], [OWNER | {"bogus": 1}], [OWNER | {"controller": True}, OWNER | {"controller": True}], [OWNER | {"controller": True}, OWNER | {"controller": False}],
    [OWNER | {"controller": "yes"}], [OWNER | {"blockOwnerDeletion": 1}], [OWNER | {"blockOwnerDeletion": None}], [OWNER | {"uid": 1}], [OWNER | {"name": ["x"]}], [{"kind": "Pod"}], [OWNER, {}], [OWNER, None],
    [OWNER | {"controller": True}] * 3, [OWNER | {"apiVersion": "a b"}],
)  # fmt: skip
ENTRIES: tuple[object, ...] = (
    [ENTRY], [ENTRY | {"operation": "Bogus"}], [ENTRY | {"bogus": 1}], [ENTRY | {"manager": 1}], [ENTRY | {"time": "x"}], [ENTRY | {"time": None}], [ENTRY | {"time": 5}], [ENTRY | {"fieldsType": "x"}],
    [ENTRY | {"fieldsV1": 5}], [ENTRY | {"fieldsV1": {"x": 1}}], [ENTRY | {"fieldsV1": None}], [ENTRY | {"subresource": "status"}], [ENTRY | {"subresource": 1}], [ENTRY | {"operation": "Apply"}], [ENTRY, None],
    [ENTRY | {"apiVersion": ""}], [ENTRY | {"apiVersion": "x/y/z"}], [ENTRY | {"fieldsV1": {"f:spec": {"f:bogus": 1}}}],
)  # fmt: skip
WHOLE: tuple[object, ...] = (
    ABSENT,
    None,
    [],
    "x",
    1,
    {},
    {"generateName": "x-"},
    {"name": None, "generateName": "x"},
)
NOTHING: tuple[object, ...] = (None, 1, {})
NO_SPEC: tuple[object, ...] = (ABSENT, None, [], "x", 1, {})
STATUS: tuple[object, ...] = (
    "x",
    1.5,
    None,
    [],
    {},
    {"bogus": 1},
    {"bogus": None},
    [{"bogus": 1}],
    [{}, {"bogus": None}],
)
BIG = 262_144
ANNOTATIONS: tuple[object, ...] = (
    {"a": "x" * (BIG - 1)}, {"a": "x" * BIG}, {"a": "x" * (BIG // 2), "b": "é" * (BIG // 4 - 1)}, {"a": "x" * (BIG // 2), "b": "é" * (BIG // 4)}, {"A.B/C": "x"}, {"a" * 254 + "/b": "x"},
)  # fmt: skip


def changes() -> Iterator[tuple[Path, object]]:
    """Yield what to put where in any object, whatever its kind."""
    yield from ((("metadata", field), value) for field in FIELDS for value in ANY)
    yield from ((("metadata", field), name) for field in ("name", "generateName") for name in NAMES)
    yield from ((("metadata", field, key), "x") for field in ("labels", "annotations") for key in texts.KEYS)
    yield from (
        (("metadata", field, "k"), value)
        for field in ("labels", "annotations")
        for value in (*texts.NAMES, *ANY)
    )
    yield from ((("metadata", "finalizers"), value) for value in FINALIZERS)
    yield from ((("metadata", "ownerReferences"), value) for value in OWNERS)
    yield from ((("metadata", "managedFields"), value) for value in ENTRIES)
    yield from ((("metadata", "annotations"), value) for value in ANNOTATIONS)
    for field in ("creationTimestamp", "deletionTimestamp"):
        yield from ((("metadata", field), instant) for instant in texts.INSTANTS)
    yield from ((("metadata",), value) for value in WHOLE)
    yield from (((field,), value) for field in ("bogus", "Spec", "") for value in NOTHING)
    yield from ((("spec",), value) for value in NO_SPEC)


def status_changes(kind: str) -> Iterator[tuple[Path, object]]:
    """Yield what to put into a kind's status, which the API server reads and forgets."""
    yield from ((("status",), value) for value in STATUS)
    for place in places(kind, "status"):
        yield from ((place.path, value) for value in STATUS)
