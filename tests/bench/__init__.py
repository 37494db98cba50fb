"""How long gpupool takes and how much memory it needs: `python -m tests.bench`."""
