"""A report of `validate` in each format that programs and people read."""
