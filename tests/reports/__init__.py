"""Reports of findings, and the ways they are written."""
