"""What names of machines and accelerators there are, and what a wrong one was meant to be."""
