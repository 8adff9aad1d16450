"""Questions whose answers are known, and checks that these files are well formed."""
