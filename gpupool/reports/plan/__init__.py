"""A plan in each format that people and programs read; it is all values, and nothing here asks a cluster."""
