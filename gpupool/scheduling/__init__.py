"""Which instance types a pool gets, what fits in its limits, what it costs, and which pods land there."""
