"""Statements that depend on the embedding model, and so are run per model instead of once."""
