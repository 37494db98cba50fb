"""`python -m gpupool`."""

from gpupool.cli.app import run

run()
