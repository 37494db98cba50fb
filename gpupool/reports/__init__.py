"""Reports on results as text, JSON, Markdown, SARIF, JUnit and SVG."""
