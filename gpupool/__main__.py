"""`python -m gpupool`."""

import sys

from gpupool.cli.app import main

sys.exit(main())
