"""From expanded pools to objects, chart values and files."""
