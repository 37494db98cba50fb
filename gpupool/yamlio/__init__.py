"""Reading and writing of YAML and JSON, with the location of every value."""
