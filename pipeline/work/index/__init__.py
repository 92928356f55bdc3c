"""The search index over every page of every site: written by deploy, read by the records."""
