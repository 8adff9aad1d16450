"""Measuring retrieval on a golden set: what was asked, what should be found, how well it was."""
