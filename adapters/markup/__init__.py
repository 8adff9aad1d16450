"""Markdown, HTML and block trees as several families of adapters read and write them."""
