"""The Django project: settings, addresses, and the command line."""

__version__ = "0.3.0.dev0"
