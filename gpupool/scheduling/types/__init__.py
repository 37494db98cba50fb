"""Instance types of a node class in a region: labels, capacity, zones and prices."""
