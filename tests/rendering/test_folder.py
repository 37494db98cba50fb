"""The folder that `gpupool render -d` writes: exactly these files, and nothing else touched."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from gpupool.api import check_folder, render_files, write_folder
from gpupool.errors import InputError, StaleError
from gpupool.rendering import folder as folders
from gpupool.rendering.folder import MARK
from gpupool.rendering.render import Rendered
from tests.cli.blueprints import SMALL, TOP

THREE = f"""\
{TOP.replace("us-east-1,", "us-east-1, features: [NodeOverlay],")}pools:
  train: {{profile: training, accelerator: h100}}
  serve: {{profile: inference, accelerator: l4, sharing: {{timeSlicing: 4}}}}
  tests: {{instances: {{families: m7i}}}}
"""
SPOT = "[{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]"
EVERY_KIND = f"{THREE}nodeOverlays: {{cheap: {{requirements: {SPOT}, price: '1'}}}}\n"


@pytest.fixture
def blueprint(tmp_path: Path) -> Callable[[str], Rendered]:
    """Render a blueprint's text."""

    def rendered(text: str) -> Rendered:
        path = tmp_path / "gpupool.yaml"
        path.write_text(text, "utf-8")
        return render_files([str(path)])

    return rendered


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that is not there yet."""
    return tmp_path / "out"


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file's bytes by its path, and where each link points to."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = b"-> " + os.fsencode(path.readlink())
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def expected(rendered: Rendered) -> dict[str, bytes]:
    return {path: text.encode() for path, text in sorted(rendered.files().items())}


def refusal(rendered: Rendered, folder: Path) -> list[str]:
    """Try to write, and give what is said about it as `place code message`."""
    with pytest.raises(InputError) as caught:
        write_folder(rendered, folder)
    return [f"{finding.at} {finding.code} {finding.message}" for finding in caught.value.findings]


def test_the_files_are_one_for_each_object_and_two_beside(
    blueprint: Callable[[str], Rendered], out: Path
) -> None:
    write_folder(blueprint(EVERY_KIND), out)

    assert list(contents(out)) == [
        "ec2nodeclasses/serve.yaml",
        "ec2nodeclasses/tests.yaml",
        "ec2nodeclasses/train.yaml",
        "kustomization.yaml",
        "nodeoverlays/cheap.yaml",
        "nodeoverlays/serve-gpus-1.yaml",
        "nodeoverlays/serve-gpus-4.yaml",
        "nodeoverlays/serve-gpus-8.yaml",
        "nodepools/serve.yaml",
        "nodepools/tests.yaml",
        "nodepools/train.yaml",
        "values/nvidia-device-plugin.yaml",
    ]


def test_each_file_says_where_it_is_from_and_all_are_as_rendered(
    blueprint: Callable[[str], Rendered], out: Path
) -> None:
    rendered = blueprint(EVERY_KIND)

    write_folder(rendered, out)

    assert contents(out) == expected(rendered)
    assert {text.split(b"\n", 1)[0] for text in contents(out).values()} == {
        b"# Rendered by gpupool from demo"
    }
    assert {path.stat().st_mode & 0o777 for path in out.rglob("*") if path.is_file()} == {0o644}


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600), (0o002, 0o664)])
def test_the_umask_says_who_may_read(
    blueprint: Callable[[str], Rendered], out: Path, umask: int, mode: int
) -> None:
    """A folder and its files; also a file that was there with another mode, and is written anew."""
    (out / "nodepools").mkdir(parents=True)
    out.chmod(0o755)
    before = os.umask(umask)
    try:
        write_folder(blueprint(THREE), out)
        (written := next((out / "nodepools").iterdir())).chmod(0o606)
        written.write_bytes(written.read_bytes() + b"# edited\n")
        write_folder(blueprint(THREE), out)
    finally:
        os.umask(before)

    modes = {path.stat().st_mode & 0o777 for path in out.rglob("*") if path.is_file()}
    assert modes == {mode}
    assert (out / "ec2nodeclasses").stat().st_mode & 0o777 == 0o777 & ~umask
    assert (out.stat().st_mode & 0o777) == 0o755
    assert not [path for path in out.rglob("*") if "unfinished" in path.name]


def test_every_path_is_one_where_a_left_over_is_looked_for(blueprint: Callable[[str], Rendered]) -> None:
    paths = [Path(path) for path in blueprint(EVERY_KIND).files()]

    unseen = [path for path in paths if not any(path.match(pattern) for pattern in folders.OWN_PATHS)]

    assert unseen == []
    assert {pattern for pattern in folders.OWN_PATHS if any(path.match(pattern) for path in paths)} == set(
        folders.OWN_PATHS
    )


def test_a_second_run_writes_nothing(blueprint: Callable[[str], Rendered], out: Path) -> None:
    rendered = blueprint(THREE)
    write_folder(rendered, out)
    long_ago = 1_000_000_000
    for path in out.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in out.rglob("*")}

    write_folder(blueprint(THREE), out)

    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in out.rglob("*")} == before


def test_a_change_touches_the_files_that_differ(blueprint: Callable[[str], Rendered], out: Path) -> None:
    write_folder(blueprint(THREE), out)
    before = {path: path.stat().st_ino for path in out.rglob("*.yaml")}

    write_folder(blueprint(THREE.replace("m7i", "m8i")), out)

    after = {path: path.stat().st_ino for path in out.rglob("*.yaml")}
    assert [path.relative_to(out).as_posix() for path in after if after[path] != before[path]] == [
        "nodepools/tests.yaml"
    ]


def test_files_of_a_removed_pool_go(blueprint: Callable[[str], Rendered], out: Path) -> None:
    write_folder(blueprint(EVERY_KIND), out)
    fewer = blueprint(SMALL)

    write_folder(fewer, out)

    assert contents(out) == expected(fewer)


def test_what_a_killed_run_left_unfinished_goes(blueprint: Callable[[str], Rendered], out: Path) -> None:
    rendered = blueprint(SMALL)
    write_folder(rendered, out)
    (out / "nodepools" / ".train.yaml.abc.gpupool-unfinished").write_text("# Rendered by", "utf-8")
    (out / "nodepools" / ".train.yaml.swp").write_text("an editor's", "utf-8")

    write_folder(rendered, out)

    assert contents(out) == {**expected(rendered), "nodepools/.train.yaml.swp": b"an editor's"}


def test_a_damaged_file_of_ours_is_mended(blueprint: Callable[[str], Rendered], out: Path) -> None:
    rendered = blueprint(SMALL)
    write_folder(rendered, out)
    target = out / "nodepools" / "train.yaml"
    target.write_bytes(target.read_bytes()[:40].replace(b"\n", b"\r\n"))

    write_folder(rendered, out)

    assert contents(out) == expected(rendered)


OTHERS = {
    "README.md": "ours",
    "kustomize.yaml": "kind: Component",
    "nodepools/by-hand.yaml": "kind: NodePool",
    "nodepools/notes.txt": f"{MARK}demo",
    "nodepools/deeper/train.yaml": f"{MARK}demo",
    "nodepools/of-another.yaml": f"{MARK}demo2",
    "nodepools/quoted.yaml": f"x\n{MARK}demo",
    "nodepools/longer.yaml": f"{MARK}demo, and then changed",
    "backup/train.yaml": f"{MARK}demo",
    "my-values.yaml": f"{MARK}demo",
    "prod/kustomization.yaml": f"{MARK}demo",
    ".hidden/a.yaml": f"{MARK}demo",
}


def test_files_of_other_people_stay(blueprint: Callable[[str], Rendered], out: Path) -> None:
    for name, text in OTHERS.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, "utf-8")
    rendered = blueprint(SMALL)

    write_folder(rendered, out)
    check_folder(rendered, out)

    assert contents(out) == dict(
        sorted((expected(rendered) | {name: text.encode() for name, text in OTHERS.items()}).items())
    )


IN_THE_WAY = {
    "by hand": "apiVersion: karpenter.sh/v1\nkind: NodePool\n",
    "another blueprint": f"{MARK}other\n",
    "the name is only the beginning": f"{MARK}demo2\n",
    "empty": "",
}


@pytest.mark.parametrize("text", IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_a_file_that_gpupool_did_not_write_is_not_overwritten(
    text: str, blueprint: Callable[[str], Rendered], out: Path
) -> None:
    target = out / "nodepools" / "train.yaml"
    target.parent.mkdir(parents=True)
    target.write_text(text, "utf-8")

    said = refusal(blueprint(THREE), out)

    assert said == [
        f"{target} GP0080 this file was not rendered from the blueprint `demo`, so it is not overwritten"
    ]
    assert contents(out) == {"nodepools/train.yaml": text.encode()}


def test_every_file_in_the_way_is_named_at_once(blueprint: Callable[[str], Rendered], out: Path) -> None:
    for name in ("nodepools/train.yaml", "kustomization.yaml"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine", "utf-8")
    (out / "values").write_text("mine", "utf-8")
    (out / "ec2nodeclasses" / "train.yaml").mkdir(parents=True)
    before = contents(out)

    said = refusal(blueprint(SMALL), out)

    assert [line.split(" GP")[0] for line in said] == [
        str(out / name)
        for name in ("values", "ec2nodeclasses/train.yaml", "nodepools/train.yaml", "kustomization.yaml")
    ]
    assert contents(out) == before


def test_two_blueprints_do_not_share_a_folder(blueprint: Callable[[str], Rendered], out: Path) -> None:
    write_folder(blueprint(SMALL), out)
    before = contents(out)

    said = refusal(blueprint(SMALL.replace("demo", "other").replace("train:", "chat:")), out)

    assert [line.split(" GP")[0] for line in said] == [
        str(out / "kustomization.yaml"),
        str(out / "values" / "nvidia-device-plugin.yaml"),
    ]
    assert contents(out) == before


def test_a_file_in_place_of_the_folder(blueprint: Callable[[str], Rendered], out: Path) -> None:
    out.write_text("mine", "utf-8")

    assert refusal(blueprint(SMALL), out) == [f"{out} GP0080 this is a file, not a folder"]
    assert out.read_text("utf-8") == "mine"


def test_a_file_in_place_of_a_parent(blueprint: Callable[[str], Rendered], out: Path) -> None:
    out.write_text("mine", "utf-8")

    said = refusal(blueprint(SMALL), out / "below" / "it")

    assert said == [f"{out / 'below/it/ec2nodeclasses/train.yaml'} GP0081 can't write it: Not a directory"]
    assert out.read_text("utf-8") == "mine"


class TestLinks:
    """A link in the folder never leads a write or a removal out of it."""

    @pytest.fixture
    def outside(self, tmp_path: Path) -> Path:
        """A folder of somebody else, with a file that looks like ours."""
        folder = tmp_path / "outside"
        folder.mkdir()
        (folder / "train.yaml").write_text(f"{MARK}demo\n", "utf-8")
        (folder / "old.yaml").write_text(f"{MARK}demo\n", "utf-8")
        return folder

    def test_of_a_subfolder(self, blueprint: Callable[[str], Rendered], out: Path, outside: Path) -> None:
        out.mkdir()
        (out / "nodepools").symlink_to(outside)
        before = contents(outside)

        said = refusal(blueprint(SMALL), out)

        assert said == [
            f"{out / 'nodepools'} GP0080 gpupool writes into this folder, but it is a link or a file"
        ]
        assert contents(out) == {"nodepools": b"-> " + os.fsencode(outside)}
        assert contents(outside) == before

    def test_of_a_subfolder_that_is_no_longer_needed(
        self, blueprint: Callable[[str], Rendered], out: Path, outside: Path
    ) -> None:
        out.mkdir()
        (out / "nodeoverlays").symlink_to(outside)
        before = contents(outside)

        write_folder(blueprint(SMALL), out)

        assert contents(outside) == before

    @pytest.mark.parametrize("name", ["nodepools/train.yaml", "kustomization.yaml"])
    def test_of_a_target(
        self, name: str, blueprint: Callable[[str], Rendered], out: Path, outside: Path
    ) -> None:
        (out / name).parent.mkdir(parents=True)
        (out / name).symlink_to(outside / "train.yaml")
        before = contents(outside)

        said = refusal(blueprint(SMALL), out)

        assert [line.split(" GP")[0] for line in said] == [str(out / name)]
        assert contents(outside) == before

    def test_of_a_target_to_nowhere(
        self, blueprint: Callable[[str], Rendered], out: Path, outside: Path
    ) -> None:
        (out / "nodepools").mkdir(parents=True)
        (out / "nodepools" / "train.yaml").symlink_to(outside / "new.yaml")

        said = refusal(blueprint(SMALL), out)

        assert [line.split(" GP")[0] for line in said] == [str(out / "nodepools/train.yaml")]
        assert not (outside / "new.yaml").exists()

    def test_of_a_left_over(self, blueprint: Callable[[str], Rendered], out: Path, outside: Path) -> None:
        write_folder(blueprint(SMALL), out)
        (out / "nodepools" / "old.yaml").symlink_to(outside / "old.yaml")
        before = contents(outside)

        write_folder(blueprint(SMALL), out)

        assert contents(outside) == before
        assert (out / "nodepools" / "old.yaml").is_symlink()

    def test_of_the_folder_itself_is_the_user_s_choice(
        self, blueprint: Callable[[str], Rendered], out: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "real").mkdir()
        out.symlink_to(tmp_path / "real")
        rendered = blueprint(SMALL)

        write_folder(rendered, out)

        assert contents(tmp_path / "real") == expected(rendered)

    def test_of_the_folder_itself_to_nowhere(
        self, blueprint: Callable[[str], Rendered], out: Path, tmp_path: Path
    ) -> None:
        out.symlink_to(tmp_path / "gone")

        said = refusal(blueprint(SMALL), out)

        assert said == [f"{out / 'ec2nodeclasses/train.yaml'} GP0081 can't write it: File exists"]
        assert not (tmp_path / "gone").exists()


def test_a_folder_that_climbs_out_and_in_again(
    blueprint: Callable[[str], Rendered], out: Path, tmp_path: Path
) -> None:
    rendered = blueprint(SMALL)
    (tmp_path / "a").mkdir()

    write_folder(rendered, tmp_path / "a" / ".." / "out")

    assert contents(out) == expected(rendered)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a", "gpupool.yaml", "out"]


def test_what_can_not_be_opened_without_waiting_is_in_the_way(
    blueprint: Callable[[str], Rendered], out: Path
) -> None:
    (out / "nodepools").mkdir(parents=True)
    os.mkfifo(out / "nodepools" / "train.yaml")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(os.path.relpath(out / "kustomization.yaml"))

        said = refusal(blueprint(SMALL), out)
        with pytest.raises(StaleError) as caught:
            check_folder(blueprint(SMALL), out)

    assert [line.split(" GP")[0] for line in said] == [
        str(out / "nodepools/train.yaml"),
        str(out / "kustomization.yaml"),
    ]
    assert "nodepools/train.yaml" in caught.value.names


class TestInterrupted:
    """Whatever stops a run in the middle, every file is a whole old or a whole new one."""

    @pytest.mark.parametrize("at", range(6))
    @pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_while_moving_into_place(
        self,
        at: int,
        problem: BaseException,
        blueprint: Callable[[str], Rendered],
        out: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        changed = THREE.replace("v20260810", "v20260901").replace("tests:", "builds:")
        old, new = blueprint(THREE), blueprint(changed.replace("timeSlicing: 4", "timeSlicing: 2"))
        write_folder(old, out)
        moves = iter(range(100))

        def replace(path: Path, target: Path) -> Path:
            if next(moves) == at:
                raise problem
            path.rename(target)
            return target

        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", replace)
            with pytest.raises((InputError, KeyboardInterrupt)):
                write_folder(new, out)
        half = contents(out)

        assert set(half) <= set(expected(old)) | set(expected(new))
        assert half.keys() >= expected(new).keys() & expected(old).keys()
        assert all(text in (expected(old).get(name), expected(new).get(name)) for name, text in half.items())
        write_folder(new, out)
        assert contents(out) == expected(new)

    def test_while_writing(
        self, blueprint: Callable[[str], Rendered], out: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fdopen", full)

        said = refusal(blueprint(SMALL), out)

        assert said == [f"{out / 'ec2nodeclasses/train.yaml'} GP0081 can't write it: No space left on device"]
        assert contents(out) == {}


class TestCheck:
    """`render -d DIR --check`: is what is committed what would be rendered?"""

    def stale(self, rendered: Rendered, folder: Path) -> tuple[str, ...]:
        with pytest.raises(StaleError) as caught:
            check_folder(rendered, folder)
        return caught.value.names

    def test_of_a_clean_folder(self, blueprint: Callable[[str], Rendered], out: Path) -> None:
        write_folder(blueprint(EVERY_KIND), out)
        before = contents(out)

        check_folder(blueprint(EVERY_KIND), out)

        assert contents(out) == before

    def test_of_no_folder(self, blueprint: Callable[[str], Rendered], out: Path) -> None:
        rendered = blueprint(SMALL)

        assert self.stale(rendered, out) == tuple(sorted(rendered.files()))
        assert not out.exists()

    def test_names_what_is_stale_missing_or_left_over(
        self, blueprint: Callable[[str], Rendered], out: Path
    ) -> None:
        write_folder(blueprint(THREE), out)
        (out / "values" / "nvidia-device-plugin.yaml").unlink()
        (out / "ec2nodeclasses" / "train.yaml").write_text(f"{MARK}demo\n", "utf-8")
        before = contents(out)

        names = self.stale(blueprint(THREE.replace("tests:", "builds:")), out)

        assert names == (
            "ec2nodeclasses/builds.yaml",
            "ec2nodeclasses/tests.yaml",
            "ec2nodeclasses/train.yaml",
            "kustomization.yaml",
            "nodepools/builds.yaml",
            "nodepools/tests.yaml",
            "values/nvidia-device-plugin.yaml",
        )
        assert contents(out) == before

    def test_of_another_blueprint_s_folder(self, blueprint: Callable[[str], Rendered], out: Path) -> None:
        write_folder(blueprint(SMALL.replace("demo", "other")), out)

        assert "kustomization.yaml" in self.stale(blueprint(SMALL), out)
