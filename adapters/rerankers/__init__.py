"""Models that read question and passage together."""
