"""The one door to YAML: `read` files to located values, `write` plain data, with one model of scalars."""
