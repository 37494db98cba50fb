"""What has to hold on the real API server whatever happens while an apply is under way."""
