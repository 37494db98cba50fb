"""Facts about EC2 instance types and their accelerators."""
