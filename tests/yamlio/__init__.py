"""Tests of the one door to YAML, and the texts that trip YAML readers."""
