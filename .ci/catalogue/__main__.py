"""`python .ci/catalogue`: write the catalogue that is shipped; `--check` only says whether it is current."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
    from catalogue.write import check, write

    sys.exit(check() if "--check" in sys.argv[1:] else write())
