"""Where a value came from: what each layer says of it, which one counts, and what it is rendered to."""
