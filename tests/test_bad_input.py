"""Whatever stands in a file, gpupool says where and what is wrong with it, and ends with exit code 1."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TypeAlias

import pytest

from tests.cli.blueprints import HEAD, SMALL, TOP, with_pool
from tests.cli.run import Outcome, gpupool, process

MOST_CALLS = 5_000_000
"""How many Python functions one bad file may call: a measure of work that is the same on every machine."""


@dataclass
class Calls:
    """How many Python functions were called."""

    total: int = 0


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """Count the Python functions that the block calls."""
    calls, before = Calls(), sys.getprofile()

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        calls.total += event == "call"

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def lines(outcome: Outcome) -> list[str]:
    """Return the findings without the lines of their fixes and the last line, which counts them."""
    *said, last = outcome.err.splitlines()
    assert re.fullmatch(r"error: \d+ errors?", last)
    assert not any(line.startswith(("Traceback", "error: this is a bug")) for line in said)
    return [line for line in said if not line.startswith("    fix: ")]


def pool(words: str) -> str:
    """Return a blueprint whose one pool says these words too, from line 7, column 49 on."""
    return with_pool(f"profile: training, accelerator: h100, {words}")


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
Case: TypeAlias = tuple[str | bytes, str]
"""What stands in the file, and how what is said of it begins after the file's name."""

NO_YAML: dict[str, Case] = {
    "empty": ("", "1:1: error GP0005 the file is empty"),
    "comments only": ("# later\n\n", "1:1: error GP0005 the file is empty"),
    "an empty document": ("---\n", "1:1: error GP0005 the file is empty"),
    "null": ("null\n", "1:1: error GP0005 a blueprint must be a map, but this is null"),
    "a text": ("pools\n", "1:1: error GP0005 a blueprint must be a map, but this is the string `pools`"),
    "a list at the top": ("- pools: {}\n", "1:1: error GP0005 a blueprint must be a map, but this is a list"),
    "an open bracket": (f"{HEAD}pools: [1\n", "3:8: error GP0002 the bracket `[` is never closed"),
    "an open quote": (f'{HEAD}pools: "a\n', '3:8: error GP0002 the quote " is never closed'),
    "two colons": ("a: b: c\n", "1:5: error GP0002 a second `: ` in the line"),
    "a tab": (f"{HEAD}cluster:\n\tname: x\n", "4:1: error GP0002 tab in the indentation; YAML allows only"),
    "a tab below spaces": (
        f"{HEAD}metadata:\n  name: x\n\tlabels: y\n",
        "5:1: error GP0002 tab in the inden",
    ),
    "a key twice": (
        f"{SMALL}metadata: {{name: b}}\n",
        "8:1: error GP0003 duplicate key 'metadata'",
    ),
    "a pool twice": (
        f"{SMALL}  train: {{}}\n",
        "8:3: error GP0003 duplicate key 'train'; the first is",
    ),
    "a word twice": (
        with_pool("accelerator: h100, arch: amd64, arch: arm64"),
        "7:43: error GP0003 duplicate key 'arch'",
    ),
    "Latin-1": (
        SMALL.encode() + b"# \xe9\n",
        "8:3: error GP0001 the file is not UTF-8: invalid byte 0xe9",
    ),
    "UTF-16": (SMALL.encode("utf-16"), "1:1: error GP0001 the file is UTF-16, not UTF-8"),
    "UTF-32": (SMALL.encode("utf-32"), "1:1: error GP0001 the file is UTF-32, not UTF-8"),
    "a NUL": (
        f"{SMALL}\0",
        "8:1: error GP0001 a NUL byte (the file may be UTF-16 or binary) is not allowed in YAML",
    ),
    "a bell": (f"{SMALL}# \a\n", "8:3: error GP0001 the control character U+0007 is not allowed in YAML"),
    "two files joined": (
        f"{SMALL}\ufeff# x\n",
        "8:1: error GP0001 unexpected byte order mark (U+FEFF) inside the file",
    ),
    "a compressed file": (
        b"\x1f\x8b\x08\x00\x00",
        "1:2: error GP0001 the file is not UTF-8: invalid byte 0x8b",
    ),
    "a bomb of aliases": (
        BOMB,
        "6:8: error GP0002 more than 200,000 values in the file, aliases expanded",
    ),
    "an alias inside itself": (
        "a: &a [*a]\n",
        "1:8: error GP0002 the alias *a refers to the map or list that contains it",
    ),
    "an alias of nothing": ("a: *b\n", "1:4: error GP0002 the alias *b has no anchor above it"),
    "a merge key": (
        f"{HEAD}cluster: {{<<: x}}\n",
        "3:11: error GP0002 the merge key `<<` does not exist in YAML 1.2",
    ),
    "50 MB": (
        b"#" * 50_000_000,
        ": error GP0001 the file is larger than 4 MiB, the maximum",
    ),
    "many values": (
        "a: [" + "1," * 300_000 + "]\n",
        "1:400001: error GP0002 more than 200,000 values in the file",
    ),
    "deep brackets": ("[" * 100_000, "1:65: error GP0002 more than 64 nested maps and lists"),
    "deep maps": ("{a: " * 100_000, "1:257: error GP0002 more than 64 nested maps and lists"),
    "deep lists": ("- " * 5_000, "1:129: error GP0002 more than 64 nested maps and lists"),
    "deep indentation": (
        "\n".join(" " * depth + "a:" for depth in range(300)),
        "65:65: error GP0002 more than 64 nested maps and lists",
    ),
    "CloudFormation's tag": (
        f"{HEAD}metadata: !Ref x\n",
        "3:11: error GP0002 unsupported tag !Ref",
    ),
    "Python's tag": (
        "!!python/object:os.system x\n",
        "1:1: error GP0002 unsupported tag !!python/object:os.system",
    ),
    "binary": (
        TOP.replace("demo", "!!binary aGk="),
        "3:18: error GP0002 unsupported tag !!binary",
    ),
    "two documents": (f"{SMALL}---\n{SMALL}", "8:1: error GP0002 a second document in the file"),
    "a template": (
        TOP.replace("demo", "{{ name }}"),
        "3:18: error GP0002 `{{` starts a map inside a map; a blueprint is",
    ),
    "a list as a key": (f"{HEAD}[a, b]: x\n", "3:1: error GP0002 a list can't be a key"),
    "null as a key": (f"{HEAD}~: x\n", "3:1: error GP0002 the key is null or missing"),
    "a number as a key": (
        SMALL.replace("train:", "1:"),
        "7:3: error GP0002 the key '1' is a number; keys must be",
    ),
}
WRONG_SCALARS: dict[str, Case] = {
    "a line separator, which ends a line for kubectl only": (
        f"{SMALL}note: a\u2028b\n",
        "8:8: error GP0004 U+2028 ends a line for kubectl and Helm but not in YAML 1.2",
    ),
    "no": (
        SMALL.replace("my-cluster", "no"),
        "4:17: error GP0004 'no' is a string in YAML 1.2, but false for kubectl",
    ),
    "yes": (
        pool("labels: {a: yes}"),
        "7:61: error GP0004 'yes' is a string in YAML 1.2, but true for kubectl and Helm",
    ),
    "true for a text": (
        pool("labels: {a: true}"),
        "7:61: error GP0012 `pools.train.labels.a` must be a label value (letters, digits, - _ . with",
    ),
    "1.30": (
        SMALL.replace("UTC}", "UTC, kubernetes: 1.30}"),
        '4:75: error GP0012 `cluster.kubernetes` must be a minor version such as "1.14", not the number 1.30',
    ),
    "0o17": (
        pool("annotations: {a: 0o17}"),
        "7:66: error GP0012 `pools.train.annotations.a` must be a string, not",
    ),
    "017": (
        pool("annotations: {a: 017}"),
        "7:66: error GP0004 '017' is the number 17 in YAML 1.2, but the number 15",
    ),
    "1e3": (
        pool("annotations: {a: 1e3}"),
        "7:66: error GP0012 `pools.train.annotations.a` must be a string, not",
    ),
    "infinity": (
        pool("weight: .inf"),
        "7:57: error GP0004 '.inf' is not a finite number; JSON supports no others",
    ),
    "30 digits": (pool(f"weight: {'9' * 30}"), f"7:57: error GP0004 '{'9' * 30}' is the number"),
    "a text for a number": (
        pool('weight: "5"'),
        "7:57: error GP0012 `pools.train.weight` must be a whole number",
    ),
    "a fraction": (
        pool("weight: 1.5"),
        "7:57: error GP0012 `pools.train.weight` must be a whole number, not",
    ),
    "too small": (pool("weight: 0"), "7:57: error GP0013 `pools.train.weight`: `0` is less than 1"),
    "too large": (pool("weight: 101"), "7:57: error GP0013 `pools.train.weight`: `101` is more than 100"),
    "no choice": (
        with_pool("profile: training, capacity: spott"),
        "7:40: error GP0013 `pools.train.capacity`: `spott` is not one of 'on-demand', 'spot', 'reserved' or 'any'",
    ),
    "a percentage without its sign": (
        pool("tiers: {a: {limits: 25}}"),
        "7:69: error GP0012 `pools.train.tiers.a.limits` must be a share of the pool's limits, such as 25%, not",
    ),
    "bounds": (
        with_pool("profile: training, instances: {gpus: {min: two}}"),
        "7:54: error GP0012 `pools.train.instances.gpus.min` must be a whole number, not the string `two`",
    ),
}
WRONG_WORDS: dict[str, Case] = {
    "another version": (
        SMALL.replace("v1alpha1", "v1"),
        "1:13: error GP0005 `apiVersion` is the string `gpupool.dev/v1`",
    ),
    "a number as version": (
        SMALL.replace("gpupool.dev/v1alpha1", "1"),
        "1:13: error GP0005 `apiVersion` is the numb",
    ),
    "another kind": (
        SMALL.replace("Blueprint", "NodePool"),
        "2:7: error GP0005 `kind` is the string `NodePool`, not",
    ),
    "no version": (SMALL.split("\n", 1)[1], "1:1: error GP0005 `apiVersion` is missing"),
    "no kind": (SMALL.replace("kind: Blueprint\n", ""), "1:1: error GP0005 `kind` is missing"),
    "no name": (SMALL.replace("{name: demo}", "{}"), "1:1: error GP0011 `metadata.name` is missing"),
    "null for a name": (
        SMALL.replace("{name: demo}", "{name: }"),
        "1:1: error GP0011 `metadata.name` is missing",
    ),
    "an unknown section": (f"{SMALL}poolz: {{}}\n", "8:1: error GP0010 unknown field `poolz`"),
    "an unknown word": (
        pool("expiresAfter: 1h"),
        "7:49: error GP0010 unknown field `expiresAfter` in `pools.train`",
    ),
    "a list of pools": (
        f"{TOP}pools:\n  - name: a\n",
        "7:3: error GP0012 `pools` must be a map, not a list",
    ),
    "a text for a pool": (
        f"{TOP}pools:\n  a: training\n",
        "7:6: error GP0012 `pools.a` must be a map, not",
    ),
    "a pool that says nothing": (
        with_pool(""),
        "7:3: error GP0041 pool `train` selects no instance types",
    ),
    "an unknown profile": (with_pool("profile: trainin"), "7:20: error GP0017 unknown profile `trainin`"),
    "a profile file that is not there": (
        with_pool("profile: ./ours.yaml"),
        "7:20: error GP0017 profile file `ours.yaml` does not exist",
    ),
    "a pool's name with a capital": (
        SMALL.replace("train:", "Train:"),
        "7:3: error GP0013 `pools.Train`: `Train` is not a name of lower-case letters, digits and `-`",
    ),
    "a pool's name that climbs": (
        SMALL.replace("train:", "../../etc:"),
        (
            "7:3: error GP0013 `pools[../../etc]`: `../../etc` is not a name of lower-case letters, digits "
            "and `-`"
        ),
    ),
    "a pool's name too long": (
        SMALL.replace("train:", f"{'p' * 64}:"),
        f"7:3: error GP0046 a name of 64 characters is too long for a label (63 at most): `{'p' * 64}`",
    ),
    "a tier's name too long with the pool's": (
        SMALL.replace("train:", f"{'p' * 59}:").replace("h100}", "h100, tiers: {spot: {}}}"),
        (
            "7:111: error GP0046 a name of 64 characters is too long for a label (63 at most): "
            f"`{'p' * 59}-spot`"
        ),
    ),
    "a label's value too long": (
        pool(f"labels: {{a: {'x' * 64}}}"),
        f"7:61: error GP0013 `pools.train.labels.a`: `{'x' * 64}` is longer than 63",
    ),
    "a tier with the name of a pool": (
        pool("tiers: {spot: {}}") + "  train-spot: {accelerator: h100}\n",
        "8:3: error GP0047 `pools.train.tiers.spot` and `pools.train-spot` both render NodePool `train-spot`",
    ),
    "a tier with the name of another tier": (
        pool("tiers: {a-b: {}}") + "  train-a: {accelerator: h100, tiers: {b: {}}}\n",
        "8:40: error GP0047 `pools.train.tiers.a-b` and `pools.train-a.tiers.b` both render NodePool",
    ),
    "two words for one thing": (
        with_pool("arch: amd64, requirements: {kubernetes.io/arch: arm64}"),
        "7:39: error GP0014 `arch` and `requirements.kubernetes.io/arch` both set requirement kubernetes.io/arch",
    ),
    "a form that the word does not take": (
        with_pool("accelerator: {name: h100}"),
        "7:24: error GP0012 `pools.train.accelerator` must be a string or a list, not a map",
    ),
}
CASES = NO_YAML | WRONG_SCALARS | WRONG_WORDS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("text", "words"), CASES.values(), ids=CASES)
def test_a_bad_file(text: str | bytes, words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = text.encode() if isinstance(text, str) else text
    (folder / "gpupool.yaml").write_bytes(data)

    with counted_calls() as calls:
        said = gpupool(capsys, "render", "-d", "out")

    assert (said.code, said.out) == (1, "")
    assert lines(said)[0].startswith(f"gpupool.yaml{'' if words.startswith(':') else ':'}{words}")
    assert 0 < calls.total < MOST_CALLS
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "name", ["a bomb of aliases", "50 MB", "many values", "deep brackets", "deep indentation"]
)
def test_an_attack_in_a_process_with_little_memory(name: str, tmp_path: Path) -> None:
    text, words = NO_YAML[name]
    (tmp_path / "gpupool.yaml").write_bytes(text.encode() if isinstance(text, str) else text)

    said = process("render", folder=tmp_path, megabytes=400)

    assert (said.code, said.out) == (1, "")
    assert words in said.err


def test_input_without_an_end(tmp_path: Path) -> None:
    said = process("render", "-f", "/dev/zero", folder=tmp_path, megabytes=400)

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("/dev/zero: error GP0001 the file is larger than 4 MiB")


FOREIGN = {
    "minSize": "set `replicas: N` for a fixed number of nodes; a NodePool has no minimum",
    "max_size": "set `limits: {nodes: N}`",
    "desiredCapacity": "set `replicas: N` for a fixed number of nodes",
    "instanceTypes": "set `instances: {types: …}`",
    "launchTemplate": "set its fields under `nodeClass`",
    "tolerations": "set `taints` in the pool",
    "nodeSelector": "set `labels` for the nodes' labels",
    "fabric": "Karpenter attaches EFA when a pod requests `vpc.amazonaws.com/efa`",
    "mig": "`sharing: {timeSlicing: N}`",
    "acelerator": "did you mean `accelerator`?",
    "Arch": "did you mean `arch`?",
    "start_up_taints": "did you mean `startupTaints`?",
    "zzz": "use one of metadata, nodeClass,",
}


@pytest.mark.parametrize(("word", "answer"), FOREIGN.items(), ids=FOREIGN)
def test_an_unknown_word_has_an_answer(
    word: str, answer: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gpupool.yaml").write_text(with_pool(f"profile: training, {word}: 1"), "utf-8")

    said = gpupool(capsys, "render")

    first, fix, _ = said.err.splitlines()
    assert first == f"gpupool.yaml:7:30: error GP0010 unknown field `{word}` in `pools.train`"
    assert fix.startswith("    fix: ")
    assert answer in fix


class TestFiles:
    """Files that are not there, are none, or come from elsewhere."""

    def refused(self, capsys: pytest.CaptureFixture[str], *names: str) -> list[str]:
        arguments = [argument for name in names for argument in ("-f", name)]
        said = gpupool(capsys, "render", *arguments)
        assert (said.code, said.out) == (1, "")
        return lines(said)

    @pytest.mark.usefixtures("folder")
    def test_missing(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.refused(capsys, "a.yaml") == [
            "a.yaml: error GP0001 can't read the file: No such file or directory"
        ]

    @pytest.mark.usefixtures("folder")
    def test_a_folder(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.refused(capsys, ".") == [".: error GP0001 can't read the file: Is a directory"]

    @pytest.mark.usefixtures("folder")
    def test_below_a_file(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("a.yaml").write_text(SMALL, "utf-8")

        assert self.refused(capsys, "a.yaml/b.yaml") == [
            "a.yaml/b.yaml: error GP0001 can't read the file: Not a directory"
        ]

    @pytest.mark.usefixtures("folder")
    def test_a_name_that_no_file_can_have(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.refused(capsys, "a\0b") == [
            "a\\x00b: error GP0001 can't read the file: embedded null byte"
        ]
        assert self.refused(capsys, "a" * 5000)[0].endswith(
            "…: error GP0001 can't read the file: File name too long"
        )

    def test_a_name_that_steers_the_terminal(self, tmp_path: Path) -> None:
        said = process("render", "-f", "a\n\x1b[31mb\udcff", folder=tmp_path)

        assert said.code == 1
        assert said.err.splitlines()[0] == (
            "a\\n\\x1b[31mb\\udcff: error GP0001 can't read the file: No such file or directory"
        )

    def test_unreadable(self, folder: Path) -> None:
        (folder / "gpupool.yaml").write_text(SMALL, "utf-8")
        (folder / "gpupool.yaml").chmod(0)

        said = process("render", folder=folder, powerless=True)

        assert (said.code, said.out) == (1, "")
        assert lines(said) == ["gpupool.yaml: error GP0001 can't read the file: Permission denied"]

    @pytest.mark.usefixtures("folder")
    def test_one_of_several_is_missing(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("a.yaml").write_text(with_pool("acelerator: h100"), "utf-8")
        Path("c.yaml").write_text("pools: {}\n", "utf-8")

        assert self.refused(capsys, "c.yaml", "a.yaml", "b.yaml") == [
            "c.yaml:1:1: error GP0005 `apiVersion` and `kind` are missing",
            "a.yaml:7:11: error GP0010 unknown field `acelerator` in `pools.train`",
            "b.yaml: error GP0001 can't read the file: No such file or directory",
        ]

    def test_standard_input(self, tmp_path: Path) -> None:
        good = process("render", "-f", "-", folder=tmp_path, stdin=SMALL.encode())
        bad = process("render", "-f", "-", folder=tmp_path, stdin=b"\xff")
        empty = process("render", "-f", "-", folder=tmp_path)

        assert (good.code, good.err) == (0, "")
        assert good.out.startswith("apiVersion: karpenter.k8s.aws/v1\n")
        assert lines(bad) == ["-:1:1: error GP0001 the file is not UTF-8: invalid byte 0xff"]
        assert lines(empty) == ["-:1:1: error GP0005 the file is empty"]

    def test_standard_input_over_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "base.yaml").write_text(SMALL, "utf-8")
        later = f"{HEAD}pools: {{train: {{weight: 7}}}}\n".encode()

        said = process("render", "-f", "base.yaml", "-f", "-", folder=tmp_path, stdin=later)

        assert (said.code, said.err) == (0, "")
        assert "\n  weight: 7\n" in said.out


class TestProfileFiles:
    """A profile of the user's own that is not as it has to be."""

    HEAD = "apiVersion: gpupool.dev/v1alpha1\nkind: Profile\nmetadata: {name: ours}\nsummary: x\ndescription: x\n"

    def refused(self, capsys: pytest.CaptureFixture[str], profile: str | None) -> list[str]:
        Path("gpupool.yaml").write_text(with_pool("profile: ./ours.yaml, accelerator: h100"), "utf-8")
        if profile is not None:
            Path("ours.yaml").write_text(profile, "utf-8")
        said = gpupool(capsys, "render")
        assert (said.code, said.out) == (1, "")
        return lines(said)

    @pytest.mark.usefixtures("folder")
    @pytest.mark.parametrize(
        ("profile", "words"),
        [
            (None, "gpupool.yaml:7:20: error GP0017 profile file `ours.yaml` does not exist"),
            ("", "ours.yaml:1:1: error GP0005 the profile is empty"),
            ("a: [1\n", "ours.yaml:1:4: error GP0002 the bracket `[` is never closed"),
            (SMALL, "ours.yaml:2:7: error GP0005 `kind` is the string `Blueprint`, not `Profile`"),
            (f"{HEAD}pool: {{weigth: 1}}\n", "ours.yaml:6:8: error GP0010 unknown field `weigth` in `pool`"),
            (f"{HEAD}nodeClass: {{ami: 1}}\n", "ours.yaml:6:18: error GP0012 `nodeClass.ami` must be"),
            (f"{HEAD}extends: none\n", "ours.yaml:6:10: error GP0017 unknown profile `none`"),
            (
                f"{HEAD}extends: ./b.yaml\n",
                "ours.yaml:6:10: error GP0017 profile file `b.yaml` does not exist",
            ),
            (
                f"{HEAD}extends: ./ours.yaml\n",
                (
                    "ours.yaml:6:10: error GP0018 profiles extend each other in a cycle: ours.yaml extends "
                    "ours.yaml"
                ),
            ),
        ],
    )
    def test_is_said_in_its_own_file(
        self, profile: str | None, words: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (said,) = self.refused(capsys, profile)

        assert said.startswith(words)

    def test_that_extend_each_other(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "b.yaml").write_text(f"{self.HEAD}extends: ./ours.yaml\n", "utf-8")

        assert self.refused(capsys, f"{self.HEAD}extends: ./b.yaml\n") == [
            (
                "b.yaml:6:10: error GP0018 profiles extend each other in a cycle: ours.yaml extends b.yaml "
                "extends ours.yaml"
            )
        ]

    def test_of_two_pools_are_said_once(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        words = "profile: ./ours.yaml, accelerator: h100"
        (folder / "gpupool.yaml").write_text(f"{with_pool(words)}  b: {{{words}}}\n", "utf-8")
        (folder / "ours.yaml").write_text(f"{self.HEAD}pool: {{weigth: 1}}\n", "utf-8")

        assert len(lines(gpupool(capsys, "render"))) == 1


class TestSeveralMistakes:
    """Each mistake is said at once, in the order of the files and of the lines in them."""

    def test_in_several_files(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "z.yaml").write_text(with_pool("weight: 0, arch: arm65"), "utf-8")
        (folder / "a.yaml").write_text(f"{HEAD}clusters: {{}}\npools: []\n", "utf-8")
        (folder / "m.yaml").write_text(f"{HEAD}kind: x\n", "utf-8")

        said = gpupool(capsys, "render", "-f", "z.yaml", "-f", "a.yaml", "-f", "m.yaml")

        assert [line.split(" ")[0] for line in lines(said)] == [
            "z.yaml:7:19:",
            "z.yaml:7:28:",
            "a.yaml:3:1:",
            "a.yaml:4:8:",
            "m.yaml:3:1:",
        ]
        assert said.err.endswith("\nerror: 5 errors\n")

    def test_between_files(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "a.yaml").write_text(SMALL, "utf-8")
        (folder / "b.yaml").write_text(
            f"{HEAD}metadata: {{name: other}}\npools: {{trian: {{weight: 1}}}}\n", "utf-8"
        )

        said = gpupool(capsys, "render", "-f", "a.yaml", "-f", "b.yaml")

        assert lines(said) == [
            "b.yaml:3:18: error GP0015 `metadata.name` is `other`, but `demo` in the first file",
            "b.yaml:4:9: error GP0016 `pools.trian` does not exist in any earlier file",
        ]

    def test_ten_times_as_many_take_ten_times_the_work(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        work = {}
        for count in (300, 3000):
            pools = "".join(f"  p{number}: {{x: 1, z: 2}}\n" for number in range(count))
            (folder / "gpupool.yaml").write_text(f"{TOP}pools:\n{pools}", "utf-8")

            with counted_calls() as calls:
                said = gpupool(capsys, "render")

            assert len(lines(said)) == 2 * count
            work[count] = calls.total
        assert work[3000] < 11 * work[300]


SECRET = "hunter2-do-not-print"  # noqa: S105 - what must not be seen in a message


@pytest.mark.parametrize(
    "words",
    [
        f"userData: [{SECRET}]",
        f"userData: {{text: {SECRET}}}",
        f"userData: {{file: {{path: {SECRET}}}}}",
        f'userData: "#!/bin/bash\\n# {SECRET}"',
        f"userData: {SECRET}, userdata: {SECRET}",
        f"userData: {SECRET}, user_data: {{file: {SECRET}}}",
        f"userData: {SECRET}, role: 1, amiFamily: Ubuntu",
        f"userData: !secret {SECRET}",
    ],
)
def test_user_data_is_never_said(words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = with_pool(f"profile: training, accelerator: h100, nodeClass: {{{words}}}")
    (folder / "gpupool.yaml").write_text(text, "utf-8")

    said = gpupool(capsys, "render")

    assert (said.code, said.out) == (1, "")
    assert len(lines(said)) > 0
    assert SECRET not in said.err


@pytest.mark.parametrize(
    "words",
    [
        "labels: {{a: {value}}}",
        "arch: {value}",
        "instances: {{memory: {value}}}",
        "taints: {{a: {value}}}",
        "expireAfter: {value}",
        "profile: {value}",
        "nodeClass: {value}",
        "nodeClass: {{ami: {value}}}",
        "disruption: {value}",
        "{value}: 1",
    ],
)
def test_a_long_value_is_said_in_part(words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = with_pool("accelerator: h100, " + words.format(value=f'"{"v" * 900}!"'))
    (folder / "gpupool.yaml").write_text(text, "utf-8")

    said = gpupool(capsys, "render")

    assert said.code == 1
    assert max(map(len, said.err.splitlines())) < 1500
    assert "v" * 2000 not in said.err.replace("\n", "")


def test_a_value_does_not_steer_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gpupool.yaml").write_text(with_pool('profile: "x\\e[31m\\r\\n\\u202e"'), "utf-8")

    said = gpupool(capsys, "render")

    assert lines(said) == ["gpupool.yaml:7:20: error GP0017 unknown profile `x\\x1b[31m\\r\\n\\u202e`"]


NOWHERE = {
    "a circle of profiles by paths that grow": ("profile: ./d/a.yaml", "GP0018"),
    "a profile's path that is too long": (f"profile: ./{'a' * 5000}.yaml", "GP0017"),
    "a NUL in the path of user data": (r'accelerator: h100, nodeClass: {userData: {file: "a\0b"}}', "GP0033"),
}


@pytest.mark.parametrize(("words", "code"), NOWHERE.values(), ids=NOWHERE)
def test_a_path_that_leads_nowhere(
    words: str, code: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "d").mkdir()
    (folder / "d" / "a.yaml").write_text(f"{TestProfileFiles.HEAD}extends: ../d/a.yaml\n", "utf-8")
    (folder / "gpupool.yaml").write_text(with_pool(words), "utf-8")

    said = gpupool(capsys, "render")

    assert (said.code, said.codes) == (1, [code])
