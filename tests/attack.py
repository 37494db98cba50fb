"""`python -m tests.attack --seed N [--runs M]`: attacks on apply that CI does not draw; each run prints its seed."""

import argparse
import os
import sys

import pytest

FILE = "tests/server/applying/test_attack.py"


def main() -> int:
    """Run them, and return pytest's exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="the first seed; each run takes the next one")
    parser.add_argument("--runs", type=int, default=200)
    wanted = parser.parse_args()
    # Read when the test module is imported.
    os.environ |= {"GPUPOOL_ATTACK_SEED": str(wanted.seed), "GPUPOOL_ATTACK_RUNS": str(wanted.runs)}
    return int(pytest.main([FILE, "-q", "--maxfail=3", "-p", "no:cacheprovider"]))


if __name__ == "__main__":
    sys.exit(main())
