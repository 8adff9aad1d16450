"""Tests of the Slack adapter against a strict stand-in."""
