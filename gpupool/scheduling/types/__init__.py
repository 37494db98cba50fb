"""Instance types as a node class and a region offer them: labels, room, zones, prices."""
