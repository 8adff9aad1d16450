"""The process: reads settings, wires adapters to services, runs and stops them."""

__version__ = "0.1.0"
