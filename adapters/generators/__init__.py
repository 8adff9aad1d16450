"""Prompt to draft."""
