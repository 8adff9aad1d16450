"""Slack's official typings and an emulator that others wrote, against our adapter and our stand-in."""
