"""The user's file: its vocabulary as types, how files are read and merged."""
