"""Reports on a plan as text, JSON, Markdown, unified diff and GitHub annotations."""
