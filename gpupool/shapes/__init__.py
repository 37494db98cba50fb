"""Base class, field types, cached validators and error messages of the pydantic models."""
