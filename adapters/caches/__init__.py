"""Redis, and its in-memory twin."""
