"""Measurements, not tests: each module here has `run()`, which returns its figures by name."""
