"""Slack, as Slack's own apps behave: mentions, direct messages, commands, streaming answers, App Home."""

from adapters.chat.slack.chat import SlackChat
from adapters.chat.slack.doctor import check
from adapters.chat.slack.settings import SlackSettings

__all__ = ["SlackChat", "SlackSettings", "check"]
