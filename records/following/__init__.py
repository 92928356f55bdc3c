"""Saved searches: what is new is matched with them, and what they find is sent by mail, once."""
