"""By hand: `python -m tests.differential --objects 50000 --seed 7` on a server of its own."""

import argparse
import sys

from tests.differential.mutants import mutants
from tests.differential.run import ask, counted, report
from tests.rig.server import api_server


def main() -> int:
    """Ask, print the figures and what differs, and fail where verdicts do."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--objects", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=7)
    wanted = parser.parse_args()
    with api_server() as server:
        figures = counted(wanted.seed, ask(server, mutants(wanted.objects, wanted.seed)))
    print(report("verdicts that differ", figures.disagreements))  # noqa: T201 - what it is for
    print(report("other fields", figures.other_fields))  # noqa: T201
    print(figures)  # noqa: T201
    return bool(figures.disagreements)


if __name__ == "__main__":
    sys.exit(main())
