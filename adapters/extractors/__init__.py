"""Attached files to blocks, each read in a process of its own."""
