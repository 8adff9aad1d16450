"""Translations between the core and the world: chat platforms, Notion, models, databases, caches."""
