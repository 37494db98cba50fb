"""Blueprint: the types of its fields, and how its files are read, checked and merged."""
