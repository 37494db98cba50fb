"""One API server: how it is reached, asked, and asked again; nothing here knows blueprints or plans."""
