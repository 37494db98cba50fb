"""`python -m tests.rig.build`: build all that the tests need and say what it did and how long it took."""

import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from tests.rig import older, programs, sources
from tests.rig.errors import RigError
from tests.rig.toolchain import go


def main() -> int:
    """Build everything and return the exit code."""
    started = time.monotonic()
    try:
        _say(f"go              {go().version} ({go().program})")
        _say(f"etcd            {programs.etcd()}")
        _say(f"CRDs            {sources.crd_folder()}")
        for release in older.releases():
            _say(f"older CRDs      {release}: {', '.join(sorted(older.crds(release)))}")
        _say(f"chart           {sources.chart_folder()}")
        with ThreadPoolExecutor(len(programs.CHAINS)) as pool:
            for built in [pool.submit(_build_chain, chain) for chain in programs.CHAINS]:
                built.result()
    except RigError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    _say(f"ready in {time.monotonic() - started:.1f} s")
    return 0


def _build_chain(chain: Iterable[programs.Program]) -> None:
    for program in chain:
        _build(program)


def _build(program: programs.Program) -> None:
    _say(f"{program.name:<15} {programs.version(program)} ...")
    built = programs.build(program)
    did = f"built in {built.seconds:.1f} s" if built.fresh else "in the cache"
    _say(f"{program.name:<15} {did} ({built.path})")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
