"""Jobs on a real PostgreSQL."""
