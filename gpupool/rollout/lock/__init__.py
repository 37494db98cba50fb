"""The lock of a blueprint, its owner, and how a lock that was left behind is removed."""
