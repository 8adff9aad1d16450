"""``footnote.toml``: who may see what, read strictly and again whenever the file changes."""
