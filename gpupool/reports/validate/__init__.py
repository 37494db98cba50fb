"""Reports of `gpupool validate` as text, JSON, SARIF, JUnit and GitHub annotations."""
