"""Fetch: find out what a municipality has published, politely, and bring each file home safely."""
