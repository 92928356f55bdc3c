"""One module a platform; each only lists."""
