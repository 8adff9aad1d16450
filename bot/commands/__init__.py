"""One module per command of the command line; each returns its exit code."""
