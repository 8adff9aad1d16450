"""Tests of the chat adapters."""
