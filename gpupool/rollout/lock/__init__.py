"""Lock of a blueprint: acquisition, renewal, owner and removal."""
