"""What people are surprised by in the types that a pool gets, in words."""
