"""Back-up and restore: database, files, published records and settings, each content kept once."""
