"""Which pools take a pod, why the others do not, and what is launched for it."""
