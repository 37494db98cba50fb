"""Each thing that doctor looks at, as a check."""
