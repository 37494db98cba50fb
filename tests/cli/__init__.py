"""The command line, run in this process or in one of its own."""
