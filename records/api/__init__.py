"""The same records for programs: read-only, with a schema of its own, under /api/v1."""
