"""`gpupool diff`, `plan` and `apply` on the real API server, through the command line."""
