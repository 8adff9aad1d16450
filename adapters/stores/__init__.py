"""PostgreSQL with pgvector, and its in-memory twin."""
