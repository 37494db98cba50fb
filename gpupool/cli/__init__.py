"""The command line: options, output and exit codes of each command."""
