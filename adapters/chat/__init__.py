"""Where people ask: one package per platform, each maps messages in and renders answers out."""
