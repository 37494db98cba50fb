"""`python .ci/single_file FILE`: build gpupool and its dependencies as one file for this Python."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1])]
    from single_file.make import main

    sys.exit(main(sys.argv[1:]))
