"""gpupool as its users install it: wheel, sdist, single file, GitHub action, pre-commit."""
