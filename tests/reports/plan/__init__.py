"""Plans in every format."""
